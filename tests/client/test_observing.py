"""How well memory is, through the client and by command."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from psycopg.conninfo import make_conninfo

from client.test_history_commands import run, shown
from memwarden import AsyncClient, Client, InvalidArgument, NotAllowed

if TYPE_CHECKING:
    from conftest import World

GOOD = {"correctness_impact": 0.1, "recall_precision": 0.7, "memory_error_rate": 0.0}
BAD = GOOD | {"recall_precision": 0.07, "correctness_impact": 0.0}


@pytest.fixture
def org(shared_world: World, home: str) -> str:
    """An organisation of the test's own."""
    shared_world.scope(home)
    return home.split("/")[2]


@pytest.fixture
def dsn(shared_world: World) -> str:
    """Return how a monitor connects."""
    return make_conninfo(shared_world.dsn, user=shared_world.role("memwarden_monitor"))


@pytest.fixture
def monitor(dsn: str) -> Iterator[Client]:
    """Yield the monitor's client."""
    with Client.connect(dsn) as client:
        yield client


def measured(world: World, org: str, values: dict[str, float]) -> None:
    """What the job would have measured just now."""
    number = world.value("SELECT org_id FROM memwarden_data.organisation WHERE name = %s", org)
    keep = "SELECT memwarden_internal.keep_points(%s, clock_timestamp(), %s::jsonb)"
    rows = [{"metric": name, "part": "*", "value": value} for name, value in values.items()]
    world.admin.execute(keep, (number, json.dumps(rows)))
    world.admin.execute(
        "SELECT memwarden_internal.keep_points(%(org)s, clock_timestamp(), jsonb_build_array("
        "  jsonb_build_object('metric', 'health', 'part', '*', 'value', s.score,"
        "                     'events', round(100 * s.measured))))"
        "  FROM memwarden_internal.health_score(%(org)s, clock_timestamp()) AS s",
        {"org": number},
    )


def tasks(world: World, home: str, done: int, errors: int) -> None:
    """Have an agent report what came of so many recalls."""
    agent = world.agent(home)
    row = agent.execute(
        "SELECT item_id FROM memwarden.write('episodic', to_jsonb('the lamp is green'::text))"
    ).fetchone()
    assert row is not None
    for n in range(done + errors):
        agent.execute(
            "SELECT memwarden.report_outcome(r.recall_id, outcome => %s, at_fault => %s::uuid[])"
            "  FROM memwarden.recall('lamp', k => 1) AS r",
            ("failure", [row["item_id"]]) if n < errors else ("success", []),
        )


def test_metrics_and_health_are_read(
    shared_world: World, org: str, monitor: Client, dsn: str
) -> None:
    """With their states, histories and what to do.

    Proves: Q5, Q6
    """
    measured(shared_world, org, BAD)
    found = {each.metric: each for each in monitor.metrics(org) if each.org == org}
    assert (found["recall_precision"].state, found["recall_precision"].value) == ("ALERT", 0.07)
    assert found["leakage_rate"].state == "MISSING_METRIC"
    (point,) = monitor.metric_history("recall_precision", org=org)
    assert (point.value, point.state) == (0.07, "ALERT")
    (health,) = monitor.health(org)
    assert health.state == "CRITICAL"
    assert health.costs[0]["metric"] == "recall_precision"
    text = shown("metrics", "--org", org, dsn=dsn)
    assert "recall_precision" in text
    assert "memory_error_rate" not in text
    assert "memory_error_rate" in shown("metrics", "--org", org, "--all", dsn=dsn)
    assert "CRITICAL" in shown("health", "--org", org, dsn=dsn)
    assert json.loads(run("health", "--org", org, "--json", dsn=dsn).stdout)[0]["org"] == org


def test_the_gate_lets_good_memory_pass(shared_world: World, org: str, dsn: str) -> None:
    """And says what is bad, and why.

    Proves: Q5
    """
    measured(shared_world, org, GOOD)
    passed = run("gate", "--org", org, dsn=dsn)
    assert (passed.exit_code, passed.stdout) == (0, "pass: 1 organisations with at least 0.7\n")
    measured(shared_world, org, BAD)
    stopped = run("gate", "--org", org, dsn=dsn)
    assert stopped.exit_code == 1
    assert f"{org}: 0." in stopped.stdout
    assert "recall_precision costs 0.180: 0.07 share, healthy is at least 0.7" in stopped.stdout
    assert "without data: leakage_rate" in stopped.stdout
    assert run("gate", "--org", org, "--least", "0.1", dsn=dsn).exit_code == 0
    assert json.loads(run("gate", "--org", org, "--json", dsn=dsn).stdout)[0]["org"] == org


def test_the_gate_lets_nothing_pass_that_it_knows_nothing_of(org: str, dsn: str) -> None:
    """Neither an organisation without data, nor none."""
    unknown = run("gate", "--org", org, dsn=dsn)
    assert unknown.exit_code == 1
    assert "unknown" in unknown.stdout
    assert run("gate", "--org", "nowhere", dsn=dsn).exit_code == 1


def test_watching_says_roll_back_when_errors_double(
    shared_world: World, home: str, org: str, dsn: str
) -> None:
    """It shows each look, and ends well where nothing happens.

    Proves: Q5, Q8
    """
    quick = ("watch", "--minutes", "0.01", "--every", "0.1", "--org", org)
    calm = run(*quick, dsn=dsn)
    assert calm.exit_code == 0, calm.stdout
    assert "nothing is known, which is not good" in calm.stdout
    tasks(shared_world, home, 23, 6)
    assert run(*quick, dsn=dsn).exit_code == 0
    with Client.connect(dsn) as memory:
        (found,) = memory.errors_since(datetime.now(UTC) - timedelta(hours=1), org)
    assert (found.tasks, found.induced, found.rate_before) == (29, 6, None)
    early = (datetime.now() - timedelta(hours=1)).isoformat(timespec="seconds")
    stopped = run(*quick, "--since", early, dsn=dsn)
    assert stopped.exit_code == 1, stopped.stdout
    assert f"ROLL BACK: {org}" in stopped.stdout


def test_who_may_not_look_is_told(shared_world: World, home: str) -> None:
    """An agent sees no figures."""
    user = shared_world.register(home)
    with Client.connect(make_conninfo(shared_world.dsn, user=user)) as memory:
        for call in (memory.metrics, memory.health):
            with pytest.raises(NotAllowed):
                call()


def test_a_moment_that_is_none_is_refused(monitor: Client) -> None:
    """Of the future, or too long ago."""
    for days in (1, -40):
        with pytest.raises(InvalidArgument):
            monitor.errors_since(datetime.now(UTC) + timedelta(days=days))


def test_all_of_it_works_asynchronously(shared_world: World, org: str, dsn: str) -> None:
    """With the same results."""
    measured(shared_world, org, GOOD)

    async def look() -> None:
        async with await AsyncClient.connect(dsn) as memory:
            (health,) = await memory.health(org)
            assert health.state == "HEALTHY"
            assert await memory.metrics(org)
            assert await memory.metric_history("health", org=org)
            assert await memory.errors_since(datetime.now(UTC) - timedelta(hours=1), org)

    asyncio.run(look())
