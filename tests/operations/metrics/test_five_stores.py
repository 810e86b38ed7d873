"""What the gate, `watch` and the alert rules say of five stores, and of one without jobs.

The store is the one that `memwarden init` leaves, used, left alone and broken in turn. What each
command says is kept at each stage, so that the store is made once.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from conftest import Stocks, World
from helpers import recall, write
from memwarden.cli import app
from shipped import Shipped, connected

FILES = Path(__file__).parents[3] / "deploy/prometheus"
DAYS_IDLE = 5


@dataclass
class Seen:
    """What was said of a store."""

    gate: tuple[int, str]
    watch: tuple[int, dict[str, Any]]
    states: dict[str, str]
    counted: dict[str, bool]
    health: dict[str, Any]
    series: dict[str, float]
    alerts: set[str]
    jobs: dict[str, str] = field(default_factory=dict)


def said(world: World, *command: str) -> tuple[int, str]:
    """What a command of a monitor ends with, and says."""
    dsn = make_conninfo(world.dsn, user=world.role("memwarden_monitor"))
    done = CliRunner().invoke(app, [*command, "--dsn", dsn], env={"TERM": "dumb"})
    return done.exit_code, done.stdout


def look(
    world: World,
    *gate: str,
    deployed: str,
    before: Mapping[str, float] | None = None,
    step: int = 3600,
) -> Seen:
    """Ask everybody; by default the store was as it is now for a day already."""
    answer = said(world, "gate", *gate)
    watched = said(world, "watch", "--minutes", "0", "--json", "--since", deployed)
    (counted,) = world.rows(
        "SELECT writes_counted, recalls_counted FROM memwarden.dim_day ORDER BY day DESC LIMIT 1"
    )
    (health,) = world.rows("SELECT * FROM memwarden.health WHERE org = 'acme'")
    series = scraped(world)
    return Seen(
        gate=answer,
        watch=(watched[0], json.loads(watched[1].splitlines()[-1])),
        states=states(world),
        counted=counted,
        health=health,
        series=series,
        alerts=firing(before or series, series, step),
    )


def states(world: World) -> dict[str, str]:
    """The state of each metric as a whole."""
    rows = world.rows("SELECT metric, state FROM memwarden.metrics WHERE part = '*'")
    return {row["metric"]: row["state"] for row in rows}


def jobs(world: World) -> dict[str, str]:
    """The state of each job."""
    return {
        row["name"]: row["state"] for row in world.rows("SELECT name, state FROM memwarden.jobs")
    }


def scraped(world: World) -> dict[str, float]:
    """What Prometheus gets: each query of the exporter, as it names its series."""
    found = {}
    monitor = world.connect(world.role("memwarden_monitor"))
    for query in yaml.safe_load((FILES / "sql-exporter.yml").read_text())["jobs"][0]["queries"]:
        for row in monitor.execute(query["query"]).fetchall():
            for value in query["values"]:
                labels = {name: row[name] for name in query["labels"]} | {"col": value}
                named = ", ".join(f'{name}="{said}"' for name, said in labels.items())
                if row[value] is not None:
                    found[f"sql_{query['name']}{{{named}}}"] = float(row[value])
    return found


def firing(before: Mapping[str, float], now: Mapping[str, float], step: int) -> set[str]:
    """Which alerts fire after 28 steps that are as `now`, after 4 that were as `before`."""
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not here: Debian's package prometheus")

    def values(of: Mapping[str, float], name: str, times: int) -> str:
        return f"{of[name]:f}x{times - 1}" if name in of else f"_x{times}"

    series = [
        {"series": name, "values": f"{values(before, name, 4)} {values(now, name, 28)}"}
        for name in before.keys() | now.keys()
    ]
    ask = {"expr": 'ALERTS{alertstate="firing"}', "eval_time": f"{31 * step}s", "exp_samples": []}
    tests = {
        "rule_files": [str(FILES / "memwarden.rules.yml")],
        "evaluation_interval": f"{step}s",
        "tests": [{"interval": f"{step}s", "input_series": series, "promql_expr_test": [ask]}],
    }
    done = subprocess.run(
        ["promtool", "test", "rules", "/dev/stdin"],
        input=json.dumps(tests),
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0 or "got:" in said, said
    alerts = set()
    for labels in re.findall(r"\{([^}]*)\}", said.partition("got:")[2]):
        pairs = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        of = pairs.get("metric") or pairs.get("name")
        alerts.add(pairs["alertname"] + (f" {of}" if of else ""))
    return alerts


def use(store: Shipped, name: str, *, used: int = 4, failing: int = 0) -> None:
    """Write, ask and report, as an agent does in a day."""
    for n in range(12):
        write(store.agent, "semantic", f"{name} {n} hangs in room {n * 7}", subject=f"{name} {n}")
    again = write(store.agent, "semantic", f"{name} is lit", idempotency_key=name)
    for _ in range(20):
        answer = write(store.agent, "semantic", f"{name} is lit", idempotency_key=name)
        assert answer["outcome"] == "ALREADY_COMMITTED", again
    for n in range(12):
        rows = recall(store.agent, query=f"where does {name} {n} hang?", k=4)
        fails = n < failing
        store.agent.execute(
            "SELECT memwarden.report_outcome(%s, %s, %s, at_fault => %s)",
            (
                rows[0]["recall_id"],
                [row["item_id"] for row in rows[:used]],
                "failure" if fails else "success",
                [rows[0]["item_id"]] if fails else [],
            ),
        )


def run_jobs(store: Shipped) -> None:
    """As a scheduler does."""
    store.world.admin.execute("CALL memwarden.run_due_jobs()")


def measure(world: World) -> None:
    """As the jobs do in a week."""
    world.admin.execute("CALL memwarden.revalidate()")
    world.admin.execute("CALL memwarden.take_metrics()")


# What happened is so many days older.
OLDER = (
    "overlay({column}::text PLACING left(memwarden_internal.uuid7_floor("
    "memwarden_internal.uuid7_time({column}) - {days})::text, 13) FROM 1 FOR 13)::uuid"
)
REQUEST, RECALL = (OLDER.replace("{column}", name) for name in ("request_id", "recall_id"))
SHIFTS = (
    f"UPDATE memwarden_data.write_request SET request_id = {REQUEST}",
    f"UPDATE memwarden_data.recall_log SET recall_id = {RECALL},"
    " recalled_at = recalled_at - {days}",
    f"UPDATE memwarden_data.recall_outcome SET recall_id = {RECALL},"
    " reported_at = reported_at - {days}",
    "UPDATE memwarden_data.recall_day SET day = day - extract(day FROM {days})::integer",
    "UPDATE memwarden_data.metric_point SET hour = hour - {days}, taken_at = taken_at - {days},"
    " since = since - {days}",
    "DELETE FROM memwarden_data.write_hour",
    "DELETE FROM memwarden_data.counted_hour",
)


def let_pass(world: World, days: int) -> None:
    """Let the store be as if nobody had used it for so long."""
    world.admin.execute("SET session_replication_role = replica")
    for statement in SHIFTS:
        world.admin.execute(statement.format(days=f"interval '{days} days'"))
    world.admin.execute("RESET session_replication_role")


def leave_uncalled(world: World) -> None:
    """As if the jobs had not been called for an hour."""
    ago = "interval '1 hour'"
    world.admin.execute(f"UPDATE memwarden_data.storage SET applied_at = applied_at - {ago}")
    world.admin.execute(
        f"UPDATE memwarden_data.job_run SET begun_at = begun_at - {ago},"
        f" ended_at = ended_at - {ago}, finished_at = finished_at - {ago},"
        f" turn_at = turn_at - {ago}"
    )


def now(world: World) -> str:
    """The server's time."""
    moment: datetime = world.value("SELECT clock_timestamp()")
    return moment.isoformat()


@pytest.fixture(scope="module")
def stages(stocks: Stocks) -> Iterator[dict[str, Seen]]:
    """What was said of the store at each stage."""
    with stocks.shipped.lend(is_warm=True) as world:
        store, seen = connected(world), {}
        start = now(world)
        # Within the ten minutes in which nobody can tell whether a scheduler is still to come.
        seen["fresh"] = look(world, deployed=start, step=15)
        leave_uncalled(world)
        seen["uncalled"] = look(world, deployed=start)
        world.admin.execute("CALL memwarden.take_metrics()")
        seen["uncalled"] = replace(seen["uncalled"], states=states(world), jobs=jobs(world))
        run_jobs(store)
        use(store, "lamp")
        measure(world)
        seen["good"] = look(world, deployed=start)
        store.use("open")
        use(store, "shelf")
        measure(world)
        seen["open"] = look(world, deployed=start)
        let_pass(world, DAYS_IDLE)
        measure(world)
        deployed = now(world)
        seen["idle"] = look(world, deployed=deployed, before=seen["open"].series)
        use(store, "chair", used=0, failing=12)
        # Nobody has counted or measured since.
        (health,) = world.rows("SELECT * FROM memwarden.health WHERE org = 'acme'")
        judged = said(world, "gate", "--since", deployed)
        seen["unmeasured"] = replace(seen["idle"], gate=judged, health=health)
        measure(world)
        seen["broken"] = look(
            world, "--since", deployed, deployed=deployed, before=seen["idle"].series
        )
        yield seen


def test_the_page_says_what_is_said_of_each_store(stages: dict[str, Seen]) -> None:
    """By exit code and alert.

    Proves: Q1, Q4, Q5
    """
    page = (FILES.parents[1] / "docs/observe.md").read_text()
    table = page.partition("| store | what it is |")[2].partition("\n\n")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]
    ]
    listed = {
        row[0]: (int(row[2][0]), int(row[3][0]), set(re.findall(r"`(\w+)`", row[4])))
        for row in rows
    }
    found = {
        name: (seen.gate[0], seen.watch[0], {each.partition(" ")[0] for each in seen.alerts})
        for name, seen in stages.items()
        if name != "unmeasured"
    }
    assert listed == found


def test_the_gate_names_what_it_does_not_know(stages: dict[str, Seen]) -> None:
    """Of a store that nobody has used, all but how the server does.

    Proves: Q5
    """
    assert stages["fresh"].gate[1].startswith("acme: not known, only 10% of the weight has data")
    parts = ("correctness_impact", "leakage_rate", "recall_precision", "memory_error_rate")
    assert f"not measured: {', '.join(parts)}, write_acceptance" in stages["fresh"].gate[1]
    assert "not measured: correctness_impact\n" in stages["good"].gate[1]


def test_the_gate_judges_what_was_reported_a_moment_ago(stages: dict[str, Seen]) -> None:
    """Though nobody has counted or measured since, and what is kept says all is well.

    Proves: Q5
    """
    assert stages["unmeasured"].health["state"] == "HEALTHY"
    assert stages["unmeasured"].gate == stages["broken"].gate
    assert "acme: fail, 0." in stages["broken"].gate[1]
    assert "memory_error_rate costs 0.200: 1 share, healthy is" in stages["broken"].gate[1]


@pytest.mark.parametrize("name", ["good", "open", "idle"])
def test_good_stores_are_well_without_an_ablation(stages: dict[str, Seen], name: str) -> None:
    """No metric is off, and none is missing: what was never set up is not.

    Proves: Q1, Q5
    """
    seen = stages[name]
    assert (seen.health["state"], seen.health["missing"]) == ("HEALTHY", [])
    assert "correctness_impact" in seen.health["not_measured"]
    assert set(seen.states.values()) == {"OK", "NOT_MEASURED"}


def test_watching_what_nobody_reports_is_not_known(stages: dict[str, Seen]) -> None:
    """And names of whom.

    Proves: Q4
    """
    unknown = {"verdict": "NOT KNOWN", "organisations": [], "not_known": ["acme"], "tasks": 0}
    assert stages["idle"].watch == (7, unknown)


def test_a_store_that_broke_is_told_by_all(stages: dict[str, Seen]) -> None:
    """By the metrics that are off, and only those.

    Proves: Q4
    """
    states = stages["broken"].states
    off = {metric: state for metric, state in states.items() if state in ("WARNING", "ALERT")}
    assert off == {
        "health": "WARNING",
        "memory_error_rate": "ALERT",
        "recall_precision": "WARNING",
    }
    assert stages["broken"].watch[1]["verdict"] == "ROLL BACK"


def test_one_missing_scheduler_is_one_alert(stages: dict[str, Seen]) -> None:
    """Though every job is late, the log is not sealed, and somebody measures by hand.

    Proves: Q4
    """
    seen = stages["uncalled"]
    off = {metric for metric, state in seen.states.items() if state in ("WARNING", "ALERT")}
    assert off == {"jobs_in_trouble"}
    # Nobody collects: that is not measured, however little is due.
    assert seen.states["collection_lag"] == "NOT_MEASURED"
    assert seen.jobs["memwarden_seal"] == "not called"
    assert "late" not in seen.jobs.values()
    assert seen.alerts == {"SchedulerMissing"}


def test_a_day_that_nobody_counted_is_no_day_without_traffic(stages: dict[str, Seen]) -> None:
    """A BI tool tells the two apart.

    Proves: Q1
    """
    for name, counted in (("uncalled", False), ("good", True), ("idle", True)):
        assert set(stages[name].counted.values()) == {counted}, name
