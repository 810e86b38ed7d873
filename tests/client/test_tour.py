"""The tour runs from its first cell to its last, in a store as it is shipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memwarden import Client
from operations.star.test_notebook import shown

if TYPE_CHECKING:
    from shipped import Shipped

NOTEBOOK = Path(__file__).parents[2] / "docs/examples/tour.ipynb"
README = NOTEBOOK.parents[2] / "README.md"


def test_the_tour_shows_what_it_says(shipped: Shipped, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kept, merged and refused writes, a decision, a recall that says why, and an erasure.

    In the store of the README, whose memories stay.
    """
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in cells)
    with Client(shipped.application) as app, Client(shipped.agent) as memory:
        turn = app.heard("Ana", "I prefer green tea.")
        assert memory.remember("Ana prefers green tea", source=turn).committed
        monkeypatch.setenv("MEMWARDEN_DSN", shipped.world.dsn)
        names: dict[str, Any] = {}
        values = [shown(as_here(shipped, "".join(cell["source"])), names) for cell in cells]
        kept = [item.text for item in memory.recall("what does Ana prefer to drink?")]
    assert "Ana prefers green tea" in kept
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
    assert names["best"].text == "Tom prefers green tea"
    assert (names["erased"].status, names["erased"].items, names["after"]) == ("COMPLETED", 5, [])


def as_here(shipped: Shipped, cell: str) -> str:
    """Roles belong to the whole server: those of init have other names in the tests."""
    logins = (shipped.agent, shipped.reviewer, shipped.application)
    names = zip(("assistant", "reviewer", "application"), logins, strict=True)
    for name, connection in names:
        cell = cell.replace(f'"{name}"', f'"{connection.info.user}"')
    return cell


@pytest.mark.parametrize("path", sorted(NOTEBOOK.parent.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs_as_the_agent_of_the_readme(path: Path) -> None:
    """Its first lines say how, with a login that is there once the README was followed."""
    login = '"dbname=memwarden user=assistant"'
    assert login in README.read_text(encoding="utf-8")
    command = f"python docs/examples/{path.name} {login}"
    assert command in path.read_text(encoding="utf-8")
