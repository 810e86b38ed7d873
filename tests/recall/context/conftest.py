"""What the tests of compiled contexts share."""

from __future__ import annotations

import json
from typing import Any

from psycopg import Connection
from psycopg.rows import DictRow

Agent = Connection[DictRow]


def compile_context(agent: Agent, query: str, **arguments: Any) -> list[DictRow]:
    """Call ``memwarden.compile_context`` with named arguments."""
    casts = {"scopes": "::text[]", "layers": "::text[]", "freshness": "::interval"}
    named = "".join(f", {name} => %({name})s{casts.get(name, '')}" for name in arguments)
    return agent.execute(
        f"SELECT * FROM memwarden.compile_context(%(query)s{named})", {"query": query} | arguments
    ).fetchall()


def rendered(agent: Agent, rows: list[DictRow]) -> str:
    """The rows as the one text that a model would read."""
    row = agent.execute(
        "SELECT memwarden.render_context(%s::text[]) AS text", ([r["line"] for r in rows],)
    ).fetchone()
    assert row is not None
    return str(row["text"])


def tokens(agent: Agent, text: str) -> int:
    """What the server reckons that a text takes."""
    row = agent.execute("SELECT memwarden.estimate_tokens(%s) AS n", (text,)).fetchone()
    assert row is not None
    return int(row["n"])


def document(row: DictRow) -> dict[str, Any]:
    """What a line says."""
    parsed: dict[str, Any] = json.loads(row["line"])
    return parsed
