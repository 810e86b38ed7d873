"""Calls that tests make of the public API, as a caller would."""

from __future__ import annotations

import json
from typing import Any

from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Json, Jsonb


def ask_for_little(admin: Connection[Any]) -> None:
    """Have no layer ask for evidence or a human, or set a pace, in a database that a test made.

    And have no job load a dictionary: that takes seconds.
    """
    admin.execute("DELETE FROM memwarden_data.lexicon")
    lower_thresholds(admin)


def lower_thresholds(admin: Connection[Any]) -> None:
    """Have no layer ask for evidence or a human, or set a pace; each release can do this."""
    admin.execute("UPDATE memwarden_data.approval_policy SET approval = 'never'")
    admin.execute(
        """
        UPDATE memwarden_data.layer
           SET rate_limit = NULL, fact_threshold = 0, min_authority = 0, min_external = 0,
               self_reference = 'allow', duplicate_similarity = NULL, conflict = 'accumulate'
        """
    )


def write(connection: Connection[DictRow], layer: str, content: Any, **arguments: Any) -> DictRow:
    """Call ``memwarden.write`` with named arguments."""
    for name in ("evidence", "filter", "attributes", "origin"):
        if name in arguments:
            arguments[name] = Jsonb(arguments[name])
    casts = {"embedding": "::real[]", "ttl": "::interval"}
    casts |= dict.fromkeys(("request_id", "corrects"), "::uuid")
    named = "".join(f", {name} => %({name})s{casts.get(name, '')}" for name in arguments)
    row = connection.execute(
        f"SELECT * FROM memwarden.write(%(layer)s, %(content)s{named})",
        {"layer": layer, "content": Jsonb(content)} | arguments,
    ).fetchone()
    assert row is not None
    return row


def write_many(connection: Connection[DictRow], requests: list[Any]) -> list[DictRow]:
    """Call ``memwarden.write_many``."""
    return connection.execute(
        "SELECT * FROM memwarden.write_many(%s)", (Json(requests, dumps=json.dumps),)
    ).fetchall()


def recall(connection: Connection[DictRow], **arguments: Any) -> list[DictRow]:
    """Call ``memwarden.recall`` with named arguments."""
    for name in ("filter", "weights"):
        if name in arguments:
            arguments[name] = Jsonb(arguments[name])
    casts = {"embedding": "::real[]", "layers": "::text[]", "scopes": "::text[]"}
    named = ", ".join(f"{name} => %({name})s{casts.get(name, '')}" for name in arguments)
    return connection.execute(f"SELECT * FROM memwarden.recall({named})", arguments).fetchall()
