"""maintain(): partitions before they are needed, closed at once, and no token kept too long."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from psycopg.rows import DictRow
from psycopg.types.json import Json

from conftest import World
from helpers import write
from races import PATIENCE, together, wait_until_blocked

UNSECURED = """
SELECT c.oid::regclass::text AS name FROM pg_class AS c
 WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p')
   AND NOT (c.relrowsecurity AND c.relforcerowsecurity
            AND c.relowner = 'memwarden_owner'::regrole
            AND EXISTS (SELECT FROM pg_policy AS p
                         WHERE p.polrelid = c.oid AND p.polname = 'engine'))"""
DEFAULTS_HELD = """
SELECT c.relname FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation
 WHERE l.pid = %s AND pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT'"""
MAINTAIN = "SELECT memwarden.maintain()"
PARTITIONS = "SELECT state, detail FROM memwarden.status() WHERE component = 'partitions'"


def partitions(world: World, table: str) -> list[DictRow]:
    """The partitions of a table, and what an application role may do with each."""
    return world.rows(
        "SELECT i.inhrelid::regclass::text AS name,"
        "       has_table_privilege('memwarden_agent', i.inhrelid, 'SELECT') AS readable"
        "  FROM pg_inherits AS i WHERE i.inhparent = %s::regclass ORDER BY 1",
        f"memwarden_data.{table}",
    )


@pytest.mark.parametrize("table", ["write_request", "log"])
def test_partitions_are_made_ahead_and_closed(world: World, table: str) -> None:
    """They belong to memwarden_owner, force row security, and grant nothing to anyone."""
    jobs = world.connect("memwarden_jobs")
    jobs.execute(MAINTAIN)
    before = partitions(world, table)
    world.admin.execute("UPDATE partman.part_config SET premake = premake + 2")
    jobs.execute(MAINTAIN)
    after = partitions(world, table)
    assert len(after) == len(before) + 2
    assert [p for p in after if p["readable"]] == []
    assert world.rows(UNSECURED) == []
    jobs.execute(MAINTAIN)
    assert partitions(world, table) == after


def test_maintenance_of_everything_leaves_our_tables_alone(world: World) -> None:
    """Run by a superuser, or by pg_partman's own process, it would make partitions of its own."""
    world.admin.execute("UPDATE partman.part_config SET premake = premake + 2")
    before = partitions(world, "log")
    world.admin.execute("SELECT partman.run_maintenance()")
    assert partitions(world, "log") == before
    world.connect("memwarden_jobs").execute(MAINTAIN)
    assert len(partitions(world, "log")) >= len(before) + 2


def test_setup_takes_over_a_partition_that_a_superuser_made(world: World) -> None:
    """It belonged to that superuser and was open to nobody; maintain() could not go on with it."""
    world.admin.execute("UPDATE partman.part_config SET premake = premake + 2")
    world.admin.execute("SELECT partman.run_maintenance('memwarden_data.log')")
    assert world.rows(UNSECURED) != []
    world.admin.execute("SELECT memwarden.setup()")
    assert world.rows(UNSECURED) == []
    world.connect("memwarden_jobs").execute(MAINTAIN)


def test_expired_tokens_are_deleted_and_no_others(world: World) -> None:
    """A token that has run out frees its key; the request stays on record."""
    agent = world.agent()
    for n in range(2):
        write(agent, "episodic", {"n": n}, idempotency_key=f"key {n}")
    world.admin.execute(
        "UPDATE memwarden_data.idempotency SET expires_at = clock_timestamp()"
        " WHERE request_id = (SELECT min(request_id::text)::uuid FROM memwarden_data.idempotency)"
    )
    world.connect("memwarden_jobs").execute(MAINTAIN)
    assert world.value("SELECT count(*) FROM memwarden_data.idempotency") == 1
    assert world.value("SELECT count(*) FROM memwarden_data.write_request") == 2
    assert write(agent, "episodic", {"n": 5}, idempotency_key="key 0")["outcome"] == "COMMITTED"


def test_two_at_once_both_succeed(world: World) -> None:
    """With partitions to make, and tokens to delete.

    Proves: G8 (twice at once)
    """
    write(world.agent(), "episodic", {"n": 1})
    world.admin.execute("UPDATE partman.part_config SET premake = premake + 2")
    world.admin.execute("UPDATE memwarden_data.idempotency SET expires_at = now()")
    connections = [world.connect("memwarden_jobs") for _ in range(2)]
    together([partial(connection.execute, MAINTAIN) for connection in connections])
    assert world.rows(UNSECURED) == []
    assert world.value("SELECT count(*) FROM memwarden_data.idempotency") == 0


def test_the_second_finds_done_what_it_waited_for(world: World) -> None:
    """Both meet the same open partition; the one that comes second must not stumble over it."""
    table = partitions(world, "log")[0]["name"]
    world.admin.execute(f"DROP POLICY engine ON {table}")
    world.admin.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
    first, second = world.connect("memwarden_jobs"), world.connect("memwarden_jobs")

    def hold_and_let_go() -> None:
        with first.transaction():
            first.execute(MAINTAIN)
            wait_until_blocked(world.admin, second)

    def follow() -> None:
        while (
            not world.connect()
            .execute(
                "SELECT FROM pg_locks WHERE pid = %s AND relation = %s::regclass"
                "   AND mode = 'AccessExclusiveLock'",
                (first.info.backend_pid, table),
            )
            .rowcount
        ):
            pass
        second.execute(MAINTAIN)

    together([hold_and_let_go, follow])
    assert world.rows(UNSECURED) == []


def test_an_open_transaction_stops_neither_writers_nor_readers_nor_the_other_steps(
    world: World,
) -> None:
    """A dump, or who has not committed, holds what a new month's partition locks.

    Proves: G8 (safe beside writers)
    """
    agent, dump = world.agent(), world.connect()
    jobs = world.connect("memwarden_jobs")
    jobs.execute(MAINTAIN)
    write(agent, "episodic", {"n": "warm"}, idempotency_key="old")
    world.admin.execute("UPDATE memwarden_data.idempotency SET expires_at = now()")
    before = partitions(world, "log")
    world.admin.execute("UPDATE partman.part_config SET premake = premake + 2")
    notices: list[str] = []
    jobs.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
    with dump.transaction(), ThreadPoolExecutor(1) as pool:
        dump.execute("LOCK TABLE memwarden_data.write_request, memwarden_data.log IN SHARE MODE")
        dump.execute("LOCK TABLE memwarden_data.recall_log IN ACCESS SHARE MODE")
        done = pool.submit(jobs.execute, MAINTAIN)
        agent.execute("SELECT * FROM memwarden.recall('meanwhile')").fetchall()
        done.result(PATIENCE)
    # pg_partman 5.5 tells it by itself.
    told = ("left a step to its next run", "skipped partition set")
    assert any(text in notice for notice in notices for text in told), notices
    assert world.value("SELECT count(*) FROM memwarden_data.idempotency") == 0
    assert write(agent, "episodic", {"n": "meanwhile"})["outcome"] == "COMMITTED"
    jobs.execute(MAINTAIN)
    assert len(partitions(world, "log")) == len(before) + 2
    assert world.rows(UNSECURED) == []


def test_a_writer_queues_behind_it_for_no_longer_than_it_waits(world: World) -> None:
    """While a transaction is open that wrote and never ends, others go on writing.

    Proves: G8 (safe beside writers)
    """
    idle, agent = world.agent(), world.connect(world.register("/org/acme/user/bob"))
    jobs = world.connect("memwarden_jobs")
    jobs.execute(MAINTAIN)
    world.admin.execute("UPDATE partman.part_config SET premake = premake + 2")
    blocked = "SELECT cardinality(pg_blocking_pids(%s)) > 0"
    with idle.transaction(), ThreadPoolExecutor(1) as pool:
        write(idle, "episodic", {"n": "held"})
        done = pool.submit(jobs.execute, MAINTAIN)
        while not (done.done() or world.value(blocked, jobs.info.backend_pid)):
            pass
        assert write(agent, "episodic", {"n": "meanwhile"})["outcome"] == "COMMITTED"
        agent.execute("SELECT * FROM memwarden.recall('meanwhile')").fetchall()
        done.result(PATIENCE)


def test_a_step_that_fails_does_not_end_the_ones_behind_it(world: World) -> None:
    """What keeps one table from its partitions keeps no other.

    Proves: G8 (the other steps go on)
    """
    jobs = world.connect("memwarden_jobs")
    jobs.execute(MAINTAIN)
    before = partitions(world, "log")
    world.admin.execute("UPDATE partman.part_config SET premake = premake + 2")
    world.admin.execute(
        "UPDATE partman.part_config SET partition_interval = 'nonsense'"
        " WHERE parent_table = 'memwarden_data.write_request'"
    )
    jobs.execute(MAINTAIN)
    assert len(partitions(world, "log")) == len(before) + 2
    assert world.rows(UNSECURED) == []


def lay_outside(world: World, table: str, key: str, *moments: str) -> None:
    """Leave rows in the default partition, as a clock that jumps does; a moment each."""
    columns = ", ".join(
        row["name"]
        for row in world.rows(
            "SELECT quote_ident(attname) AS name FROM pg_attribute WHERE attrelid = %s::regclass"
            "   AND attnum > 0 AND NOT attisdropped AND attname <> %s AND attname <> 'log_seq'",
            f"memwarden_data.{table}",
            key,
        )
    )
    made = "%s::timestamptz" if key == "recorded_at" else "partman.uuid7_time_encoder(%s)"
    identity = ("log_seq, ", "-1, ") if table == "log" else ("", "")
    with world.admin.transaction():
        world.admin.execute("SET LOCAL session_replication_role = replica")
        for moment in moments:
            world.admin.execute(
                f"INSERT INTO memwarden_data.{table} ({identity[0]}{key}, {columns})"
                f" OVERRIDING SYSTEM VALUE SELECT {identity[1]}{made}, {columns}"
                f" FROM memwarden_data.{table} LIMIT 1",
                (moment,),
            )


def outside(world: World, table: str) -> int:
    """How many rows lie outside the months."""
    return int(world.value(f"SELECT count(*) FROM memwarden_data.{table}_default"))


KEYS = [("write_request", "request_id"), ("log", "recorded_at"), ("recall_log", "recall_id")]


@pytest.mark.parametrize(("table", "key"), KEYS)
def test_a_row_outside_the_months_gets_its_month(world: World, table: str, key: str) -> None:
    """One before all months and one in a month that is due: moved as they are, a month a run."""
    agent, jobs = world.agent(), world.connect("memwarden_jobs")
    jobs.execute(MAINTAIN)
    write(agent, "semantic", "tea")
    agent.execute("SELECT * FROM memwarden.recall('tea')").fetchall()
    months = [row["name"][-8:] for row in partitions(world, table) if row["name"][-8] == "2"]
    ask = "SELECT %s::date::timestamptz + make_interval(months => %s, days => 3)"
    late = world.value(ask, months[0], -1), world.value(ask, months[-1], 1)
    lay_outside(world, table, key, *(str(moment) for moment in late))
    content = f"SELECT t.* FROM memwarden_data.{table} AS t ORDER BY t.{key}"
    guards = (
        "SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal"
        " ORDER BY 1"
    )
    default = f"memwarden_data.{table}_default"
    before, guarded = world.rows(content), world.rows(guards, default)
    (said,) = world.rows(PARTITIONS)
    assert said["state"] == "warning"
    assert f"rows lie outside the months of memwarden_data.{table}:" in said["detail"]
    world.admin.execute("UPDATE partman.part_config SET premake = premake + 2")
    for left in (1, 0):
        jobs.execute(MAINTAIN)
        assert outside(world, table) == left
    assert world.rows(content) == before
    assert world.rows(guards, default) == guarded
    names = [row["name"] for row in partitions(world, table)]
    for moment in late:
        assert f"memwarden_data.{table}_p{moment:%Y%m}01" in names
        assert world.rows(guards, f"memwarden_data.{table}_p{moment:%Y%m}01") == guarded
    assert world.rows(UNSECURED) == []
    jobs.execute(MAINTAIN)
    (said,) = world.rows(PARTITIONS)
    assert said["state"] == "ok", said


def test_a_row_years_ahead_keeps_no_month_from_being_made(world: World) -> None:
    """It waits for its time in the default partition, where it is found as any other."""
    agent, jobs = world.agent(), world.connect("memwarden_jobs")
    jobs.execute(MAINTAIN)
    write(agent, "semantic", "tea")
    lay_outside(world, "log", "recorded_at", "2099-01-01 00:00+00")
    before = partitions(world, "log")
    world.admin.execute("UPDATE partman.part_config SET premake = premake + 2")
    jobs.execute(MAINTAIN)
    assert len(partitions(world, "log")) == len(before) + 2
    assert outside(world, "log") == 1
    assert world.value("SELECT count(*) FROM memwarden_data.log WHERE recorded_at > now()") == 1


def test_who_writes_and_recalls_in_an_open_transaction_keeps_no_month_from_being_made(
    world: World,
) -> None:
    """A month is attached beside it at once: no writer holds the default partition."""
    idle, jobs = world.agent(), world.connect("memwarden_jobs")
    jobs.execute(MAINTAIN)
    own = world.value("SELECT memwarden_internal.uuid7()")
    many = Json([{"layer": "semantic", "content": "two"}, {"layer": "semantic", "content": "3"}])
    # As often as it takes until PostgreSQL keeps a plan.
    for _ in range(7):
        with idle.transaction():
            write(idle, "semantic", "held")
            write(idle, "semantic", "held too", idempotency_key="held", request_id=own)
            idle.execute("SELECT * FROM memwarden.write_many(%s)", (many,)).fetchall()
            idle.execute("SELECT * FROM memwarden.recall('held')").fetchall()
            held = world.rows(DEFAULTS_HELD, idle.info.backend_pid)
            assert held == []
    with idle.transaction():
        write(idle, "semantic", "held")
        world.admin.execute("UPDATE partman.part_config SET premake = premake + 3")
        jobs.execute(MAINTAIN)
        assert world.rows(PARTITIONS)[0]["state"] == "ok"


def test_a_transaction_that_stays_open_is_told_before_months_run_out(world: World) -> None:
    """While two months are left: which table, and the process that holds it; for administrators."""
    dump, jobs = world.connect(), world.connect("memwarden_jobs")
    jobs.execute(MAINTAIN)
    write(world.agent(), "semantic", "held")
    with dump.transaction():
        dump.execute("LOCK TABLE memwarden_data.write_request_default IN ACCESS SHARE MODE")
        # As it would be months later.
        world.admin.execute("UPDATE partman.part_config SET premake = premake + 3")
        for _ in range(2):
            jobs.execute(MAINTAIN)
        (said,) = world.rows(PARTITIONS)
        assert said["state"] == "warning"
        assert "not 7: SELECT memwarden.maintain() does not get on" in said["detail"]
        assert f"held by process {dump.info.backend_pid}" in said["detail"]
        (told,) = world.agent("/org/acme/user/bob").execute(PARTITIONS).fetchall()
        assert "process" not in told["detail"]
        # The others have theirs.
        assert len(partitions(world, "log")) > len(partitions(world, "write_request"))
    jobs.execute(MAINTAIN)
    assert world.rows(PARTITIONS)[0]["state"] == "ok"


def test_an_old_month_of_recalls_goes_while_others_recall(world: World) -> None:
    """Who recalls in an open transaction keeps it until the next run, and keeps nobody waiting."""
    idle, agent = world.agent(), world.agent("/org/acme/user/bob")
    jobs = world.connect("memwarden_jobs")
    write(agent, "semantic", "tea")
    jobs.execute(MAINTAIN)
    old = partitions(world, "recall_log")[1]["name"]
    world.admin.execute("SELECT memwarden.set_record_retention('recalls', '2 months')")
    agent.execute("SET lock_timeout = '60s'")
    with idle.transaction(), ThreadPoolExecutor(1) as pool:
        idle.execute("SELECT * FROM memwarden.recall('tea')").fetchall()
        done = pool.submit(jobs.execute, MAINTAIN)
        while not done.done():
            agent.execute("SELECT * FROM memwarden.recall('tea')").fetchall()
        done.result()
        assert world.value("SELECT to_regclass(%s) IS NOT NULL", old)
    jobs.execute(MAINTAIN)
    assert world.value("SELECT to_regclass(%s) IS NULL", old)


def test_a_lock_of_anybody_else_is_told_and_not_taken_for_success(world: World) -> None:
    """pg_partman goes without a word where any login holds the number that it locks."""
    stranger, jobs = world.connect(world.role()), world.connect("memwarden_jobs")
    stranger.execute("SELECT pg_advisory_lock(hashtext('pg_partman run_maintenance'))")
    notices: list[str] = []
    jobs.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
    jobs.execute(MAINTAIN)
    assert sum("another session holds pg_partman's lock" in notice for notice in notices) == 5
