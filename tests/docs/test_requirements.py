"""The statement of what is built and the docstrings of the tests hold each other to account."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def load() -> Any:
    """The tool, which is no package."""
    path = ROOT / "tools/requirements_page.py"
    spec = importlib.util.spec_from_file_location("requirements_page", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


tool = load()


def row(*clauses: tuple[str, list[str]]) -> Any:
    """A row with these built clauses."""
    return tool.Row("asked", [tool.Clause(text, files) for text, files in clauses], [])


def proof(name: str, file: str = "a/test_x.py") -> Any:
    """A test that cites a row."""
    return tool.Proof(name, file, "test_it", None)


def disagreements(rows: dict[str, Any], *found: Any) -> list[str]:
    """What the tool has to say."""
    return list(tool.disagreements(rows, list(found)))


def test_a_statement_that_its_tests_bear_out_is_accepted() -> None:
    """Each file that cites the row stands at a clause, and each clause has such a file."""
    rows = {"W1": row(("typed", ["a/test_x.py"])), "W2": row()}
    assert disagreements(rows, proof("W1")) == []


def test_a_citation_of_a_row_that_is_not_stated_as_built_fails() -> None:
    """A row without clauses, and a row whose clauses name other files."""
    unbuilt = "a/test_x.py: test_it cites W2, and no built clause names it"
    assert disagreements({"W2": row()}, proof("W2")) == [unbuilt]
    rows = {"W2": row(("ordered", ["b/test_y.py"]))}
    assert disagreements(rows, proof("W2"), proof("W2", "b/test_y.py")) == [unbuilt]


def test_a_citation_of_no_row_fails() -> None:
    """A mistyped id."""
    assert disagreements({}, proof("W99")) == [
        "a/test_x.py: test_it cites W99, which is no row",
    ]


@pytest.mark.parametrize("files", [[], ["b/test_y.py"]])
def test_a_built_clause_without_a_test_fails(files: list[str]) -> None:
    """It names no file, or a file where no test cites the row."""
    rows = {"W1": row(("typed", ["a/test_x.py"]), ("kept", files))}
    faults = {
        0: ["W1: no test shows that 'kept'"],
        1: ["W1: no test of b/test_y.py cites it"],
    }
    assert disagreements(rows, proof("W1"), proof("W2", "b/test_y.py")) == [
        "b/test_y.py: test_it cites W2, which is no row",
        *faults[len(files)],
    ]


def test_a_docstring_is_read_to_the_end_of_its_ids() -> None:
    """Over lines and remarks; a word that follows is no id."""
    found = tool.cited(
        textwrap.dedent("""\
            What it shows.

            Proves: W4, W8 (one bad
            row harms no other), V1. T1 is shown elsewhere.
            """)
    )
    assert list(found) == [("W4", None), ("W8", "one bad row harms no other"), ("V1", None)]


def test_clauses_are_short_and_missing_parts_make_a_row_partial() -> None:
    """Of the statement itself: one checkable sentence each, of at most twenty-five words."""
    for rows in tool.requirements().values():
        for name, each in rows.items():
            assert each.built or each.missing, name
            assert each.state == (
                "in part"
                if each.built and each.missing
                else "built"
                if each.built
                else "not yet built"
            )
            assert [c.text for c in each.built if len(c.text.split()) > 25] == []
