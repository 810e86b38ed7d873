"""status(): says what is missing, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Callable

import psycopg
import pytest

from conftest import ROOT, World
from databases import empty_database
from helpers import recall, write, write_many

KEY_FILE = """
CREATE FUNCTION pg_temp.key_file(path text) RETURNS void LANGUAGE plpython3u AS $$
import os
os.environ.pop("MEMWARDEN_MASTER_KEY_FILE")
if path is not None:
    os.environ["MEMWARDEN_MASTER_KEY_FILE"] = path
$$"""


def status(world: World) -> dict[str, tuple[str, str]]:
    """What a superuser is told: state and detail by component."""
    rows = world.rows("SELECT * FROM memwarden.status()")
    return {row["component"]: (row["state"], row["detail"]) for row in rows}


@pytest.fixture
def writer(world: World) -> Callable[[], object]:
    """A call that an agent could make before something was broken."""
    agent = world.agent()
    assert write(agent, "semantic", {"drink": "tea"})["outcome"] == "COMMITTED"
    return lambda: write(agent, "semantic", {"drink": "coffee"})


def test_all_is_well_after_setup_but_for_jobs_that_need_pg_cron(world: World) -> None:
    """pg_cron lives in another database: the one statement to run there is given."""
    found = status(world)
    assert {name for name, (state, _) in found.items() if state != "ok"} == {"jobs"}
    state, detail = found["jobs"]
    assert state == "missing"
    wanted = world.value("SELECT count(*) FROM memwarden_internal.wanted_jobs()")
    assert detail.startswith(f"{wanted}; none ever ran. pg_cron is not in this database")
    (statement,) = re.findall(r"SELECT cron\..*?;", detail)
    database = world.value("SELECT current_database()")
    call = "CALL memwarden.run_due_jobs()"
    with world.admin.transaction(force_rollback=True):
        world.admin.execute("CREATE SCHEMA cron")
        world.admin.execute(
            "CREATE FUNCTION cron.schedule_in_database(text, text, text, text, text) RETURNS text"
            " LANGUAGE sql RETURN concat_ws('|', $1, $2, $3, $4, $5)"
        )
        assert world.value(statement) == "|".join(
            [f"memwarden_jobs_{database}", "10 seconds", call, database, "memwarden_jobs"]
        )
    assert call in detail.replace(statement, "")


def run_all(world: World) -> None:
    """Run every job once, as its own login."""
    jobs = world.connect("memwarden_jobs")
    for job in world.rows("SELECT command FROM memwarden_internal.wanted_jobs()"):
        jobs.execute(job["command"])


@pytest.fixture(scope="module")
def ran(shared_world: World) -> World:
    """A world whose jobs have run."""
    run_all(shared_world)
    return shared_world


def job_lines(world: World) -> list[tuple[str, str]]:
    """What status() says of jobs."""
    rows = world.rows("SELECT * FROM memwarden.status() WHERE component = 'jobs'")
    return [(row["state"], row["detail"]) for row in rows]


def test_jobs_that_another_program_calls_are_well_once_they_ran(ran: World) -> None:
    """Each notes its end; one line for all of them, and nothing of pg_cron is asked for."""
    world = ran
    wanted = world.value("SELECT count(*) FROM memwarden_internal.wanted_jobs()")
    assert job_lines(world) == [("ok", f"{wanted}, none overdue")]
    assert {state for state, _ in status(world).values()} == {"ok"}


def test_every_job_that_ended_too_long_ago_has_a_line(world: World) -> None:
    """Two turns of its schedule and five minutes: by how much, since when, and the call.

    Proves: G8 (last run)
    """
    run_all(world)
    jobs = world.rows("SELECT * FROM memwarden_internal.wanted_jobs() ORDER BY name")
    tolerance = "SELECT memwarden_internal.job_tolerance(%s)"
    for job in jobs:
        world.admin.execute(
            "UPDATE memwarden_data.job_run SET finished_at = now() - %s - interval '90 s'"
            " WHERE job = %s",
            (world.value(tolerance, job["schedule"]), job["name"]),
        )
    lines = job_lines(world)
    assert len(lines) == len(jobs)
    for job, (state, detail) in zip(jobs, lines, strict=True):
        assert state == "warning"
        assert detail.startswith(f"{job['name']} is overdue by 00:0")
        assert detail.endswith(job["command"])
    world.connect("memwarden_jobs").execute("CALL memwarden.retry_deferred()")
    assert len(job_lines(world)) == len(jobs) - 1


def test_one_line_tells_that_nobody_calls_the_jobs(ran: World) -> None:
    """Since when, and what to do: not a line for each job.

    Proves: G8 (observable)
    """
    world = ran
    with world.admin.transaction(force_rollback=True):
        world.admin.execute(
            "UPDATE memwarden_data.job_run SET (finished_at, begun_at, ended_at) ="
            " (now() - interval '3 days', now() - interval '3 days', now() - interval '3 days'),"
            " turn_at = NULL"
        )
        ((state, detail),) = job_lines(world)
    assert state == "warning"
    assert "none has run since" in detail
    assert "CALL memwarden.run_due_jobs()" in detail


@pytest.mark.parametrize(
    ("schedule", "tolerance"),
    [
        ("10 seconds", "00:05:20"),
        ("* * * * *", "00:07:00"),
        ("*/5 * * * *", "00:15:00"),
        ("9-59/10 * * * *", "00:25:00"),
        ("17 * * * *", "02:05:00"),
        ("13 3 * * *", "2 days 00:05:00"),
    ],
)
def test_how_late_a_job_may_be_follows_from_its_schedule(
    shared_world: World, schedule: str, tolerance: str
) -> None:
    """Every kind of schedule that a job of ours has."""
    call = "SELECT memwarden_internal.job_tolerance(%s)::text"
    assert shared_world.value(call, schedule) == tolerance


def test_a_job_that_fails_or_is_killed_is_not_taken_for_one_that_ended(ran: World) -> None:
    """Its last good end stays what is told.

    Proves: G8 (last run)
    """
    world = ran
    before = world.value(
        "SELECT finished_at FROM memwarden_data.job_run WHERE job LIKE %s", "%seal"
    )
    jobs = world.connect("memwarden_jobs")
    jobs.execute("SET default_transaction_isolation = 'repeatable read'")
    with pytest.raises(psycopg.errors.ActiveSqlTransaction):
        jobs.execute("CALL memwarden.seal_log()")
    after = world.value("SELECT finished_at FROM memwarden_data.job_run WHERE job LIKE %s", "%seal")
    assert after == before


def test_nobody_is_kept_waiting_by_who_notes_a_run(ran: World) -> None:
    """An administrator who runs a job in a transaction of his own that stays open."""
    world = ran
    idle, jobs = world.connect("memwarden_jobs"), world.connect("memwarden_jobs")
    jobs.execute("SET lock_timeout = '1ms'")
    with idle.transaction():
        idle.execute("SELECT * FROM memwarden.tune_thresholds()")
        jobs.execute("SELECT * FROM memwarden.tune_thresholds()")


def test_who_may_not_read_the_notes_of_jobs(ran: World) -> None:
    """Forced row security, no grant: with SELECT on all tables nobody sees a row."""
    world = ran
    agent = world.agent()
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        agent.execute("SELECT FROM memwarden_data.job_run")
    world.grant_tables(agent.info.user)
    assert agent.execute("SELECT FROM memwarden_data.job_run").fetchall() == []


def test_every_job_is_in_the_lists_of_the_manual(shared_world: World) -> None:
    """In the table of what each does, that of what each locks, and the calls; and no other."""
    world = shared_world
    text = (ROOT / "docs/operate.md").read_text(encoding="utf-8")
    commands = [
        row["command"] for row in world.rows("SELECT command FROM memwarden_internal.wanted_jobs()")
    ]
    tables = re.findall(r"^\| `((?:CALL|SELECT) memwarden\.\w+\(\))` \|", text, re.MULTILINE)
    assert sorted(tables) == sorted(2 * [each.replace("* FROM ", "") for each in commands])
    calls = re.findall(r"user=memwarden_jobs\" -c '([^']*)'", text)
    assert calls == ["CALL memwarden.run_due_jobs()"]
    names = re.findall(r"^\| `(?:CALL|SELECT) [^|]* \| `(memwarden_\w+)` \|", text, re.MULTILINE)
    assert sorted(names) == sorted(
        row["name"] for row in world.rows("SELECT name FROM memwarden_internal.wanted_jobs()")
    )


def test_before_setup_the_storage_is_missing(world: World) -> None:
    """Said to a caller too: writing and recalling name setup() and fail with 55000."""
    with empty_database(world.admin) as blank:
        blank.admin.execute("CREATE EXTENSION memwarden CASCADE")
        assert status(blank)["storage"] == (
            "missing",
            "a superuser runs: SELECT memwarden.setup();",
        )
        agent = blank.connect(blank.role("memwarden_agent"))
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="storage"):
            write(agent, "semantic", {"drink": "tea"})


@pytest.mark.parametrize(
    ("change", "remedy"),
    [
        ("- 1", "until a superuser runs: SELECT memwarden.setup();"),
        ("+ 1", "until newer functions are installed: ALTER EXTENSION memwarden UPDATE;"),
    ],
)
def test_writes_are_refused_while_storage_and_functions_disagree(
    world: World, writer: Callable[[], object], change: str, remedy: str
) -> None:
    """55000 from every door, in either direction; newer storage is not touched by setup()."""
    world.admin.execute(
        f"UPDATE memwarden_data.storage SET storage_version = storage_version {change},"
        f" built_from = storage_version {change} || ' another'"
    )
    state, detail = status(world)["storage"]
    assert state == "outdated"
    assert f"writes are refused {remedy}" in detail
    agent = world.agent("/org/acme/user/bob")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        writer()
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        write_many(agent, [{"layer": "semantic", "content": {"drink": "tea"}}])
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        recall(agent, query="tea")
    assert world.value("SELECT count(*) FROM memwarden_data.item") == 1
    if change == "+ 1":
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="newer"):
            world.admin.execute("SELECT memwarden.setup()")


def test_storage_of_a_build_between_releases_is_refused(
    world: World, writer: Callable[[], object]
) -> None:
    """The same number for other tables: no door opens, status() says so, setup() leaves it."""
    world.admin.execute("UPDATE memwarden_data.storage SET built_from = '2 0000000000000000'")
    (state, detail) = status(world)["storage"]
    assert state == "outdated"
    assert detail.endswith("it comes from a build that was no release")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match=r"status\(\)"):
        writer()
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="no release"):
        world.admin.execute("SELECT memwarden.setup()")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("DROP INDEX memwarden_data.item_fingerprint", "index memwarden_data.item_fingerprint"),
        ("ALTER TABLE memwarden_data.item ALTER layer DROP NOT NULL", "column item.layer"),
        (
            "ALTER TABLE memwarden_data.review DROP CONSTRAINT review_tier_check",
            "constraint review_tier_check of review",
        ),
        ("CREATE INDEX my_index ON memwarden_data.item (created_at)", None),
    ],
)
def test_what_is_gone_of_the_tables_is_named(
    shared_world: World, change: str, named: str | None
) -> None:
    """A column, index or constraint that setup() made; what a DBA adds is no harm."""
    number = shared_world.value("SELECT memwarden_internal.storage_version()")
    with shared_world.admin.transaction(force_rollback=True):
        shared_world.admin.execute(change)
        found = status(shared_world)["storage"]
    if named:
        assert found[0] == "warning"
        detail = f"version {number} of {number}; gone or changed since setup() made it: {named}; "
        assert found[1].startswith(detail)
    else:
        assert found == ("ok", f"version {number} of {number}")


def test_row_security_that_was_switched_off_is_named_and_restored(shared_world: World) -> None:
    """One table and one partition; setup() forces it again."""
    world = shared_world
    partition = world.value(
        "SELECT inhrelid::regclass::text FROM pg_inherits"
        " WHERE inhparent = 'memwarden_data.log'::regclass LIMIT 1"
    )
    with world.admin.transaction(force_rollback=True):
        world.admin.execute(f"ALTER TABLE {partition} DISABLE ROW LEVEL SECURITY")
        world.admin.execute("ALTER TABLE memwarden_data.item NO FORCE ROW LEVEL SECURITY")
        state, detail = status(world)["row security"]
        assert state == "missing"
        tables = f"item, {partition.removeprefix('memwarden_data.')}"
        assert detail == f"not forced on {tables}: a superuser runs: SELECT memwarden.setup();"
        world.admin.execute("SELECT memwarden.setup()")
        assert status(world)["row security"][0] == "ok"


def test_a_disabled_gate_is_a_warning_that_setup_does_not_undo(
    shared_world: World,
) -> None:
    """An administrator's decision stays in force, and in sight."""
    with shared_world.admin.transaction(force_rollback=True):
        shared_world.admin.execute("SELECT memwarden.disable_gate('deadline')")
        shared_world.admin.execute("SELECT memwarden.setup()")
        state, detail = status(shared_world)["gates"]
    assert state == "warning"
    assert "15_deadline (disabled)" in detail


def test_a_gate_that_is_gone_is_named_and_restored(shared_world: World) -> None:
    """A trigger that a superuser dropped leaves a hole that nobody would otherwise see."""
    world = shared_world
    with world.admin.transaction(force_rollback=True):
        world.admin.execute("DROP TRIGGER gate_25_schema ON memwarden_data.write_request")
        state, detail = status(world)["gates"]
        assert state == "missing"
        assert "schema" in detail
        world.admin.execute("SELECT memwarden.setup()")
        assert status(world)["gates"][0] == "ok"


def test_python_that_was_compiled_for_another_one_is_outdated_until_setup(
    world: World, writer: Callable[[], object]
) -> None:
    """As after an upgrade of the server in place: sessions compile the source, and all works."""
    assert status(world)["python"][0] == "ok"
    world.admin.execute(
        "UPDATE memwarden_internal.python_code SET made_of = 'another Python ' || made_of"
    )
    state, detail = status(world)["python"]
    assert state == "outdated"
    assert detail.endswith("until a superuser runs: SELECT memwarden.setup();")
    assert writer()
    assert write(world.agent("/org/acme/user/bob"), "semantic", "x")["outcome"] == "COMMITTED"
    world.admin.execute("SELECT memwarden.setup()")
    assert status(world)["python"][0] == "ok"


@pytest.fixture
def keyless(world: World) -> Callable[[str | None], None]:
    """Changes where the server's process for the superuser's connection looks for the key."""
    world.admin.execute(KEY_FILE)

    def change(path: str | None) -> None:
        world.admin.execute("SELECT pg_temp.key_file(%s)", (path,))

    return change


def test_a_server_without_a_master_key_is_a_warning(
    world: World, keyless: Callable[[str | None], None]
) -> None:
    """It says which variable is not set."""
    keyless(None)
    state, detail = status(world)["master key"]
    assert state == "warning"
    assert "MEMWARDEN_MASTER_KEY_FILE" in detail


@pytest.mark.parametrize("path", ["/nowhere/master.key", "/etc/hostname"])
def test_a_master_key_that_cannot_be_used_is_missing(
    world: World, keyless: Callable[[str | None], None], path: str
) -> None:
    """An absent file, or one that holds no key; everything else is told all the same."""
    keyless(path)
    found = status(world)
    assert found["master key"][0] == "missing"
    assert "deferred requests" in found


def test_deferred_requests_are_counted(world: World) -> None:
    """The number that waits."""
    agent = world.agent()
    blocker = world.connect()
    write(agent, "semantic", {"drink": "tea"})
    with blocker.transaction():
        blocker.execute("SELECT FROM memwarden_data.write_lock FOR UPDATE")
        agent.execute("SET lock_timeout = '1ms'")
        assert write(agent, "semantic", {"drink": "coffee"})["outcome"] == "DEFERRED"
    assert status(world)["deferred requests"] == ("ok", "1")
    assert recall(agent, query="tea")
    # Nobody calls the job.
    world.admin.execute(
        "UPDATE memwarden_data.write_request SET retry_at = now() - interval '36 min'"
        " WHERE outcome = 'DEFERRED'"
    )
    state, detail = status(world)["deferred requests"]
    assert state == "warning"
    assert detail.startswith("1; 1 of them were due long ago, the first at ")
    (told,) = agent.execute(
        "SELECT state FROM memwarden.status() WHERE component = 'deferred requests'"
    ).fetchall()
    assert told["state"] == "warning"
    world.connect("memwarden_jobs").execute("CALL memwarden.retry_deferred()")
    assert status(world)["deferred requests"] == ("ok", "0")
