#!/usr/bin/env python3
"""Write docs/requirements.md: what the product is asked for, and the tests that prove it.

usage: tools/requirements_page.py [--check]

The rows come from docs/requirements.toml, the proofs from the docstrings of the tests:

    Proves: W4, W8 (one bad row harms no other)

A remark in parentheses says that only so much of the row is proved there. With --check nothing is
written, and the exit status is 1 when the page is not what the tests say.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/requirements.toml"
PAGE = ROOT / "docs/requirements.md"

HEAD = """\
# Requirements

Written by `tools/requirements_page.py` from [requirements.toml](requirements.toml) and the tests:
do not edit. A row is **proved** when its tests show all of it, **in part** when something is still
missing, and otherwise **not yet** built.
"""

_ROW = re.compile(r"\s*,?\s*(?:and\s+)?([A-Z]\d{1,2})\b(?:\s*\(([^()]*)\))?")


class Proof(NamedTuple):
    """A test and the row it proves; the remark limits how much of it."""

    row: str
    path: Path
    test: str
    remark: str | None


class Requirements(NamedTuple):
    """The rows by area, and what is missing of some."""

    areas: Mapping[str, Mapping[str, str]]
    open: Mapping[str, str]

    @property
    def rows(self) -> set[str]:
        """Every id."""
        return {row for rows in self.areas.values() for row in rows}


def requirements() -> Requirements:
    """Read the data file. Raises SystemExit for ids that do not fit."""
    data = tomllib.loads(DATA.read_text(encoding="utf-8"))
    missing = data.pop("open")
    areas = {}
    for letter, rows in data.items():
        title = rows.pop("area")
        if list(rows) != [f"{letter}{n}" for n in range(1, len(rows) + 1)]:
            raise SystemExit(f"{DATA.name}: the rows of {letter} are not numbered from 1")
        areas[title] = rows
    found = Requirements(areas, missing)
    if unknown := missing.keys() - found.rows:
        raise SystemExit(f"{DATA.name}: [open] has unknown rows: {', '.join(sorted(unknown))}")
    return found


def cited(docstring: str | None) -> Iterator[tuple[str, str | None]]:
    """The (row, remark) pairs behind each `Proves:` of a docstring."""
    for text in re.split(r"\bProves:", docstring or "")[1:]:
        position = 0
        while found := _ROW.match(text, position):
            yield found[1], " ".join(found[2].split()) if found[2] else None
            position = found.end()


def proofs(path: Path) -> Iterator[Proof]:
    """What the tests of one file prove; a module's or class's docstring speaks for its tests."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    name = path.relative_to(ROOT)
    for row, remark in cited(ast.get_docstring(tree)):
        yield Proof(row, name, "all of its tests", remark)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for row, remark in cited(ast.get_docstring(node)):
                yield Proof(row, name, node.name, remark)


def words(test: str) -> str:
    """A test's name as the sentence it is."""
    return test.removeprefix("test_").removeprefix("Test").replace("_", " ")


def state(row: str, found: list[Proof], missing: Mapping[str, str]) -> str:
    """Proved, in part, or not yet."""
    if not found:
        return "not yet"
    if row in missing or all(proof.remark for proof in found):
        return "in part"
    return "proved"


def tests(found: list[Proof]) -> Iterator[str]:
    """One item for each file, with the tests of it."""
    for path in sorted({proof.path for proof in found}):
        sentences = [
            words(p.test) + (f" ({p.remark})" if p.remark else "") for p in found if p.path == path
        ]
        name = path.relative_to("tests").as_posix()
        yield f"- [{name}](../{path.as_posix()}): {'; '.join(sentences)}"


def page(asked: Requirements, found: list[Proof]) -> str:
    """The whole page."""
    by_row: dict[str, list[Proof]] = {row: [] for row in asked.rows}
    for proof in found:
        if proof.row not in by_row:
            raise SystemExit(f"{proof.path}: {proof.test} proves {proof.row}, which is no row")
        by_row[proof.row].append(proof)
    states = {row: state(row, by_row[row], asked.open) for row in asked.rows}
    count = {word: list(states.values()).count(word) for word in ("proved", "in part", "not yet")}
    lines = [
        *HEAD.splitlines(),
        "",
        f"Of {len(states)} rows {count['proved']} are proved, {count['in part']} in part, "
        f"and {count['not yet']} are not built yet.",
        "",
    ]
    for area, rows in asked.areas.items():
        lines += [f"## {area}", "", "| id | what is asked | state |", "|---|---|---|"]
        for row, text in rows.items():
            built = states[row]
            shown = built if built == "not yet" else f"[{built}](#{row.lower()})"
            if built == "in part" and row in asked.open:
                shown += f"; missing: {asked.open[row]}"
            lines.append(f"| {row} | {text} | {shown} |")
        lines.append("")
    lines += ["## The tests", ""]
    for rows in asked.areas.values():
        for row in rows:
            if by_row[row]:
                lines += [f"### {row}", "", *tests(by_row[row]), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def main() -> None:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    text = page(requirements(), [proof for path in files for proof in proofs(path)])
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
