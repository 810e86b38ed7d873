"""A job is held by a lease, tried again with growing patience, and set aside in the end."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from helpers import write
from write.worker.desk import claim, complete, fail, jobs, new_plugin, request, require

if TYPE_CHECKING:
    from conftest import World

TEXT = {"text": "Ana prefers green tea"}


def be_over(world: World, plugin: str, column: str) -> None:
    """Let a time of the plug-in's jobs have passed."""
    world.admin.execute(
        f"UPDATE memwarden_data.job SET {column} = now() - interval '1 second' WHERE plugin = %s",
        (plugin,),
    )


@pytest.fixture
def plugin(shared_world: World, org: str) -> str:
    """Return a plug-in that semantic writes of the organisation are judged by."""
    name = new_plugin()
    require(shared_world, name, org=org)
    return name


@pytest.fixture
def asked(plugin: str, agent: Connection[DictRow]) -> DictRow:  # noqa: ARG001
    """Return the answer to a write that waits for the plug-in."""
    return write(agent, "semantic", TEXT)


def test_a_job_whose_worker_is_gone_goes_to_another(
    shared_world: World, worker: Connection[DictRow], asked: DictRow, plugin: str
) -> None:
    """Not before its lease is over; and what the first says afterwards does not count.

    Proves: W9
    """
    [job] = claim(worker, plugin, name="first")
    assert claim(worker, plugin, name="second") == []
    be_over(shared_world, plugin, "run_at")
    [again] = claim(worker, plugin, name="second")
    assert (again["job_id"], again["attempt"]) == (job["job_id"], 2)
    assert not complete(worker, job, "reject", name="first")
    assert fail(worker, job, name="first") is None
    assert request(shared_world, asked)["outcome"] == "DEFERRED"
    assert complete(worker, again, name="second")
    assert request(shared_world, asked)["outcome"] == "COMMITTED"


def test_who_claims_beside_another_takes_what_is_left_and_does_not_wait(
    shared_world: World,
    agent: Connection[DictRow],
    worker_role: str,
    asked: DictRow,
    plugin: str,
) -> None:
    """While the first has not committed yet, and after that.

    Proves: W9
    """
    other = write(agent, "semantic", {"text": "Ben prefers coffee"})
    first, second = shared_world.connect(worker_role), shared_world.connect(worker_role)
    second.execute("SET lock_timeout = '100 ms'")
    with first.transaction():
        taken = claim(first, plugin, name="first", max_jobs=1)
        left = claim(second, plugin, name="second")
    assert [len(taken), len(left)] == [1, 1]
    assert {job["request_id"] for job in taken + left} == {asked["request_id"], other["request_id"]}
    assert claim(second, plugin, name="second") == []


@pytest.mark.every_version
def test_a_lease_can_be_extended_by_who_has_it(
    shared_world: World, worker: Connection[DictRow], asked: DictRow, plugin: str
) -> None:
    """So that a long judgement is not begun twice.

    Proves: W9
    """
    assert asked["reason"] == "AWAITING_VERDICT"
    [job] = claim(worker, plugin, lease="1 minute")
    query = "SELECT memwarden.extend_job(%s, %s, '30 minutes') AS held"
    assert worker.execute(query, (job["job_id"], "another")).fetchall() == [{"held": False}]
    assert worker.execute(query, (job["job_id"], "one")).fetchall() == [{"held": True}]
    [stored] = jobs(shared_world, plugin)
    assert stored["locked_until"] - job["locked_until"] > timedelta(minutes=20)


def test_patience_grows_until_the_job_is_set_aside(
    shared_world: World, worker: Connection[DictRow], asked: DictRow, plugin: str
) -> None:
    """About 5, 10, 20 and 40 seconds; after five attempts it is dead, without its payload.

    Proves: W9
    """
    waits = []
    for attempt in range(1, 6):
        [job] = claim(worker, plugin)
        assert job["attempt"] == attempt
        state = fail(worker, job, f"fault {attempt}")
        assert state == ("dead" if attempt == 5 else "ready")
        [stored] = jobs(shared_world, plugin)
        if attempt < 5:
            seconds = shared_world.value(
                "SELECT extract(epoch FROM run_at - clock_timestamp())::float8"
                "  FROM memwarden_data.job WHERE plugin = %s",
                plugin,
            )
            waits.append(seconds / (5 * 2 ** (attempt - 1)))
            assert claim(worker, plugin) == []
            be_over(shared_world, plugin, "run_at")
    assert all(0.5 < each < 1.21 for each in waits)
    assert (stored["state"], stored["payload"], stored["last_error"]) == ("dead", None, "fault 5")
    assert claim(worker, plugin) == []
    assert request(shared_world, asked)["outcome"] == "DEFERRED"


def test_a_job_that_no_worker_survives_is_set_aside(
    shared_world: World, worker: Connection[DictRow], asked: DictRow, plugin: str
) -> None:
    """Claimed five times and never ended, it is not claimed a sixth time.

    Proves: W9
    """
    assert asked["reason"] == "AWAITING_VERDICT"
    for _ in range(5):
        assert len(claim(worker, plugin)) == 1
        be_over(shared_world, plugin, "run_at")
    assert claim(worker, plugin) == []
    [stored] = jobs(shared_world, plugin)
    assert (stored["state"], stored["payload"]) == ("dead", None)
    assert stored["last_error"] == "no worker that took it came back"


def test_a_poison_job_holds_up_no_other(
    shared_world: World,
    agent: Connection[DictRow],
    worker: Connection[DictRow],
    asked: DictRow,
    plugin: str,
) -> None:
    """Those behind it are done while it waits, and administrators see it set aside.

    Proves: W9
    """
    other = write(agent, "semantic", {"text": "Ben prefers coffee"})
    for job in claim(worker, plugin):
        if job["request_id"] == asked["request_id"]:
            assert fail(worker, job, "boom", permanent=True) == "dead"
        else:
            assert complete(worker, job)
    assert request(shared_world, other)["outcome"] == "COMMITTED"
    admin = shared_world.connect(shared_world.role("memwarden_admin"))
    seen = admin.execute("SELECT * FROM memwarden.dead_jobs WHERE plugin = %s", (plugin,))
    [dead] = seen.fetchall()
    assert (dead["request_id"], dead["last_error"], dead["request_outcome"]) == (
        asked["request_id"],
        "boom",
        "DEFERRED",
    )
    seen = admin.execute(
        "SELECT state, depth, overdue FROM memwarden.job_queue WHERE plugin = %s ORDER BY state",
        (plugin,),
    )
    assert seen.fetchall() == [
        {"state": "dead", "depth": 1, "overdue": 0},
        {"state": "done", "depth": 1, "overdue": 0},
    ]


def test_a_job_that_was_set_aside_can_be_revived(
    shared_world: World, worker: Connection[DictRow], asked: DictRow, plugin: str
) -> None:
    """Its question is asked anew, with all its attempts; once, and while somebody waits for it.

    Proves: W9
    """
    [job] = claim(worker, plugin)
    admin = shared_world.connect(shared_world.role("memwarden_admin"))
    with pytest.raises(psycopg.errors.UndefinedObject):
        admin.execute("SELECT memwarden.revive_job(%s)", (job["job_id"],))
    fail(worker, job, permanent=True)
    admin.execute("SELECT memwarden.revive_job(%s)", (job["job_id"],))
    [again] = claim(worker, plugin)
    assert (again["attempt"], again["payload"]["content"]) == (1, TEXT)
    assert again["job_id"] != job["job_id"]
    fail(worker, again, permanent=True)
    shared_world.admin.execute(
        "UPDATE memwarden_data.job SET deadline = now() WHERE plugin = %s", (plugin,)
    )
    admin.execute("SELECT memwarden.revive_job(%s)", (again["job_id"],))
    [last] = claim(worker, plugin)
    assert complete(worker, last)
    assert request(shared_world, asked)["outcome"] == "COMMITTED"
    with pytest.raises(psycopg.errors.UndefinedObject):
        admin.execute("SELECT memwarden.revive_job(%s)", (last["job_id"],))


NO_VERDICTS: dict[str, Any] = {
    "nothing": None,
    "no object": ["accept"],
    "no decision": {"score": 1},
    "another decision": {"decision": "COMMIT"},
    "a list of decisions": {"decision": ["accept"]},
    "too high a score": {"decision": "accept", "score": 1.0000001},
    "a negative score": {"decision": "accept", "score": -1e-9},
    "a score that is a text": {"decision": "accept", "score": "NaN"},
    "an infinite score": {"decision": "accept", "score": "Infinity"},
    "a score that is true": {"decision": "accept", "score": True},
    "details that are a list": {"decision": "accept", "detail": []},
    "too many details": {"decision": "accept", "detail": {"x": "y" * 8192}},
    "a version that is a number": {"decision": "accept", "version": 1},
    "an endless version": {"decision": "accept", "version": "1" * 101},
    "a wait that is none": {"decision": "defer", "retry_after": 0},
    "a wait for ever": {"decision": "defer", "retry_after": 1e9},
    "an outcome of its own": {"decision": "accept", "outcome": "COMMITTED"},
}


def test_what_is_no_verdict_is_refused(
    shared_world: World, worker: Connection[DictRow], asked: DictRow, plugin: str
) -> None:
    """The job stays with its worker, and nothing is decided.

    Proves: W9
    """
    [job] = claim(worker, plugin)
    taken = []
    for case, verdict in NO_VERDICTS.items():
        try:
            worker.execute(
                "SELECT memwarden.complete_job(%s, 'one', %s)", (job["job_id"], Jsonb(verdict))
            )
            taken.append(case)
        except psycopg.errors.InvalidParameterValue:
            pass
    assert taken == []
    assert request(shared_world, asked)["outcome"] == "DEFERRED"
    assert [each["state"] for each in jobs(shared_world, plugin)] == ["running"]
    assert complete(worker, job, score=1e-300)
    assert request(shared_world, asked)["outcome"] == "COMMITTED"


def test_a_verification_without_a_score_is_none(
    shared_world: World, agent: Connection[DictRow], worker: Connection[DictRow], org: str
) -> None:
    """It is the score that the gate weighs.

    Proves: V3
    """
    plugin = new_plugin()
    require(shared_world, plugin, org=org, purpose="verify")
    write(agent, "semantic", TEXT)
    [job] = claim(worker, plugin)
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        complete(worker, job)
    assert complete(worker, job, score=0.9)


@pytest.mark.parametrize(
    "arguments",
    [
        ("", ["x"], 1, "1 minute"),
        (None, ["x"], 1, "1 minute"),
        ("w" * 201, ["x"], 1, "1 minute"),
        ("w", None, 1, "1 minute"),
        ("w", ["x"], 0, "1 minute"),
        ("w", ["x"], 101, "1 minute"),
        ("w", ["x"], 1, "0 seconds"),
        ("w", ["x"], 1, "2 hours"),
        ("w", ["x"], 1, None),
    ],
)
def test_a_claim_is_made_as_it_can_be(
    worker: Connection[DictRow], arguments: tuple[object, ...]
) -> None:
    """Names and leases have bounds.

    Proves: W9
    """
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        worker.execute("SELECT memwarden.claim_jobs(%s, %s, %s, %s::interval)", arguments)


def test_jobs_are_taken_at_read_committed_only(shared_world: World, worker_role: str) -> None:
    """A worker that sees the past would give the same verdict twice.

    Proves: W9
    """
    connection = shared_world.connect(worker_role, autocommit=False)
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    with pytest.raises(psycopg.errors.ActiveSqlTransaction):
        connection.execute("SELECT memwarden.claim_jobs('w', '{x}')")
