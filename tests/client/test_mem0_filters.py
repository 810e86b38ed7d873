"""mem0's filters, without a server."""

from __future__ import annotations

from typing import Any

import pytest

from memwarden import InvalidArgument
from memwarden.mem0.filters import Filters

HELD = {
    "text": "Ana drinks Green tea",
    "user_id": "ana",
    "role": "user",
    "metadata": {"n": 5, "since": "2026-03-01", "ok": True, "tags": ["a", "Bb"], "empty": None},
}
PASS: list[dict[str, Any]] = [
    {},
    {"n": 5},
    {"n": 5.0},
    {"n": {"eq": 5, "ne": 6, "gt": 4, "gte": 5, "lt": 5.5, "lte": 5}},
    {"n": {"in": [1, 5], "nin": [2]}},
    {"n": [4, 5]},
    {"since": {"gte": "2026-01-01", "lt": "2027-01-01"}},
    {"data": {"contains": "Green", "icontains": "GREEN TEA"}},
    {"tags": {"contains": "a", "icontains": "bB"}},
    {"role": "user", "n": "*"},
    {"AND": [{"n": 5}, {"OR": [{"n": 6}, {"ok": True}]}]},
    {"OR": [{"n": 6}, {"role": "user", "n": {"gt": 1}}]},
    {"NOT": [{"n": 6}, {"role": "assistant"}]},
    {"user_id": {"in": ["ana", "bo"]}},
    {"user_id": "*"},
    {"absent": {"ne": 1, "nin": [2]}},
    {"AND": []},
]
FAIL: list[dict[str, Any]] = [
    {"n": 6},
    {"n": "5"},
    {"ok": 1},
    {"n": {"gt": 4, "lt": 5}},
    {"n": {"gt": "4"}},
    {"ok": {"gte": 0}},
    {"n": {"nin": [5]}},
    {"data": {"contains": "green"}},
    {"n": {"contains": "5"}},
    {"tags": {"contains": "bb"}},
    {"empty": "*"},
    {"absent": "*"},
    {"absent": {"gt": 0}},
    {"AND": [{"n": 5}, {"n": 6}]},
    {"OR": [{"n": 6}, {"n": 7}]},
    {"NOT": [{"n": 6}, {"n": 5}]},
    {"AND": [{"user_id": "bo"}]},
]
WRONG: list[dict[str, Any]] = [
    {"n": {"near": 5}},
    {"n": {"$gt": 5}},
    {"n": {}},
    {"n": {"in": 5}},
    {"AND": {"n": 5}},
    {"OR": []},
    {"NOT": []},
    {"OR": [5]},
    {"OR": [{"NOT": [{"n": {"near": 5}}]}]},
    {"user_id": " "},
]


@pytest.mark.parametrize("given", PASS + FAIL)
def test_a_filter_says_of_a_memory_what_mem0_means(given: dict[str, Any]) -> None:
    """Whether the server has tested a part of it or not.

    Proves: Z11
    """
    filters = Filters({"user_id": "ana"} | given)
    assert filters.passes(HELD) is (given in PASS)
    if given in PASS:
        own = {name: value for name, value in filters.contained.items() if name != "metadata"}
        metadata = filters.contained.get("metadata", {})
        assert own.items() <= {**HELD, "metadata": None}.items()
        assert all(HELD["metadata"][name] == value for name, value in metadata.items())  # type: ignore[index]


@pytest.mark.parametrize("given", WRONG)
def test_what_is_no_filter_is_an_error(given: dict[str, Any]) -> None:
    """Before any call, and never a filter that lets everything through.

    Proves: Z11
    """
    with pytest.raises(InvalidArgument):
        Filters({"user_id": "ana"} | given)


def test_ids_and_what_the_server_tests_are_found_within_and() -> None:
    """An id that a list names is none that says whose scope it is."""
    found = Filters({"AND": [{"user_id": " ana"}, {"AND": [{"topic": "tea"}]}], "role": "user"})
    assert found.ids == {"user_id": " ana"}
    assert found.contained == {"user_id": " ana", "role": "user", "metadata": {"topic": "tea"}}
    assert found.is_exact
    assert Filters({"user_id": {"in": ["ana"]}}).ids == {}
    assert not Filters({"user_id": "ana", "n": {"gt": 1}}).is_exact
    for nobody in (None, {}, {"topic": "tea"}, {"OR": [{"user_id": "ana"}]}):
        with pytest.raises(InvalidArgument):
            Filters(nobody)
