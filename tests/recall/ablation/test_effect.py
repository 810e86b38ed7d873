"""What memory does for tasks, and to them, is what plain Python makes of the reports."""

from __future__ import annotations

import math
import random
from collections import Counter
from datetime import timedelta
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import curator
from conftest import World
from helpers import recall, write

Z = 1.96


def wilson(hits: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    share = hits / count
    middle = share + Z * Z / (2 * count)
    spread = Z * math.sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    return (middle - spread) / (1 + Z * Z / count), (middle + spread) / (1 + Z * Z / count)


def report(agent: Connection[DictRow], recall_id: UUID, outcome: str, *fault: UUID) -> None:
    """Say what came of a recall."""
    agent.execute(
        "SELECT memwarden.report_outcome(%s, outcome => %s, at_fault => %s::uuid[])",
        (recall_id, outcome, list(fault)),
    )


def plant(agent: Connection[DictRow], tasks: int, *, harmful: bool) -> Counter[tuple[bool, bool]]:
    """Tasks with chances that depend on memory; how many were (withheld, done right)."""
    chance = random.Random(7)
    counts: Counter[tuple[bool, bool]] = Counter()
    for n in range(tasks):
        (*_, row) = recall(agent, query="lamp", task=f"task {n}")
        was_withheld = row["standing"] == "withheld"
        is_done = chance.random() < (0.9 if was_withheld == harmful else 0.3)
        report(agent, row["recall_id"], "success" if is_done else "failure")
        counts[was_withheld, is_done] += 1
    return counts


def impact(world: World, org: str) -> DictRow:
    """The row of all tasks."""
    (row,) = world.rows(
        "SELECT * FROM memwarden.correctness_impact WHERE org = %s AND task = '*'", org
    )
    return row


@pytest.mark.parametrize("harmful", [False, True])
def test_the_effect_is_the_difference_of_two_shares(
    shared_world: World, home: str, harmful: bool
) -> None:
    """With Newcombe's interval; where memory surely does harm, it is an alert and an incident.

    Proves: Q3
    """
    world, org = shared_world, home.split("/")[2]
    agent = world.agent(home)
    write(agent, "episodic", "the lamp is green")
    world.admin.execute("SELECT memwarden.set_ablation(%s, 0.5)", (home,))
    counts = plant(agent, 80, harmful=harmful)
    given, withheld = (counts[arm, True] + counts[arm, False] for arm in (False, True))
    one, other = counts[False, True] / given, counts[True, True] / withheld
    (low, high), (least, most) = (
        wilson(counts[False, True], given),
        wilson(counts[True, True], withheld),
    )
    row = impact(world, org)
    assert (row["given"], row["withheld"]) == (given, withheld)
    assert row["impact"] == pytest.approx(one - other)
    assert row["low"] == pytest.approx(one - other - math.hypot(one - low, most - other))
    assert row["high"] == pytest.approx(one - other + math.hypot(high - one, other - least))
    assert row["state"] == ("ALERT" if harmful else "OK")
    for _ in range(2):
        world.admin.execute("CALL memwarden.check_compliance()")
    incidents = world.rows(
        "SELECT kind FROM memwarden.incidents WHERE org = %s AND closed_at IS NULL", org
    )
    assert [row["kind"] for row in incidents] == (["MEMORY_HARMS"] if harmful else [])
    world.admin.execute("CALL memwarden.take_metrics()")
    states = world.rows(
        "SELECT state FROM memwarden.metrics WHERE metric = 'correctness_impact' AND org = %s", org
    )
    assert [row["state"] for row in states] == ["ALERT" if harmful else "OK"]


def test_a_task_counts_once_and_by_its_last_word(shared_world: World, home: str) -> None:
    """However many recalls it makes, and however often it is revised."""
    world, org = shared_world, home.split("/")[2]
    agent, other = world.agent(home), world.agent(home)
    item = write(agent, "episodic", "the lamp is green")["item_id"]
    first, second = (recall(agent, query="lamp", task="t")[0]["recall_id"] for _ in range(2))
    report(agent, first, "failure", item)
    report(agent, second, "success")
    report(other, recall(other, query="lamp", task="t")[0]["recall_id"], "failure", item)
    report(agent, recall(agent, query="lamp")[0]["recall_id"], "partial")
    unknown = recall(agent, query="lamp")[0]["recall_id"]
    report(agent, unknown, "unknown")
    assert since(world, org) == {"tasks": 3, "failed": 1, "induced": 1}
    report(agent, first, "failure", item)
    assert since(world, org) == {"tasks": 3, "failed": 1, "induced": 1}
    report(agent, second, "failure")
    assert since(world, org) == {"tasks": 3, "failed": 2, "induced": 2}


def since(world: World, org: str) -> dict[str, int]:
    """Tasks of the last day."""
    (row,) = world.rows(
        "SELECT tasks, failed, induced FROM memwarden.errors_since(now() - interval '1 day')"
        " WHERE org = %s",
        org,
    )
    return dict(row)


def test_errors_lead_to_the_memory_at_fault(shared_world: World, home: str) -> None:
    """For who oversees the organisation, and nobody else.

    Proves: Q3
    """
    world, org = shared_world, home.split("/")[2]
    agent = world.agent(home)
    item = write(agent, "episodic", "the lamp is green")["item_id"]
    (row,) = recall(agent, query="lamp", task="paint it")
    report(agent, row["recall_id"], "failure", item)
    view = "SELECT item_id, version_id, task, status FROM memwarden.memory_errors"
    auditor = world.connect(world.register(f"/org/{org}", groups=("memwarden_auditor",)))
    assert auditor.execute(view).fetchall() == [
        {
            "item_id": item,
            "version_id": row["version_id"],
            "task": "paint it",
            "status": "ACTIVE",
        }
    ]
    assert curator(world, "/org/strangers").execute(view).fetchall() == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.connect(world.role("memwarden_monitor")).execute(view)


@pytest.mark.parametrize("outcome", ["success", "partial", "unknown"])
def test_only_a_failure_has_a_memory_at_fault(shared_world: World, home: str, outcome: str) -> None:
    """And only one that the recall gave."""
    agent = shared_world.agent(home)
    item = write(agent, "episodic", "the lamp is green")["item_id"]
    (row,) = recall(agent, query="lamp")
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        report(agent, row["recall_id"], outcome, item)
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        report(agent, row["recall_id"], "failure", row["recall_id"])


def test_errors_that_double_say_roll_back(shared_world: World, home: str) -> None:
    """Not one failure, not as many as before, but surely more than twice as many.

    Proves: Q8
    """
    world, org = shared_world, home.split("/")[2]
    agent = world.agent(home)
    item = write(agent, "episodic", "the lamp is green")["item_id"]

    def work(count: int, errors: int) -> None:
        for n in range(count):
            (row,) = recall(agent, query="lamp")
            report(agent, row["recall_id"], *(("failure", item) if n < errors else ("success",)))
        # The number of a recall tells its time to the millisecond.
        world.value("SELECT pg_sleep(0.005)::text")

    work(50, 2)
    deployed = world.value("SELECT clock_timestamp()")
    world.value("SELECT pg_sleep(0.005)::text")
    verdict = "SELECT roll_back, rate, rate_before FROM memwarden.errors_since(%s) WHERE org = %s"
    work(10, 1)
    assert world.rows(verdict, deployed, org)[0]["roll_back"] is False
    work(10, 8)
    (row,) = world.rows(verdict, deployed, org)
    assert row == {"roll_back": True, "rate": 9 / 20, "rate_before": 2 / 50}
    for wrong in (deployed + timedelta(days=1), deployed - timedelta(days=40), None):
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            world.rows(verdict, wrong, org)
