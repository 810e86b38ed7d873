"""The tour runs from its first cell to its last, in a store as it is shipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from operations.star.test_notebook import shown

if TYPE_CHECKING:
    from conftest import World

NOTEBOOK = Path(__file__).parents[2] / "docs/examples/tour.ipynb"


def test_the_tour_shows_what_it_says(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kept, merged and refused writes, a decision, a recall that says why, and an erasure."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in cells)
    world.ship()
    monkeypatch.setenv("MEMWARDEN_DSN", world.dsn)
    names: dict[str, Any] = {}
    try:
        values = [shown("".join(cell["source"]), names) for cell in cells]
    finally:
        world.roles += names["roles"].values()
    drawn = [value._repr_html_() for value in values if hasattr(value, "_repr_html_")]
    assert len(drawn) == 3
    assert all("<rect" in each and "http" not in each for each in drawn)
    said = {what: (result.outcome, result.reason) for what, result in names["attempts"].items()}
    assert said == {
        "an event": ("COMMITTED", None),
        "the same event": ("ALREADY_COMMITTED", None),
        "a fact with evidence": ("COMMITTED", None),
        "a fact without evidence": ("COMMITTED", None),
        "a secret": ("REJECTED", "SENSITIVE_CONTENT"),
        "a hidden instruction": ("DEFERRED", "INSTRUCTION_REVIEW"),
        "a denied fact": ("REJECTED", "INSUFFICIENT_EVIDENCE"),
        "how something is done": ("DEFERRED", "EVIDENCE_UNCLEAR"),
    }
    assert (names["first"].outcome, names["grown"].outcome) == ("COMMITTED", "MERGED")
    assert names["before"] == []
    assert sorted(result.outcome for result in names["decided"].values()) == [
        *("COMMITTED", "REJECTED"),
    ]
    assert names["best"].text == "Ana prefers green tea"
    assert (names["erased"].status, names["erased"].items, names["after"]) == ("COMPLETED", 5, [])
