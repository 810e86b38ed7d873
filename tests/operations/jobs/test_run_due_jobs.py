"""run_due_jobs(): one call runs every job that is due, and each notes what became of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from conftest import World

RUN = "CALL memwarden.run_due_jobs()"
QUIET = "memwarden_words"
"""A job that has nothing to do in an empty store."""


def job(world: World, name: str = QUIET) -> dict[str, Any]:
    """Its row of memwarden.jobs."""
    (row,) = world.rows("SELECT * FROM memwarden.jobs WHERE name = %s", name)
    return dict(row)


def make_due(world: World, name: str = QUIET) -> None:
    """As if its last run had been a day and an hour ago."""
    world.admin.execute(
        "UPDATE memwarden_data.job_run SET (begun_at, ended_at, finished_at, failed_at, turn_at)"
        " = (begun_at - d, ended_at - d, finished_at - d, failed_at - d, turn_at - d)"
        " FROM (SELECT interval '25 hours' AS d) AS s WHERE job = %s",
        (name,),
    )


@pytest.fixture
def jobs(world: World) -> Connection[Any]:
    """The login of the jobs, in a store in which every job has run once."""
    connection = world.log_in("memwarden_jobs")
    connection.execute(RUN)
    return connection


@pytest.fixture
def replace_step(world: World) -> Callable[[str], None]:
    """Replaces what one step of the quiet job does."""

    def replace(body: str) -> None:
        world.admin.execute(
            "CREATE OR REPLACE FUNCTION memwarden_internal.reindex_next(p_batch integer)"
            f" RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN {body} END $$"
        )

    return replace


@pytest.mark.parametrize(
    ("schedule", "at", "expected"),
    [
        ("10 seconds", "12:00:07", "12:00:10"),
        ("* * * * *", "12:00:07", "12:01:00"),
        ("*/5 * * * *", "12:04:59", "12:05:00"),
        ("3-59/5 * * * *", "12:04:59", "12:08:00"),
        ("17 * * * *", "12:17:00", "13:17:00"),
        ("13 3 * * *", "03:12:00", "03:13:00"),
        ("13 3 * * *", "03:14:00", "1 day 03:13:00"),
        # 11 March 2026 is a Wednesday.
        ("30 4 * * 0", "00:00:00", "4 days 04:30:00"),
    ],
)
def test_a_job_is_due_at_the_next_time_of_its_schedule(
    shared_world: World, schedule: str, at: str, expected: str
) -> None:
    """Every kind of schedule that a job of ours has, in UTC."""
    assert shared_world.value(
        "SELECT date_bin(s.every, '2026-03-11 00:00+00'::timestamptz + %s::interval, s.origin)"
        " + s.every - '2026-03-11 00:00+00'::timestamptz = %s::interval"
        " FROM memwarden_internal.job_slots(%s) AS s",
        at,
        expected,
        schedule,
    )


def test_one_call_runs_all_that_is_due_and_nothing_else(
    world: World, jobs: Connection[Any]
) -> None:
    """What never ran is due; what ran is due again by its schedule. Proves: G8 (scheduled)."""
    rows = world.rows("SELECT name, state, last_end, duration, last_error FROM memwarden.jobs")
    assert {row["state"] for row in rows} == {"on time"}
    assert all(row["duration"] is not None and row["last_error"] is None for row in rows)
    make_due(world)
    jobs.execute(RUN)
    again = world.rows("SELECT name, last_end FROM memwarden.jobs WHERE schedule <> '10 seconds'")
    before = {row["name"]: row["last_end"] for row in rows}
    assert QUIET in {row["name"] for row in again if row["last_end"] != before[row["name"]]}
    nightly = {row["name"]: row["last_end"] for row in again}
    for name in ("memwarden_compact", "memwarden_checkpoint", "memwarden_thresholds"):
        assert nightly[name] == before[name]


def test_an_error_ends_its_own_job_and_is_shown(
    world: World, jobs: Connection[Any], replace_step: Callable[[str], None]
) -> None:
    """Others go on; it is tried again ten minutes later, and the error stays to be read.

    Proves: G8 (observable)
    """
    replace_step("RAISE EXCEPTION 'no luck' USING ERRCODE = 'MW999';")
    for name in (QUIET, "memwarden_compact"):
        make_due(world, name)
    jobs.execute(RUN)
    failed = job(world)
    assert (failed["state"], failed["last_error"]) == ("failing", "MW999: no luck")
    wait = "SELECT next_run - last_end = interval '5 minutes' FROM memwarden.jobs WHERE name = %s"
    assert world.value(wait, QUIET)
    assert job(world, "memwarden_compact")["state"] == "on time"
    told = "SELECT detail FROM memwarden.status() WHERE component = 'jobs'"
    assert world.value(told).startswith(f"{QUIET} fails: MW999: no luck")
    assert "no luck" not in str(world.agent().execute(told).fetchall())
    replace_step("RETURN false;")
    make_due(world)
    jobs.execute(RUN)
    assert job(world)["state"] == "on time"
    assert job(world)["last_error"] == "MW999: no luck"


def test_a_job_that_is_called_by_hand_raises_its_error_and_notes_it(
    world: World, jobs: Connection[Any], replace_step: Callable[[str], None]
) -> None:
    """With its SQLSTATE, for whatever scheduler calls it."""
    replace_step("RAISE EXCEPTION 'no luck' USING ERRCODE = '55P03', HINT = 'wait';")
    with pytest.raises(psycopg.errors.LockNotAvailable, match="no luck") as caught:
        jobs.execute("CALL memwarden.reindex_words()")
    assert caught.value.diag.message_hint == "wait"
    assert job(world)["state"] == "failing"


def test_steps_are_counted_and_each_is_committed(
    world: World, jobs: Connection[Any], replace_step: Callable[[str], None]
) -> None:
    """What a step did stays when a later one fails."""
    world.admin.execute("CREATE TABLE public.step (n serial, x xid8 DEFAULT pg_current_xact_id())")
    world.admin.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO memwarden_jobs")
    world.admin.execute("GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO memwarden_jobs")
    replace_step(
        "INSERT INTO public.step DEFAULT VALUES;"
        " IF (SELECT max(n) FROM public.step) > 3 THEN RAISE EXCEPTION 'four'; END IF; RETURN true;"
    )
    make_due(world)
    jobs.execute(RUN)
    assert world.value("SELECT array_agg(n ORDER BY n) FROM public.step") == [1, 2, 3]
    assert world.value("SELECT count(DISTINCT x) FROM public.step") == 3
    assert (job(world)["done"], job(world)["state"]) == (3, "failing")


def test_a_paused_job_rests_until_it_is_resumed(world: World, jobs: Connection[Any]) -> None:
    """By any scheduler; called by hand it runs. Who paused it is noted.

    Proves: G8 (observable)
    """
    ops = world.connect(world.role("memwarden_admin"))
    ops.execute("SELECT memwarden.pause_job(%s)", (QUIET,))
    ops.execute("SELECT memwarden.pause_job(%s)", (QUIET,))
    make_due(world)
    before = job(world)
    assert (before["state"], before["paused_by"]) == ("paused", ops.info.user)
    jobs.execute(RUN)
    assert job(world) == before
    told = world.value("SELECT detail FROM memwarden.status() WHERE component = 'jobs'")
    assert told.startswith(f"{QUIET} is paused since")
    jobs.execute("CALL memwarden.reindex_words()")
    assert job(world)["last_end"] > before["last_end"]
    make_due(world)
    ops.execute("SELECT memwarden.resume_job(%s)", (QUIET,))
    jobs.execute(RUN)
    assert job(world)["state"] == "on time"
    log = world.rows("SELECT action, login_role FROM memwarden_data.access_log ORDER BY 1")
    assert [row["action"] for row in log if row["login_role"] == ops.info.user] == [
        "pause_job",
        "resume_job",
    ]


def test_only_an_administrator_pauses_and_an_unknown_job_is_named(shared_world: World) -> None:
    """42501 and 42704."""
    agent = shared_world.agent()
    for call in ("SELECT memwarden.pause_job('x')", "SELECT FROM memwarden.jobs", RUN):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            agent.execute(call)
    for call in ("pause_job", "resume_job"):
        with pytest.raises(psycopg.errors.UndefinedObject) as caught:
            shared_world.admin.execute(f"SELECT memwarden.{call}('nothing')")
        assert "nothing" in str(caught.value.diag.message_detail)


def test_a_job_that_runs_elsewhere_is_skipped(
    world: World, jobs: Connection[Any], replace_step: Callable[[str], None]
) -> None:
    """Two dispatchers at once: the second neither waits for the first nor does its job again."""
    world.admin.execute("CREATE TABLE public.step (pid integer DEFAULT pg_backend_pid())")
    world.admin.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO memwarden_jobs")
    replace_step(
        "INSERT INTO public.step DEFAULT VALUES; PERFORM pg_advisory_xact_lock(7); RETURN false;"
    )
    other = world.connect("memwarden_jobs")
    make_due(world)
    with world.admin.transaction():
        world.admin.execute("SELECT pg_advisory_xact_lock(7)")
        first = threading.Thread(target=jobs.execute, args=(RUN,))
        first.start()
        waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        watcher = world.connect()
        while not next(iter(watcher.execute(waits).fetchone().values())):  # type: ignore[union-attr]
            pass
        other.execute(RUN)
        state = "SELECT state FROM memwarden.jobs WHERE name = %s"
        assert watcher.execute(state, (QUIET,)).fetchone() == {"state": "running"}
    first.join()
    assert world.value("SELECT array_agg(pid) FROM public.step") == [jobs.info.backend_pid]
    assert job(world)["state"] == "on time"


def test_a_run_that_was_killed_is_noted_and_done_again(
    world: World, jobs: Connection[Any], replace_step: Callable[[str], None]
) -> None:
    """By the next run of any dispatcher, ten minutes later, whatever the schedule."""
    name = "memwarden_compact"
    replace_step("RETURN false;")
    world.admin.execute(
        "UPDATE memwarden_data.job_run SET ended_at = NULL, after = 'true', done = 5, pid = 1,"
        " turn_at = now() - interval '1 minute' WHERE job = %s",
        (name,),
    )
    jobs.execute(RUN)
    assert job(world, name)["last_end"] is None
    world.admin.execute(
        "UPDATE memwarden_data.job_run SET turn_at = now() - interval '11 minutes' WHERE job = %s",
        (name,),
    )
    jobs.execute(RUN)
    again = job(world, name)
    assert again["state"] == "on time"
    assert again["last_error"].startswith("stopped from outside")


def test_a_cancelled_dispatcher_leaves_nothing_half_done(
    world: World, jobs: Connection[Any], replace_step: Callable[[str], None]
) -> None:
    """The job is free at once: the session is idle, and the next one takes the job over."""
    replace_step(
        "PERFORM set_config('statement_timeout', '0', true); PERFORM pg_cancel_backend("
        "pg_backend_pid()); PERFORM pg_sleep(1); RETURN false;"
    )
    make_due(world)
    with pytest.raises(psycopg.errors.QueryCanceled):
        jobs.execute(RUN)
    assert job(world)["last_end"] is None
    replace_step("RETURN false;")
    world.admin.execute(
        "UPDATE memwarden_data.job_run SET turn_at = turn_at - interval '11 minutes'"
        " WHERE job = %s",
        (QUIET,),
    )
    world.connect("memwarden_jobs").execute(RUN)
    assert job(world)["state"] == "on time"
