"""Facts about people: another value of what somebody has one of, in other words too."""

from __future__ import annotations

import pytest

from memwarden_core.verdict.judge import Memory, judge

_CONTRARY = [
    ("Ana Silva lives in Paris", "Ana Silva resides in Madrid"),
    ("Ana Silva was born in Rome", "Ana Silva was born in Oslo"),
    ("Ana Silva is married to Bo", "Ana Silva's husband is Carl"),
    ("Ana Silva only speaks French", "Ana Silva is fluent in German"),
    ("Ana Silva does not eat meat", "Ana Silva loves steak"),
]
_COMPATIBLE = [
    ("Ana Silva lives in Paris", "Ana Silva lives with her brother"),
    ("Ana Silva was born in Rome", "Ana Silva was born in 1990"),
    ("Ana Silva works at Acme", "Ana Silva works in the morning"),
    ("Ana Silva likes tea", "Ana Silva likes coffee"),
    ("Ana Silva lives in Paris", "Bo Silva resides in Madrid"),
]


def _relation(new: str, old: str) -> str:
    return judge(Memory(None, None, new, new), Memory(None, None, old, old)).relation


@pytest.mark.parametrize(("one", "other"), _CONTRARY)
def test_another_value_of_a_person_is_a_contradiction_in_either_order(one: str, other: str) -> None:
    """Another town, spouse or language contradicts, whatever words say it.

    Proves: V4
    """
    assert _relation(one, other) == _relation(other, one) == "contradicts"


@pytest.mark.parametrize(("one", "other"), _COMPATIBLE)
def test_values_of_two_kinds_or_people_are_no_contradiction(one: str, other: str) -> None:
    """A town and a brother, a town and a year, two people: both can be true.

    Proves: V4
    """
    assert _relation(one, other) == _relation(other, one) == "unrelated"
