"""One write through the client."""

from __future__ import annotations

import inspect
import math
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import psycopg
import pytest

from memwarden import Client, InvalidArgument, InvalidContent
from memwarden._request_id import new_request_id

FACT = {"statement": "Ana drinks green tea"}


def test_a_write_answers_with_the_whole_decision(memory: Client) -> None:
    """Proves: W1."""
    request_id = new_request_id()
    result = memory.write("semantic", FACT, subject="Ana", request_id=request_id)
    assert (result.outcome, result.committed, result.stored) == ("COMMITTED", True, True)
    assert (result.rejected, result.deferred, result.reason) == (False, False, None)
    assert result.request_id == request_id
    assert result.item_id is not None
    assert result.version_id is not None
    status = memory.request_status(request_id)
    assert status is not None
    assert (status.outcome, status.layer, status.item_id) == (
        "COMMITTED",
        "semantic",
        result.item_id,
    )
    assert all(gate["us"] is None or gate["us"] >= 0 for gate in status.gates)


def test_every_argument_reaches_the_item(memory: Client, agent_scope: str) -> None:
    """Proves: W1."""
    start, end = datetime(2024, 5, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)
    before = datetime.now(UTC)
    evidence = [{"type": "human_input", "uri": "chat:1/2", "note": "ä \U0001f9cb"}]
    result = memory.write(
        "episodic",
        {"text": "Ana moved", "list": [1, None, True, 0.5]},
        subject="Ana",
        predicate="lives_in",
        scope=agent_scope,
        confidence=0.75,
        evidence=evidence,
        embedding=[0.5] * 384,
        ttl=timedelta(days=3),
        deadline=before + timedelta(minutes=5),
        idempotency_key="once",
        importance=0.9,
        valid_from=start,
        valid_to=end,
        trace_id="trace-7",
    )
    assert result.committed, result
    assert result.item_id is not None
    item = memory.get(result.item_id)
    assert item is not None
    assert (item.layer, item.scope, item.subject, item.predicate) == (
        "episodic",
        agent_scope,
        "Ana",
        "lives_in",
    )
    assert item.content == {"text": "Ana moved", "list": [1, None, True, 0.5]}
    assert (item.confidence, item.importance, item.status) == (0.75, 0.9, "ACTIVE")
    assert (item.valid_from, item.valid_to) == (start, end)
    assert item.expires_at is not None
    assert timedelta(days=3) <= item.expires_at - before < timedelta(days=3, minutes=1)
    assert item.provenance["evidence"] == evidence


def test_arguments_have_the_names_of_the_sql_functions(admin: psycopg.Connection) -> None:
    """Whoever knows one API knows the other."""
    for name in (
        *("write", "recall", "get", "history", "request_status", "promote", "retract", "annotate"),
        *("create_scope", "close_scope", "whoami", "explain_access", "issue_token"),
    ):
        row = admin.execute(
            """
            SELECT coalesce(p.proargnames[:p.pronargs], '{}') FROM pg_proc AS p
             WHERE p.pronamespace = 'memwarden'::regnamespace AND p.proname = %s
            """,
            (name,),
        ).fetchone()
        assert row is not None
        parameters = list(inspect.signature(getattr(Client, name)).parameters)[1:]
        if name == "write":
            # A word that Python keeps for itself; and what the client does beside it, last.
            parameters = ["class" if each == "write_class" else each for each in parameters]
            assert (parameters[-2:], parameters[:-2]) == (["wait", "timeout"], row[0])
            continue
        assert parameters == row[0], name


def test_the_same_write_twice_is_stored_once(memory: Client) -> None:
    """Proves: W4."""
    first = memory.write("semantic", FACT, subject="Ana")
    second = memory.write("semantic", FACT, subject="Ana")
    assert (second.outcome, second.item_id) == ("ALREADY_COMMITTED", first.item_id)
    assert second.stored
    assert not second.committed


def test_a_request_id_sent_twice_counts_once(memory: Client) -> None:
    """Proves: W4."""
    request_id = new_request_id()
    first = memory.write("semantic", FACT, request_id=request_id)
    second = memory.write("semantic", FACT, request_id=request_id)
    assert (second.outcome, second.version_id) == ("ALREADY_COMMITTED", first.version_id)
    refused = new_request_id()
    outcomes = [memory.write("gossip", FACT, request_id=refused).reason for _ in range(2)]
    assert outcomes == ["UNKNOWN_LAYER", "UNKNOWN_LAYER"]


def test_a_deadline_in_the_past_writes_nothing(memory: Client) -> None:
    """Proves: W5."""
    passed = datetime.now(UTC) - timedelta(seconds=1)
    result = memory.write("semantic", FACT, deadline=passed)
    assert (result.outcome, result.item_id, result.stored) == ("DEADLINE_EXCEEDED", None, False)
    assert memory.recall("green tea") == []


def test_a_date_without_a_zone_counts_as_local_time(memory: Client) -> None:
    """As everywhere in Python."""
    local = datetime.now() - timedelta(hours=1)
    result = memory.write("semantic", FACT, valid_from=local)
    assert result.item_id is not None
    item = memory.get(result.item_id)
    assert item is not None
    assert item.valid_from == local.astimezone()


@pytest.mark.parametrize("content", [{"a": math.nan}, {"a": "\ud800"}, {"a": "\x00"}], ids=ascii)
def test_content_that_is_not_json_is_not_sent(
    memory: Client, admin: psycopg.Connection, content: object
) -> None:
    """No request is recorded either."""
    with pytest.raises(InvalidContent):
        memory.write("semantic", content)
    row = admin.execute("SELECT count(*) FROM memwarden_data.write_request").fetchone()
    assert row == (0,)


@pytest.mark.parametrize("subject", ["a\x00b", "a\udc00b"], ids=ascii)
def test_text_that_postgresql_cannot_hold_is_an_invalid_argument(
    memory: Client, subject: str
) -> None:
    """The connection is good for the next call."""
    with pytest.raises(InvalidArgument):
        memory.write("semantic", FACT, subject=subject)
    assert memory.write("semantic", FACT).committed, "the connection is of no more use"


@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        ([0.1, 0.2, 0.3], "EMBEDDING_DIMENSION"),
        ([math.nan] * 384, "EMBEDDING_OUT_OF_RANGE"),
        ([1e300] * 384, "EMBEDDING_OUT_OF_RANGE"),
        ([0.0] * 384, "EMBEDDING_OUT_OF_RANGE"),
        ([1e-60, *[0.5] * 383], None),
    ],
    ids=["three numbers", "NaN", "too large", "zero", "one too small to hold"],
)
def test_an_embedding_is_judged_by_the_server(
    memory: Client, vector: list[float], reason: str | None
) -> None:
    """Also what a `real` cannot hold: it must not fail the call."""
    assert memory.write("semantic", FACT, embedding=vector).reason == reason


def test_out_of_range_numbers_and_false_ids_are_refused_and_recorded(memory: Client) -> None:
    """A refusal is a result."""
    for confidence in (-0.1, 1.7, math.nan, math.inf):
        result = memory.write("semantic", FACT, confidence=confidence)
        assert result.reason == "CONFIDENCE_OUT_OF_RANGE"
        assert memory.request_status(result.request_id) is not None
    assert memory.write("semantic", FACT, request_id=uuid4()).reason == "INVALID_REQUEST_ID"


def test_a_reason_is_explained(memory: Client) -> None:
    """`reasons()` knows every code."""
    result = memory.write("semantic", FACT, scope="/org/elsewhere")
    explained = {each.reason: each for each in memory.reasons()}
    assert result.reason is not None
    assert explained[result.reason].outcome == result.outcome == "REJECTED"
    assert explained[result.reason].meaning
