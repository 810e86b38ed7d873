"""The same in another order is alike, where the order says nothing; the rest is not."""

from __future__ import annotations

import pytest

from memwarden_core.verdict.judge import Memory, judge


def relation(new: str, old: str) -> str:
    """How one text stands to another."""
    return judge(Memory(None, None, new, new), Memory(None, None, old, old)).relation


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Mails are sent by the server", "The server sends mails"),
        ("The report was written by Ana", "Ana wrote the report"),
        ("The door was opened by the guard at noon", "The guard opened the door at noon"),
        (
            "The wall is being painted blue by two painters",
            "Two painters are painting the wall blue",
        ),
        ("At noon the guard opened the door", "The guard opened the door at noon"),
    ],
)
def test_who_does_what_may_be_told_in_either_order(one: str, other: str) -> None:
    """Proves: V4."""
    assert relation(one, other) == relation(other, one) == "alike"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Mails are sent by the server", "Mails send the server"),
        ("The report was written by Monday", "Monday wrote the report"),
        ("The report is due by five", "Five is due the report"),
        ("Bob met Alice", "Alice met Bob"),
        ("The lamp by the door is broken", "The door breaks the lamp"),
        ("3 mails are sent by the server", "The server sends 4 mails"),
        ("The team leads the project", "The project leads the team"),
    ],
)
def test_another_order_may_say_something_else(one: str, other: str) -> None:
    """Proves: V4."""
    for answer in (relation(one, other), relation(other, one)):
        assert answer not in ("same", "alike", "narrower", "wider")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Bob manages Alice", "Alice manages Bob"),
        ("Carol reports to Dave", "Dave reports to Carol"),
    ],
)
def test_who_is_above_whom_holds_one_way(one: str, other: str) -> None:
    """Proves: V4."""
    assert relation(one, other) == relation(other, one) == "contradicts"


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("Der Server steht in Berlin", "Der Server steht nicht in Berlin"),
        ("Ana mag Tee", "Ana mag keinen Tee"),
        ("El servidor est\u00e1 en Madrid", "El servidor no est\u00e1 en Madrid"),
        ("De server staat in Utrecht", "De server staat niet in Utrecht"),
    ],
)
def test_other_languages_deny_too(said: str, denied: str) -> None:
    """Proves: V4."""
    assert relation(said, denied) == relation(denied, said) == "contradicts"
