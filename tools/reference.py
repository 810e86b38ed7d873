#!/usr/bin/env python3
"""Write docs/reference/ from the catalog of a server that has memwarden: a page for each reader.

usage: tools/reference.py --dsn DSN [--check]

The comments in the catalog are the documentation; nothing is described here. Deterministic: two
fresh databases of one version give the same bytes, on PostgreSQL 17 and 18. With --check nothing
is written, and the exit status is 1, with a diff, when a page is not what the catalog says.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row

FOLDER = Path(__file__).resolve().parent.parent / "docs/reference"

WRITTEN = """\
`tools/reference.py` writes this page from the catalog of a server: do not edit it. Each text is the
comment of the object, as `\\df+` and `\\d+` show it.
"""

# The pages of functions, by what memwarden.functions says of who calls them.
AUDIENCES = {
    "agent": ("Functions for agents", "Agents and applications: write, recall, sessions."),
    "reviewer": ("Functions for reviewers", "Reviewers: the queue and its decisions."),
    "administrator": (
        "Functions for administrators",
        "Curators, auditors and administrators: scopes, agents, rules, sources, erasure.",
    ),
    "operator": ("Functions for operators", "DBAs, jobs and workers: setup, partitions, queues."),
}
OTHERS = {
    "views": ("Views", "BI tools and everybody who reads: each view and its columns."),
    "codes": ("Codes", "Reason codes of refused writes, and SQLSTATEs."),
    "settings": ("Roles and settings", "Roles, layers, embedding models, kinds of scopes."),
    "tables": ("Tables", "The storage, for DBAs."),
}


def queries() -> dict[str, str]:
    """The named queries of tools/reference.sql."""
    text = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def cell(value: object) -> str:
    """A value as it stands in a table."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return re.sub(r"^@ ", "", str(value)).replace("|", r"\|")


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """A Markdown table, with the empty line behind it."""
    names = list(header)
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for row in rows:
        yield f"| {' | '.join(map(cell, row))} |"
    yield ""


def short(type_name: str) -> str:
    """The usual name of a type."""
    return type_name.replace("timestamp with time zone", "timestamptz")


def columns(rows: list[dict[str, Any]], word: str) -> Iterator[str]:
    """The columns of a result or a table on one line, then what is said of some."""
    yield f"{word}: " + ", ".join(f"`{row['name']}` {short(row['type'])}" for row in rows) + "."
    yield ""
    commented = [row for row in rows if row.get("comment")]
    yield from (f"- `{row['name']}`: {row['comment'].rstrip('.')}" for row in commented)
    if commented:
        yield ""


def description(comment: str | None, names: Iterable[str]) -> Iterator[str]:
    """A comment as paragraphs; what it says of single arguments becomes a list."""
    name = "(?:" + "|".join(map(re.escape, names)) + ")" if names else "(?!)"
    argument = re.compile(rf"({name}(?:, {name})*): ")
    text = re.sub(r"\s*Source: .*$", "", comment or "")
    begins = argument.pattern.replace("(", "(?:", 1)
    listed = False
    for part in re.split(rf"(?<=\.) (?={begins}|[A-Z])|; (?={begins})", text):
        if found := argument.match(part):
            of = ", ".join(f"`{n}`" for n in found[1].split(", "))
            if not listed:
                yield ""
            yield f"- {of}: {part[found.end() :].rstrip('.')}"
            listed = True
        else:
            lines = list(sentence(part))
            if listed or part.startswith("Raises "):
                yield ""
            yield from lines
            listed = len(lines) > 1
    yield ""


def sentence(text: str) -> Iterator[str]:
    """A sentence; a list where it says (1) ... (2) ..., or raises more than one SQLSTATE."""
    head, *cases = re.split(r";?(?: or)? \(\d+\) ", text)
    if re.match(r"Raises [0-9A-Z]{5} ", text):
        head = "Raises:"
        cases = re.split(r"[,;] (?=[0-9A-Z]{5} |otherwise\b)", text.removeprefix("Raises "))
    if len(cases) < 2:
        yield text
        return
    yield from (head, "")
    for case in cases:
        yield "- " + re.sub(r"^([0-9A-Z]{5})(?= )", r"`\1`", case.rstrip("."))


def default(expression: str | None) -> str:
    """A default without the cast that the server adds."""
    if expression is None:
        return ""
    return " DEFAULT " + re.sub(r"::[a-z ]+(\[\])?$", "", expression)


def signature(routine: DictRow) -> Iterator[str]:
    """The call, one argument a line."""
    given = [a for a in routine["arguments"] if not a["is_result"]]
    call = f"memwarden.{routine['name']}("
    result = "" if routine["is_procedure"] else f" -> {result_type(routine)}"
    yield "```text"
    if given:
        width = max(len(a["name"]) for a in given)
        yield call
        lines = [
            f"    {a['name']:{width}}  {short(a['type'])}{default(a['default'])}" for a in given
        ]
        yield ",\n".join(lines)
        yield f"){result}"
    else:
        yield f"{call}){result}"
    yield "```"
    yield ""


def result_columns(routine: DictRow) -> list[dict[str, Any]]:
    """The columns of what a function returns; none for a plain value."""
    results = [a for a in routine["arguments"] if a["is_result"]]
    return results or routine["columns"] or []


def result_type(routine: DictRow) -> str:
    """What a function returns, in words."""
    if not result_columns(routine):
        return str(routine["returns"])
    return "rows" if routine["is_set"] else "one row"


def anchor(heading: str) -> str:
    """The anchor that a Markdown heading has."""
    return re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")


def routines(rows: list[DictRow], audience: str) -> Iterator[str]:
    """Functions and procedures of one page: a line each, by area, then each in full."""
    chosen = [row for row in rows if row["audience"] == audience]
    for area in sorted({row["area"] for row in chosen}):
        yield from (f"**{area}**", "")
        listed = [row for row in chosen if row["area"] == area]
        yield from table(
            ("function", "what it does"),
            ((f"[{row['name']}](#{anchor(row['name'])})", row["summary"]) for row in listed),
        )
    for routine in chosen:
        yield from (f"## {routine['name']}", "")
        yield from signature(routine)
        found = result_columns(routine)
        yield from description(
            routine["comment"], [row["name"] for row in [*routine["arguments"], *found]]
        )
        if found:
            yield from columns(found, "Returns")
        yield f"May call it: {', '.join(routine['roles']) or 'a superuser'}."
        yield ""


def first_sentence(comment: str) -> str:
    """What a comment says first."""
    return re.split(r"(?<=\.)\s", comment, maxsplit=1)[0]


def relations(rows: list[DictRow], schema: str) -> Iterator[str]:
    """Views or tables: a line each, then each in full."""
    names = {row["name"]: f"{schema}.{row['name']}" for row in rows}
    yield from table(
        ("name", "what it shows"),
        (
            (f"[{row['name']}](#{anchor(names[row['name']])})", first_sentence(row["comment"]))
            for row in rows
        ),
    )
    for relation in rows:
        yield from (f"## {names[relation['name']]}", "")
        yield from description(relation["comment"], [])
        yield from columns(relation["columns"], "Columns")
        yield f"May read it: {', '.join(relation['roles']) or 'nobody but the engine'}."
        yield ""


def roles(found: list[DictRow], rights: list[DictRow]) -> Iterator[str]:
    """The roles of the extension and what each may call."""
    for role in found:
        called = [f"`{r['name']}`" for r in rights if role["name"] in r["roles"]]
        login = "logs in" if role["can_login"] else "no login"
        calls = ", ".join(called) or "runs the engine; it is nobody's to use"
        yield f"- **{role['name']}** ({login}): {calls}."
    yield ""


# What the settings of a layer do, by setting_rules(), and to whom that matters.
ACTS = {
    "asks": "What a write or a recall is asked. An agent's own hold for its writes and recalls.",
    "ages": "What becomes of memories later. An agent's own hold for the memories that it wrote.",
    "structure": "Who reads, and how the store is built.",
}


def layers(rows: list[dict[str, Any]], rules: list[DictRow]) -> Iterator[str]:
    """The settings of the layers as setup() makes them, a column for each layer."""
    for acts, meaning in ACTS.items():
        yield from (meaning, "")
        yield from table(
            ("setting", "the most specific that may have its own", *(row["layer"] for row in rows)),
            (
                [f"`{rule['name']}`", rule["owner"], *(row[rule["name"]] for row in rows)]
                for rule in rules
                if rule["acts"] == acts
            ),
        )


def pages(connection: psycopg.Connection[DictRow]) -> dict[str, str]:
    """The text of every page, by its name."""
    named = queries()

    def fetch(name: str, **parameters: Any) -> list[DictRow]:
        return connection.execute(named[name], parameters or None).fetchall()

    fetch("session")
    calls = fetch("routines")
    bodies: dict[str, Iterable[str]] = {name: routines(calls, name) for name in AUDIENCES}
    bodies["views"] = [
        "A view shows the rows that its reader may see.",
        "",
        *relations(fetch("relations", schema="memwarden", kinds=["v"]), "memwarden"),
    ]
    bodies["codes"] = [
        "## Reason codes",
        "",
        *table(
            ("reason", "outcome", "gate", "meaning", "remedy"),
            ([f"`{r.pop('reason')}`", *r.values()] for r in fetch("reasons")),
        ),
        "## SQLSTATEs",
        "",
        "memwarden raises these. A refused write is a result, never an error.",
        "",
        *table(("SQLSTATE", "message", "hint"), (r.values() for r in fetch("errors"))),
    ]
    bodies["settings"] = [
        "## Roles",
        "",
        *roles(fetch("roles"), calls),
        "## Layers",
        "",
        "The settings as `setup()` makes them. An organisation or an agent may have others: see",
        "[settings](../settings.md).",
        "",
        *layers([row["layer"] for row in fetch("layers")], fetch("rules")),
        "## Embedding models",
        "",
        *table(("name", "dimension", "vector weight"), (r.values() for r in fetch("models"))),
        "## Scope kinds",
        "",
        *table(("kind", "what it stands for"), (r.values() for r in fetch("kinds"))),
    ]
    bodies["tables"] = [
        "Row-level security is forced on each table: a reader gets the rows that it may see.",
        "Only the engine writes.",
        "",
        *relations(fetch("relations", schema="memwarden_data", kinds=["r", "p"]), "memwarden_data"),
    ]
    titles = AUDIENCES | OTHERS
    found = {name: [f"# {titles[name][0]}", "", WRITTEN, *body] for name, body in bodies.items()}
    found["README"] = [
        "# Reference",
        "",
        WRITTEN,
        "In the database, `SELECT * FROM memwarden.functions` lists the same functions.",
        "",
        *table(
            ("page", "for whom"),
            ((f"[{title}]({name}.md)", reader) for name, (title, reader) in titles.items()),
        ),
        "Pages by task: [docs](../README.md).",
    ]
    return {f"{n}.md": "\n".join(lines).rstrip("\n") + "\n" for n, lines in found.items()}


def main() -> None:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dsn", required=True, help="a database with the extension, as superuser")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    with psycopg.connect(arguments.dsn, row_factory=dict_row) as connection:
        found = pages(connection)
    stored = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    if arguments.check:
        for name in sorted({*found, *stored}):
            old, new = stored.get(name, "").splitlines(), found.get(name, "").splitlines()
            for line in difflib.unified_diff(old, new, name, "the catalog", lineterm=""):
                print(line)
        sys.exit(found != stored)
    FOLDER.mkdir(exist_ok=True)
    for name in stored.keys() - found.keys():
        (FOLDER / name).unlink()
    for name, text in found.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
