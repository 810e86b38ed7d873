"""Which sentence of what was said bears a claim out: what is kept of a capture with a memory."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..late import late
from .judge import supports

_MOST_BYTES = 1024
_MOST_TRIED = 8
# A sentence ends at its mark, where a blank follows, and at the end of a line.
_SENTENCE = late(r"[^\n]+?(?:[.!?\u3002\uff01\uff1f]+[\"')\]\u201d]*(?=\s|$)|(?=\n)|$)")
_WORD = late(r"\w+")


def bearing_sentence(
    subject: str | None,
    predicate: str | None,
    content: str | None,
    turns: Sequence[str],
    speakers: Sequence[str | None],
    excerpt: str | None,
) -> tuple[int, str]:
    """Return the turn, from 1, and the sentence, at most 1 kB, that bears a claim out best.

    The content is JSON text. An excerpt that stands in a turn says where to look, and it is the
    answer where nothing bears the claim out.
    """
    text = content or ""
    try:
        json.loads(text)
    except ValueError:
        text = json.dumps(text)
    asked = _words(" ".join((subject or "", predicate or "", text)))
    quoted = excerpt if excerpt and any(excerpt in turn for turn in turns) else None
    places = [n for n, turn in enumerate(turns) if quoted is None or quoted in turn]
    found = [
        (n, sentence, len(_words(sentence) & asked))
        for n in places
        for sentence in _sentences(turns[n] if quoted is None else quoted)
    ]
    found.sort(key=lambda each: -each[2])
    tried = found[:_MOST_TRIED]
    if quoted is not None and (len(quoted.encode()) <= _MOST_BYTES or not tried):
        tried.insert(0, (places[0], _cut(quoted), 0))
    if not tried:
        return 1, _cut(turns[0])
    support = supports(
        subject,
        predicate,
        text,
        [sentence for _, sentence, _ in tried],
        ["human_input"] * len(tried),
        [""] * len(tried),
        [speakers[n] for n, _, _ in tried],
    )
    best = max(support)
    place, sentence, _ = (
        tried[0]
        if best <= 0
        else min(
            (one for one, s in zip(tried, support, strict=True) if s == best),
            key=lambda each: len(each[1]),
        )
    )
    return place + 1, sentence


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _sentences(text: str) -> list[str]:
    return [_cut(found) for found in map(str.strip, _SENTENCE.findall(text)) if _WORD.search(found)]


def _cut(text: str) -> str:
    return text.encode()[:_MOST_BYTES].decode(errors="ignore")
