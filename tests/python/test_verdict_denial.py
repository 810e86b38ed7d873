"""A denial contradicts what has its subject, its verb and its object, and nothing else."""

from __future__ import annotations

import pytest

from memwarden_core.verdict.judge import Memory, Verdict, judge


def of(new: str, old: str) -> Verdict:
    """The verdict on two texts without a key."""
    return judge(Memory(None, None, new, new), Memory(None, None, old, old))


@pytest.mark.parametrize(
    ("denied", "said"),
    [
        ("Tomas does not have any pets", "Tomas likes pets"),
        ("Tomas does not have any pets", "The cousin of Tomas has three pets"),
        ("Tomas does not have any pets", "Pets need a lot of time"),
        ("Tomas does not have any pets", "Tomas visited a shelter for pets"),
        ("Ines is not on the night shift", "Ines wrote the plan of the night shift"),
        ("Ines has no bicycle", "Ines repairs her brother's bicycle"),
        ("Ines has no bicycle", "Ines sold a bicycle to her neighbour"),
        ("Ines is not a teacher", "Ines met a teacher at the fair"),
        ("Pavel left without his umbrella", "Pavel has his umbrella"),
        ("The lift in the annex does not work", "The lift in the tower works"),
        ("Our team has no designer", "Our team hired a designer from Oslo"),
        ("Nobody reads the handbook", "The handbook explains the door code"),
        ("There is no lamp in the hall", "A lamp in the kitchen is broken"),
        ("Mira cannot eat nuts", "Mira sells nuts at the market"),
    ],
)
def test_what_only_shares_the_words_that_are_denied_is_no_contradiction(
    denied: str, said: str
) -> None:
    """Either may be the new one.

    Proves: V4 (plain negation)
    """
    for new, old in ((denied, said), (said, denied)):
        assert of(new, old).relation not in ("contradicts", "updates"), (new, old)


@pytest.mark.parametrize(
    ("denied", "said"),
    [
        ("Tomas does not have any pets", "Tomas has two pets"),
        ("Ines has no bicycle", "Ines has a red bicycle"),
        ("Ines is not a teacher", "Ines is a teacher"),
        ("We do not ship to Norway", "We ship to Norway"),
        ("The lift in the annex does not work", "The lift in the annex works"),
        ("No ferry leaves from the old pier", "A ferry leaves from the old pier"),
        ("The bread was not baked by Mira", "Mira baked the bread"),
        ("Pavel works in Oslo, not in Bergen", "Pavel works in Bergen"),
        ("Pavel works in Oslo rather than in Bergen", "Pavel works in Bergen"),
        ("Mira has never climbed the tower", "Mira likes views and has climbed the tower"),
        ("Mira and Pavel are not members of the choir", "Pavel and Mira are members of the choir"),
        ("Lena, not Omar, wrote the report on the harbour", "Omar wrote the report on the harbour"),
    ],
)
def test_what_has_its_subject_verb_and_object_is_one(denied: str, said: str) -> None:
    """Either may be the new one; some tell of news.

    Proves: V4 (plain negation)
    """
    for new, old in ((denied, said), (said, denied)):
        assert of(new, old).relation in ("contradicts", "updates"), (new, old)


@pytest.mark.parametrize(
    ("denied", "said", "decisive"),
    [
        ("The lift is not running", "The lift is running", True),
        ("Ines does not eat fish", "Ines eats fish", True),
        ("My brother does not smoke", "My brother smokes", True),
        ("A lift is not running", "A lift is running", False),
        ("We do not eat fish", "We eat fish", False),
        ("Ines does not eat fish", "Ines eats fish on Fridays", False),
        ("The lift is sometimes not running", "The lift is running", False),
    ],
)
def test_a_denial_of_the_same_words_about_what_has_a_name_is_decisive(
    denied: str, said: str, decisive: bool
) -> None:
    """Proves: V4 (plain negation), V10."""
    for new, old in ((denied, said), (said, denied)):
        assert of(new, old).why.get("decisive", False) is decisive, (new, old)
