"""Layout does not stop a rule: signs before a sentence, blanks within it, invisible characters."""

from __future__ import annotations

import sys
import unicodedata
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memwarden_core.extraction.candidates import candidates
from memwarden_core.normalise import INVISIBLE

SENTENCES = {
    "I live in Rome": "Rome",
    "My daughter's name is Ana": "Ana",
    "We decided to use Postgres": {"decided": "to use Postgres"},
    "I have two cats": {"has": "two cats"},
    "Retention policy: backups are kept for 90 days": "backups are kept for 90 days",
    "The project uses PostgreSQL 15": {"uses": "PostgreSQL 15"},
}


def said(text: str) -> list[object]:
    """What is found in a turn; each excerpt stands in it as it was written."""
    found: list[dict[str, Any]] = candidates({"role": "user", "speaker": "Ana", "text": text})
    assert all(each["excerpt"] in unicodedata.normalize("NFC", text) for each in found)
    return [each["content"] for each in found]


@cache
def characters(*categories: str) -> list[str]:
    """All characters of these categories of Unicode, as this Python knows them."""
    every = map(chr, range(sys.maxunicode + 1))
    return [each for each in every if unicodedata.category(each) in categories]


SENTENCE = st.sampled_from(sorted(SENTENCES))
# A quotation mark says that somebody else's words follow.
QUOTES = "\"'\u2018\u2019\u201b\u201c\u201d\uff02\uff07"
SIGNS = [
    each
    for each in characters("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Co")
    # Full stops end a sentence before.
    if unicodedata.normalize("NFKC", each) not in QUOTES and each not in "`~"
][::7]


@given(
    SENTENCE,
    st.lists(st.sampled_from(SIGNS), min_size=1, max_size=3),
    st.sampled_from([" ", "", "\t"]),
)
@example("I live in Rome", ["\u2022"], " ")
@example("I live in Rome", ["-", "[", " ", "]"], " ")
@example("I live in Rome", ["1", "\ufe0f", "\u20e3"], " ")
def test_signs_before_a_sentence_do_not_stop_a_rule(
    sentence: str, signs: list[str], blank: str
) -> None:
    """Any punctuation, symbol or emoji.

    Proves: F2
    """
    assert said("".join(signs) + blank + sentence) == [SENTENCES[sentence]]


@pytest.mark.parametrize(
    "number",
    [
        "1.",
        "12.",
        "1)",
        "(1)",
        "1.2.3)",
        "a)",
        "iv.",
        "[x]",
        "\u2460",
        "\u2163.",
        "[10:32]",
        "- 3.",
    ],
)
def test_numbers_of_items_do_not_stop_a_rule(number: str) -> None:
    """However a list numbers its items.

    Proves: F2
    """
    for sentence, content in SENTENCES.items():
        assert said(f"{number} {sentence}") == [content] or ":" in number + sentence
    listed = "\n".join(f"{number} {sentence}" for sentence in SENTENCES)
    # Lines with times are a transcript, in which nobody is named here.
    assert ":" in number or said(listed) == list(SENTENCES.values())


BLANKS = [each for each in map(chr, range(sys.maxunicode + 1)) if each.isspace()]


@pytest.mark.parametrize("blank", [*BLANKS, "\r\n", "  ", "\t \u00a0", "\n  "], ids=ascii)
def test_any_white_space_within_a_sentence_does_not_stop_a_rule(blank: str) -> None:
    """In place of each blank, and of any one of them; the end of a line among them.

    Proves: F2
    """
    is_line = len(f"a{blank}b".splitlines()) > 1
    for sentence, content in SENTENCES.items():
        if is_line and ":" in sentence:
            # What stands before a colon stands in one line.
            continue
        # Where a line ends that says something on its own, nobody knows whether it goes on.
        either = [[content], []] if is_line else [[content]]
        assert said(sentence.replace(" ", blank)) in either
        words = sentence.split(" ")
        for at in range(1, len(words)):
            first = " ".join(words[:at])
            broken = first + blank + " ".join(words[at:])
            assert said(broken) in (either if said(first) else either[:1])


def test_lines_are_sentences_of_their_own() -> None:
    """What begins anew is not joined to the line before, with or without a full stop.

    Proves: F2
    """
    for end in ("\n", "\r\n", "\n\n", "\n- ", "\u2028", "\n\u2022 "):
        lines = ["I live in Rome", "I have two cats", "My name is Bo"]
        assert said(end.join(lines)) == ["Rome", {"has": "two cats"}, "Bo"]
    assert said("I live in Rome\n\nBerlin is nice") == ["Rome"]
    assert said("I live in Rome.\nBerlin is nice") == ["Rome"]
    assert said("I live in\n\nRome") == []


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("I prefer green", "tea"),
        ("I prefer green", "tea over coffee."),
        ("I live in New", "York"),
        ("I live in Rome", "Nice."),
        ("My name is Ana", "Maria Silva"),
        ("My favourite colour is dark", "blue"),
        ("I'm a night", "nurse"),
        ("I'm allergic to pea", "nuts"),
        ("I have two guinea", "pigs"),
        ("I've been playing chess for ten", "years"),
        ("I'm studying computer", "science"),
        ("We decided to use Postgres", "fifteen"),
        ("Remember that the code is 47", "12"),
        ("From now on answer in Swiss", "German"),
        ("The project uses SQL", "Server"),
        ("Retention policy: backups are kept for 90", "days"),
        ("No, the meeting is on Tuesday, not next", "Monday"),
    ],
)
def test_what_may_go_on_in_the_next_line_says_nothing(line: str, rest: str) -> None:
    """Half a value is a wrong one, whichever rule reads it; with a full stop it is whole.

    Proves: F2
    """
    whole = said(f"{line}.")
    assert len(whole) == 1
    assert said(f"{line}\n{rest}") == said(f"{line}\r\n  {rest}\n\nBye") == []
    assert said(f"{line}.\n{rest}") == said(f"{line}\n\n{rest}") == whole


HIDDEN = [
    *characters("Cf"),
    *map(chr, (*range(0xFE00, 0xFE10), 0xE0100, 0x34F, 0x115F, 0x3164, 0x180B)),
]


def test_every_character_without_a_glyph_is_known() -> None:
    """By Unicode's categories and not by examples: all format characters are."""
    assert [each for each in HIDDEN if not INVISIBLE.fullmatch(each)] == []


@given(
    SENTENCE, st.data(), st.sampled_from(HIDDEN + [c for c in characters("Cc") if not c.isspace()])
)
@example("I live in Rome", None, "\u200b")
def test_invisible_characters_do_not_stop_a_rule(sentence: str, data: Any, hidden: str) -> None:
    """Before a sentence, behind it, and within any word; none is in what is remembered.

    Proves: F2
    """
    at = 0 if data is None else data.draw(st.integers(0, len(sentence)))
    for text in (sentence[:at] + hidden + sentence[at:], hidden + hidden.join(sentence) + hidden):
        assert said(text) == [SENTENCES[sentence]]


@pytest.mark.parametrize(
    "text",
    [
        "**I live in Rome**",
        "I **live** in `Rome`",
        "### I live in Rome",
        "| I live in Rome |",
        "* *I live in Rome*",
        "> I live in Rome",
        "I live in Rome \U0001f600",
        "~~I live in Oslo~~ I live in Rome",
        "\uf0b7\tI live in Rome",
        "\u2014 I live in Rome.",
    ],
)
def test_marks_of_a_text_do_not_stop_a_rule(text: str) -> None:
    """Of Markdown and of word processors; what is struck through is not said.

    Proves: F2
    """
    assert said(text) == ["Rome"]


@pytest.mark.parametrize(
    "text",
    [
        '"I live in Rome"',
        "\u00abI live in Rome\u00bb",
        "\u201cI live in Rome\u201d",
        "\u300cI live in Rome\u300d",
    ],
)
def test_what_is_quoted_is_somebody_elses(text: str) -> None:
    """Quotation marks are no layout."""
    assert said(text) == []
