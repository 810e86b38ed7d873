"""The dashboards for Grafana are well formed, and each query in them runs as a monitor."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import World
from operations.metrics.conftest import History

FILES = Path(__file__).parents[3] / "deploy/grafana"
DASHBOARDS = sorted(FILES.glob("*.json"))
SOURCE = {"type": "postgres", "uid": "memwarden"}
COLUMNS = 24
# What each question of an operator is answered by: words of the titles.
QUESTIONS = (
    "Health over time",
    "State of each metric",
    "Funnel of the write path",
    "Refusals by reason",
    "Gate latency",
    "Age of the queues",
    "Jobs",
    "Storage",
)

each_dashboard = pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)


def load(path: Path) -> dict[str, Any]:
    """The dashboard."""
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def queries(dashboard: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Title, format and text of every query."""
    return [
        (panel["title"], target["format"], target["rawSql"])
        for panel in dashboard["panels"]
        for target in panel["targets"]
    ]


def replaced(query: str, orgs: list[str]) -> str:
    """The query as Grafana sends it."""
    names = ", ".join(f"'{org}'" for org in orgs)
    query = query.replace("${org:sqlstring}", names)
    query = re.sub(
        r"\$__timeFilter\((\w+)\)",
        r"\1 BETWEEN now() - interval '7 days' AND now()",
        query,
    )
    assert "$" not in query, query
    return query


def test_there_is_a_dashboard_and_a_datasource_for_it() -> None:
    """The uid in the provisioning is the one that the panels name."""
    assert DASHBOARDS
    text = (FILES / "provisioning/datasources/memwarden.yml").read_text(encoding="utf-8")
    assert re.findall(r"^    uid: (\S+)$", text, re.MULTILINE) == [SOURCE["uid"]]
    assert re.findall(r"^    type: (\S+)$", text, re.MULTILINE) == [SOURCE["type"]]
    assert "apiVersion: 1" in (FILES / "provisioning/dashboards/memwarden.yml").read_text()


@each_dashboard
def test_a_dashboard_is_well_formed(path: Path) -> None:
    """It has a uid of its own, and every panel a number, a datasource and a place.

    Proves: Q6
    """
    dashboard = load(path)
    assert dashboard["uid"] == path.stem
    assert dashboard["title"]
    assert dashboard["schemaVersion"] >= 30
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({panel["title"] for panel in panels}) == len(panels)
    for panel in panels:
        assert panel["datasource"] == SOURCE
        assert [target["datasource"] for target in panel["targets"]] == [SOURCE]
        assert panel["targets"][0]["rawQuery"] is True
    for variable in dashboard["templating"]["list"]:
        assert variable["datasource"] == SOURCE
    titles = " ".join(panel["title"] for panel in panels)
    assert [asked for asked in QUESTIONS if asked not in titles] == []


@each_dashboard
def test_no_panel_lies_on_another(path: Path) -> None:
    """And none leaves the page."""
    cells: set[tuple[int, int]] = set()
    for panel in load(path)["panels"]:
        place = panel["gridPos"]
        assert place["x"] >= 0
        assert place["x"] + place["w"] <= COLUMNS
        taken = set(
            itertools.product(
                range(place["x"], place["x"] + place["w"]),
                range(place["y"], place["y"] + place["h"]),
            )
        )
        assert taken
        assert not taken & cells, panel["title"]
        cells |= taken


@each_dashboard
def test_every_query_runs_as_a_monitor(planted: History, path: Path) -> None:
    """A series has a time, a name and a value; most panels of a store in use show something.

    Proves: Q6
    """
    world = planted.world
    monitor = world.log_in(world.role("memwarden_monitor"))
    dashboard = load(path)
    (variable,) = dashboard["templating"]["list"]
    orgs = [row["org"] for row in monitor.execute(variable["query"])]
    assert planted.org in orgs
    empty = []
    for title, form, text in queries(dashboard):
        cursor = monitor.execute(replaced(text, orgs))
        rows = cursor.fetchall()
        assert cursor.description is not None
        names = [column.name for column in cursor.description]
        if form == "time_series":
            assert names == ["time", "metric", "value"], title
            times = [row["time"] for row in rows]
            assert times == sorted(times), title
        if not rows:
            empty.append(title)
    # Nobody has reported errors, and there is no score without an effect on tasks.
    assert set(empty) <= {"Health", "What memory does", "Health over time"}


@each_dashboard
def test_the_queries_run_where_there_is_nothing_yet(world: World, path: Path) -> None:
    """A new store has one organisation without any figure."""
    monitor = world.connect(world.role("memwarden_monitor"))
    for _, _, text in queries(load(path)):
        monitor.execute(replaced(text, ["acme", "nobody"]))
