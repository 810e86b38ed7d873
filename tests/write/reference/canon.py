"""Canonical tables in a database, and what agents do with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg import Connection, sql
from psycopg.rows import DictRow

from access import call
from helpers import write

if TYPE_CHECKING:
    from conftest import World

DATA = Path(__file__).parent / "data"

COLD = "cold-chain"


class Labelled(NamedTuple):
    """A text, and the record that it copies or is about."""

    record: str
    text: str


def records() -> dict[str, str]:
    """Rules, and audit entries (their keys begin with `audit-`), by key."""
    found: dict[str, str] = json.loads((DATA / "records.json").read_text(encoding="utf-8"))
    return found


def labelled(name: str) -> list[Labelled]:
    """The texts of `copies` or of `reasoning`."""
    rows = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return [Labelled(row["record"], row["text"]) for row in rows]


def make_table(
    world: World, name: str, rows: dict[str, str], *, key: str = "id", text: str = "body"
) -> None:
    """A table in schema worlds with key, text and version, indexed and opened to the engine."""
    named = {
        "table": sql.Identifier("worlds", name),
        "key": sql.Identifier(key),
        "text": sql.Identifier(text),
    }
    world.admin.execute("CREATE SCHEMA IF NOT EXISTS worlds")
    world.admin.execute("GRANT USAGE ON SCHEMA worlds TO memwarden_owner")
    for statement in (
        "CREATE TABLE {table} ({key} text PRIMARY KEY, {text} text, version integer DEFAULT 1)",
        "CREATE INDEX ON {table} USING gin ({text} gin_trgm_ops)",
        "GRANT SELECT, REFERENCES ON {table} TO memwarden_owner",
    ):
        world.admin.execute(sql.SQL(statement).format(**named))
    copy = sql.SQL("COPY {table} ({key}, {text}) FROM STDIN").format(**named)
    with world.admin.cursor() as cursor, cursor.copy(copy) as rows_in:
        for row in rows.items():
            rows_in.write_row(row)


def register(world: World, name: str, **changed: Any) -> None:
    """Register a table of make_table() under its name."""
    arguments = {
        "name": name,
        "relation": f"worlds.{name}",
        "key_column": "id",
        "text_column": "body",
        "version_column": "version",
    }
    call(world.admin, "register_canonical_source", **(arguments | changed))


def say(agent: Connection[DictRow], text: str, **arguments: Any) -> DictRow:
    """Write a text as an episode."""
    return write(agent, "episodic", {"text": text}, **arguments)


def verdict(answer: DictRow) -> tuple[str, str | None]:
    """Outcome and reason."""
    return answer["outcome"], answer["reason"]


def link(agent: Connection[DictRow], item: object, key: str, **arguments: Any) -> None:
    """Link an item to a row of the rules."""
    call(agent, "link_reference", item_id=item, **({"source": "rules", "key": key} | arguments))


def open_table(world: World, *roles: str, table: str = "rules") -> None:
    """Let login roles read a canonical table."""
    for role in roles:
        for statement in (
            "GRANT USAGE ON SCHEMA worlds TO {}",
            "GRANT SELECT ON worlds.{} TO {}",
        ):
            names = [sql.Identifier(role)]
            if "SELECT" in statement:
                names.insert(0, sql.Identifier(table))
            world.admin.execute(sql.SQL(statement).format(*names))
