"""Figures are for those who watch: of their organisation or of all, without a word of memory."""

from __future__ import annotations

import psycopg
import pytest

from access import curator
from conftest import World
from operations.metrics.conftest import History, found

VIEWS = (
    *("metrics", "health", "rejection_reasons"),
    *("gate_latency", "write_latency", "duplicate_tiers"),
)


def orgs(history: History, role: str, view: str) -> set[str]:
    """Whose figures a login sees."""
    connection = history.world.log_in(role)
    return {row["org"] for row in connection.execute(f"SELECT org FROM memwarden.{view}")}


@pytest.mark.parametrize("view", VIEWS)
def test_each_sees_the_figures_that_are_theirs(planted: History, view: str) -> None:
    """An auditor its organisation's, a monitor everybody's.

    Proves: Q6
    """
    world = planted.world
    other = found(world)
    planted.world.agent(f"/org/{other.org}/user/bob")
    auditor = world.register(f"/org/{planted.org}", groups=("memwarden_auditor",))
    stranger = world.register(f"/org/{other.org}", groups=("memwarden_auditor",))
    monitor = world.role("memwarden_monitor")
    assert orgs(planted, auditor, view) == {planted.org}
    assert orgs(planted, stranger, view) <= {other.org}
    assert planted.org in orgs(planted, monitor, view)


@pytest.mark.parametrize("view", VIEWS)
def test_nobody_else_sees_any(planted: History, view: str) -> None:
    """An agent may not look, and an auditor without an identity sees nothing."""
    agent = planted.world.log_in(planted.world.register(f"/org/{planted.org}/user/ana"))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        agent.execute(f"SELECT * FROM memwarden.{view}")
    nobody = planted.world.log_in(planted.world.role("memwarden_auditor"))
    assert nobody.execute(f"SELECT * FROM memwarden.{view}").fetchall() == []


def test_the_past_of_a_metric_is_as_well_kept(planted: History) -> None:
    """A stranger is told nothing of it, and an unknown metric is refused."""
    world = planted.world
    other = found(world)
    call = "SELECT org_name FROM memwarden.metric_history('write_rate')"
    monitor = world.log_in(world.role("memwarden_monitor"))
    assert {"org_name": planted.org} in monitor.execute(call).fetchall()
    stranger = world.log_in(world.register(f"/org/{other.org}", groups=("memwarden_auditor",)))
    assert {"org_name": planted.org} not in stranger.execute(call).fetchall()
    for wrong in ("'no such metric'", "NULL"):
        with pytest.raises(psycopg.errors.UndefinedObject):
            monitor.execute(f"SELECT * FROM memwarden.metric_history({wrong})")


def test_a_monitor_can_do_nothing_else(planted: History) -> None:
    """It reads figures, but no memory, no request and no table."""
    monitor = planted.world.log_in(planted.world.role("memwarden_monitor"))
    for query in (
        "SELECT * FROM memwarden.items",
        "SELECT * FROM memwarden.requests",
        "SELECT * FROM memwarden.recall('lamp')",
        "SELECT * FROM memwarden_data.write_hour",
        "SELECT * FROM memwarden_data.metric_point",
        "CALL memwarden.take_metrics()",
        "SELECT memwarden.set_metric_range('write_rate', high => 1)",
        "SELECT memwarden_internal.measured_orgs()",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            monitor.execute(query)


def test_an_organisation_cannot_set_ranges(world: World) -> None:
    """They are everybody's."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        curator(world, "/org/acme").execute(
            "SELECT memwarden.set_metric_range('write_rate', high => 1)"
        )
