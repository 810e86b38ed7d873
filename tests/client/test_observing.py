"""How well memory is, through the client and by command."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo
from rich.console import Console

from client.test_history_commands import run, shown
from memwarden import AsyncClient, Client, ConnectionFailed, InvalidArgument, NotAllowed
from memwarden.cli import watching

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
        "  FROM memwarden_internal.health_of(%(org)s,"
        "    memwarden_internal.kept_points(%(org)s, clock_timestamp())) AS s",
        {"org": number},
    )


def tasks(world: World, home: str, done: int, errors: int) -> None:
    """Have an agent report what came of so many recalls, of use where all went well."""
    agent = world.agent(home)
    row = agent.execute(
        "SELECT item_id FROM memwarden.write('episodic', to_jsonb('the lamp is green'::text))"
    ).fetchone()
    assert row is not None
    item = [row["item_id"]]
    for n in range(done + errors):
        agent.execute(
            "SELECT memwarden.report_outcome("
            "  r.recall_id, %s::uuid[], outcome => %s, at_fault => %s::uuid[])"
            "  FROM memwarden.recall('lamp', k => 1) AS r",
            ([], "failure", item) if n < errors else (item, "success", []),
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


def test_the_gate_lets_good_memory_pass(
    shared_world: World, home: str, org: str, dsn: str, monitor: Client
) -> None:
    """And says what is bad, and why.

    Proves: Q5
    """
    tasks(shared_world, home, 6, 0)
    passed = run("gate", "--org", org, dsn=dsn)
    assert passed.exit_code == 0
    assert passed.stdout.startswith(f"{org}: pass, 1.000 of 45% of the weight, least 0.7\n")
    before = shared_world.value("SELECT clock_timestamp()").isoformat()
    tasks(shared_world, home, 1, 9)
    stopped = run("gate", "--org", org, dsn=dsn)
    assert stopped.exit_code == 1
    assert f"{org}: fail, 0." in stopped.stdout
    assert "memory_error_rate costs 0.333: 0.5625 share, healthy is at most" in stopped.stdout
    assert "not measured: correctness_impact, leakage_rate, write_acceptance" in stopped.stdout
    assert run("gate", "--org", org, "--least", "0.1", dsn=dsn).exit_code == 0
    since = json.loads(run("gate", "--org", org, "--since", before, "--json", dsn=dsn).stdout)
    assert (since[0]["org"], since[0]["answer"]) == (org, "FAIL")
    values = {cost["metric"]: cost["value"] for cost in since[0]["costs"]}
    assert values["memory_error_rate"] == 0.9
    (asked,) = monitor.health_gate(0.1, org=org)
    assert (asked.answer, asked.is_idle) == ("PASS", False)


def test_the_gate_lets_nothing_pass_that_it_knows_nothing_of(org: str, dsn: str) -> None:
    """Neither an organisation without data, nor none: that is told apart from bad memory.

    Proves: Q5
    """
    unknown = run("gate", "--org", org, dsn=dsn)
    assert unknown.exit_code == 7
    assert f"{org}: not known, only 10% of the weight has data" in unknown.stdout
    assert run("gate", "--org", "nowhere", dsn=dsn).exit_code == 7


def test_the_gate_tells_a_verdict_from_a_failure_to_look(
    shared_world: World, org: str, dsn: str, home: str
) -> None:
    """2 where it could not look, or was asked for a limit that is no number.

    Proves: Q5
    """
    measured(shared_world, org, GOOD)
    assert run("gate", "--org", org, "--least", "nan", dsn=dsn).exit_code == 2
    nobody = make_conninfo(dsn, host="/nowhere")
    agent = make_conninfo(shared_world.dsn, user=shared_world.register(home))
    for command in (("gate",), ("watch", "--minutes", "0")):
        for where in (nobody, agent):
            ran = run(*command, dsn=where)
            assert (ran.exit_code, ran.stdout) == (2, "")
            assert ran.stderr.startswith("error: ")
    ran = run("watch", "--minutes", "0", "--org", "nowhere", dsn=dsn)
    assert ran.exit_code == 2


def test_watching_says_roll_back_when_errors_double(
    shared_world: World, home: str, org: str, dsn: str
) -> None:
    """It shows each look, and ends well where nothing happens.

    Proves: Q5, Q8
    """
    quick = ("watch", "--minutes", "0.01", "--every", "0.1", "--org", org)
    calm = run(*quick, dsn=dsn)
    assert calm.exit_code == 7, calm.stdout
    assert "NOT KNOWN: 0 tasks were reported, which tell nothing" in calm.stdout
    tasks(shared_world, home, 23, 6)
    assert run(*quick, dsn=dsn).exit_code == 7
    with Client.connect(dsn) as memory:
        (found,) = memory.errors_since(datetime.now(UTC) - timedelta(hours=1), org)
    assert (found.tasks, found.induced, found.rate_before) == (29, 6, None)
    assert found.roll_back is True
    early = (datetime.now() - timedelta(hours=1)).isoformat(timespec="seconds")
    stopped = run(*quick, "--since", early, dsn=dsn)
    assert stopped.exit_code == 1, stopped.stdout
    assert f"ROLL BACK: {org}" in stopped.stdout


def test_a_calm_deployment_is_kept_and_who_reports_nothing_is_named(
    shared_world: World, home: str, org: str, dsn: str
) -> None:
    """One that reports stands for itself alone.

    Proves: Q4, Q5
    """
    tasks(shared_world, home, 5, 0)
    quiet = f"quiet{org}"
    shared_world.scope(f"/org/{quiet}/user/bob")
    early = (datetime.now() - timedelta(hours=1)).isoformat(timespec="seconds")
    kept = run("watch", "--minutes", "0", "--org", org, "--since", early, dsn=dsn)
    assert kept.exit_code == 0, kept.stdout
    assert "keep: errors have not doubled in 5 reported tasks" in kept.stdout
    said = run("watch", "--minutes", "0", "--since", early, "--json", dsn=dsn).stdout
    found = json.loads(said.splitlines()[-1])
    assert quiet in found["not_known"]
    assert org not in found["not_known"]


def test_watching_shows_refusals_and_times_beside_the_errors(
    shared_world: World, org: str, dsn: str
) -> None:
    """As they are now and as they were; what has no data is unknown. They decide nothing.

    Proves: Q8
    """
    once = ("watch", "--minutes", "0", "--org", org)
    line = run(*once, dsn=dsn).stdout.splitlines()[0]
    assert "errors 0 of 0 tasks (unknown, before unknown of 0)" in line
    assert "refused unknown (before unknown)  slowest gate unknown (before unknown)" in line
    measured(shared_world, org, {"write_acceptance": 0.25, "gate_latency_p95": 12.0})
    ran = run(*once, dsn=dsn)
    assert ran.exit_code == 7
    assert "refused 75.00% (before 75.00%)  slowest gate 12 ms (before 12 ms)" in ran.stdout


def test_watching_outlives_a_server_that_is_away_for_a_while(
    org: str, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deployment may restart it. Nothing is known where the last look failed.

    Proves: Q8
    """
    look = watching._look
    for comes_back, code in ((True, 7), (False, 2)):
        looks = iter([True, False, False])

        def sometimes(
            *arguments: Any, looks: Iterator[bool] = looks, afterwards: bool = comes_back
        ) -> list[watching.Look]:
            if next(looks, afterwards):
                return look(*arguments)
            raise ConnectionFailed("the server is away")

        monkeypatch.setattr(watching, "_look", sometimes)
        ran = run("watch", "--minutes", "0.01", "--every", "0.1", "--org", org, dsn=dsn)
        assert ran.exit_code == code, ran.output
        assert ran.stdout.count("cannot look: the server is away") >= 2
        assert ("unknown: the last look failed" in ran.stdout) == (code == 2)


def test_a_terminal_shows_a_table_that_grows(
    org: str, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row for each look, without a word that could steer the terminal."""
    screen = Console(
        file=io.StringIO(), force_terminal=True, width=140, highlight=False, _environ={}
    )
    monkeypatch.setattr(watching, "console", lambda: screen)
    monkeypatch.setattr(watching, "is_plain", lambda _: False)
    assert (
        run("watch", "--minutes", "0.005", "--every", "0.1", "--org", org, dsn=dsn).exit_code == 7
    )
    assert isinstance(screen.file, io.StringIO)
    drawn = screen.file.getvalue()
    assert "slowest gate" in drawn
    assert drawn.rsplit("slowest gate", 1)[1].count(org) >= 2


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
