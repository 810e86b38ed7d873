#!/usr/bin/env python3
"""Write docs/requirements.md: what is asked, what is built, and the tests that show it.

usage: tools/requirements_page.py [--check]

docs/requirements.toml states, by hand, what is built. A row is split into the clauses of its text;
a built clause names the test files that show it, a missing clause says what is not there:

    [W4]
    text = "The same write counts once ..."
    built = [
        { clause = "A token over the content finds a replay.", tests = ["write/gates/test_x.py"] },
    ]
    missing = ["Tokens live a day."]

The tests cite rows in their docstrings, as in `Proves: W4, W8 (one bad row harms no other)`.
The statement and the tests must agree; this command fails, and says where, when

- a test cites a row, and no built clause of that row names the test's file
- a built clause names no test, or a file where no test cites the row

With --check nothing is written, and the exit status is 1 when the page is not what they say.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/requirements.toml"
PAGE = ROOT / "docs/requirements.md"

HEAD = """\
# Requirements

`tools/requirements_page.py` writes this page from [requirements.toml](requirements.toml) and the
tests: do not edit it. A row is **built** when every clause of it is built, and **in part** when
some clauses are missing. Each built clause names the tests that show it.
"""

_ROW = re.compile(r"\s*,?\s*(?:and\s+)?([A-Z]\d{1,2})\b(?:\s*\(([^()]*)\))?")


class Clause(NamedTuple):
    """A part of a row that is built, and the files of tests that show it."""

    text: str
    files: list[str]


class Row(NamedTuple):
    """One requirement."""

    text: str
    built: list[Clause]
    missing: list[str]

    @property
    def state(self) -> str:
        """Built, in part, or not yet built."""
        if not self.built:
            return "not yet built"
        return "in part" if self.missing else "built"


class Proof(NamedTuple):
    """A test that cites a row; the remark says what of the row it shows."""

    row: str
    file: str
    test: str
    remark: str | None


def requirements() -> dict[str, dict[str, Row]]:
    """The rows by area. Raises SystemExit for ids that are not numbered."""
    data = tomllib.loads(DATA.read_text(encoding="utf-8"))
    areas: dict[str, dict[str, Row]] = {}
    for letter, title in data.pop("areas").items():
        ids = [row for row in data if re.fullmatch(rf"{letter}\d+", row)]
        if ids != [f"{letter}{n}" for n in range(1, len(ids) + 1)]:
            raise SystemExit(f"{DATA.name}: the rows of {letter} are not numbered from 1")
        areas[title] = {
            row: Row(
                data[row]["text"],
                [Clause(c["clause"], c["tests"]) for c in data[row]["built"]],
                data[row].get("missing", []),
            )
            for row in ids
        }
        for row in ids:
            del data[row]
    if data:
        raise SystemExit(f"{DATA.name}: of no area: {', '.join(data)}")
    return areas


def cited(docstring: str | None) -> Iterator[tuple[str, str | None]]:
    """The (row, remark) pairs behind each `Proves:` of a docstring."""
    for text in re.split(r"\bProves:", docstring or "")[1:]:
        position = 0
        while found := _ROW.match(text, position):
            yield found[1], " ".join(found[2].split()) if found[2] else None
            position = found.end()


def proofs(path: Path) -> Iterator[Proof]:
    """What the tests of one file cite; a module's or class's docstring speaks for its tests."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    file = path.relative_to(ROOT / "tests").as_posix()
    for row, remark in cited(ast.get_docstring(tree)):
        yield Proof(row, file, "all of its tests", remark)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for row, remark in cited(ast.get_docstring(node)):
                yield Proof(row, file, node.name, remark)


def disagreements(rows: dict[str, Row], found: list[Proof]) -> Iterator[str]:
    """Where the statement and the tests contradict each other."""
    citing: dict[str, set[str]] = {row: set() for row in rows}
    for proof in found:
        if proof.row not in rows:
            yield f"{proof.file}: {proof.test} cites {proof.row}, which is no row"
            continue
        citing[proof.row].add(proof.file)
        if all(proof.file not in clause.files for clause in rows[proof.row].built):
            yield f"{proof.file}: {proof.test} cites {proof.row}, and no built clause names it"
    for name, row in rows.items():
        for clause in row.built:
            if not clause.files:
                yield f"{name}: no test shows that {clause.text!r}"
            for file in clause.files:
                if file not in citing[name]:
                    yield f"{name}: no test of {file} cites it"


def words(test: str) -> str:
    """A test's name as the sentence it is."""
    return test.removeprefix("test_").removeprefix("Test").replace("_", " ")


def shown(name: str, row: Row, found: list[Proof]) -> Iterator[str]:
    """A row in full: its clauses, and under each the tests."""
    yield from (f"### {name}", "", row.text, "")
    for clause in row.built:
        yield f"- {clause.text}"
        for file in clause.files:
            tests = [
                words(p.test) + (f" ({p.remark})" if p.remark else "")
                for p in found
                if (p.row, p.file) == (name, file)
            ]
            yield f"  - [{file}](../tests/{file}): {'; '.join(tests)}"
    yield from (f"- **Missing**: {text}" for text in row.missing)
    yield ""


def page(areas: dict[str, dict[str, Row]], found: list[Proof]) -> str:
    """The whole page."""
    states = [row.state for rows in areas.values() for row in rows.values()]
    lines = [
        *HEAD.splitlines(),
        "",
        f"Of {len(states)} rows, {states.count('built')} are built, {states.count('in part')} are "
        f"built in part, and {states.count('not yet built')} are not built yet.",
        "",
    ]
    for area, rows in areas.items():
        lines += [f"## {area}", "", "| id | what is asked | state |", "|---|---|---|"]
        for name, row in rows.items():
            state = row.state if row.state == "not yet built" else f"[{row.state}](#{name.lower()})"
            lines.append(f"| {name} | {row.text} | {state} |")
        lines.append("")
    lines += ["## The clauses and their tests", ""]
    for rows in areas.values():
        for name, row in rows.items():
            if row.built:
                lines += shown(name, row, found)
    return "\n".join(lines).rstrip("\n") + "\n"


def main() -> None:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    areas = requirements()
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    found = [proof for path in files for proof in proofs(path)]
    rows = {name: row for each in areas.values() for name, row in each.items()}
    if faults := list(disagreements(rows, found)):
        print(*faults, sep="\n")
        sys.exit(1)
    text = page(areas, found)
    if not arguments.check:
        PAGE.write_text(text, encoding="utf-8")
        return
    committed = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    diff = difflib.unified_diff(
        committed.splitlines(), text.splitlines(), "docs/requirements.md", "the tests", lineterm=""
    )
    for line in diff:
        print(line)
    sys.exit(committed != text)


if __name__ == "__main__":
    main()
