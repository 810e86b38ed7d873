"""Two contents become one, field by field: properties of every rule."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memwarden_core.canonical import serialise
from memwarden_core.merging import (
    MOST_CHARACTERS,
    RULES,
    PolicyRefused,
    check_merge_policy,
    merge,
    merge_contents,
)
from memwarden_core.normalise import normalise

scalars = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.text("ab Ä", max_size=4))
values = st.one_of(scalars, st.lists(scalars, max_size=3))
contents = st.dictionaries(st.sampled_from("abc"), values, max_size=3)
policies = st.dictionaries(st.sampled_from(["a", "b", "c", "*"]), st.sampled_from(sorted(RULES)))


@given(contents, contents, policies)
@example({"a": False}, {"a": 0}, {"a": "replace"})
def test_nothing_is_lost_unless_a_rule_says_so(
    old: dict[str, Any], new: dict[str, Any], policy: dict[str, str]
) -> None:
    """Every field is there; what a field is named for changed or is in conflict, and nothing else.

    Proves: D4
    """
    done = merge(old, new, policy)
    assert done.content.keys() == old.keys() | new.keys()
    for name, value in done.content.items():
        if name not in done.told:
            assert serialise(value) == serialise(old[name])
        elif done.told[name] != "added":
            assert done.told[name] == policy.get(name, policy.get("*"))
            assert name in old
            assert name in new
    assert not done.told.keys() & set(done.conflicts)


@given(contents, contents, policies)
def test_the_same_again_adds_nothing(
    old: dict[str, Any], new: dict[str, Any], policy: dict[str, str]
) -> None:
    """What two make together holds both: merging either again changes nothing and quarrels less.

    Proves: D4, C4 (a merge is idempotent)
    """
    assert merge(old, old, policy) == (old, {}, [])
    once = merge(old, new, policy)
    again = merge(once.content, new, policy)
    assert serialise(again.content) == serialise(once.content)
    assert (again.told, again.conflicts) == ({}, once.conflicts)


@given(contents, contents, policies)
def test_where_the_newer_wins_there_is_no_conflict(
    old: dict[str, Any], new: dict[str, Any], policy: dict[str, str]
) -> None:
    """Proves: D4."""
    lost = merge(old, new, policy).conflicts
    done = merge(old, new, policy, newer_wins=True)
    assert done.conflicts == []
    assert {name: done.content[name] for name in lost} == {name: new[name] for name in lost}


@example(["", " "], [" ", " "])
@given(st.lists(scalars, max_size=5), st.lists(scalars, max_size=5))
def test_a_union_has_each_element_once_whoever_comes_first(old: list[Any], new: list[Any]) -> None:
    """Proves: D4, C4 (sets)."""

    def elements(one: list[Any], other: list[Any]) -> set[bytes]:
        done = merge({"a": one}, {"a": other}, {"a": "union"})
        found: list[Any] = done.content["a"]  # type: ignore[assignment]
        texts = [serialise(value) for value in found]
        assert len(texts) == len(set(texts)) or "a" not in done.told
        return {serialise(normalise(v) if isinstance(v, str) else v) for v in found}

    assert len(elements(old, new)) == len(elements(new, old))


def test_spelling_is_no_difference() -> None:
    """Also where it is the organisation's synonyms that make two the same. Proves: D2, D4."""
    assert merge({"a": "Green  TEA"}, {"a": "green tea"}, {}) == ({"a": "Green  TEA"}, {}, [])
    assert merge({"a": "mug"}, {"a": "cup"}, {}, '{"mug": "cup"}').conflicts == []
    assert merge({"a": "mug"}, {"a": "cup"}, {}).conflicts == ["a"]


def test_texts_grow_no_further_than_they_may() -> None:
    """Proves: D4."""
    half = "x " * (MOST_CHARACTERS // 4)
    policy = {"*": "concatenate"}
    assert merge({"a": "p" + half}, {"a": "q" + half}, policy).conflicts == ["a"]
    assert merge({"a": "one two"}, {"a": "two"}, policy) == ({"a": "one two"}, {}, [])


def test_what_has_no_fields_is_not_merged() -> None:
    """Texts, numbers and lists are told apart by other means. Proves: D4."""
    assert merge_contents('"a"', '{"a":1}', "{}", None, newer_wins=False) == (None, None, None)
    assert merge_contents('{"a": 1E2}', '{"b":1}', "{}", None, newer_wins=False) == (
        '{"a":100,"b":1}',
        '{"b": "added"}',
        [],
    )


@pytest.mark.parametrize("policy", ["[]", "{}", '{"a": "guess"}', '{"a": null}', '{"a": ["max"]}'])
def test_a_malformed_policy_is_refused(policy: str) -> None:
    """With what it may be."""
    with pytest.raises(PolicyRefused, match="merge_policy"):
        check_merge_policy(policy)
