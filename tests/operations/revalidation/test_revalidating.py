"""A sample of what lasts is judged again: what is false is found, and nothing is rewritten."""

from __future__ import annotations

import math
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write
from operations.metrics.conftest import History, found
from races import together

WORDS = "SELECT version_id, content, content_hash FROM memwarden_data.version ORDER BY version_id"


@pytest.fixture
def store(world: World) -> History:
    """An organisation of its own."""
    return found(world)


def agent_of(store: History, **options: Any) -> Connection[DictRow]:
    """An agent that may take things back."""
    return store.world.agent(f"/org/{store.org}/user/ana", role="curator", **options)


def sweep(store: History, layer: str = "semantic") -> DictRow:
    """Run the job; what the last sweep of a layer found."""
    store.world.admin.execute("CALL memwarden.revalidate()")
    return store.world.rows(
        "SELECT * FROM memwarden.revalidations WHERE org = %s AND layer = %s ORDER BY begun_at",
        store.org,
        layer,
    )[-1]


def leaked(store: History) -> dict[UUID, str]:
    """The reason of each memory that was found false."""
    rows = store.world.rows("SELECT * FROM memwarden.leaked_memories WHERE org = %s", store.org)
    return {row["item_id"]: row["reason"] for row in rows}


@given(st.integers(1, 10**9))
def test_the_sample_is_large_enough(shared_world: World, population: int) -> None:
    """For 0.05 to 0.02 with 95 % confidence, corrected for what is finite.

    Proves: Q8
    """
    many = 1.96**2 * 0.05 * 0.95 / 0.02**2
    expected = math.ceil(round(many / (1 + (many - 1) / population), 2))
    size = shared_world.value("SELECT memwarden_internal.sample_size(%s)", population)
    assert abs(size - expected) <= 1
    assert size <= min(population, 457)


def test_each_way_of_being_false_is_found(store: History) -> None:
    """And what is well is not.

    Proves: Q3, Q8
    """
    world, agent, other = store.world, agent_of(store), agent_of(store)
    items = {
        name: write(agent, "semantic", f"{name} lamp is green")["item_id"]
        for name in ("good", "broken", "refuted", "fault", "withdrawn", "source")
    }
    uri = f"memwarden:item/{items['source']}"
    derived = write(
        agent,
        "semantic",
        "the lamp that was derived is green",
        evidence=[{"type": "memory_item", "uri": uri}],
    )
    assert derived["outcome"] == "COMMITTED", derived
    world.admin.execute("SET session_replication_role = replica")
    world.admin.execute(
        "UPDATE memwarden_data.version SET content_hash = sha256('x') WHERE item_id = %s",
        (items["broken"],),
    )
    world.admin.execute("RESET session_replication_role")
    other.execute("SELECT memwarden.annotate(%s, 'refuted', 'no')", (items["refuted"],))
    for task in ("one", "two", "three"):
        [row] = recall(agent, query="fault lamp", k=1, task=task)
        assert row["item_id"] == items["fault"]
        agent.execute(
            "SELECT memwarden.report_outcome(%s, outcome => 'failure', at_fault => %s::uuid[])",
            (row["recall_id"], [items["fault"]]),
        )
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute("CALL memwarden.count_recalls()")
    agent.execute("SELECT memwarden.retract(%s, 'wrong')", (items["source"],))
    before = world.rows(WORDS)
    row = sweep(store)
    assert leaked(store) == {
        items["broken"]: "PROVENANCE_BROKEN",
        items["refuted"]: "REFUTED",
        items["fault"]: "AT_FAULT",
        derived["item_id"]: "SOURCE_WITHDRAWN",
    }
    assert (row["sampled"], row["found_false"]) == (row["population"], 4)
    assert row["rate"] == pytest.approx(4 / row["sampled"])
    assert world.rows(WORDS) == before
    fresh = world.rows(
        "SELECT item_id FROM memwarden_data.item WHERE fresh_until <= clock_timestamp()"
    )
    assert {each["item_id"] for each in fresh} == set(leaked(store))
    world.admin.execute("CALL memwarden.take_metrics()")
    sampled = world.value("SELECT sum(sampled) FROM memwarden.revalidations")
    assert store.points("leakage_rate")["*"] == pytest.approx(4 / int(sampled))


def test_too_many_false_memories_raise_the_threshold_until_there_are_fewer(
    store: History,
) -> None:
    """Of that organisation and layer alone, and a write that passed before is held to it.

    Proves: Q3
    """
    world, agent = store.world, agent_of(store)
    other = found(world)
    world.admin.execute(
        "UPDATE memwarden_data.layer SET fact_threshold = 0.5 WHERE layer = 'semantic'"
    )
    neighbour = world.agent(f"/org/{other.org}/user/ana")
    terms = (
        "SELECT round(((terms).fact_threshold)::numeric, 2) AS threshold"
        "  FROM memwarden_data.layer_terms AS t JOIN memwarden_data.principal AS p"
        " USING (principal_id) WHERE p.name = %s AND layer = 'semantic'"
    )

    def threshold(connection: Connection[DictRow]) -> float:
        return float(world.value(terms, connection.info.user))

    def plant(count: int) -> None:
        for _ in range(count):
            world.admin.execute(
                "UPDATE memwarden_data.layer SET fact_threshold = 0 WHERE layer = 'semantic'"
            )
            assert write(agent, "semantic", uuid4().hex)["outcome"] == "COMMITTED"
        world.admin.execute(
            "UPDATE memwarden_data.layer SET fact_threshold = 0.5 WHERE layer = 'semantic'"
        )

    plant(3)
    (item, *_) = (row["item_id"] for row in store.rows("item"))
    second = agent_of(store)
    second.execute("SELECT memwarden.annotate(%s, 'refuted', 'no')", (item,))
    assert sweep(store)["threshold_raised_by"] == 0.05
    assert threshold(agent) == 0.55
    assert threshold(neighbour) == 0.5
    answer = write(agent, "semantic", "without any evidence")
    assert answer["reason"] == "INSUFFICIENT_EVIDENCE"
    assert answer["detail"]["threshold"] == 0.55
    sweep(store)
    assert threshold(agent) == 0.6
    agent.execute("SELECT memwarden.retract(%s, 'wrong')", (item,))
    assert sweep(store)["threshold_raised_by"] is None
    assert threshold(agent) == 0.5


def steps(connection: Connection[DictRow], begun: Any, after: str | None = None) -> int:
    """Go through a run step by step; how many there were."""
    for count in range(10_000):
        row = connection.execute(
            "SELECT memwarden_internal.revalidate_step(%s, %s) AS after", (after, begun)
        ).fetchone()
        assert row is not None
        if row["after"] is None:
            return count
        after = row["after"]
    raise AssertionError("it never ends")


def test_two_sweeps_at_once_judge_each_memory_once(store: History) -> None:
    """And leave nothing open."""
    world, agent = store.world, agent_of(store)
    for n in range(70):
        write(agent, "semantic", f"lamp {n} {uuid4().hex}")
    begun = world.value("SELECT clock_timestamp()")
    workers = [world.connect() for _ in range(3)]
    together([partial(steps, worker, begun) for worker in workers])
    # Whoever left a memory to another that then stopped leaves it to the next run.
    row = sweep(store)
    rows = store.rows("revalidation")
    assert all(each["finished_at"] is not None for each in rows)
    judged = [each for each in store.rows("revalidated") if each["verdict"] is None]
    assert judged == []
    assert row["sampled"] == world.value("SELECT memwarden_internal.sample_size(70)")


def test_a_killed_sweep_goes_on_where_it_was(store: History) -> None:
    """The sample stays the one that was drawn."""
    world, agent = store.world, agent_of(store)
    for n in range(30):
        write(agent, "semantic", f"lamp {n} {uuid4().hex}")
    begun = world.value("SELECT clock_timestamp()")
    after = None
    while not (after or "").startswith("judge"):
        after = world.value("SELECT memwarden_internal.revalidate_step(%s, %s)", after, begun)
    drawn = {row["item_id"] for row in store.rows("revalidated")}
    worker = world.log_in("postgres", autocommit=False)
    worker.execute("SELECT memwarden_internal.revalidate_step(%s, %s)", (after, begun))
    world.admin.execute("SELECT pg_terminate_backend(%s)", (worker.info.backend_pid,))
    with pytest.raises(psycopg.OperationalError):
        worker.execute("SELECT 1")
    assert all(row["verdict"] is None for row in store.rows("revalidated"))
    sweep(store)
    assert {row["item_id"] for row in store.rows("revalidated")} == drawn
    assert all(row["verdict"] == "VERIFIED" for row in store.rows("revalidated"))


def test_what_ended_meanwhile_counts_as_nothing(store: History) -> None:
    """Neither as verified nor as false."""
    world, agent = store.world, agent_of(store)
    items = [write(agent, "semantic", f"lamp {n}")["item_id"] for n in range(3)]
    begun = world.value("SELECT clock_timestamp()")
    after = None
    while not (after or "").startswith("judge"):
        after = world.value("SELECT memwarden_internal.revalidate_step(%s, %s)", after, begun)
    agent.execute("SELECT memwarden.retract(%s, 'wrong')", (items[0],))
    row = sweep(store)
    assert (row["sampled"], row["verified"], row["found_false"]) == (2, 2, 0)


def test_each_sees_the_sweeps_that_are_theirs(store: History) -> None:
    """A monitor the figures, an auditor also the memories, of its organisation."""
    world, agent = store.world, agent_of(store)
    item = write(agent, "semantic", "the lamp is green")["item_id"]
    agent_of(store).execute("SELECT memwarden.annotate(%s, 'refuted', 'no')", (item,))
    sweep(store)
    other = found(world)
    auditor = world.log_in(world.register(f"/org/{store.org}", groups=("memwarden_auditor",)))
    stranger = world.log_in(world.register(f"/org/{other.org}", groups=("memwarden_auditor",)))
    monitor = world.log_in(world.role("memwarden_monitor"))
    figures, memories = (
        f"SELECT * FROM memwarden.{view} WHERE org = '{store.org}'"
        for view in ("revalidations", "leaked_memories")
    )
    assert monitor.execute(figures).fetchall()
    assert auditor.execute(memories).fetchall()
    for query in (figures, memories):
        assert stranger.execute(query).fetchall() == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        monitor.execute(memories)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.log_in(world.register(f"/org/{store.org}/user/bo")).execute(figures)
