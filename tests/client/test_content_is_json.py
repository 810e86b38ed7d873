"""What the client sends is JSON that PostgreSQL can hold, or text that the server refuses."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden import InvalidContent, WriteRequest
from memwarden._json import lenient_json, strict_json
from memwarden.requests import json_object, payloads, sql_arguments

CIRCULAR: list[Any] = []
CIRCULAR.append(CIRCULAR)

NOT_JSON = {
    "NaN": {"a": [math.nan]},
    "infinity": {"a": math.inf},
    "lone surrogate": {"a": "\ud800"},
    "lone surrogate as a key": {"\udc00": 1},
    "NUL": {"a": "x\x00y"},
    "NUL after an escaped backslash": "\\\x00",
    "a set": {"a": {1, 2}},
    "bytes": b"a",
    "a key that is no text": {1: "a", "1": "b"},
    "a circle": CIRCULAR,
}

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="ascii")), inner),
    max_leaves=20,
)


@pytest.mark.parametrize("content", NOT_JSON.values(), ids=NOT_JSON.keys())
def test_content_that_is_not_json_is_refused_before_it_is_sent(content: object) -> None:
    """The message says what is wrong without repeating the content."""
    with pytest.raises(InvalidContent) as caught:
        sql_arguments(WriteRequest(layer="semantic", content=content))
    assert "x\\u0000y" not in str(caught.value), "the message repeats the content"


def test_nesting_without_end_is_refused_before_it_is_sent() -> None:
    """No recursion error escapes."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidContent):
        strict_json(deep)
    assert json.loads(json_object(WriteRequest(layer="semantic", content=deep)))


def test_an_escaped_backslash_before_u0000_is_no_nul() -> None:
    """A backslash in the text looks like an escape and is none."""
    assert json.loads(strict_json("\\u0000")) == "\\u0000"


@given(JSON_VALUES)
def test_any_json_value_survives(value: object) -> None:
    """What goes in as JSON comes out of the text again."""
    if "\\u0000" in json.dumps(value):
        return
    assert json.loads(strict_json(value)) == value


@pytest.mark.parametrize("content", NOT_JSON.values(), ids=NOT_JSON.keys())
def test_a_batch_carries_bad_content_as_text_for_the_server_to_refuse(content: object) -> None:
    """Proves: W8 (one bad row harms no other), on the client's side."""
    request = WriteRequest(layer="semantic", content=content)
    sent = json.loads(json_object(request))
    assert "content" not in sent
    assert sent["content_text"] == lenient_json(content)
    assert sent["request_id"] == str(request.request_id)


def test_a_batch_carries_numbers_dates_and_vectors_that_postgresql_reads() -> None:
    """JSON has no NaN and no interval; PostgreSQL reads both from strings."""
    sent = json.loads(
        json_object(
            WriteRequest(
                layer="semantic",
                content={"a": 1},
                confidence=math.nan,
                embedding=[0.1, math.inf, 1e300, 1e-60],
                ttl=timedelta(days=2, microseconds=5),
                deadline=datetime(2030, 1, 2, 3, 4, tzinfo=UTC),
            )
        )
    )
    assert sent["confidence"] == "nan"
    assert sent["embedding"] == [pytest.approx(0.1), "inf", "inf", 0]
    assert sent["ttl"] == "2 days 0.000005 seconds"
    assert sent["deadline"] == "2030-01-02T03:04:00+00:00"


def test_a_batch_of_huge_contents_is_cut_into_several_calls() -> None:
    """One SQL parameter holds at most a gigabyte."""
    batch = [WriteRequest(layer="semantic", content="x" * (6 * 1024 * 1024)) for _ in range(5)]
    parts = list(payloads(batch))
    assert [request for part, _ in parts for request in part] == batch
    assert len(parts) > 1
    assert all(len(json.loads(payload)) == len(part) for part, payload in parts)
