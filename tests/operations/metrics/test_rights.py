"""Figures are for those who watch: of their organisation or of all, without a word of memory."""

from __future__ import annotations

import psycopg
import pytest

from access import curator
from conftest import World
from operations.metrics.conftest import History, found

VIEWS = ("metrics", "metric_history", "health", "rejection_reasons", "gate_latency")


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


def test_a_monitor_sees_jobs_without_the_words_of_their_errors(world: World) -> None:
    """An error may quote what it stumbled over: that is for administrators and auditors.

    Proves: Q6
    """
    world.admin.execute(
        "INSERT INTO memwarden_data.job_run (job, error, failed_at)"
        " VALUES ('memwarden_seal', 'no such lamp', now())"
    )
    query = "SELECT last_error FROM memwarden.jobs WHERE name = 'memwarden_seal'"
    for group, error in (
        ("memwarden_monitor", None),
        ("memwarden_auditor", "no such lamp"),
        ("memwarden_admin", "no such lamp"),
    ):
        (row,) = world.connect(world.role(group)).execute(query)
        assert row["last_error"] == error


def test_an_organisation_cannot_set_ranges(world: World) -> None:
    """They are everybody's."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        curator(world, "/org/acme").execute(
            "SELECT memwarden.set_metric_range('write_rate', high => 1)"
        )
