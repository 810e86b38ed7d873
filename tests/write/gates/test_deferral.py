"""A deferred request waits, is tried again with growing patience, and is decided at last."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import psycopg
import pytest

from helpers import recall, write, write_many
from replay import check_store
from write.gates.obedient import add_obedient_gate, answering, make_due, run_retries, status

if TYPE_CHECKING:
    from conftest import World


@pytest.fixture
def ready(world: World) -> World:
    """A world with an obedient gate."""
    add_obedient_gate(world)
    return world


def test_a_deferred_write_commits_once_its_gate_accepts(ready: World) -> None:
    """As the agent who asked, with the embedding and the key it gave; its waiting copy is erased.

    Proves: W2, W4
    """
    role = ready.register()
    agent = ready.connect(role)
    vector = [1.0, *[0.0] * 383]
    content = answering("DEFER", until_attempt=3)
    asked = write(agent, "semantic", content, subject="Ana", embedding=vector, confidence=0.7)
    assert (asked["outcome"], asked["item_id"]) == ("DEFERRED", None)
    assert recall(agent) == []
    run_retries(ready)
    waiting = status(ready, asked)
    assert (waiting["outcome"], waiting["attempt"]) == ("DEFERRED", 2)
    assert waiting["content"] is not None
    run_retries(ready)
    done = status(ready, asked)
    assert (done["outcome"], done["attempt"], done["retry_at"]) == ("COMMITTED", 3, None)
    assert (done["content"], done["subject"], done["embedding"]) == (None, None, None)
    assert [entry["decision"] for entry in done["gates"]] == ["ACCEPT"] * len(done["gates"])

    found = recall(agent, embedding=vector)
    assert [(row["item_id"], row["similarity"]) for row in found] == [(done["item_id"], 1.0)]
    assert (found[0]["content"], found[0]["subject"]) == (content, "Ana")
    assert found[0]["confidence"] == 0.7
    assert found[0]["provenance"]["agent"] == role
    assert found[0]["provenance"]["request_id"] == str(asked["request_id"])
    again = write(agent, "semantic", content, subject="Ana")
    assert (again["outcome"], again["version_id"]) == ("ALREADY_COMMITTED", done["version_id"])
    check_store(ready.admin)


def test_patience_grows_and_ends(ready: World) -> None:
    """Twice as long after each attempt, an hour at most; then RETRIES_EXHAUSTED.

    Proves: W2
    """
    ready.admin.execute(
        "UPDATE memwarden_data.layer SET retry_backoff = '10 minutes', max_attempts = 6"
        " WHERE layer = 'semantic'"
    )
    asked = write(ready.agent(), "semantic", answering("DEFER", reason="NOT_YET", detail={"a": 1}))
    waits = []
    for attempt in range(1, 6):
        row = status(ready, asked)
        assert (row["outcome"], row["reason"], row["attempt"]) == ("DEFERRED", "NOT_YET", attempt)
        waits.append((row["retry_at"] - row["decided_at"]) / timedelta(minutes=1))
        run_retries(ready)
    assert waits == [10, 20, 40, 60, 60]
    row = status(ready, asked)
    assert (row["outcome"], row["reason"], row["gate"]) == (
        "REJECTED",
        "RETRIES_EXHAUSTED",
        "40_obedient",
    )
    assert row["detail"] == {"a": 1, "last_reason": "NOT_YET", "attempts": 6}
    assert row["retry_at"] is None
    run_retries(ready)
    assert status(ready, asked)["attempt"] == 6


def test_what_is_not_due_waits(ready: World) -> None:
    """The job leaves alone what its time has not come for.

    Proves: W2
    """
    agent = ready.agent()
    early = write(agent, "semantic", answering("DEFER", until_attempt=2, n=1))
    make_due(ready)
    late = write(agent, "semantic", answering("DEFER", until_attempt=2, n=2))
    with ready.connect("memwarden_jobs") as jobs:
        jobs.execute("CALL memwarden.retry_deferred()")
    assert (status(ready, early)["outcome"], status(ready, late)["outcome"]) == (
        "COMMITTED",
        "DEFERRED",
    )


CHANGES = {
    "the agent was disabled": (
        "UPDATE memwarden_data.principal SET disabled_at = now()",
        "PRINCIPAL_DISABLED",
    ),
    "its grant was lost": ("DELETE FROM memwarden_data.scope_grant", "UNKNOWN_SCOPE"),
    "its grant reads only": (
        "UPDATE memwarden_data.scope_grant SET writes = false",
        "SCOPE_READ_ONLY",
    ),
    "the scope was closed": ("UPDATE memwarden_data.scope SET closed_at = now()", "SCOPE_CLOSED"),
    "nobody vouches for it": (
        "UPDATE memwarden_data.principal SET validated = false",
        "AGENT_NOT_VALIDATED",
    ),
    "the layer is fed by promotion": (
        "UPDATE memwarden_data.layer SET direct_writes = false",
        "DIRECT_WRITE_OFF",
    ),
    "the limit was lowered": (
        "UPDATE memwarden_data.layer SET max_content_bytes = 9",
        "CONTENT_TOO_LARGE",
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_rights_and_rules_are_asked_again_when_it_is_tried_again(ready: World, case: str) -> None:
    """What changed while the request waited decides; the login's unbinding alone does not.

    Proves: W2
    """
    change, reason = CHANGES[case]
    asked = write(ready.agent(), "semantic", answering("DEFER", until_attempt=2))
    ready.admin.execute(change)
    ready.admin.execute("DELETE FROM memwarden_data.principal_login")
    run_retries(ready)
    row = status(ready, asked)
    assert (row["outcome"], row["reason"], row["item_id"]) == ("REJECTED", reason, None)
    assert ready.value("SELECT count(*) FROM memwarden_data.item") == 0


def test_a_fact_that_was_written_meanwhile_is_not_written_again(ready: World) -> None:
    """The retry compares with what the scope holds by then.

    Proves: W2, D1
    """
    first, second = ready.agent(), ready.agent()
    asked = write(first, "semantic", answering("DEFER", until_attempt=2))
    ready.admin.execute("SELECT memwarden.disable_gate('obedient')")
    meanwhile = write(second, "semantic", answering("DEFER", until_attempt=2))
    assert meanwhile["outcome"] == "COMMITTED"
    run_retries(ready)
    row = status(ready, asked)
    assert (row["outcome"], row["reason"]) == ("REJECTED", "EXACT_DUPLICATE")
    assert row["item_id"] == meanwhile["item_id"]


def test_one_deferred_request_does_not_hold_up_the_others(ready: World) -> None:
    """A gate that meets an error of the server leaves its request waiting; those behind it go on.

    Proves: W2
    """
    agent = ready.agent()
    stuck = write(agent, "semantic", answering("DEFER", **{"raise": "55000", "from_attempt": 2}))
    broken = write(agent, "semantic", answering("DEFER", **{"raise": "P0001", "from_attempt": 2}))
    fine = write(agent, "semantic", answering("DEFER", until_attempt=2))
    run_retries(ready)
    stuck_row, broken_row, fine_row = (status(ready, asked) for asked in (stuck, broken, fine))
    assert fine_row["outcome"] == "COMMITTED"
    assert (broken_row["outcome"], broken_row["reason"]) == ("REJECTED", "GATE_FAULT")
    assert "P0001" in str(broken_row["detail"])
    assert (broken_row["content_hash"], broken_row["token"]) == (None, None)
    assert stuck_row["outcome"] == "DEFERRED"
    assert stuck_row["retry_at"] > fine_row["decided_at"]


def test_a_batch_defers_only_what_its_gates_defer(ready: World) -> None:
    """Each request of a batch waits or commits by itself.

    Proves: W2, W8
    """
    agent = ready.agent()
    contents = [answering("DEFER" if n % 2 else "ACCEPT", n=n, until_attempt=2) for n in range(6)]
    for content in contents[::2]:
        del content["answer"]["until_attempt"]
    answers = write_many(agent, [{"layer": "semantic", "content": c} for c in contents])
    assert [a["outcome"] for a in answers] == ["COMMITTED", "DEFERRED"] * 3
    assert all(answer["retry_after"] is not None for answer in answers[1::2])
    run_retries(ready)
    assert [status(ready, a)["outcome"] for a in answers] == ["COMMITTED"] * 6
    check_store(ready.admin)


@pytest.mark.parametrize("group", ["agent", "reviewer", "curator", "auditor"])
def test_only_the_jobs_role_and_administrators_retry(shared_world: World, group: str) -> None:
    """An agent cannot hurry its own request along.

    Proves: W2, Z1
    """
    other = shared_world.connect(shared_world.role(f"memwarden_{group}"))
    for call in ("CALL memwarden.retry_deferred()", "SELECT memwarden_internal.retry_next()"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            other.execute(call)
    admin = shared_world.connect(shared_world.role("memwarden_admin"))
    admin.execute("CALL memwarden.retry_deferred()")
