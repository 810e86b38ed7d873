"""The files for Prometheus: its own tools accept them, and an exporter gives what the views say."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml
from psycopg.conninfo import conninfo_to_dict

from conftest import World
from operations.metrics.conftest import History

ROOT = Path(__file__).parents[3]
FILES = ROOT / "deploy/prometheus"
EXPORTER = "prometheus-sql-exporter"
LINE = re.compile(r"^sql_(\w+)\{(.*)\} (\S+)$", re.MULTILINE)

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not here: Debian's package prometheus"
)
needs_exporter = pytest.mark.skipif(
    shutil.which(EXPORTER) is None, reason=f"{EXPORTER} is not here: Debian's package of that name"
)


@needs_promtool
@pytest.mark.parametrize(
    "command",
    [
        ("check", "rules", "memwarden.rules.yml"),
        ("check", "config", "prometheus.yml"),
        ("test", "rules", "memwarden.rules.test.yml"),
    ],
    ids=" ".join,
)
def test_promtool_accepts_the_files(command: tuple[str, ...]) -> None:
    """And the alerts fire when they should.

    Proves: Q4, Q6
    """
    done = subprocess.run(
        ["promtool", *command], cwd=FILES, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_an_entry_in_the_runbook() -> None:
    """Under a heading of the page."""
    rules = (FILES / "memwarden.rules.yml").read_text()
    page = (ROOT / "docs/observe.md").read_text()
    headings = {
        re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in page.splitlines()
        if line.startswith("#")
    }
    named = set(re.findall(r"runbook_url: docs/observe.md#(\S+)", rules))
    assert len(named) > 11
    assert named <= headings


def test_every_metric_that_can_be_an_alert_has_a_rule(world: World) -> None:
    """By its name, so that a new metric is not forgotten.

    Proves: Q6
    """
    expressions = re.findall(
        r"expr: (.*?)\n +for:", (FILES / "memwarden.rules.yml").read_text(), re.DOTALL
    )
    named = {
        name
        for expression in expressions
        for names in re.findall(r'metric=~?"([\w|]+)"', expression)
        for name in names.split("|")
    }
    rows = world.rows(
        "SELECT metric FROM memwarden_internal.metric_definitions()"
        " WHERE metric <> 'health' AND (alert_low IS NOT NULL OR alert_high IS NOT NULL)"
    )
    assert {row["metric"] for row in rows} <= named


def test_no_rule_has_a_limit_of_its_own() -> None:
    """What is an alert is what the store says is one; a range that is set moves the rule.

    Proves: Q6
    """
    groups = yaml.safe_load((FILES / "memwarden.rules.yml").read_text())["groups"]
    own = {
        rule["alert"]
        for rule in groups[0]["rules"]
        if "sql_memwarden_metric{" in rule["expr"] and "metric_state{" not in rule["expr"]
    }
    assert own == {"MemoryInconsistent"}


@contextmanager
def running(*command: str) -> Iterator[None]:
    """A program, as long as it is needed."""
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as program:
        try:
            yield
        finally:
            program.kill()


def free_address() -> str:
    """Where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture
def exporter(planted: History, tmp_path: Path) -> Iterator[str]:
    """The address of an exporter that runs as a monitor."""
    world = planted.world
    parts = conninfo_to_dict(world.dsn)
    url = (
        f"postgres://{world.role('memwarden_monitor')}@/{parts['dbname']}"
        f"?host={quote(str(parts['host']))}&port={parts.get('port', 5432)}&sslmode=disable"
    )
    text = (FILES / "sql-exporter.yml").read_text()
    text, changed = re.subn(r"postgres://\S+", lambda _: url, text)
    assert changed == 1
    config = tmp_path / "sql-exporter.yml"
    config.write_text(text)
    address = free_address()
    with running(EXPORTER, "-config.file", str(config), "-web.listen-address", address):
        yield address


@pytest.fixture
def scraped(exporter: str) -> str:
    """What it gives."""
    return scrape(f"http://{exporter}/metrics")


def scrape(url: str) -> str:
    """Ask until every query has answered."""
    text = ""
    for _ in range(600):
        try:
            with urllib.request.urlopen(url) as answer:
                text = answer.read().decode()
        except (urllib.error.URLError, ConnectionError):
            text = ""
        if all(f"sql_memwarden_{name}{{" in text for name in ("gate_latency", "rejections", "job")):
            return text
        time.sleep(0.1)
    raise AssertionError(text[-2000:])


@needs_exporter
def test_a_scrape_gives_what_the_views_say(planted: History, scraped: str) -> None:
    """Every value, as a login that can do nothing else.

    Proves: Q6
    """
    found = {}
    for name, labels, value in LINE.findall(scraped):
        pairs = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        found[name, pairs.get("metric"), pairs.get("org"), pairs.get("part")] = float(value)
    rows = planted.world.rows("SELECT * FROM memwarden.metrics")
    assert rows
    states = ["OK", "WARNING", "ALERT", "MISSING_METRIC", "NOT_MEASURED"]
    for row in rows:
        key = (row["metric"], row["org"], row["part"])
        assert found["memwarden_metric_state", *key] == states.index(row["state"])
        if row["value"] is not None and row["area"] != "database":
            assert found["memwarden_metric", *key] == pytest.approx(row["value"])
    assert ("memwarden_rejections", None, planted.org, None) in found
    jobs = {row["name"] for row in planted.world.rows("SELECT name FROM memwarden.jobs")}
    assert set(re.findall(r'sql_memwarden_job\{[^}]*[{,]name="(\w+)"', scraped)) == jobs


@needs_exporter
@needs_promtool
def test_prometheus_scrapes_the_exporter_and_loads_the_rules(
    planted: History, exporter: str, scraped: str, tmp_path: Path
) -> None:
    """With the shipped configuration, but for addresses and pace.

    Proves: Q6
    """
    assert scraped
    text = (FILES / "prometheus.yml").read_text().replace("localhost:9237", exporter)
    (tmp_path / "prometheus.yml").write_text(text.replace("1m", "1s"))
    shutil.copy(FILES / "memwarden.rules.yml", tmp_path)
    address = free_address()
    query = quote(f'sql_memwarden_metric{{metric="memories",part="*",org="{planted.org}"}}')
    with running(
        "prometheus",
        f"--config.file={tmp_path / 'prometheus.yml'}",
        f"--storage.tsdb.path={tmp_path / 'data'}",
        f"--web.listen-address={address}",
    ):
        found = asked(f"http://{address}/api/v1/query?query={query}", "result")
        rules = asked(f"http://{address}/api/v1/rules", "groups")
    assert float(found[0]["value"][1]) == planted.points("memories")["*"]
    assert len(rules[0]["rules"]) > 20


def asked(url: str, name: str) -> list[Any]:
    """What an answer of Prometheus holds, once it holds something."""
    for _ in range(600):
        try:
            with urllib.request.urlopen(url) as answer:
                found: list[Any] = json.load(answer)["data"][name]
        except (urllib.error.URLError, ConnectionError):
            found = []
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(url)


def test_the_queries_run_where_there_is_nothing_yet(world: World) -> None:
    """Each answers, though with no row."""
    text = (FILES / "sql-exporter.yml").read_text()
    queries = re.findall(r"query: \|\n((?: {10}.*\n)+)", text)
    assert len(queries) == 10
    monitor = world.connect(world.role("memwarden_monitor"))
    for query in queries:
        monitor.execute(query)
