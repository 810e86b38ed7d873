"""Calls of define_schema()."""

from __future__ import annotations

from typing import Any

from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb


def define(
    admin: Connection[DictRow], kind: str, schema: Any, *, layer: str = "semantic", **arguments: Any
) -> int:
    """Call define_schema(); return the version."""
    if "constraints" in arguments:
        arguments["constraints"] = Jsonb(arguments["constraints"])
    named = "".join(f", {name} => %({name})s" for name in arguments)
    row = admin.execute(
        f"SELECT memwarden.define_schema(%(layer)s, %(kind)s, %(schema)s{named}) AS version",
        {"layer": layer, "kind": kind, "schema": Jsonb(schema)} | arguments,
    ).fetchone()
    assert row is not None
    return int(row["version"])
