"""A move of vectors: what writers wait for is what they changed, and what is left is nobody's."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import recall, write
from operations.jobs.test_arrange_shelves import (
    FEW,
    HOME,
    Agent,
    arrange,
    check_vectors,
    grow,
    shelves,
    small,
)
from races import PATIENCE, together, wait_until_blocked

if TYPE_CHECKING:
    from conftest import World

__all__ = ["small"]

MANY = 2147483647
IN_USE = "SELECT count(*) FROM memwarden_data.shelf WHERE shelf > 0 AND vacated_at IS NULL"
STEP = "SELECT memwarden_internal.arrange_next_shelf()"
TOUCHED = """
SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0) + n_tup_ins + n_tup_upd + n_tup_del)::bigint
       AS n
  FROM pg_stat_xact_user_tables WHERE relname NOT IN ('shelf', 'write_lock')"""


def mover(world: World) -> Connection[DictRow]:
    """A connection that does as the job does, step by step, in one transaction."""
    made = world.connect()
    made.autocommit = False
    made.execute("SET ROLE memwarden_owner")
    # Whether a table of a few rows is read whole is up to the planner, and to the moment.
    made.execute("SET enable_seqscan = off")
    return made


def touched(connection: Connection[Any]) -> int:
    """The rows that this transaction has read or written so far, but for the lists of scopes."""
    row = connection.execute(TOUCHED).fetchone()
    assert row is not None
    return int(row["n"])


def finish(moves: Connection[DictRow], shelf: int, source: int, into: int, seen: str) -> int:
    """Do what writers wait for, up to the commit; return how many rows that touched."""
    before = touched(moves)
    moves.execute(
        "SELECT memwarden_internal.finish_move(%s, %s, %s, %s::pg_snapshot)",
        (shelf, source, into, seen),
    )
    return touched(moves) - before


def set_size(world: World, size: int) -> None:
    """Say from how many vectors on a scope has a shelf."""
    world.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = %s", (size,))


def change(agent: Agent, items: list[Any], value: int) -> None:
    """Change four memories of a scope: one is new, two end, one has another value."""
    write(agent, "semantic", f"new while they moved {value}")
    for item in items[:2]:
        agent.execute("SELECT memwarden.retract(%s, 'x')", (item,))
    write(agent, "semantic", value, subject="Ana", predicate="has")


def rows_under_lock(world: World, agents: list[Connection[DictRow]], count: int) -> tuple[int, int]:
    """Move a scope of so many there and back, others writing; the rows that writers waited for."""
    agent, other, slow = agents
    items = grow(agent, count - 1, "semantic")
    write(agent, "semantic", 1, subject="Ana", predicate="has")
    where = world.rows(
        "SELECT org_id, scope_id FROM memwarden_data.item WHERE item_id = %s", items[0]
    )[0]
    # The planner knows the store, as autovacuum would have told it by now.
    world.admin.execute("ANALYZE")
    moves = mover(world)
    slow.autocommit = False
    # Begun before the copy is made, and not over when it is looked at once more.
    slow_item = write(slow, "semantic", "begun before")["item_id"]
    made = moves.execute(
        "SELECT shelf, seen::text FROM memwarden_internal.prepare_shelf(%s, %s, 'semantic', %s)",
        (where["org_id"], where["scope_id"], count),
    ).fetchone()
    assert made is not None
    row = moves.execute(
        "SELECT memwarden_internal.catch_up(%(shelf)s, 0, %(shelf)s, %(seen)s::pg_snapshot)::text"
        " AS seen",
        made,
    ).fetchone()
    assert row is not None
    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(finish, moves, made["shelf"], 0, made["shelf"], row["seen"])
        wait_until_blocked(world.admin, moves)
        slow.commit()
        there = running.result(PATIENCE)
        # Now that it is held, who writes waits, and finds the shelf.
        late = pool.submit(change, other, items, 2)
        wait_until_blocked(world.admin, other)
        moves.commit()
        late.result(PATIENCE)
    slow.execute("SELECT memwarden.retract(%s, 'x')", (slow_item,))
    slow.commit()
    assert shelves(world)[f"shelf_{made['shelf']}"] == count - 1
    set_size(world, 2)
    arrange(world)
    check_vectors(world)

    seen = moves.execute("SELECT memwarden_internal.snapshot_here()::text AS seen").fetchone()
    assert seen is not None
    moves.execute("SELECT memwarden_internal.copy_vectors(%(shelf)s, %(shelf)s, 0)", made)
    change(agent, items[2:], 3)
    back = finish(moves, made["shelf"], made["shelf"], 0, seen["seen"])
    moves.commit()
    moves.close()
    set_size(world, MANY)
    arrange(world)
    check_vectors(world)
    return there, back


def test_what_writers_wait_for_is_what_they_changed(small: World) -> None:
    """Ten times as many memories: no more rows are touched while they wait, there and back.

    But for a few, which a plan may read and not need. Nor where a transaction of another database
    has been open all the time.
    """
    set_size(small, MANY)
    # Who waited is asked who it is: all are there from the beginning.
    homes = (HOME, "/org/acme/user/bob")
    ours, theirs = ([small.agent(home, role="curator") for _ in range(3)] for home in homes)
    few = rows_under_lock(small, ours, 40)
    elsewhere = small.connect(dbname="postgres", autocommit=False)
    elsewhere.execute("SELECT pg_current_xact_id()")
    many = rows_under_lock(small, theirs, 400)
    elsewhere.close()
    assert all(now <= before + 8 for before, now in zip(few, many, strict=True)), (few, many)
    assert min(few) >= 4
    assert max(few) < 100


def test_a_snapshot_leaves_other_databases_out(small: World) -> None:
    """What is open there is not waited for; what is open here counts as not seen."""
    here, elsewhere = small.connect(), small.connect(dbname="postgres", autocommit=False)
    theirs = elsewhere.execute("SELECT pg_current_xact_id()::text AS id").fetchone()
    with here.transaction():
        ours = here.execute("SELECT pg_current_xact_id()::text AS id").fetchone()
        assert theirs is not None
        assert ours is not None
        # One after them that is over, so that both are among those that a snapshot lists.
        small.admin.execute("SELECT pg_current_xact_id()")
        seen = small.value("SELECT memwarden_internal.snapshot_here()::text")
        _, _, still_open = seen.split(":")
        assert still_open.split(",") == [ours["id"]]
        assert theirs["id"] != ours["id"]
    elsewhere.close()


def test_attaching_reads_nothing(small: World) -> None:
    """PostgreSQL says so itself: the check implies what the partition must hold."""
    grow(small.agent(HOME))
    said: list[str | None] = []
    jobs = small.connect()
    jobs.add_notice_handler(lambda notice: said.append(notice.message_primary))
    jobs.execute("SET client_min_messages = debug1")
    jobs.execute("CALL memwarden.arrange_shelves()")
    implied = (
        'partition constraint for table "embedding_shelf_1" is implied by existing constraints'
    )
    assert implied in said


def test_what_a_move_leaves_counts_for_nobody(small: World) -> None:
    """Killed before it cleared away: nothing is found twice, what changes takes its copy along."""
    agent = small.agent(HOME, role="curator")
    items = grow(agent, layer="semantic")
    vector = {"embedding": [1.0] * 384}
    kept = write(agent, "semantic", 1, subject="Ana", predicate="has", **vector)["item_id"]
    other = grow(agent, 3, "episodic", "other")
    small.admin.execute(STEP)
    assert shelves(small) == {"shelf_1": FEW + 1, "shared": FEW + 4}

    found = recall(agent, query="thing number", k=100)
    assert sorted(row["item_id"] for row in found) == sorted([*items, kept, *other])
    found = recall(agent, query="thing number", k=100, min_confidence=0)
    assert sorted(row["item_id"] for row in found) == sorted([*items, kept, *other])
    write(agent, "semantic", 2, subject="Ana", predicate="has", embedding=[2.0] + [1.0] * 383)
    agent.execute("SELECT memwarden.retract(%s, 'x')", (items[0],))
    assert shelves(small) == {"shelf_1": FEW, "shared": FEW + 2}
    assert small.value("SELECT count(*) FROM memwarden_data.past_embedding") == 1
    agent.execute("SELECT memwarden.rollback(%s, 'x')", (kept,))
    arrange(small)
    assert shelves(small) == {"shelf_1": FEW, "shared": 3}
    check_vectors(small)


def test_rebuilding_clears_away_too(small: World) -> None:
    """What is left is not taken for the vectors that are missing."""
    grow(small.agent(HOME))
    small.admin.execute(STEP)
    small.admin.execute("DELETE FROM memwarden_data.embedding WHERE shelf = 1")
    small.admin.execute("SELECT memwarden.rebuild_heads()")
    assert shelves(small) == {"shelf_1": FEW}
    check_vectors(small)


def test_clearing_away_waits_for_no_writer(small: World) -> None:
    """What a writer is about to change stays for the next run, and is not moved once more."""
    agent = small.agent(HOME, role="curator")
    items = grow(agent)
    small.admin.execute(STEP)
    agent.autocommit = False
    agent.execute("SELECT memwarden.retract(%s, 'x')", (items[0],))
    set_size(small, 2)
    arrange(small)
    assert shelves(small) == {"shelf_1": FEW, "shared": 1}
    agent.commit()
    arrange(small)
    assert shelves(small) == {"shelf_1": FEW - 1}
    check_vectors(small)


def test_killed_while_it_clears_away_it_goes_on(small: World) -> None:
    """Each of its steps is a transaction; whoever comes next does the rest."""
    agent = small.agent(HOME)
    grow(agent)
    small.admin.execute(STEP)
    jobs = small.connect()
    with pytest.raises(psycopg.errors.AdminShutdown):
        jobs.execute(
            "DO $$ BEGIN PERFORM memwarden_internal.arrange_next_shelf();"
            " PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(60); END $$"
        )
    assert shelves(small) == {"shelf_1": FEW, "shared": FEW}
    arrange(small)
    assert shelves(small) == {"shelf_1": FEW}
    check_vectors(small)


def test_there_and_back_while_others_write_and_read(small: World) -> None:
    """Moved again and again: every answer has every memory once, and in the end all is in place.

    Proves: D1 (in a scope that grows and shrinks)
    """
    agents = [small.agent(HOME, role="curator") for _ in range(3)]
    kept = set(grow(agents[0], FEW, "semantic"))
    jobs = [small.connect("memwarden_jobs") for _ in range(2)]

    def write_on(number: int) -> None:
        for step in range(15):
            key = {"subject": f"writer {number}", "predicate": f"says {step % 3}"}
            row = write(agents[number], "semantic", f"step {step}", **key)
            assert row["outcome"] == "COMMITTED"
            if step % 5 == 4:
                agents[number].execute("SELECT memwarden.retract(%s, 'x')", (row["item_id"],))

    def ask() -> None:
        for _ in range(25):
            rows = recall(agents[2], query="thing number", k=200, layers=["semantic"])
            found = [row["item_id"] for row in rows]
            assert len(found) == len(set(found))
            assert kept <= set(found)

    def move_on(number: int) -> None:
        for turn in range(6):
            if number == 0:
                set_size(small, (FEW, MANY)[turn % 2])
            in_use = -1
            # Where the other one is at it, this one has nothing to do.
            while in_use != (turn + 1) % 2:
                jobs[number].execute("CALL memwarden.arrange_shelves()")
                in_use = small.value(IN_USE) if number == 0 else (turn + 1) % 2

    doing: list[Callable[[], None]] = [ask]
    for number in (0, 1):
        doing += [partial(write_on, number), partial(move_on, number)]
    together(doing)
    arrange(small)
    check_vectors(small)
    assert small.value("SELECT count(*) FROM memwarden_data.shelf WHERE NOT cleared") == 0
    assert small.value("SELECT max(shelf) FROM memwarden_data.shelf") >= 3
