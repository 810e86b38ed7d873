"""Many writes in few calls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from memwarden import Client, InvalidArgument, WriteRequest, WriteResult

CIRCULAR: list[Any] = []
CIRCULAR.append(CIRCULAR)


def _fact(number: int) -> dict[str, Any]:
    return {"layer": "semantic", "content": {"statement": f"fact number {number}"}}


def test_thousands_of_requests_keep_their_order(memory: Client) -> None:
    """Proves: W8."""
    seen: list[Sequence[WriteResult]] = []

    def requests() -> Iterator[dict[str, Any]]:
        for number in range(2300):
            yield _fact(number) if number % 100 else {"layer": "nowhere", "content": {"n": number}}

    results = memory.write_many(requests(), progress=seen.append)
    assert [result.ordinal for result in results] == list(range(2300))
    assert [len(batch) for batch in seen] == [1000, 1000, 300]
    assert [result for batch in seen for result in batch] == results
    refused = [result.ordinal for result in results if result.reason == "UNKNOWN_LAYER"]
    assert refused == list(range(0, 2300, 100))
    assert sum(result.committed for result in results) == 2300 - len(refused)
    item_id = results[1234].item_id
    assert item_id is not None
    item = memory.get(item_id)
    assert item is not None
    assert item.content == {"statement": "fact number 1234"}


def test_nothing_to_write_is_no_error(memory: Client) -> None:
    """An empty list, or an iterator without elements."""
    assert memory.write_many([]) == []
    assert memory.write_many(iter(())) == []


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "NaN": ({"content": {"a": math.nan}}, "NOT_CANONICAL"),
    "infinity": ({"content": [-math.inf]}, "NOT_CANONICAL"),
    "a lone surrogate": ({"content": "\ud800"}, "NOT_CANONICAL"),
    "an integer too long": ({"content": 2**53}, "NOT_CANONICAL"),
    "a circle": ({"content": CIRCULAR}, "INVALID_JSON"),
    "no JSON": ({"content_text": "{"}, "INVALID_JSON"),
    "evidence that is not JSON": (
        {"content": 1, "evidence": [{"type": "a", "uri": math.nan}]},
        "EVIDENCE_INVALID",
    ),
    "NaN as confidence": ({"content": 1, "confidence": math.nan}, "CONFIDENCE_OUT_OF_RANGE"),
    "NaN in the embedding": (
        {"content": 1, "embedding": [math.nan, *[0.0] * 383]},
        "EMBEDDING_OUT_OF_RANGE",
    ),
}


@pytest.mark.parametrize(("bad", "reason"), BAD.values(), ids=BAD.keys())
def test_a_bad_request_is_recorded_and_harms_no_other(
    memory: Client, bad: dict[str, Any], reason: str
) -> None:
    """Proves: W8."""
    results = memory.write_many([_fact(1), {"layer": "semantic"} | bad, _fact(2)])
    assert [result.outcome for result in results] == ["COMMITTED", "REJECTED", "COMMITTED"]
    assert results[1].reason == reason
    status = memory.request_status(results[1].request_id)
    assert status is not None
    assert status.reason == reason


@pytest.mark.parametrize(
    "bad",
    [
        {"content": {"a": "\x00"}},
        {"content": 1, "subject": "a\x00b"},
        {"content": 1, "subject": "a\ud800b"},
        {"content": 1, "scope": "/org/\x00"},
        {"content": 1, "layer": "\udfff"},
        {"content": 1, "evidence": [{"type": "a", "uri": "\x00"}]},
        {"content": 1, "confidence": 10**400},
    ],
    ids=ascii,
)
def test_text_that_postgresql_cannot_hold_harms_no_other(
    memory: Client, bad: dict[str, Any]
) -> None:
    """Proves: W8."""
    results = memory.write_many([_fact(1), {"layer": "semantic"} | bad, _fact(2)])
    assert [result.outcome for result in results] == ["COMMITTED", "REJECTED", "COMMITTED"]
    assert results[1].reason is not None


def test_one_call_and_many_write_the_same(memory: Client) -> None:
    """SQL arguments and JSON objects carry the same values."""
    arguments: dict[str, Any] = {
        "content": {"text": "ä\U0001f9cb", "n": [1.5, None]},
        "subject": "Ana",
        "confidence": 0.4,
        "importance": 0.2,
        "evidence": [{"type": "human_input", "uri": "chat:1"}],
        "embedding": [0.1 * (n % 7) for n in range(384)],
    }
    one = memory.write("working", **arguments, idempotency_key="a")
    [many] = memory.write_many([{"layer": "working", "idempotency_key": "b"} | arguments])
    assert one.item_id is not None
    assert many.item_id is not None
    left, right = memory.get(one.item_id), memory.get(many.item_id)
    assert left is not None
    assert right is not None
    for name in ("content", "subject", "confidence", "importance", "text", "layer", "scope"):
        assert getattr(left, name) == getattr(right, name), name
    assert left.provenance["evidence"] == right.provenance["evidence"]
    # Of both alike: what they say is told once, whichever comes first.
    [found] = memory.recall(embedding=arguments["embedding"])
    assert {found.item_id, *found.same_as} == {one.item_id, many.item_id}


def test_the_same_request_object_written_twice_counts_once(memory: Client) -> None:
    """Proves: W4."""
    request = WriteRequest(layer="semantic", content={"statement": "once"})
    first, second = memory.write_many([request, request])
    assert (first.outcome, second.outcome) == ("COMMITTED", "ALREADY_COMMITTED")
    [third] = memory.write_many([request])
    assert (third.outcome, third.item_id) == ("ALREADY_COMMITTED", first.item_id)


def test_an_unknown_name_is_an_error_of_the_caller(memory: Client) -> None:
    """A misspelt argument must not vanish."""
    with pytest.raises(InvalidArgument, match="importanse"):
        memory.write_many([_fact(1) | {"importanse": 1}])
    with pytest.raises(InvalidArgument, match="layer"):
        memory.write_many([{"content": 1}])
    assert memory.recall("fact") == []
