"""The worker judges and does nothing else; nobody else judges."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import Connection, sql
from psycopg.rows import DictRow

from helpers import write
from write.worker.desk import claim, complete, fail, jobs, new_plugin, request, require

if TYPE_CHECKING:
    from conftest import World

SECRET = "the cellar door opens with 4711"
CALLS = [
    "SELECT memwarden.claim_jobs('w', '{x}')",
    f"SELECT memwarden.extend_job('{uuid.uuid4()}', 'w')",
    f"""SELECT memwarden.complete_job('{uuid.uuid4()}', 'w', '{{"decision": "accept"}}')""",
    f"SELECT memwarden.fail_job('{uuid.uuid4()}', 'w', 'e')",
]
FOR_ADMINISTRATORS = [
    "SELECT memwarden_internal.delete_next_records(NULL, 1)",
    f"SELECT memwarden.revive_job('{uuid.uuid4()}')",
    "SELECT memwarden.require_verifier('semantic', 'gate', 'x')",
    "SELECT memwarden.release_verifier('semantic', 'gate', 'x')",
]
INSIDE = [
    "SELECT memwarden_internal.ask_verifiers(1, gen_random_uuid(), 'semantic', 'gate', '{}')",
    "SELECT memwarden_internal.wanted_verdicts(1, 'semantic', 'gate')",
    "SELECT memwarden_internal.hold_job(gen_random_uuid(), 'w')",
    "SELECT memwarden_internal.send_again(gen_random_uuid())",
    "SELECT memwarden_internal.set_aside_abandoned(now())",
]
TABLES = ["job", "verdict", "verifier"]
VIEWS = ["job_queue", "dead_jobs", "verifiers"]


@pytest.fixture
def waiting(shared_world: World, agent: Connection[DictRow], org: str) -> tuple[str, DictRow]:
    """Return a plug-in, and a write that waits for it with something that is not to be told."""
    plugin = new_plugin()
    require(shared_world, plugin, org=org, settings={"url": "https://inside.example"})
    return plugin, write(agent, "semantic", {"text": SECRET}, subject=plugin)


@pytest.mark.parametrize("group", ["agent", "reviewer", "curator", "auditor", "broker", "admin"])
def test_only_workers_judge(shared_world: World, home: str, group: str) -> None:
    """No other role calls what the worker calls, or what the gates call.

    Proves: W9
    """
    groups = (f"memwarden_{group}",)
    if group in ("broker", "admin"):
        role = shared_world.role(*groups)
    else:
        role = shared_world.register(home, groups=groups)
    connection = shared_world.log_in(role)
    refused = CALLS + INSIDE + (FOR_ADMINISTRATORS if group != "admin" else [])
    for call in refused:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(call)
    for view in VIEWS if group not in ("admin", "auditor") else []:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"SELECT * FROM memwarden.{view}")
    for table in TABLES:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"SELECT * FROM memwarden_data.{table}")


def test_an_agent_reads_no_job_even_where_it_may_read_the_tables(
    shared_world: World, home: str, waiting: tuple[str, DictRow]
) -> None:
    """Not its own, and not another organisation's.

    Proves: W9
    """
    assert waiting[1]["reason"] == "AWAITING_VERDICT"
    for scope in (home, f"/org/{uuid.uuid4().hex[:12]}/user/eve"):
        role = shared_world.register(scope)
        shared_world.grant_tables(role)
        connection = shared_world.connect(role)
        for table in TABLES:
            assert connection.execute(f"SELECT * FROM memwarden_data.{table}").fetchall() == []


def test_an_auditor_sees_the_queue_of_its_organisation_alone(
    shared_world: World, home: str, waiting: tuple[str, DictRow]
) -> None:
    """And no content in it.

    Proves: W9
    """
    plugin, _ = waiting
    insider = shared_world.agent(home, groups=("memwarden_auditor",))
    elsewhere = f"/org/{uuid.uuid4().hex[:12]}/user/eve"
    outsider = shared_world.agent(elsewhere, groups=("memwarden_auditor",))
    for view in ("job_queue", "verifiers"):
        query = f"SELECT * FROM memwarden.{view} WHERE plugin = %s"
        seen = insider.execute(query, (plugin,)).fetchall()
        assert len(seen) == 1
        assert "4711" not in str(seen)
        assert outsider.execute(query, (plugin,)).fetchall() == []


def test_a_worker_remembers_nothing(
    shared_world: World, worker_role: str, waiting: tuple[str, DictRow]
) -> None:
    """It can call nothing that reads, writes or changes memory, nor the insides of the queue.

    Proves: W9
    """
    plugin, asked = waiting
    worker = shared_world.connect(worker_role)
    readings = [
        "SELECT * FROM memwarden.recall('tea')",
        "SELECT * FROM memwarden.items",
        "SELECT * FROM memwarden.requests",
        f"SELECT * FROM memwarden.get('{uuid.uuid4()}')",
        f"SELECT * FROM memwarden.request_status('{asked['request_id']}')",
        """SELECT memwarden.write('semantic', '{"text": "x"}')""",
        "SELECT memwarden.write_many('[]')",
        "CALL memwarden.retry_deferred()",
        "SELECT memwarden.maintain()",
        "SELECT memwarden.disable_gate('external')",
        *FOR_ADMINISTRATORS,
        *INSIDE,
    ]
    for call in readings:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            worker.execute(call)
    tables = shared_world.rows(
        "SELECT relname AS name FROM pg_class WHERE relnamespace = 'memwarden_data'::regnamespace"
        " AND relkind IN ('r', 'p')"
    )
    for table in tables:
        for statement in ("SELECT 1 FROM {}", "DELETE FROM {}"):
            query = sql.SQL(statement).format(sql.Identifier("memwarden_data", table["name"]))
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                worker.execute(query)
    assert [each["state"] for each in jobs(shared_world, plugin)] == ["ready"]
    callable_functions = shared_world.rows(
        "SELECT p.oid::regproc::text AS name FROM pg_proc AS p"
        " WHERE p.pronamespace IN ('memwarden'::regnamespace, 'memwarden_internal'::regnamespace)"
        "   AND has_function_privilege('memwarden_worker', p.oid, 'EXECUTE') ORDER BY 1"
    )
    assert [each["name"] for each in callable_functions] == [
        "memwarden.claim_jobs",
        "memwarden.claim_notices",
        "memwarden.complete_job",
        "memwarden.extend_job",
        "memwarden.fail_job",
        "memwarden.settle_notice",
        # It raises what each view says between an update and setup().
        "memwarden_internal.await_setup",
        "memwarden_internal.list_dead_jobs",
        "memwarden_internal.list_job_queue",
        "memwarden_internal.list_verifiers",
    ]


def test_a_worker_answers_for_its_own_jobs_alone(
    shared_world: World, worker_role: str, waiting: tuple[str, DictRow]
) -> None:
    """Under another's name, with another login, or unasked: nothing happens.

    Proves: W9
    """
    plugin, asked = waiting
    mine = shared_world.connect(worker_role)
    other = shared_world.connect(shared_world.role("memwarden_worker"))
    [ready] = jobs(shared_world, plugin)
    assert not complete(mine, ready)
    [job] = claim(mine, plugin, name="one")
    assert not complete(mine, job, name="two")
    assert not complete(other, job, name="one")
    assert fail(other, job, name="one") is None
    extended = other.execute("SELECT memwarden.extend_job(%s, 'one') AS held", (job["job_id"],))
    assert extended.fetchall() == [{"held": False}]
    assert claim(other, plugin, name="one") == []
    assert request(shared_world, asked)["outcome"] == "DEFERRED"
    assert complete(mine, job, "reject")
    assert not complete(mine, job, "accept")
    assert request(shared_world, asked)["reason"] == "EXTERNAL_REJECT"


def test_the_verdict_sends_the_request_through_the_gates_as_who_asked(
    shared_world: World, home: str, worker: Connection[DictRow], waiting: tuple[str, DictRow]
) -> None:
    """Not as the worker: a right that the writer has lost meanwhile is not lent to it.

    Proves: W2, W9
    """
    plugin, asked = waiting
    shared_world.admin.execute(
        "UPDATE memwarden_data.scope_grant SET writes = false WHERE scope_id ="
        " (SELECT scope_id FROM memwarden_data.scope WHERE path = %s)",
        (home,),
    )
    [job] = claim(worker, plugin)
    assert complete(worker, job)
    assert request(shared_world, asked)["reason"] == "SCOPE_READ_ONLY"
    assert shared_world.value(
        "SELECT count(*) = 0 FROM memwarden_data.version WHERE subject = %s", plugin
    )
