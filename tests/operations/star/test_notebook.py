"""The notebook runs from its first cell to its last, as a login that has nothing else."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from operations.metrics.conftest import History
from operations.star.test_star import planted

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


def test_the_notebook_runs(planted: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds no answers of ours, and draws what a store has.

    Proves: Q6
    """
    notebook = json.loads(NOTEBOOK.read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in cells)
    world = planted.world
    dsn = make_conninfo(world.dsn, user=world.role("memwarden_monitor"))
    monkeypatch.setenv("MEMWARDEN_DSN", dsn)
    names: dict[str, Any] = {}
    try:
        values = [shown("".join(cell["source"]), names) for cell in cells]
    finally:
        names["connection"].close()
    drawn = [value._repr_html_() for value in values if hasattr(value, "_repr_html_")]
    assert len(drawn) == 3
    assert "<rect" in drawn[0]
    assert any(row[2] for row in names["refused"])
