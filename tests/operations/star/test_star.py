"""A BI tool's login sees facts that add up, with dimensions that they join, and nothing else."""

from __future__ import annotations

from collections import Counter
from typing import Any

import psycopg
import pytest

from conftest import World
from operations.metrics.conftest import History, found, plant

FACTS = {
    "write_facts": ("org_id", "agent_id", "layer", "gate", "reason", "outcome", "day"),
    "decision_facts": (
        *("org_id", "scope_id", "agent_id", "layer", "class", "tier", "decision", "day"),
    ),
    "recall_facts": ("org_id", "agent_id", "layer", "purpose", "day"),
    "job_facts": ("job",),
}
DIMENSIONS = {
    "dim_organisation": "org_id",
    "dim_scope": "scope_id",
    "dim_agent": "agent_id",
    "dim_layer": "layer",
    "dim_gate": "gate",
    "dim_reason": "reason",
    "dim_day": "day",
}


@pytest.fixture(scope="module")
def planted(shared_world: World) -> History:
    """An organisation with a history, one of whose writes a person decided."""
    made = found(shared_world)
    plant(made)
    shared_world.admin.execute(
        "INSERT INTO memwarden_data.review (org_id, request_id, scope_id, layer, label_id,"
        " principal_id, tier, reasons, risk, factors, report, state, needed, four_eyes, opened_at,"
        " due_at, expires_at, decided_at)"
        " SELECT org_id, gen_random_uuid(), scope_id, layer, label_id, principal_id, 'async',"
        " '{X}', 0.5, '{}', '{}', s.state, 1, false, now() - s.waited, now(), now(),"
        " now() FROM memwarden_data.item, (VALUES ('approved', interval '3 hours'),"
        "  ('approved', interval '1 hour'), ('rejected', interval '2 hours')) AS s (state, waited)"
        " WHERE item_id = (SELECT item_id FROM memwarden_data.item WHERE org_id = %s LIMIT 1)",
        (made.org_id,),
    )
    made.measure()
    return made


def rows(planted: History, view: str) -> list[dict[str, Any]]:
    """What a login sees that has nothing else."""
    monitor = planted.world.log_in(planted.world.role("memwarden_monitor"))
    return monitor.execute(f"SELECT * FROM memwarden.{view}").fetchall()


@pytest.mark.parametrize("view", FACTS)
def test_the_grain_of_facts_is_as_said(planted: History, view: str) -> None:
    """No two rows have the same keys.

    Proves: Q6
    """
    found_rows = rows(planted, view)
    assert found_rows
    keys = [tuple(row[name] for name in FACTS[view]) for row in found_rows]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("view", [name for name in FACTS if name != "job_facts"])
def test_facts_join_their_dimensions(planted: History, view: str) -> None:
    """Each key is in its dimension, once.

    Proves: Q6
    """
    for dimension, key in DIMENSIONS.items():
        values = [row[key] for row in rows(planted, dimension)]
        assert len(values) == len(set(values))
        if key in FACTS[view]:
            # * is a recall as a whole.
            assert {row[key] for row in rows(planted, view)} - {"*"} <= set(values)


def test_a_quarter_of_writes_is_counted(planted: History) -> None:
    """As far back as is asked for, to those who may see it.

    Proves: Q8
    """
    world = planted.world
    org = (planted.org,)
    default = "SELECT outcome, gate, reason, writes FROM memwarden.write_history(org => %s"
    monitor = world.log_in(world.role("memwarden_monitor"))
    month = Counter[tuple[str, str, str]]()
    for row in rows(planted, "write_facts"):
        if row["org_id"] == planted.org_id:
            month[row["outcome"], row["gate"], row["reason"]] += row["writes"]

    def counted(login: Any, more: str = "") -> Counter[tuple[str, str, str]]:
        told = login.execute(f"{default}{more})", org).fetchall()
        return Counter({(t["outcome"], t["gate"], t["reason"]): t["writes"] for t in told})

    assert counted(monitor) == month
    older = (planted.org_id, "REJECTED", "25_schema", "BAD_VALUE")
    try:
        world.admin.execute(
            "INSERT INTO memwarden_data.write_day SELECT %s, current_date - 60, 'semantic', 0, %s,"
            " %s, %s, 7, 0",
            older,
        )
        assert counted(monitor) == month
        assert counted(monitor, ", since => current_date - 92") - month == {older[1:]: 7}
        stranger = world.register(f"/org/{found(world).org}", groups=("memwarden_auditor",))
        assert not counted(world.log_in(stranger), ", since => current_date - 92")
    finally:
        world.admin.execute(
            "DELETE FROM memwarden_data.write_day WHERE org_id = %s AND day = current_date - 60",
            older[:1],
        )


def test_writes_add_up(planted: History) -> None:
    """To what was asked for, by agent and outcome.

    Proves: Q6
    """
    expected = Counter(
        (row["principal_id"], row["outcome"], row["reason"] or "-")
        for row in planted.rows("write_request")
    )
    facts: Counter[tuple[int, str, str]] = Counter()
    for row in rows(planted, "write_facts"):
        if row["org_id"] == planted.org_id:
            facts[row["agent_id"], row["outcome"], row["reason"]] += row["writes"]
    assert facts == expected


def test_recalls_and_decisions_add_up(planted: History) -> None:
    """Also how long people let wait.

    Proves: Q6
    """
    own = [row for row in rows(planted, "recall_facts") if row["org_id"] == planted.org_id]
    log = planted.rows("recall_log")
    whole = [row for row in own if row["layer"] == "*"]
    assert sum(row["recalls"] for row in whole) == len(log)
    assert sum(row["given"] for row in whole) == sum(len(row["item_ids"]) for row in log)
    decisions = {row["decision"]: row for row in rows(planted, "decision_facts")}
    assert decisions["approved"]["decisions"] == 2
    assert decisions["approved"]["hours_waited"] == pytest.approx(4, abs=0.01)
    assert decisions["rejected"]["decisions"] == 1


@pytest.mark.parametrize("view", [*FACTS, *DIMENSIONS])
def test_each_sees_their_organisation(planted: History, view: str) -> None:
    """A stranger nothing of it, an agent nothing at all.

    Proves: Q6
    """
    world = planted.world
    other = found(world)
    stranger = world.log_in(world.register(f"/org/{other.org}", groups=("memwarden_auditor",)))
    seen = stranger.execute(f"SELECT * FROM memwarden.{view}").fetchall()
    assert all(row.get("org_id") in (None, other.org_id) for row in seen)
    if view == "job_facts":
        assert seen == []
    agent = world.log_in(world.register(f"/org/{planted.org}/user/ana"))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        agent.execute(f"SELECT * FROM memwarden.{view}")


def test_a_monitor_is_told_no_name_of_a_person(planted: History) -> None:
    """A path may have one: who oversees the organisation reads it."""
    assert {row["path"] for row in rows(planted, "dim_scope")} == {None}
    world = planted.world
    auditor = world.log_in(world.register(f"/org/{planted.org}", groups=("memwarden_auditor",)))
    paths = auditor.execute("SELECT path FROM memwarden.dim_scope").fetchall()
    assert f"/org/{planted.org}/user/ana" in {row["path"] for row in paths}
