"""Calls about scopes, made as a caller would, and what must hold of the tree after them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import write

CURATOR: dict[str, Any] = {"role": "curator", "groups": ("memwarden_curator",)}
"""How a person is registered who administers an organisation."""

OPEN_BELOW_CLOSED = """
SELECT s.path FROM memwarden_data.scope AS s
  JOIN memwarden_data.scope AS p ON p.scope_id = s.parent_id
 WHERE p.closed_at IS NOT NULL AND s.closed_at IS NULL"""
LEFT_BEHIND = """
SELECT i.item_id, s.path
  FROM memwarden_data.item AS i JOIN memwarden_data.scope AS s USING (scope_id)
 WHERE s.closed_at IS NOT NULL AND i.status = 'ACTIVE'"""


def one(connection: Connection[DictRow], query: str, *parameters: Any) -> DictRow:
    """Run a query, return its one row."""
    (row,) = connection.execute(query, parameters).fetchall()
    return row


def organisation_of(home: str) -> str:
    """The path of the organisation that a scope lies in."""
    return "/".join(home.split("/")[:3])


def scope_row(world: World, path: str) -> DictRow:
    """A scope as it is stored."""
    return one(world.admin, "SELECT * FROM memwarden_data.scope WHERE path = %s", path)


def refused(call: Callable[[], object], name: object) -> list[str]:
    """Everything that a caller is told when a call fails, but for the name that it gave."""
    with pytest.raises(psycopg.Error) as raised:
        call()
    told = raised.value.diag
    fields = (told.message_primary, told.message_detail, told.message_hint, told.context)
    assert told.sqlstate is not None
    return [told.sqlstate, *((field or "").replace(str(name or ""), "?") for field in fields)]


def refusal(connection: Connection[DictRow], path: str, **arguments: Any) -> list[str]:
    """Everything that an agent is told when it may not create a scope."""
    return refused(lambda: create_scope(connection, path, **arguments), path)


def remember(agent: Connection[DictRow], scope: str, what: Any, **arguments: Any) -> UUID:
    """Write something, return the item."""
    layer = arguments.pop("layer", "semantic")
    row = write(agent, layer, what, scope=scope, **arguments)
    assert row["outcome"] == "COMMITTED", row
    return UUID(str(row["item_id"]))


def create_scope(connection: Connection[DictRow], path: str, **arguments: Any) -> int:
    """Call ``memwarden.create_scope``."""
    named = "".join(f", {name} => %({name})s" for name in arguments)
    row = connection.execute(
        f"SELECT memwarden.create_scope(%(path)s{named}) AS id", {"path": path} | arguments
    ).fetchone()
    assert row is not None
    return int(row["id"])


def close_scope(
    connection: Connection[DictRow], path: str, *promote: UUID, target: str | None = None
) -> dict[UUID, str]:
    """Call ``memwarden.close_scope``; return what became of each item: released, or an outcome."""
    rows = connection.execute(
        "SELECT * FROM memwarden.close_scope(%s, %s::uuid[], %s)", (path, list(promote), target)
    ).fetchall()
    assert {row["disposition"] for row in rows} <= {"promoted", "released"}
    for row in rows:  # the target has it, awaits it or knew it; or it was refused there
        held = row["outcome"] in {"COMMITTED", "MERGED", "ALREADY_COMMITTED", "DEFERRED"}
        known = str(row["reason"]).endswith("_DUPLICATE")
        assert (row["disposition"] == "promoted") == (held or known), row
    found = {row["item_id"]: str(row["reason"] or row["outcome"] or "released") for row in rows}
    assert len(found) == len(rows)
    return found


def move_scope(connection: Connection[DictRow], path: str, new_parent: str) -> str:
    """Call ``memwarden.move_scope``."""
    return str(one(connection, "SELECT memwarden.move_scope(%s, %s) AS p", path, new_parent)["p"])


def promote(connection: Connection[DictRow], item_id: UUID, **arguments: Any) -> DictRow:
    """Call ``memwarden.promote``."""
    named = "".join(f", {name} => %({name})s" for name in arguments)
    row = connection.execute(
        f"SELECT * FROM memwarden.promote(%(item_id)s{named})", {"item_id": item_id} | arguments
    ).fetchone()
    assert row is not None
    return row


def retract(connection: Connection[DictRow], item_id: UUID, reason: str = "not so") -> None:
    """Call ``memwarden.retract``."""
    connection.execute("SELECT memwarden.retract(%s, %s)", (item_id, reason))


def annotate(
    connection: Connection[DictRow], item_id: UUID, verdict: str | None, note: str | None = None
) -> DictRow:
    """Call ``memwarden.annotate``."""
    call = "SELECT * FROM memwarden.annotate(%s, %s, %s)"
    return one(connection, call, item_id, verdict, note)


def get(connection: Connection[DictRow], item_id: UUID) -> DictRow:
    """Call ``memwarden.get`` for an item that is there."""
    return one(connection, "SELECT * FROM memwarden.get(%s)", item_id)


def check_tree(connection: Connection[DictRow]) -> dict[str, DictRow]:
    """Check every scope as superuser; return them by path.

    Raises AssertionError unless the lineage is the chain of the parents, the path that of the
    parent and one level more, the organisation the parent's, nothing open lies below what is
    closed, and no closed scope has an active memory.
    """
    rows = connection.execute("SELECT * FROM memwarden_data.scope").fetchall()
    by_id = {row["scope_id"]: row for row in rows}
    for row in rows:
        chain = [row["scope_id"]]
        while (parent_id := by_id[chain[0]]["parent_id"]) is not None:
            assert parent_id not in chain, f"{row['path']}: a cycle"
            chain.insert(0, parent_id)
        assert row["lineage"] == chain, row["path"]
        if row["parent_id"] is None:
            assert (row["path"], row["org_id"]) == ("/global", 0)
            continue
        parent = by_id[row["parent_id"]]
        above = "" if parent["parent_id"] is None else parent["path"]
        name = row["path"].rpartition("/")[2]
        assert row["path"] == f"{above}/{row['kind']}/{name}"
        assert above == "" or row["org_id"] == parent["org_id"]
    assert connection.execute(OPEN_BELOW_CLOSED).fetchall() == []
    assert connection.execute(LEFT_BEHIND).fetchall() == []
    return {row["path"]: row for row in rows}
