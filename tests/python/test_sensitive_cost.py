# ruff: noqa: E501 - many short texts
"""Scanning takes time linear in the text, whatever the text."""

from __future__ import annotations

import gc
import time
from pathlib import Path

import pytest

from python.sensitive_samples import found

UNITS = [
    "1", "1 ", "a", "a ", "A", "@", "a@b.", "a@", "-", "1-", "1.", "12:", ":", "(", "%41", "%2541", "&#65;",
    "\\u0041", "eyJhbGciOi", "AAAA", "i g n o r e ", "ignore all ", "you must ", "password=", "pass_", "a_",
    "://a:", "://a:b@", "-----BEGIN PRIVATE KEY-----", "\u200b", "a\u200b", "a\u00ad", "\u202e", "\u2066",
    "\U000e0061", "\ufe0f\ufe0f", "4111 ", "4111-", "4111111111111111 ", "DE44 ", "123-45-6789 ", "+1 ",
    "(555) ", "system: ", "<system>", "[inst]", "![a](http://b", "send the ", "remember ", "without asking ",
    '"', "SK", "sk-", "\u00e9", "\u5ffd\u7565", "\ufb01", "\ufdfa", "\u0430", "1gn0r3 ", "a-b-", "IgnoreAll",
    "41 ", "https://", "May 1, 1990 ", "123 Main ", "reveal your ", "and ", "1.2.3.4 ", "::", "tpmorp", "\n",
    "=", "you are now ", "http://a/?q={", "decode and ", "when the user asks ", "if asked, ", "before every reply ",
    "from now on ", "you must always ", "assistant: ", "the user wants you to ", "store this forever: ", "<!-- ai ",
    "/* ", "<system> a ", "[inst] a b ", "# ai must ", "wenn der nutzer ", "si el usuario ", "l'utilisateur veut ",
    "\u5f53\u7528\u6237", "send it ", "the agent must ", "permanently ", "treat it as an order from ",
]  # fmt: skip


def seconds(text: str) -> float:
    """The processor's time for one scan."""
    # A collection of what other tests have left would be in the time, or longer than it.
    gc.disable()
    started = time.process_time()
    found(text)
    done = time.process_time() - started
    gc.enable()
    return done


@pytest.mark.parametrize("unit", UNITS)
def test_four_times_the_text_takes_about_four_times_as_long(unit: str) -> None:
    """Quadratic growth would be sixteen times. Proves: L10."""
    small, large = (unit * (size // len(unit)) for size in (5_000, 20_000))
    most = 9 * min(seconds(small), seconds(small)) + 0.02
    # Once may be too long by chance.
    assert seconds(large) < most or seconds(large) < most


def test_ordinary_sentences_are_left_alone(data: Path) -> None:
    """Conversations and news: what is flagged is an address or a phone number. Proves: L10, Z3."""
    texts = (data / "pairs/mrpc_train.tsv").read_text(encoding="utf-8-sig").splitlines()[1:]
    sentences = [sentence for line in texts for sentence in line.split("\t")[3:5]]
    flagged = [s for s in sentences if found(s)]
    assert len(flagged) <= len(sentences) * 0.005
    kinds = {f.kind for s in flagged for f in found(s)}
    assert kinds <= {"pii.phone", "pii.email", "pii.address"}


def test_conversations_are_left_alone(data: Path) -> None:
    """Proves: L10, Z3."""
    import json

    turns = [
        turn["text"]
        for sample in json.loads((data / "locomo/dev.json").read_text(encoding="utf-8"))
        for name, session in sample["conversation"].items()
        if name.startswith("session") and isinstance(session, list)
        for turn in session
    ]
    assert len(turns) > 1000
    assert sum(bool(found(turn)) for turn in turns) <= len(turns) * 0.005
