"""A fingerprint is that of the fact: the same in other dress, another for another fact."""

from __future__ import annotations

import pytest

from memwarden_core.fingerprint import fingerprint, key_hash


def test_values_are_normalised_and_their_structure_is_not() -> None:
    """Proves: D1, D2."""
    fact = {"drink": "Green Tea!", "cups": 3.0, "when": ["Morning", None, True]}
    same = {"when": ["morning", None, True], "cups": 3, "drink": "green  tea"}
    assert fingerprint(fact) == fingerprint(same)
    for other in (
        {**fact, "cups": 4},
        {**fact, "cups": "3"},
        {**fact, "when": ["morning", None, 1]},
        {"Drink": "Green Tea!", "cups": 3, "when": ["Morning", None, True]},
        {**fact, "when": ["morning", True, None]},
    ):
        assert fingerprint(other) != fingerprint(fact)


def test_subject_and_predicate_belong_to_the_fact() -> None:
    """Proves: D1, D5."""
    prints = [
        fingerprint("tea", subject, predicate)
        for subject, predicate in [
            (None, None),
            ("ana", None),
            (None, "ana"),
            ("ana", "likes"),
            ("an", "alikes"),
            ("likes", "ana"),
        ]
    ]
    assert len(set(prints)) == len(prints)
    assert fingerprint("TEA", " Ana", "LIKES") == fingerprint("tea", "ana", "likes")
    assert fingerprint("tea", " ", "") == fingerprint("tea")


def test_synonyms_apply_to_every_part() -> None:
    """Proves: D2."""
    synonyms = {"mum": "mother", "enjoys": "likes", "cuppa": "tea"}
    assert fingerprint({"what": "a cuppa"}, "Mum", "enjoys", synonyms) == fingerprint(
        {"what": "a tea"}, "mother", "likes", synonyms
    )


@pytest.mark.parametrize(
    ("subject", "predicate"), [(None, "p"), ("s", None), (" ", "p"), ("s", "")]
)
def test_half_a_key_is_no_key(subject: str | None, predicate: str | None) -> None:
    """Proves: D5."""
    assert key_hash(subject, predicate) is None


def test_a_key_is_the_normalised_pair() -> None:
    """Proves: D5."""
    key = key_hash("Ana", "favourite drink")
    assert key is not None
    assert len(key) == 32
    assert key_hash(" ANA ", "Favourite-Drink") == key
    assert key_hash("Ana favourite", "drink") != key
    assert key_hash("favourite drink", "Ana") != key
