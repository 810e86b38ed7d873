"""Numbers, vectors, times and names outside their range are refused, each violation by name."""

from __future__ import annotations

import math
from typing import Any

import psycopg
import pytest
from psycopg.rows import DictRow

from helpers import write, write_many

TEXT = {"text": "Ana prefers green tea"}
VECTOR = [0.5] * 384


def errors(answer: DictRow) -> list[str]:
    """The codes of all violations."""
    return [error["code"] for error in answer["detail"]["errors"]]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, -1e-300, 1 + 1e-15, 1e308])
def test_a_number_outside_its_range_is_refused(
    agent: psycopg.Connection[DictRow], room: str, number: float
) -> None:
    """NaN and the infinities too, wherever a number can be passed; all violations at once.

    Proves: V1
    """
    answer = write(agent, "semantic", TEXT, scope=room, confidence=number, importance=number)
    assert answer["reason"] == "MULTIPLE_VIOLATIONS"
    assert errors(answer) == ["CONFIDENCE_OUT_OF_RANGE", "IMPORTANCE_OUT_OF_RANGE"]
    if abs(number) > 65504 or math.isnan(number):
        if number != 1e308:
            vector = write(agent, "semantic", TEXT, scope=room, embedding=[*VECTOR[1:], number])
            assert vector["reason"] == "EMBEDDING_OUT_OF_RANGE"
        as_text = {"layer": "semantic", "content": TEXT, "confidence": str(number)}
        assert write_many(agent, [as_text])[0]["reason"] == "CONFIDENCE_OUT_OF_RANGE"


@pytest.mark.parametrize("number", [0.0, -0.0, 1.0, 5e-324])
def test_the_bounds_of_a_number_belong_to_it(
    agent: psycopg.Connection[DictRow], room: str, number: float
) -> None:
    """From 0 to 1, both included.

    Proves: V1
    """
    answer = write(agent, "semantic", TEXT, scope=room, confidence=number, importance=number)
    assert answer["outcome"] == "COMMITTED"


@pytest.mark.parametrize(
    ("embedding", "codes"),
    [
        ([1.0] * 383, ["EMBEDDING_DIMENSION"]),
        ([1.0] * 385, ["EMBEDDING_DIMENSION"]),
        ([1.0] * 20_000, ["EMBEDDING_DIMENSION"]),
        ([[1.0] * 192, [1.0] * 192], ["EMBEDDING_DIMENSION"]),
        ([], ["EMBEDDING_DIMENSION", "EMBEDDING_OUT_OF_RANGE"]),
        ([0.0] * 384, ["EMBEDDING_OUT_OF_RANGE"]),
        ([1e-9] * 384, ["EMBEDDING_OUT_OF_RANGE"]),
        ([*VECTOR[1:], None], ["EMBEDDING_OUT_OF_RANGE"]),
        ([*VECTOR[1:], 65_504.5], ["EMBEDDING_OUT_OF_RANGE"]),
    ],
)
def test_an_embedding_that_cannot_be_compared_is_refused(
    agent: psycopg.Connection[DictRow], room: str, embedding: list[Any], codes: list[str]
) -> None:
    """Wrong dimension, no number, not finite at half precision, or without a direction.

    Proves: V1
    """
    answer = write(agent, "semantic", TEXT, scope=room, embedding=embedding)
    assert answer["outcome"] == "REJECTED"
    assert errors(answer) == codes


@pytest.mark.parametrize("extreme", [65_504.0, -65_504.0, 1e-6])
def test_an_embedding_at_the_limits_of_half_precision_is_kept(
    agent: psycopg.Connection[DictRow], room: str, extreme: float
) -> None:
    """And its item is found by it.

    Proves: V1, L6
    """
    answer = write(agent, "semantic", TEXT, scope=room, embedding=[extreme] + [0.0] * 383)
    assert answer["outcome"] == "COMMITTED"
    vector = [extreme] + [0.0] * 383
    found = agent.execute(
        "SELECT item_id, similarity"
        "  FROM memwarden.recall(embedding => %s::real[], scopes => ARRAY[%s])",
        (vector, room),
    ).fetchall()
    assert [row["item_id"] for row in found] == [answer["item_id"]]
    assert found[0]["similarity"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("valid_from", "valid_to"),
    [
        ("2025-01-02", "2025-01-01"),
        ("2025-01-01", "2025-01-01"),
        (None, "yesterday"),
        (None, "4713-01-01 BC"),
        ("infinity", None),
        (None, "-infinity"),
        ("infinity", "-infinity"),
        ("294276-12-31", "2025-01-01"),
    ],
)
def test_a_fact_that_ends_before_it_begins_is_refused(
    agent: psycopg.Connection[DictRow], valid_from: str | None, valid_to: str | None
) -> None:
    """Where no beginning is given it is now.

    Proves: V1, T4
    """
    answer = write(agent, "semantic", TEXT, valid_from=valid_from, valid_to=valid_to)
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "VALID_TIME_INVALID")


@pytest.mark.parametrize(
    ("valid_from", "valid_to"),
    [
        ("-infinity", "infinity"),
        ("4713-01-01 BC", "294276-12-31"),
        ("0044-03-15 BC", None),
        (None, "294276-12-31"),
        ("294276-01-01", None),
    ],
)
def test_a_fact_may_hold_at_any_time_there_is(
    agent: psycopg.Connection[DictRow], room: str, valid_from: str | None, valid_to: str | None
) -> None:
    """Before Christ, at the end of the calendar, for ever: stored as given and found at that time.

    Proves: V1, T4
    """
    answer = write(agent, "semantic", TEXT, scope=room, valid_from=valid_from, valid_to=valid_to)
    assert answer["outcome"] == "COMMITTED"
    row = agent.execute(
        "SELECT (%(from)s::timestamptz IS NULL OR valid_from = %(from)s::timestamptz)"
        "   AND valid_to IS NOT DISTINCT FROM %(to)s::timestamptz AS kept,"
        "       (SELECT count(*) FROM memwarden.recall(valid_at =>"
        "           coalesce(%(from)s::timestamptz, now() + '1 minute'),"
        "           scopes => ARRAY[%(room)s])) AS found"
        "  FROM memwarden.get(%(item)s)",
        {"from": valid_from, "to": valid_to, "item": answer["item_id"], "room": room},
    ).fetchone()
    assert row == {"kept": True, "found": 1}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("layer", "UNKNOWN_LAYER"),
        ("scope", "UNKNOWN_SCOPE"),
        ("kind", "UNKNOWN_KIND"),
        ("subject", "SUBJECT_INVALID"),
        ("predicate", "PREDICATE_INVALID"),
        ("idempotency_key", "IDEMPOTENCY_KEY_INVALID"),
        ("embedding_model", "UNKNOWN_EMBEDDING_MODEL"),
    ],
)
def test_an_empty_name_is_no_name(
    agent: psycopg.Connection[DictRow], name: str, reason: str
) -> None:
    """Leaving an argument out and passing an empty text are not the same.

    Proves: V1
    """
    request: dict[str, Any] = {"layer": "semantic", "content": TEXT} | {name: ""}
    assert write(agent, **request)["reason"] == reason


def test_arguments_that_are_no_values_of_their_type_never_reach_the_pipeline(
    agent: psycopg.Connection[DictRow], room: str
) -> None:
    """PostgreSQL refuses them with a standard SQLSTATE, as for every function.

    Proves: V1
    """
    for name, value, error in (
        ("ttl", "a while", psycopg.errors.InvalidDatetimeFormat),
        ("deadline", "294277-01-01", psycopg.errors.DatetimeFieldOverflow),
        ("request_id", "1", psycopg.errors.InvalidTextRepresentation),
        ("subject", "a\0b", psycopg.DataError),
    ):
        with pytest.raises(error):
            write(agent, "semantic", TEXT, scope=room, **{name: value})
    assert write(agent, "semantic", TEXT, scope=room)["outcome"] == "COMMITTED"
