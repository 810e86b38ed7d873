"""Sealing takes each entry once, whoever writes meanwhile, and is never in a writer's way."""

from __future__ import annotations

import random
import time
import uuid

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow

from conftest import World
from helpers import write_many
from history.sealing.sealed import (
    Agent,
    log_seqs,
    remember,
    seal,
    segments,
    unsealed,
    verify,
)
from races import overlap, together


@pytest.fixture
def agent(world: World) -> Agent:
    """An agent that writes."""
    return world.agent()


def test_what_is_complete_is_sealed_in_order(world: World, agent: Agent) -> None:
    """A call takes what came since the last, and makes no segment of nothing.

    Proves: T6
    """
    for expected in ([[1]], [[1], [2]]):
        remember(agent, f"number {expected}")
        seal(world)
        seal(world)
        assert segments(world) == expected
    assert verify(world) == []


def test_every_entry_is_sealed_once_whoever_writes_meanwhile(world: World, agent: Agent) -> None:
    """Eight writers that commit, abort and dawdle, two that seal all the while.

    Proves: T6
    """
    role = str(agent.info.user)
    rounds = 15
    writers = [world.connect(role) for _ in range(8)]
    sealers = [world.connect("memwarden_jobs") for _ in range(2)]
    working = set(range(8))

    def work(number: int) -> None:
        chance = random.Random(number)
        connection = writers[number]
        try:
            for n in range(rounds):
                with connection.transaction(force_rollback=chance.random() < 0.25):
                    for m in range(chance.randrange(1, 4)):
                        remember(connection, f"{number} wrote {n} {m}", layer="working")
                    if chance.random() < 0.1:
                        connection.execute("SELECT pg_sleep(0.05)")
        finally:
            working.discard(number)

    def keep_sealing(sealer: Agent) -> None:
        while working:
            sealer.execute("CALL memwarden.seal_log()")

    together(
        [lambda n=n: work(n) for n in range(8)] + [lambda s=s: keep_sealing(s) for s in sealers]
    )
    seal(world)
    sealed = [number for segment in segments(world) for number in segment]
    assert sorted(sealed) == log_seqs(world)
    assert len(sealed) > 100
    assert max(sealed) > len(sealed), "aborted writes leave gaps"
    assert len(segments(world)) > 5
    assert verify(world) == []


def test_a_writer_does_not_wait_for_a_sealer(world: World, agent: Agent) -> None:
    """Nor does one who reads heads and proofs.

    Proves: T6
    """
    item = remember(agent, "before")["item_id"]
    seal(world)
    remember(agent, "meanwhile")
    sealer = world.connect("memwarden_jobs")
    agent.execute("SET lock_timeout = '1ms'")
    with sealer.transaction():
        sealer.execute("SELECT memwarden_internal.seal_next()")
        remember(agent, "after")
        agent.execute("SELECT memwarden.log_head(), memwarden.log_proof(%s)", (item,))
    assert segments(world) == [[1], [2]]
    assert unsealed(world) == [3]


def test_nothing_is_sealed_that_an_open_transaction_may_precede(world: World, agent: Agent) -> None:
    """Numbers commit out of order: what was written first may be committed last.

    Proves: T6
    """
    slow = world.connect(world.register("/org/acme/user/bob"))
    with slow.transaction():
        remember(slow, "first to begin")
        remember(agent, "second to begin")
        seal(world)
        assert segments(world) == []
        remember(slow, "and last to be written")
    seal(world)
    assert segments(world) == [[1, 2, 3]]
    assert verify(world) == []


def named(world: World, query: str, waits_for: str) -> DictRow:
    """The row that names it: another database's transaction leaves nobody to name for a moment."""
    for _ in range(50):
        (row,) = world.rows(query)
        if row["detail"].endswith(waits_for):
            break
        time.sleep(0.1)
    return row


def test_an_open_transaction_is_named(world: World, agent: Agent) -> None:
    """To administrators; others are told how far the log is sealed."""
    query = "SELECT state, detail FROM memwarden.status() WHERE component = 'log seal'"
    assert world.rows(query) == [{"state": "ok", "detail": "nothing sealed"}]
    remember(agent, "sealed")
    seal(world)
    assert world.rows(query) == [{"state": "ok", "detail": "segment 1"}]
    slow = world.connect(world.register("/org/acme/user/bob"))
    with slow.transaction():
        remember(slow, "open")
        remember(agent, "waiting")
        waits_for = f"; for the transaction of process {slow.info.backend_pid}"
        row = named(world, query, waits_for)
        assert row["detail"].startswith("segment 1; 1 entries wait since ")
        assert row["detail"].endswith(waits_for)
        (row,) = agent.execute(query).fetchall()
        assert row == {"state": "ok", "detail": "segment 1"}
    waits_for = "; for CALL memwarden.seal_log()"
    assert named(world, query, waits_for)["detail"].endswith(waits_for)


def test_entries_that_wait_for_long_are_a_warning(world: World, agent: Agent) -> None:
    """Nobody calls the job: after five minutes status() says so."""
    remember(agent, "long ago")
    with world.admin.transaction(force_rollback=True):
        world.admin.execute("SET LOCAL session_replication_role = replica")
        world.admin.execute("UPDATE memwarden_data.log SET recorded_at = now() - interval '6 min'")
        (row,) = world.rows("SELECT * FROM memwarden.status() WHERE component = 'log seal'")
        assert row["state"] == "warning"


def test_transactions_in_other_databases_hold_nothing_up(world: World, agent: Agent) -> None:
    """Their ids are of the same cluster, but they cannot write here."""
    elsewhere = psycopg.connect(make_conninfo(world.dsn, dbname="postgres"))
    try:
        elsewhere.execute("SELECT pg_current_xact_id()")
        remember(agent, "here")
        seal(world)
        assert segments(world) == [[1]]
    finally:
        elsewhere.close()


def test_two_sealers_take_turns(world: World, agent: Agent) -> None:
    """The second waits for the first, and finds nothing left.

    Proves: T6
    """
    remember(agent, "once")
    first, second = (world.connect("memwarden_jobs") for _ in range(2))
    answer = overlap(
        world.admin,
        first,
        lambda: first.execute("SELECT memwarden_internal.seal_next()"),
        second,
        lambda: second.execute("SELECT memwarden_internal.seal_next() AS more").fetchall(),
    )
    assert answer == [{"more": False}]
    assert segments(world) == [[1]]


def test_what_a_killed_sealer_began_is_done_by_the_next(world: World, agent: Agent) -> None:
    """Terminated before it could commit.

    Proves: T6
    """
    remember(agent, "one")
    seal(world)
    remember(agent, "two")
    victim = world.connect("memwarden_jobs", autocommit=False)
    victim.execute("SELECT memwarden_internal.seal_next()")
    world.admin.execute("SELECT pg_terminate_backend(%s, 10000)", (victim.info.backend_pid,))
    assert segments(world) == [[1]]
    seal(world)
    assert segments(world) == [[1], [2]]
    assert verify(world) == []


def test_segments_hold_whole_transactions(world: World, agent: Agent) -> None:
    """A segment ends before the transaction that would make it too large.

    Proves: T6
    """
    for batch, size in enumerate((1, 2, 3, 1, 1)):
        rows = [{"layer": "working", "content": f"{batch} {n}"} for n in range(size)]
        write_many(agent, rows)
    query = "SELECT transaction_id::text AS id FROM memwarden_data.log ORDER BY log_seq"
    ids = [row["id"] for row in world.rows(query)]
    after = int(ids[-1]) + 1
    ends = [(1, ids[1]), (2, ids[1]), (3, ids[3]), (5, ids[3]), (6, ids[6]), (7, ids[7])]
    for limit, end in [*ends, (8, str(after)), (9, str(after))]:
        found = world.value(
            "SELECT memwarden_internal.segment_end(l.system_identifier, '0', %s::xid8, %s)::text"
            "  FROM memwarden_data.log AS l LIMIT 1",
            str(after),
            limit,
        )
        assert found == end, limit
    # The first is itself too large: it is a segment of its own.
    found = world.value(
        "SELECT memwarden_internal.segment_end(l.system_identifier, %s::xid8, %s::xid8, 2)::text"
        "  FROM memwarden_data.log AS l LIMIT 1",
        ids[3],
        str(after),
    )
    assert found == str(int(ids[3]) + 1)


def test_more_than_a_segment_takes_is_sealed_in_several(world: World, agent: Agent) -> None:
    """Each committed by itself; none is left over."""
    for n in range(5):
        write_many(agent, [{"layer": "working", "content": f"{n} {m}"} for m in range(2)])
    world.admin.execute(
        "DO $$ BEGIN EXECUTE replace(pg_get_functiondef("
        "'memwarden_internal.segment_end'::regproc), 'DEFAULT 50000', 'DEFAULT 3'); END $$"
    )
    seal(world)
    assert segments(world) == [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]
    assert verify(world) == []


def another_era(world: World, identifier: int, *numbers: int, transaction: int) -> None:
    """Make entries those of another cluster, as a restored dump brings them."""
    with world.admin.transaction():
        world.admin.execute("SET LOCAL session_replication_role = replica")
        world.admin.execute(
            "UPDATE memwarden_data.log SET system_identifier = %s,"
            " transaction_id = (%s + log_seq)::text::xid8 WHERE log_seq = ANY (%s)",
            (identifier, transaction, list(numbers)),
        )


def test_entries_of_an_earlier_cluster_are_sealed_first(world: World, agent: Agent) -> None:
    """Their transaction ids mean nothing here: no watermark holds for them, higher or lower.

    Proves: T6
    """
    for n in range(4):
        remember(agent, f"number {n}")
    another_era(world, 11, 1, 3, transaction=10**12)
    seal(world)
    assert segments(world) == [[1, 3], [2, 4]]
    for n in range(4, 8):
        remember(agent, f"number {n}")
    # Of two clusters that stopped before they sealed, the one that began earlier comes first.
    another_era(world, 13, 5, transaction=5)
    another_era(world, 7, 7, transaction=3)
    seal(world)
    assert segments(world) == [[1, 3], [2, 4], [5], [7], [6, 8]]
    rows = world.rows("SELECT * FROM memwarden_data.log_segment ORDER BY segment_no")
    here = rows[1]["system_identifier"]
    assert [row["system_identifier"] for row in rows] == [11, here, 13, 7, here]
    assert {row["sealed_by"] for row in rows} == {here}
    assert verify(world) == []


def test_an_earlier_cluster_goes_on_where_it_had_sealed(world: World, agent: Agent) -> None:
    """What it had sealed before the dump was taken is not sealed again."""
    remember(agent, "sealed there")
    another_era(world, 11, 1, transaction=100)
    seal(world)
    remember(agent, "in the dump, and not sealed")
    remember(agent, "written here")
    another_era(world, 11, 2, transaction=100)
    seal(world)
    assert segments(world) == [[1], [2], [3]]
    assert verify(world) == []


def test_an_older_copy_of_the_cluster_is_named(world: World, agent: Agent) -> None:
    """Where transaction ids begin again below what is sealed, nothing more can be: it is said."""
    remember(agent, "sealed")
    seal(world)
    with world.admin.transaction(force_rollback=True):
        world.admin.execute("SET LOCAL session_replication_role = replica")
        world.admin.execute(
            "UPDATE memwarden_data.log_segment SET below_transaction = '9223372036854775807'"
        )
        (row,) = world.rows("SELECT * FROM memwarden.status() WHERE component = 'log seal'")
        assert row["state"] == "warning"
        assert "older copy of the one that sealed" in row["detail"]


@pytest.mark.parametrize("isolation", ["REPEATABLE READ", "SERIALIZABLE"])
def test_one_isolation_level_is_safe(world: World, isolation: str) -> None:
    """Under another the watermark would be newer than what is read."""
    sealer = world.connect("memwarden_jobs")
    sealer.execute(f"SET default_transaction_isolation = '{isolation}'")
    with pytest.raises(psycopg.errors.ActiveSqlTransaction):
        sealer.execute("CALL memwarden.seal_log()")


SETTINGS = {
    "TimeZone": ["Asia/Kathmandu", "UTC"],
    "DateStyle": ["SQL, DMY", "German"],
    "IntervalStyle": ["iso_8601"],
    "extra_float_digits": ["-10", "3"],
    "bytea_output": ["escape"],
    "xmlbinary": ["hex"],
    "lc_numeric": ["C"],
    "standard_conforming_strings": ["off"],
    "client_encoding": ["LATIN1"],
    "quote_all_identifiers": ["on"],
}


def test_no_setting_of_a_session_changes_what_is_hashed(world: World, agent: Agent) -> None:
    """What one session sealed, every other finds intact.

    Proves: T6
    """
    remember(agent, {"ä": 0.1}, confidence=0.1, importance=1 / 3, subject="Ünal", predicate="is")
    other = world.connect()
    text = (
        "SELECT memwarden_internal.log_entries(s.system_identifier, '0', '9000000000000000000')"
        "::text AS e, memwarden_internal.segment_record(s.segment_no, s.system_identifier,"
        " s.from_transaction, s.below_transaction, s.entry_count, s.total_entries, s.log_seqs,"
        " s.merkle_root, s.previous_head, s.sealed_by, s.sealed_at)::text AS r,"
        " memwarden.log_head()::text AS h FROM memwarden_data.log_segment AS s"
    )
    seal(world)
    expected = world.rows(text)
    for name, values in SETTINGS.items():
        for value in values:
            other.execute(f"SET {name} = '{value}'")
            assert other.execute("SELECT * FROM memwarden.verify_log()").fetchall() == []
            assert other.execute(text).fetchall() == expected
    remember(agent, "sealed under those settings")
    other.execute("CALL memwarden.seal_log()")
    assert verify(world) == []


@pytest.mark.parametrize("table", ["log_segment", "checkpoint", "checkpoint_head"])
def test_what_is_sealed_is_not_changed_by_its_owner(world: World, agent: Agent, table: str) -> None:
    """Rows are added, and old checkpoints deleted.

    Proves: T6
    """
    remember(agent, "sealed")
    world.admin.execute("CALL memwarden.checkpoint()")
    owner = world.connect()
    owner.execute("SET ROLE memwarden_owner")
    column = "segment_no" if table == "log_segment" else "checkpoint_no"
    statements = [
        f"UPDATE memwarden_data.{table} SET {column} = 7",
        f"TRUNCATE memwarden_data.{table}",
    ]
    if table == "log_segment":
        statements.append(f"DELETE FROM memwarden_data.{table}")
    for statement in statements:
        with pytest.raises(psycopg.errors.ObjectInUse):
            owner.execute(statement)


def test_a_broken_chain_is_not_sealed_on(world: World, agent: Agent) -> None:
    """It says so rather than begin another."""
    for n in range(3):
        remember(agent, f"number {n} {uuid.uuid4()}")
        seal(world)
    with world.admin.transaction():
        world.admin.execute("SET LOCAL session_replication_role = replica")
        world.admin.execute("DELETE FROM memwarden_data.log_segment WHERE segment_no = 2")
    remember(agent, "one more")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="chain"):
        seal(world)
