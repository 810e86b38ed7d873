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
        # It would take seconds to load.
        admin.execute("DELETE FROM memwarden_data.lexicon")
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
        # It would take seconds to load.
        admin.execute("DELETE FROM memwarden_data.lexicon")
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


CALL = "CALL memwarden.run_due_jobs()"
ENTRIES = [
    {"jobname": name, "schedule": "10 seconds", "command": CALL}
    | {"username": "memwarden_jobs", "active": True}
    for name in ("memwarden_jobs", "memwarden_jobs_2")
]


def test_setup_schedules_what_runs_every_job(cron: World) -> None:
    """As memwarden_jobs; running it again changes nothing, and repairs what was changed.

    Proves: G8 (scheduled)
    """
    assert jobs(cron, cron) == ENTRIES
    cron.admin.execute(
        "SELECT cron.unschedule(jobid) FROM cron.job WHERE jobname = 'memwarden_jobs_2'"
    )
    # As an earlier release scheduled them, one by one.
    cron.admin.execute(
        "SELECT cron.schedule_in_database('memwarden_seal', '* * * * *',"
        " 'CALL memwarden.seal_log()', current_database(), 'memwarden_jobs')"
    )
    cron.admin.execute("SELECT memwarden.setup()")
    assert jobs(cron, cron) == ENTRIES
    (row,) = cron.rows("SELECT state, detail FROM memwarden.status() WHERE component = 'jobs'")
    wanted = cron.value("SELECT count(*) FROM memwarden_internal.wanted_jobs()")
    assert row == {"state": "ok", "detail": f"{wanted}, none overdue"}


def test_a_deferred_request_is_retried_by_itself(cron: World) -> None:
    """Nobody calls anything: the job commits it. Proves: W2."""
    request = defer_a_request(cron)
    assert eventually(cron.admin, COMMITTED, request) >= 2
    assert eventually(cron.admin, ENDED, "memwarden_jobs") == "succeeded memwarden_jobs"


def test_every_job_runs_by_itself(cron: World) -> None:
    """What never ran is due at once. Proves: G8 (scheduled)."""
    ran = """SELECT max(j.last_end) FROM memwarden.jobs AS j
             HAVING bool_and(j.state IN ('on time', 'running')) AND %s::text IS NOT NULL"""
    assert eventually(cron.admin, ran, "all")


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


def test_a_task_whose_time_is_over_is_closed_by_itself(cron: World) -> None:
    """By the job that runs every five minutes, here due at once. Proves: A10."""
    path = f"/org/acme/user/u{uuid.uuid4().hex[:8]}/task/t"
    cron.admin.execute("SELECT memwarden.create_scope(%s, '1 microsecond')", (path,))
    cron.admin.execute(
        "UPDATE memwarden_data.job_run SET begun_at = begun_at - interval '10 minutes'"
        " WHERE job = 'memwarden_close'"
    )
    closed = "SELECT s.closed_at FROM memwarden_data.scope AS s WHERE s.path = %s"
    assert eventually(cron.admin, closed, path)


def test_status_prints_a_statement_that_works_in_the_database_of_pg_cron(
    cron: World, elsewhere: World
) -> None:
    """Copied from there as they stand, they schedule the jobs of the other database."""
    before = jobs(cron, cron)
    assert jobs(cron, elsewhere) == []
    (row,) = elsewhere.rows("SELECT state, detail FROM memwarden.status() WHERE component = 'jobs'")
    assert row["state"] == "missing"
    (call,) = re.findall(r"SELECT cron\..*?;", row["detail"])
    cron.admin.execute(call)
    cron.admin.execute(call)
    scheduled = jobs(cron, elsewhere)
    assert [job["username"] for job in scheduled] == ["memwarden_jobs"]
    assert jobs(cron, cron) == before
    request = defer_a_request(elsewhere)
    assert eventually(elsewhere.admin, COMMITTED, request) >= 2
    # What ran there is known here, by what it left; pg_cron cannot be asked.
    ran = "SELECT finished_at FROM memwarden_data.job_run WHERE job = %s"
    assert eventually(elsewhere.admin, ran, "memwarden_retry")
    (row,) = elsewhere.rows("SELECT state, detail FROM memwarden.status() WHERE component = 'jobs'")
    wanted = elsewhere.value("SELECT count(*) FROM memwarden_internal.wanted_jobs()")
    assert row == {"state": "ok", "detail": f"{wanted}, none overdue"}
