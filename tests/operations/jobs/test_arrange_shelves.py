"""arrange_shelves(): what has grown moves to a shelf, while others write, kill it or run it too."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from helpers import recall, write, write_many
from races import PATIENCE, together, wait_until_blocked
from replay import check_store

if TYPE_CHECKING:
    from conftest import World

HOME = "/org/acme/user/ana"
JOB = "CALL memwarden.arrange_shelves()"
FEW = 20
"""From so many vectors on, the stores of these tests give a scope a shelf."""

Agent = Connection[DictRow]


def arrange(world: World) -> None:
    """Run the job once, as its own login."""
    world.connect("memwarden_jobs").execute(JOB)


def grow(agent: Agent, count: int = FEW, layer: str = "episodic", word: str = "thing") -> list[Any]:
    """Write so many memories of a layer; return the items."""
    rows = write_many(
        agent, [{"layer": layer, "content": f"{word} number {n} of them"} for n in range(count)]
    )
    assert {row["outcome"] for row in rows} == {"COMMITTED"}
    return [row["item_id"] for row in rows]


def shelves(world: World) -> dict[str, int]:
    """How many vectors lie in each partition."""
    rows = world.rows(
        "SELECT e.tableoid::regclass::text AS name, count(*) AS n"
        "  FROM memwarden_data.embedding AS e GROUP BY 1"
    )
    return {row["name"].removeprefix("memwarden_data.embedding_"): row["n"] for row in rows}


def check_vectors(world: World) -> None:
    """Every active item has its vector, once, where its scope and layer have theirs."""
    astray = world.rows(
        "SELECT i.item_id, e.shelf, s.shelf AS own FROM memwarden_data.item AS i"
        "  LEFT JOIN memwarden_data.embedding AS e USING (org_id, scope_id, item_id)"
        "  LEFT JOIN memwarden_data.shelf AS s ON s.org_id = i.org_id AND s.scope_id = i.scope_id"
        "   AND s.layer = i.layer AND s.vacated_at IS NULL"
        " WHERE i.status = 'ACTIVE' AND (e.shelf IS DISTINCT FROM coalesce(s.shelf, 0)"
        "    OR (e.words IS NOT DISTINCT FROM i.search_vector) <> (e.shelf > 0))"
    )
    assert astray == []
    twice = world.rows(
        "SELECT item_id FROM memwarden_data.embedding GROUP BY item_id HAVING count(*) > 1"
    )
    assert twice == []
    check_store(world.admin)


@pytest.fixture
def small(world: World) -> World:
    """A store in which few memories are many."""
    world.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = %s", (FEW,))
    return world


def test_what_has_grown_has_a_shelf_of_its_own(small: World) -> None:
    """That layer of that scope: another layer and another scope stay where they were."""
    agent, other = small.agent(HOME), small.agent("/org/acme/user/bob")
    grow(agent)
    grow(agent, FEW - 1, "semantic")
    grow(other, FEW - 1)
    arrange(small)
    assert shelves(small) == {"shelf_1": FEW, "shared": 2 * FEW - 2}
    check_vectors(small)
    state = small.rows("SELECT * FROM memwarden.status() WHERE component = 'shelves'")
    assert state[0]["detail"] == f"of their own: {HOME} episodic (embedding_shelf_1)"


def test_what_is_written_afterwards_goes_there(small: World) -> None:
    """New memories, new values, and what is taken back leaves it."""
    agent = small.agent(HOME, role="curator")
    grow(agent, layer="semantic")
    first = write(agent, "semantic", 1, subject="Ana", predicate="has", embedding=[1.0] * 384)
    arrange(small)
    write(agent, "semantic", 2, subject="Ana", predicate="has", embedding=[2.0] + [1.0] * 383)
    write(agent, "semantic", "one more")
    assert shelves(small) == {"shelf_1": FEW + 2}
    assert small.value("SELECT count(*) FROM memwarden_data.past_embedding") == 1
    agent.execute("SELECT memwarden.rollback(%s, 'a test')", (first["item_id"],))
    check_vectors(small)
    agent.execute("SELECT memwarden.retract(%s, 'a test')", (first["item_id"],))
    assert shelves(small) == {"shelf_1": FEW + 1}
    check_vectors(small)


def test_it_goes_back_when_fewer_than_half_are_left(small: World) -> None:
    """Not before; the empty partition is dropped an hour later, and the scope may grow again."""
    agent = small.agent(HOME, role="curator")
    items = grow(agent)
    arrange(small)
    for item in items[: FEW // 2]:
        agent.execute("SELECT memwarden.retract(%s, 'a test')", (item,))
    arrange(small)
    assert shelves(small) == {"shelf_1": FEW // 2}
    agent.execute("SELECT memwarden.retract(%s, 'a test')", (items[-1],))
    arrange(small)
    assert shelves(small) == {"shared": FEW // 2 - 1}
    check_vectors(small)
    assert small.value("SELECT to_regclass('memwarden_data.embedding_shelf_1')") is not None
    grow(agent, word="other")
    arrange(small)
    assert shelves(small) == {"shelf_2": FEW // 2 - 1 + FEW}
    small.admin.execute("UPDATE memwarden_data.shelf SET vacated_at = vacated_at - interval '2h'")
    arrange(small)
    assert small.value("SELECT to_regclass('memwarden_data.embedding_shelf_1')") is None
    check_vectors(small)


def test_dropping_waits_for_nobody(small: World) -> None:
    """While somebody reads the table the partition stays, and the next run drops it."""
    agent = small.agent(HOME, role="curator")
    items = grow(agent)
    arrange(small)
    for item in items:
        agent.execute("SELECT memwarden.retract(%s, 'a test')", (item,))
    arrange(small)
    small.admin.execute("UPDATE memwarden_data.shelf SET vacated_at = vacated_at - interval '2h'")
    reader = small.connect()
    with reader.transaction():
        reader.execute("SELECT count(*) FROM memwarden_data.embedding")
        arrange(small)
        assert small.value("SELECT to_regclass('memwarden_data.embedding_shelf_1')") is not None
    arrange(small)
    assert small.value("SELECT to_regclass('memwarden_data.embedding_shelf_1')") is None


def test_a_scope_that_was_closed_gives_its_shelf_back(small: World) -> None:
    """Nothing of it is active, so nothing is left to move."""
    agent = small.agent(HOME)
    grow(agent)
    arrange(small)
    small.admin.execute("SELECT memwarden.close_scope(%s)", (HOME,))
    arrange(small)
    assert shelves(small) == {}
    assert small.value("SELECT count(*) FROM memwarden_data.shelf WHERE vacated_at IS NULL") == 1


def test_writers_and_readers_while_it_runs(small: World) -> None:
    """Nothing is lost, nothing is there twice, and every answer is whole.

    Proves: D1 (in a scope that grows)
    """
    agents = [small.agent(HOME, role="curator") for _ in range(4)]
    grow(agents[0], FEW - 5)
    jobs = [small.connect("memwarden_jobs") for _ in range(2)]

    def write_on(number: int) -> None:
        for step in range(20):
            row = write(agents[number], "episodic", f"writer {number} says {step}")
            assert row["outcome"] == "COMMITTED"
            if step % 4 == 3:
                agents[number].execute("SELECT memwarden.retract(%s, 'x')", (row["item_id"],))

    def ask(number: int) -> None:
        for _ in range(20):
            found = recall(agents[number], query="thing number", k=100)
            assert len({r["item_id"] for r in found if "thing" in r["text"]}) == FEW - 5

    def arrange_on(number: int) -> None:
        for _ in range(10):
            jobs[number].execute(JOB)

    together(
        [
            partial(each, n)
            for each, numbers in ((write_on, (0, 1)), (ask, (2, 3)), (arrange_on, (0, 1)))
            for n in numbers
        ]
    )
    arrange(small)
    assert shelves(small) == {"shelf_1": FEW - 5 + 30}
    check_vectors(small)


def test_what_is_written_during_the_move_arrives(small: World) -> None:
    """The job waits for a writer, another writer waits for the job: both memories are there."""
    agent, other = small.agent(HOME), small.agent(HOME)
    elsewhere = small.agent("/org/acme/user/bob")
    grow(agent)
    jobs = small.connect("memwarden_jobs")
    with ThreadPoolExecutor(2) as pool:
        agent.autocommit = False
        write(agent, "episodic", "while it is filled")
        running = pool.submit(jobs.execute, JOB)
        wait_until_blocked(small.admin, jobs)
        late = pool.submit(write, other, "episodic", "after it was filled")
        # Another scope, and another layer of the same, wait for nobody.
        assert write(elsewhere, "episodic", "elsewhere")["outcome"] == "COMMITTED"
        assert write(elsewhere, "semantic", "always elsewhere")["outcome"] == "COMMITTED"
        assert len(recall(elsewhere, query="elsewhere")) == 2
        agent.commit()
        running.result(PATIENCE)
        assert late.result(PATIENCE)["outcome"] == "COMMITTED"
    assert shelves(small) == {"shelf_1": FEW + 2, "shared": 2}
    check_vectors(small)


def test_what_is_killed_midway_is_begun_anew(small: World) -> None:
    """Nothing is left of the first attempt."""
    agent = small.agent(HOME)
    grow(agent)
    jobs, blocker = small.connect("memwarden_jobs"), small.connect()
    with ThreadPoolExecutor(1) as pool, blocker.transaction():
        blocker.execute("SELECT FROM memwarden_data.write_lock FOR NO KEY UPDATE")
        running = pool.submit(jobs.execute, JOB)
        wait_until_blocked(small.admin, jobs)
        small.admin.execute("SELECT pg_terminate_backend(%s)", (jobs.info.backend_pid,))
        with pytest.raises(psycopg.errors.AdminShutdown):
            running.result(PATIENCE)
    assert shelves(small) == {"shared": FEW}
    assert small.value("SELECT count(*) FROM memwarden_data.shelf") == 1
    arrange(small)
    assert list(shelves(small).values()) == [FEW]
    check_vectors(small)


def test_of_two_at_once_one_does_it(small: World) -> None:
    """The other has nothing to do, and does not wait."""
    agent = small.agent(HOME)
    grow(agent)
    first, second, blocker = (
        small.connect("memwarden_jobs"),
        small.connect("memwarden_jobs"),
        small.connect(),
    )
    with ThreadPoolExecutor(1) as pool:
        with blocker.transaction():
            blocker.execute("SELECT FROM memwarden_data.write_lock FOR NO KEY UPDATE")
            running = pool.submit(first.execute, JOB)
            wait_until_blocked(small.admin, first)
            second.execute(JOB)
            assert shelves(small) == {"shared": FEW}
        running.result(PATIENCE)
    assert shelves(small) == {"shelf_1": FEW}


def test_a_scope_that_stays_busy_is_left_for_the_next_run(small: World) -> None:
    """55P03 after lock_timeout, five minutes where none is set, and nothing has changed."""
    agent = small.agent(HOME)
    grow(agent)
    blocker, jobs = small.connect(), small.connect("memwarden_jobs")
    jobs.execute("SET lock_timeout = '1ms'")
    with blocker.transaction():
        blocker.execute("SELECT FROM memwarden_data.write_lock FOR NO KEY UPDATE")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            jobs.execute(JOB)
    assert shelves(small) == {"shared": FEW}
    jobs.execute(JOB)
    assert list(shelves(small).values()) == [FEW]


def test_nobody_may_read_a_partition_or_the_list_of_shelves(small: World) -> None:
    """Forced row security, no grant; who is granted SELECT on all tables sees no row of either."""
    agent = small.agent(HOME)
    grow(agent)
    arrange(small)
    for name in ("embedding_shelf_1", "embedding_shared", "shelf"):
        flags = small.rows(
            "SELECT relrowsecurity AND relforcerowsecurity AS forced, relacl FROM pg_class"
            " WHERE oid = %s::regclass",
            f"memwarden_data.{name}",
        )
        assert flags == [{"forced": True, "relacl": None}]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            agent.execute(f"SELECT FROM memwarden_data.{name}")
    small.grant_tables(agent.info.user)
    for name in ("embedding_shelf_1", "embedding_shared", "shelf"):
        assert agent.execute(f"SELECT FROM memwarden_data.{name}").fetchall() == []
    assert len(agent.execute("SELECT FROM memwarden_data.embedding").fetchall()) == FEW


def test_the_partition_is_made_as_the_others_are(small: World) -> None:
    """Same columns, same storage, owned by the same role; an index for words and each model."""
    grow(small.agent(HOME))
    arrange(small)
    shape = (
        "SELECT attname, atttypid, attstorage, attnotnull FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum"
    )
    assert small.rows(shape, "memwarden_data.embedding_shelf_1") == small.rows(
        shape, "memwarden_data.embedding_shared"
    )
    indexes = small.rows(
        "SELECT indexname FROM pg_indexes WHERE tablename = 'embedding_shelf_1' ORDER BY 1"
    )
    assert [row["indexname"].removeprefix("embedding_shelf_1_") for row in indexes] == [
        "nearest_1",
        "nearest_2",
        "pkey",
        "words",
    ]
    owner = "SELECT relowner::regrole::text FROM pg_class WHERE relname = 'embedding_shelf_1'"
    assert small.value(owner) == "memwarden_owner"


@pytest.mark.parametrize("group", ["memwarden_agent", "memwarden_curator", "memwarden_auditor"])
def test_it_is_the_jobs_and_the_administrators(world: World, group: str) -> None:
    """Others are refused: 42501."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.connect(world.role(group)).execute(JOB)
    world.connect(world.role("memwarden_admin")).execute(JOB)


def test_the_size_is_a_setting_of_the_layer(world: World) -> None:
    """configure_layer() takes it; one alone is not many."""
    call = "SELECT memwarden.configure_layer('episodic', %s)"
    world.admin.execute(call, (Jsonb({"own_shelf_from": 7}),))
    grow(world.agent(HOME), 7)
    arrange(world)
    assert shelves(world) == {"shelf_1": 7}
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        world.admin.execute(call, (Jsonb({"own_shelf_from": 1}),))


def test_counting_reads_each_vector_a_few_times(small: World) -> None:
    """Also where one scope is nearly all of a store that the planner knows.

    It expects one row of each step then: the scope was counted anew for each of its vectors.
    """
    many = 300
    grow(small.agent(HOME), many)
    admin = small.admin
    admin.execute("VACUUM ANALYZE")
    reads = (
        "SELECT sum(coalesce(i.idx_tup_read, 0)) + sum(DISTINCT t.seq_tup_read) AS n"
        "  FROM pg_stat_all_indexes AS i JOIN pg_stat_all_tables AS t USING (relid)"
        " WHERE i.relname = 'embedding_shared'"
    )
    admin.execute("SELECT pg_stat_force_next_flush()")
    before = small.value(reads)
    assert len(small.rows("SELECT * FROM memwarden_internal.grown_scopes()")) == 1
    admin.execute("SELECT pg_stat_force_next_flush()")
    admin.execute("SELECT pg_stat_clear_snapshot()")
    assert 0 < small.value(reads) - before <= 5 * many
