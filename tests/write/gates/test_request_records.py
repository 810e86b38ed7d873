"""Every request stays on record with its outcome, and says what each gate decided and how long."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import DictRow

from helpers import write
from write.gates.obedient import add_obedient_gate, answering

if TYPE_CHECKING:
    from conftest import World

TEXT = {"text": "Ana prefers green tea"}


def status(agent: psycopg.Connection[DictRow], request_id: Any) -> DictRow:
    """What request_status() tells of a request."""
    rows = agent.execute("SELECT * FROM memwarden.request_status(%s)", (request_id,)).fetchall()
    assert len(rows) == 1
    return rows[0]


# Those that record nothing, and those that are asked where something is declared or has to wait.
NOT_OF_A_PLAIN_WRITE = [
    "capture",
    *("reset", "act", "trial", "answer", "allowance", "budget", "store"),
    *("constraint", "correction", "merge", "revision"),
    *("mask", "entity", "consent", "embedding", "noise", "pack", "approval"),
    *("deadline", "scope_lock", "reference", "external"),
]


def gates(world: World, *, before: str = "99") -> list[str]:
    """The gates that record themselves, in the pipeline's order, up to one of them."""
    listed = world.rows(
        "SELECT lpad(position::text, 2, '0') || '_' || gate AS name, gate FROM memwarden.pipeline"
        " WHERE enabled ORDER BY name"
    )
    return [
        row["name"]
        for row in listed
        if row["name"] == before
        or (row["name"] < before and row["gate"] not in NOT_OF_A_PLAIN_WRITE)
    ]


def test_a_committed_write_names_its_item_and_every_gate_accepted_it(
    shared_world: World, home: str
) -> None:
    """Answer, request_status(), the view requests and the item itself tell the same story.

    Proves: W1, W2, W7
    """
    agent = shared_world.agent(home)
    asked = uuid.UUID(str(shared_world.value("SELECT memwarden_internal.uuid7()")))
    answer = write(agent, "semantic", TEXT, subject="Ana", request_id=asked, trace_id="trace-1")
    assert (answer["outcome"], answer["request_id"]) == ("COMMITTED", asked)
    assert (answer["gate"], answer["reason"], answer["retry_after"]) == (None, None, None)

    told = status(agent, asked)
    assert {name: told[name] for name in answer} == answer
    assert (told["layer"], told["scope"], told["attempt"]) == ("semantic", home, 1)
    assert told["submitted_at"] <= told["decided_at"]
    assert [entry["gate"] for entry in told["gates"]] == gates(shared_world)
    for entry in told["gates"]:
        assert (entry["decision"], entry["reason"]) == ("ACCEPT", None)
        assert isinstance(entry["us"], int)
        assert entry["us"] >= 0

    viewed = agent.execute("SELECT * FROM memwarden.requests").fetchall()
    assert [(row["request_id"], row["trace_id"], row["gates"]) for row in viewed] == [
        (asked, "trace-1", told["gates"])
    ]
    item = agent.execute("SELECT * FROM memwarden.get(%s)", (answer["item_id"],)).fetchone()
    assert item is not None
    assert (item["version_id"], item["content"], item["subject"], item["scope"]) == (
        answer["version_id"],
        TEXT,
        "Ana",
        home,
    )
    assert item["provenance"]["request_id"] == str(asked)


@pytest.mark.parametrize(
    ("layer", "arguments", "gate", "reason"),
    [
        ("semantic", {"scope": "/org/none"}, "05_identity", "UNKNOWN_SCOPE"),
        ("semantic", {"deadline": "2020-01-01"}, "15_deadline", "DEADLINE_PASSED"),
        ("semantic", {"confidence": 7}, "25_schema", "CONFIDENCE_OUT_OF_RANGE"),
        ("semantic", {"subject": "Ana"}, "38_known", "EXACT_DUPLICATE"),
    ],
)
def test_a_refusal_ends_the_trail_at_the_gate_that_refused(
    shared_world: World, home: str, layer: str, arguments: dict[str, Any], gate: str, reason: str
) -> None:
    """The gates before have accepted, those behind were never asked, nothing was committed.

    Proves: W1, W2, W7
    """
    agent = shared_world.agent(home)
    before = write(agent, layer, TEXT, subject="Ana", idempotency_key="first")
    answer = write(agent, layer, TEXT, **arguments)
    assert (answer["gate"], answer["reason"]) == (gate, reason)
    told = status(agent, answer["request_id"])
    assert [entry["gate"] for entry in told["gates"]] == gates(shared_world, before=gate)
    assert [entry["decision"] for entry in told["gates"][:-1]] == ["ACCEPT"] * (
        len(told["gates"]) - 1
    )
    assert (told["gates"][-1]["decision"], told["gates"][-1]["reason"]) == ("REJECT", reason)
    items = agent.execute("SELECT version_id FROM memwarden.items").fetchall()
    assert [row["version_id"] for row in items] == [before["version_id"]]


def test_a_deferral_is_in_the_trail_with_its_time(world: World) -> None:
    """DEFER parks the request, says when it is tried again, and commits nothing.

    Proves: W2, W7
    """
    add_obedient_gate(world)
    agent = world.agent()
    answer = write(agent, "semantic", answering("DEFER", reason="LATER", detail={"for": "a test"}))
    assert (answer["outcome"], answer["gate"], answer["reason"], answer["detail"]) == (
        "DEFERRED",
        "40_obedient",
        "LATER",
        {"for": "a test"},
    )
    told = status(agent, answer["request_id"])
    assert told["retry_after"] == answer["retry_after"] > told["decided_at"]
    assert told["gates"][-1]["decision"] == "DEFER"
    assert agent.execute("SELECT FROM memwarden.items").fetchall() == []


def test_statistics_tell_what_each_gate_decided_and_how_long_it_took(
    shared_world: World, home: str
) -> None:
    """gate_statistics counts decisions with their reasons, and has three percentiles of the times.

    Proves: W7 (metrics), Q1
    """
    agent = shared_world.agent(home)
    for drink in ("green tea", "coffee"):
        assert write(agent, "semantic", {"drink": drink})["outcome"] == "COMMITTED"
    refused = write(agent, "semantic", TEXT, confidence=2)
    assert refused["outcome"] == "REJECTED"
    counted = agent.execute("SELECT * FROM memwarden.gate_statistics").fetchall()
    of_gate = {
        (row["decision"], row["reason"]): row["requests"]
        for row in counted
        if row["gate"] == refused["gate"]
    }
    # The first finds out on what terms; the second is decided as a set: no gate ran.
    assert of_gate == {
        ("ACCEPT", None): 1,
        ("DECIDED_AS_SET", None): 1,
        ("REJECT", refused["reason"]): 1,
    }
    for row in counted:
        if row["decision"] == "DECIDED_AS_SET" and row["p50_us"] is None:
            assert row["p95_us"] is row["p99_us"] is None
        else:
            assert 0 <= row["p50_us"] <= row["p95_us"] <= row["p99_us"]


def test_a_refusal_survives_because_it_is_no_error(world: World) -> None:
    """The refused request is committed with the caller's transaction, beside the accepted one.

    Proves: W2
    """
    agent = world.agent()
    with agent.transaction():
        refused = write(agent, "semantic", TEXT, confidence=3)
        accepted = write(agent, "semantic", TEXT)
    outcomes = {
        row["request_id"]: row["outcome"]
        for row in world.rows("SELECT request_id, outcome FROM memwarden_data.write_request")
    }
    assert outcomes == {refused["request_id"]: "REJECTED", accepted["request_id"]: "COMMITTED"}


def test_a_gate_that_raises_does_not_lose_the_request(world: World) -> None:
    """A gate's exception becomes GATE_FAULT with its SQLSTATE; an assertion is one, too.

    Proves: W2
    """
    add_obedient_gate(world)
    agent = world.agent()
    for content, sqlstate in (
        (answering(**{"raise": "P0001"}), "P0001"),
        (answering(**{"raise": "23505"}), "23505"),
        (answering(None, **{"assert": True}), "P0004"),
    ):
        answer = write(agent, "semantic", content)
        assert (answer["outcome"], answer["reason"]) == ("REJECTED", "GATE_FAULT")
        assert sqlstate in str(answer["detail"])
        assert status(agent, answer["request_id"])["outcome"] == "REJECTED"


def test_nobody_reads_the_requests_of_another_principal(shared_world: World, home: str) -> None:
    """Another agent of the same scope gets no row, by function or by view.

    Proves: W1
    """
    agent, colleague = shared_world.agent(home), shared_world.agent(home)
    answer = write(agent, "semantic", TEXT)
    query = "SELECT FROM memwarden.request_status(%s)"
    assert colleague.execute(query, (answer["request_id"],)).fetchall() == []
    assert colleague.execute("SELECT FROM memwarden.requests").fetchall() == []
    assert agent.execute(query, (uuid.uuid4(),)).fetchall() == []


def test_a_session_without_identity_is_told_so_and_leaves_no_record(shared_world: World) -> None:
    """Without a principal there is nobody whose request it could be: 28000.

    Proves: A6
    """
    stranger = shared_world.connect(shared_world.role("memwarden_agent"))
    counted = "SELECT count(*) FROM memwarden_data.write_request"
    before = shared_world.value(counted)
    with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification) as caught:
        write(stranger, "semantic", TEXT)
    assert caught.value.diag.message_hint
    assert shared_world.value(counted) == before
