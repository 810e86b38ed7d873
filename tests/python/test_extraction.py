"""What the rules about language find in turns and answers, and what they leave."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_core.extraction.candidates import MOST, candidates


def found(text: str, speaker: str | None = "Ana") -> list[dict[str, Any]]:
    """The candidates of one turn."""
    turn = {"role": "user", "text": text} | ({"speaker": speaker} if speaker else {})
    return candidates(turn)


@pytest.mark.parametrize(
    ("text", "predicate", "content"),
    [
        ("I really prefer green tea.", None, {"prefers": "green tea"}),
        ("I can't stand loud music", None, {"dislikes": "loud music"}),
        ("We don't like meetings after lunch!", None, {"dislikes": "meetings after lunch"}),
        ("I'm a big fan of pottery - the skill is awesome.", None, {"likes": "pottery"}),
        ("My daughter's name is Ana.", "daughter's name", "Ana"),
        ("My favourite colour is blue", "favourite colour", "blue"),
        ("Please call me Bo.", "name", "Bo"),
        ("I'm from Lisbon.", "is from", "Lisbon"),
        ("I am allergic to peanuts", None, {"is": "allergic to peanuts"}),
        ("I'm a nurse.", None, {"is": "a nurse"}),
        ("I live in Rome", "lives in", "Rome"),
        ("Well, I've got two cats.", None, {"has": "two cats"}),
        (
            "I've been playing chess for ten years",
            None,
            {"has been playing": "chess for ten years"},
        ),
        ("I don't eat meat.", None, {"does not eat": "meat"}),
        ("We decided to use Postgres.", None, {"decided": "to use Postgres"}),
        ("Let's go with the blue one", None, {"decided": "go with the blue one"}),
        ("From now on answer in German.", None, {"asks": "From now on answer in German"}),
        ("User now prefers Rust for services.", None, {"prefers": "Rust for services"}),
        ("The project uses PostgreSQL 15.", None, {"uses": "PostgreSQL 15"}),
        ("Remember that the gate code is kept by Maria", None, "the gate code is kept by Maria"),
        (
            "No, the meeting is on Tuesday, not Monday.",
            None,
            "the meeting is on Tuesday, not Monday",
        ),
        ("Retention policy: backups are kept for 90 days", None, "backups are kept for 90 days"),
    ],
)
def test_what_is_said_to_last_is_found(text: str, predicate: str | None, content: object) -> None:
    """One candidate, in the words that were said.

    Proves: F2
    """
    (made,) = found(text)
    assert (made.get("predicate"), made["content"]) == (predicate, content)
    assert made["excerpt"] in text.replace("\u2019", "'")
    assert 0 < made["confidence"] <= 1


@pytest.mark.parametrize(
    "text",
    [
        "Do I like tea?",
        "I would love to see Rome",
        "If I lived in Rome I'd be happy",
        "Maybe I prefer tea.",
        "I love it!",
        "I love that painting",
        "I like this",
        'He said "I like herons"',
        "I used to live in Paris",
        "I'm so happy for you",
        "I'm a bit tired",
        "Never give up!",
        "Remember, just do it!",
        "Let's keep going!",
        "My kids are so excited",
        "I have a question",
        "I wish we had decided to stay",
        "It was great, thanks.",
    ],
)
def test_what_says_nothing_later_is_left(text: str) -> None:
    """Questions, suppositions, moods, words of others, and what only points.

    Proves: F2
    """
    assert found(text) == []


def test_each_clause_is_heard() -> None:
    """And what follows from a reason is not.

    Proves: F2
    """
    text = "I live in Rome and I work at a bank, but I don't like pasta because I'm from Norway."
    said = [each["content"] for each in found(text)]
    assert said == ["Rome", "a bank", {"dislikes": "pasta"}]


def test_a_correction_of_something_unnamed_is_sure_of_little() -> None:
    """What "it" is stands elsewhere.

    Proves: F2
    """
    (made,) = found("No, it is Tuesday, not Monday")
    assert "subject" not in made
    assert made["confidence"] < 0.5


def test_who_speaks_is_what_it_is_about() -> None:
    """Nobody named: the user. What the assistant says of itself is nothing.

    Proves: F2
    """
    assert found("I like tea", None)[0]["subject"] == "user"
    assert found("I like tea", "Bo")[0]["subject"] == "Bo"
    assert candidates({"role": "assistant", "content": "I like tea"}) == []
    turns = {
        "messages": [
            {"role": "user", "content": "I like tea"},
            {"role": "system", "content": "I like tea"},
        ]
    }
    assert len(candidates(turns)) == 1
    parts = {"role": "user", "content": [{"type": "text", "text": "I like tea"}]}
    assert len(candidates(parts)) == 1


def test_an_answer_says_what_its_record_is_about() -> None:
    """Each plain field of a record that names itself; of another nothing.

    Proves: F2
    """
    answer = {
        "tool": "crm.lookup",
        "result": {"id": "cus_77", "channel": "email", "tags": [1], "note": None},
    }
    (made,) = candidates(answer)
    assert (made["subject"], made["predicate"], made["content"]) == ("cus_77", "channel", "email")
    assert candidates(answer | {"result": json.dumps(answer["result"])}) == [made]
    assert candidates({"tool": "clock", "result": {"hour": 7}}) == []
    assert candidates({"role": "tool", "content": "I like tea"}) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["role", "text", "content", "messages", "tool", "result", "id", "from", "user"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
PIECES = [
    "I",
    "I'm",
    "my",
    "like",
    "not",
    "is",
    "a",
    "tea",
    "No,",
    ",",
    "and",
    "-",
    ".",
    "decided",
    "'s",
    "to",
]


@given(content=JSON | st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join))
def test_anything_captured_is_read(content: object) -> None:
    """Whatever it is: no more than a bounded number of candidates that can be sent.

    Proves: F2
    """
    made = candidates(content)
    assert len(made) <= MOST
    json.dumps(made, allow_nan=True)
    assert all(each["content"] not in (None, "") for each in made)


def test_long_and_repetitive_text_takes_no_long_time() -> None:
    """The patterns are asked of a bounded sentence: no text makes them go back and forth."""
    for piece in ("I ", "my ", "really ", "not ", "I really ", "a-", "no, it is not ", "'"):
        assert candidates(piece * 30_000) == []
    for piece in ("Ana: I ", "[1:1] ", "A (", "<a ", "1:11 ", "> ", "-", "\u2022 a: "):
        assert candidates(piece * 20_000) == candidates(f"{piece}\n" * 9_000) == []
    assert len(candidates({"role": "user", "text": "I like tea. " * 20_000})) == 1
