"""The dashboard: its panels fit, and every query of it runs as a login that has nothing else."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

from operations.metrics.conftest import History

FOLDER = Path(__file__).parents[3] / "deploy/grafana"
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "memwarden.json").read_text())
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
# What Grafana puts in place of its macros.
FROM, UNTIL = "'2026-01-01T00:00:00Z'::timestamptz", "'2999-01-01T00:00:00Z'::timestamptz"


def tiles(panel: dict[str, Any]) -> set[tuple[int, int]]:
    """The squares of the grid that a panel covers."""
    at = panel["gridPos"]
    return {
        (x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])
    }


def filled(query: str) -> str:
    """A query as Grafana sends it."""
    while "$__timeFilter(" in query:
        before, _, rest = query.partition("$__timeFilter(")
        column, _, after = rest.partition(")")
        query = f"{before}{column} BETWEEN {FROM} AND {UNTIL}{after}"
    return query.replace("$__timeFrom()", FROM)


def test_the_panels_fit_the_grid() -> None:
    """Twenty-four columns, none over another, each with a number and a name of its own."""
    for panel in PANELS:
        assert all(0 <= x < 24 for x, _ in tiles(panel))
    for one, other in combinations(PANELS, 2):
        assert not tiles(one) & tiles(other)
        assert one["id"] != other["id"]
        assert one["title"] != other["title"]


def test_the_panels_ask_the_source_that_is_provisioned() -> None:
    """By its uid."""
    text = (FOLDER / "provisioning/datasources/memwarden.yml").read_text()
    for panel in PANELS:
        source = panel["datasource"]
        assert f"uid: {source['uid']}\n" in text
        assert f"type: {source['type']}\n" in text


def test_every_query_of_the_dashboard_runs(planted: History) -> None:
    """As a monitor, with the columns that its panel needs.

    Proves: Q6
    """
    monitor = planted.world.log_in(planted.world.role("memwarden_monitor"))
    answered = 0
    for panel in PANELS:
        for target in panel["targets"]:
            cursor = monitor.execute(filled(target["rawSql"]))
            columns = [column.name for column in cursor.description or ()]
            if target["format"] == "time_series":
                assert columns == ["time", "metric", "value"], panel["title"]
            answered += bool(cursor.fetchall())
    assert answered > 8
