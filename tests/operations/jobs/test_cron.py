"""The jobs really run: pg_cron starts them, as memwarden_jobs, in the database they are for."""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.conninfo import make_conninfo

from conftest import World, deploy_server
from helpers import write

CLUSTER = f"jobs-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
PATIENCE = 90.0
"""Seconds after which a job that has not run will not run: the longest interval here is ten."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A cluster of its own: pg_cron works in one database of a cluster, and cannot leave it."""
    deploy_server("drop", CLUSTER)
    deploy_server("up", CLUSTER, "-c", "fsync=off")
    yield deploy_server("dsn", CLUSTER, "memwarden_cron")
    deploy_server("drop", CLUSTER)


@pytest.fixture(scope="module")
def cron(cluster: str) -> Iterator[World]:
    """The database of pg_cron, with memwarden beside it."""
    with psycopg.connect(cluster, autocommit=True) as admin:
        admin.execute("CREATE EXTENSION pg_cron; CREATE EXTENSION memwarden CASCADE")
        admin.execute("SELECT memwarden.setup()")
        world = World(admin)
        yield world
        world.close()


@pytest.fixture
def elsewhere(cron: World) -> Iterator[World]:
    """Another database with memwarden in the same cluster, where pg_cron cannot be."""
    name = f"else where {uuid.uuid4().hex[:8]}"
    cron.admin.execute(f'CREATE DATABASE "{name}"')
    with psycopg.connect(make_conninfo(cron.dsn, dbname=name), autocommit=True) as admin:
        admin.execute("CREATE EXTENSION memwarden CASCADE")
        admin.execute("SELECT memwarden.setup()")
        world = World(admin)
        yield world
        world.close()
    cron.admin.execute("SELECT cron.unschedule(jobid) FROM cron.job WHERE database = %s", (name,))
    cron.admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def jobs(cron: World, world: World) -> list[Any]:
    """What pg_cron knows of the jobs of a database."""
    return cron.rows(
        "SELECT jobname, schedule, command, username, active FROM cron.job"
        " WHERE database = %s ORDER BY jobname",
        world.admin.info.dbname,
    )


def defer_a_request(world: World) -> uuid.UUID:
    """Leave a request behind that met a busy scope and is due in a second."""
    scope = f"/org/acme/user/u{uuid.uuid4().hex[:8]}"
    agent, blocker = world.agent(scope), world.connect()
    write(agent, "session", {"first": True})
    with blocker.transaction():
        blocker.execute("SELECT FROM memwarden_data.write_lock FOR UPDATE")
        agent.execute("SET lock_timeout = '1ms'")
        answer = write(agent, "session", {"waits": True})
    assert answer["outcome"] == "DEFERRED"
    return uuid.UUID(str(answer["request_id"]))


def eventually(connection: Connection[Any], query: str, parameter: object) -> Any:
    """Ask until the one value is neither NULL nor absent; fail when that takes too long."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        row = connection.execute(query, (parameter,)).fetchone()
        if row is not None and next(iter(row.values())) is not None:
            return next(iter(row.values()))
        time.sleep(0.2)
    raise AssertionError(f"still nothing after {PATIENCE} s: {query}")


COMMITTED = """SELECT r.attempt FROM memwarden_data.write_request AS r
                WHERE r.request_id = %s AND r.outcome = 'COMMITTED'"""
ENDED = """SELECT d.status || ' ' || d.username FROM cron.job_run_details AS d
             JOIN cron.job AS j USING (jobid) WHERE j.jobname = %s AND d.end_time IS NOT NULL
            ORDER BY d.runid DESC LIMIT 1"""


def test_setup_schedules_every_job_once(cron: World) -> None:
    """As memwarden_jobs; running it again changes nothing, and repairs what was changed.

    Proves: G8 (scheduled)
    """
    scheduled = jobs(cron, cron)
    wanted = cron.rows("SELECT name, schedule, command FROM memwarden_internal.wanted_jobs()")
    assert scheduled == [
        {"jobname": w["name"], "schedule": w["schedule"], "command": w["command"]}
        | {"username": "memwarden_jobs", "active": True}
        for w in sorted(wanted, key=lambda w: str(w["name"]))
    ]
    cron.admin.execute("SELECT memwarden.setup()")
    assert jobs(cron, cron) == scheduled
    (row,) = cron.rows("SELECT state, detail FROM memwarden.status() WHERE component = 'jobs'")
    assert row == {"state": "ok", "detail": f"{len(wanted)}, none overdue"}


def test_a_deferred_request_is_retried_by_itself(cron: World) -> None:
    """Nobody calls anything: the job commits it. Proves: W2."""
    request = defer_a_request(cron)
    assert eventually(cron.admin, COMMITTED, request) >= 2
    assert eventually(cron.admin, ENDED, "memwarden_retry") == "succeeded memwarden_jobs"


def test_maintenance_runs_as_a_job(cron: World) -> None:
    """Its hour is not awaited here: the schedule is changed, and setup() puts it back."""
    cron.admin.execute(
        "SELECT cron.alter_job(jobid, schedule => '1 second') FROM cron.job"
        " WHERE jobname = 'memwarden_maintain'"
    )
    assert eventually(cron.admin, ENDED, "memwarden_maintain") == "succeeded memwarden_jobs"
    cron.admin.execute("SELECT memwarden.setup()")
    schedules = {row["jobname"]: row["schedule"] for row in jobs(cron, cron)}
    assert schedules["memwarden_maintain"] == "17 * * * *"


def test_what_is_kept_of_our_runs_is_trimmed_after_a_week(cron: World) -> None:
    """Of ours alone: what others run is theirs to keep."""
    runs = [(-6, "memwarden_jobs", 6), (-8, "memwarden_jobs", 8), (-9, "postgres", 8)]
    with cron.admin.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO cron.job_run_details (runid, database, username, start_time)"
            " VALUES (%s, 'old', %s, now() - make_interval(days => %s))",
            runs,
        )
    cron.connect("memwarden_jobs").execute("SELECT memwarden.maintain()")
    left = cron.rows("SELECT runid FROM cron.job_run_details WHERE database = 'old'")
    assert {row["runid"] for row in left} == {-6, -9}


def job_lines(world: Connection[Any]) -> set[str]:
    """What status() says of jobs, without the time since when one fails."""
    rows = world.execute("SELECT detail FROM memwarden.status() WHERE component = 'jobs'")
    return {re.sub(r"since [-+:. 0-9]*[0-9]", "since then", row["detail"]) for row in rows}


def test_a_job_that_is_gone_paused_or_failing_has_a_line(cron: World) -> None:
    """Once somebody has looked, which a job does each minute; an agent is told as much.

    Proves: G8 (observable)
    """
    probes = "PROCEDURE memwarden.check_probes()"
    schedule = (
        "SELECT cron.alter_job(jobid, schedule => '1 second') FROM cron.job WHERE jobname = %s"
    )
    active = "SELECT cron.alter_job(jobid, active => %s) FROM cron.job WHERE jobname = %s"
    cron.admin.execute(
        "SELECT cron.unschedule(jobid) FROM cron.job WHERE jobname = 'memwarden_models'"
    )
    cron.admin.execute(active, (False, "memwarden_words"))
    cron.admin.execute(f"REVOKE EXECUTE ON {probes} FROM memwarden_jobs")
    cron.admin.execute(schedule, ("memwarden_probes",))
    assert eventually(cron.admin, ENDED, "memwarden_probes") == "failed memwarden_jobs"
    looks = cron.connect("memwarden_jobs")
    looks.execute("CALL memwarden.seal_log()")
    told = {
        "memwarden_models is gone from pg_cron: a superuser runs SELECT memwarden.setup()",
        "memwarden_words is paused in pg_cron",
        "memwarden_probes fails since then: see cron.job_run_details",
    }
    assert job_lines(cron.admin) == told
    assert job_lines(cron.agent(f"/org/acme/user/u{uuid.uuid4().hex[:8]}")) == told
    # Who sees nothing of the jobs in pg_cron takes none of them for gone.
    cron.connect(cron.role("memwarden_admin")).execute("CALL memwarden.seal_log()")
    assert job_lines(cron.admin) == told

    cron.admin.execute(f"GRANT EXECUTE ON {probes} TO memwarden_jobs")
    succeeded = f"{ENDED.split('ORDER')[0]} AND d.status = 'succeeded' LIMIT 1"
    assert eventually(cron.admin, succeeded, "memwarden_probes")
    cron.admin.execute("SELECT memwarden.setup()")
    looks.execute("CALL memwarden.seal_log()")
    assert job_lines(cron.admin) == {"memwarden_words is paused in pg_cron"}
    cron.admin.execute(active, (True, "memwarden_words"))
    looks.execute("CALL memwarden.seal_log()")
    wanted = cron.value("SELECT count(*) FROM memwarden_internal.wanted_jobs()")
    assert job_lines(cron.admin) == {f"{wanted}, none overdue"}


def test_a_task_whose_time_is_over_is_closed_by_itself(cron: World) -> None:
    """By the job that runs every five minutes, here every second. Proves: A10."""
    path = f"/org/acme/user/u{uuid.uuid4().hex[:8]}/task/t"
    cron.admin.execute("SELECT memwarden.create_scope(%s, '1 microsecond')", (path,))
    cron.admin.execute(
        "SELECT cron.alter_job(jobid, schedule => '1 second') FROM cron.job"
        " WHERE jobname = 'memwarden_close'"
    )
    closed = "SELECT s.closed_at FROM memwarden_data.scope AS s WHERE s.path = %s"
    assert eventually(cron.admin, closed, path)
    assert eventually(cron.admin, ENDED, "memwarden_close") == "succeeded memwarden_jobs"
    cron.admin.execute("SELECT memwarden.setup()")
    schedules = {row["jobname"]: row["schedule"] for row in jobs(cron, cron)}
    assert schedules["memwarden_close"] == "*/5 * * * *"


def test_status_prints_a_statement_that_works_in_the_database_of_pg_cron(
    cron: World, elsewhere: World
) -> None:
    """Copied from there as they stand, they schedule the jobs of the other database."""
    before = jobs(cron, cron)
    assert jobs(cron, elsewhere) == []
    (row,) = elsewhere.rows("SELECT state, detail FROM memwarden.status() WHERE component = 'jobs'")
    assert row["state"] == "missing"
    (call,) = re.findall(r"SELECT cron\..*;", row["detail"])
    cron.admin.execute(call)
    cron.admin.execute(call)
    scheduled = jobs(cron, elsewhere)
    assert [job["username"] for job in scheduled] == ["memwarden_jobs"] * len(before)
    assert jobs(cron, cron) == before
    request = defer_a_request(elsewhere)
    assert eventually(elsewhere.admin, COMMITTED, request) >= 2
    # What ran there is known here, by what it left; pg_cron cannot be asked.
    ran = "SELECT finished_at FROM memwarden_data.job_run WHERE job = %s"
    assert eventually(elsewhere.admin, ran, "memwarden_retry")
    (row,) = elsewhere.rows("SELECT state, detail FROM memwarden.status() WHERE component = 'jobs'")
    assert row == {"state": "ok", "detail": f"{len(before)}, none overdue"}
