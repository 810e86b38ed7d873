"""What was refused before it was scanned leaves no copy behind: no table, no log, no error text."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import DictRow

from helpers import beside_names, write, write_many
from traces import traces
from write.gates.obedient import add_obedient_gate, answering, run_retries

if TYPE_CHECKING:
    from conftest import World

FAR = "x" * 1_100_000


def everywhere(marker: str, **arguments: Any) -> dict[str, Any]:
    """A request that carries the marker wherever a caller's own words go."""
    return {
        "layer": "semantic",
        "content": {"text": f"the word is {marker}", marker: [marker]},
        "subject": f"about {marker}",
        "predicate": f"says {marker}",
        "evidence": [{"type": "document", "uri": f"file:{marker}"}],
        "idempotency_key": marker,
    } | arguments


REFUSED: dict[str, dict[str, Any]] = {
    "unknown layer": {"layer": "m4rker"},
    "unknown scope": {"scope": "/org/m4rker"},
    "read-only scope": {"scope": "/global"},
    "foreign request id": {"request_id": str(uuid.UUID(int=1))},
    "too late": {"deadline": "2020-01-01"},
    "too large": {"content": f"m4rker {FAR}"},
    "no JSON": {"content": None, "content_text": '{"m4rker": m4rker'},
    "not canonical": {"content": None, "content_text": '{"m4rker": 1, "m4rker": 2}'},
    "a lone surrogate": {"content": None, "content_text": '["m4rker \\ud800"]'},
    "a NUL": {"content": None, "content_text": '["m4rker \\u0000"]'},
    "against its schema": {"kind": "number"},
    "unknown kind": {"kind": "m4rker"},
    "out of range": {"confidence": 17, "embedding_model": "m4rker"},
    "no number": {"confidence": "m4rker"},
    "no time": {"deadline": "m4rker"},
    "unknown argument": {"m4rker": "m4rker"},
    "long names": {"subject": "m4rker" * 1000, "trace_id": "m4rker" * 100, "kind": "m4rker " * 9},
    "bad evidence": {"evidence": [{"m4rker": "m4rker"}]},
    "an early gate": {"content": {"m4rker": "m4rker", "answer": {"decision": "REJECT"}}},
    "a gate that fails": {"content": {"m4rker": "m4rker", "answer": {"raise": "P0001"}}},
    "a gate that asserts": {"content": {"m4rker": "m4rker", "answer": {"assert": True}}},
}


@pytest.fixture(scope="module")
def ready(shared_world: World) -> World:
    """A world with a gate that refuses before gate 30, and a kind that refuses every text."""
    add_obedient_gate(shared_world, position=22)
    schema = '{"properties": {"text": {"type": "number", "maximum": 3}}}'
    shared_world.admin.execute(
        "SELECT memwarden.define_schema('semantic', 'number', %s)", (schema,)
    )
    return shared_world


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_request_leaves_no_trace_of_its_content(
    ready: World, agent: psycopg.Connection[DictRow], case: str
) -> None:
    """Its record stays, with outcome and reason; its words are nowhere; its neighbour commits.

    The answer names what led nowhere.

    Proves: W1, W8
    """
    marker = f"m{uuid.uuid4().hex}"
    changed: dict[str, Any] = {}
    for name, value in REFUSED[case].items():
        changed[name.replace("m4rker", marker)] = replaced(value, marker)
    neighbour = {"layer": "semantic", "content": {"text": f"beside {case}"}}
    refused, accepted = write_many(agent, [everywhere(marker, **changed), neighbour])
    assert refused["outcome"] in ("REJECTED", "DEADLINE_EXCEEDED")
    assert refused["reason"] is not None
    assert accepted["outcome"] == "COMMITTED"
    assert marker not in str(beside_names(refused))
    assert traces(ready, marker) == []
    query = "SELECT outcome, reason FROM memwarden.request_status(%s)"
    recorded = agent.execute(query, (refused["request_id"],)).fetchall()
    assert recorded == [{"outcome": refused["outcome"], "reason": refused["reason"]}]


def replaced(value: Any, marker: str) -> Any:
    """The value with this test's marker in place of the table's."""
    if isinstance(value, str):
        return value.replace("m4rker", marker)
    if isinstance(value, dict):
        return {replaced(key, marker): replaced(child, marker) for key, child in value.items()}
    return [replaced(child, marker) for child in value] if isinstance(value, list) else value


def test_the_search_for_traces_finds_what_was_committed(ready: World, home: str) -> None:
    """The check above is not blind: it sees what is kept, and what an error writes into the log."""
    marker = f"m{uuid.uuid4().hex}"
    assert write(ready.agent(home), **everywhere(marker))["outcome"] == "COMMITTED"
    with pytest.raises(psycopg.errors.InvalidTextRepresentation):
        ready.agent(home).execute(sql.SQL("SELECT {}::integer").format(marker))
    assert {"version_hot", "item", "server log"} <= set(traces(ready, marker))


@pytest.mark.parametrize(
    ("change", "outcome", "reason"),
    [
        (
            "UPDATE memwarden_data.principal SET validated = false",
            "REJECTED",
            "AGENT_NOT_VALIDATED",
        ),
        (
            "UPDATE memwarden_data.principal SET disabled_at = now()",
            "REJECTED",
            "PRINCIPAL_DISABLED",
        ),
        ("UPDATE memwarden_data.write_request SET deadline = now()", "DEADLINE_EXCEEDED", None),
        ("DROP FUNCTION public.obey", "REJECTED", "GATE_FAULT"),
    ],
)
def test_content_that_waited_is_forgotten_when_it_is_refused_at_last(
    world: World, change: str, outcome: str, reason: str | None
) -> None:
    """A deferred request keeps its content until the retry that refuses it, and no longer.

    Proves: W1, W2
    """
    add_obedient_gate(world)
    marker = f"m{uuid.uuid4().hex}"
    agent = world.agent()
    waiting = write(agent, **everywhere(marker, content={marker: 1} | answering("DEFER")))
    assert waiting["outcome"] == "DEFERRED"
    assert traces(world, marker) != []
    world.admin.execute(change)
    run_retries(world)
    query = "SELECT * FROM memwarden_data.write_request WHERE request_id = %s"
    row = world.rows(query, waiting["request_id"])[0]
    assert (row["outcome"], row["attempt"]) == (outcome, 2)
    assert row["reason"] == (reason or "DEADLINE_PASSED")
    assert row["content_hash"] is None
    assert traces(world, marker) == []


def test_only_a_keyed_hash_of_refused_content_is_kept(world: World) -> None:
    """Who can guess a refused content cannot confirm the guess; committed content has its hash.

    Proves: W1
    """
    agent = world.agent()
    content = {"text": "a password, perhaps"}
    refused = write(agent, "semantic", content, confidence=2)
    committed = write(agent, "semantic", content)
    plain = world.value("SELECT memwarden.content_hash(%s)", '{"text": "a password, perhaps"}')
    rows = {
        row["request_id"]: row
        for row in world.rows(
            "SELECT request_id, content_hash, refused_hash, r::text AS everything"
            " FROM memwarden_data.write_request AS r"
        )
    }
    record = rows[refused["request_id"]]
    assert record["content_hash"] is None
    assert len(record["refused_hash"]) == 32
    assert bytes(plain).hex() not in record["everything"]
    assert rows[committed["request_id"]]["content_hash"] == plain
