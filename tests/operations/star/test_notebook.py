"""The notebook runs from its first cell to its last, as a login that has nothing else."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

from operations.metrics.conftest import History
from operations.star.test_star import planted

if TYPE_CHECKING:
    from shipped import Shipped

__all__ = ["planted"]
NOTEBOOK = Path(__file__).parents[3] / "docs/examples/star.ipynb"


def shown(cell: str, names: dict[str, Any]) -> Any:
    """Run a cell; what it shows is the value of its last expression."""
    tree = ast.parse(cell)
    *_, last = tree.body
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "<cell>", "exec"), names)
        return None
    tree.body.pop()
    exec(compile(tree, "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


def run(monkeypatch: pytest.MonkeyPatch, dsn: str) -> tuple[dict[str, Any], list[str]]:
    """Run every cell as that login; the names, and the charts that are drawn."""
    notebook = json.loads(NOTEBOOK.read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in cells)
    monkeypatch.setenv("MEMWARDEN_DSN", dsn)
    names: dict[str, Any] = {}
    try:
        values = [shown("".join(cell["source"]), names) for cell in cells]
    finally:
        names["connection"].close()
    return names, [value._repr_html_() for value in values if hasattr(value, "_repr_html_")]


def test_the_notebook_runs(planted: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds no answers of ours, and draws what a store has.

    Proves: Q6
    """
    world = planted.world
    dsn = make_conninfo(world.dsn, user=world.role("memwarden_monitor"))
    names, drawn = run(monkeypatch, dsn)
    assert len(drawn) == 3
    assert "<rect" in drawn[0]
    assert any(row[2] for row in names["refused"])


def test_the_notebook_runs_on_the_first_day(
    shipped: Shipped, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the store of the README, as its superuser, where there is hardly anything to draw."""
    _, drawn = run(monkeypatch, shipped.world.dsn)
    assert len(drawn) == 3
    assert "Nothing to draw yet." in "".join(drawn)
