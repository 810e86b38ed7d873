"""An agent with notes in its session layer, and what it has decided about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from helpers import write

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]
CONSOLIDATE = """
SELECT * FROM memwarden.consolidate(
    %(item_id)s::uuid, %(version_id)s::uuid, %(layer)s, %(decision)s, %(target)s::uuid,
    %(target_version)s::uuid, %(content)s::jsonb, %(reason)s, coalesce(%(decider)s, 'a test'))"""


def note(agent: Agent, content: Any, layer: str = "session", **more: Any) -> DictRow:
    """Write something down, and expect it to be stored."""
    row = write(agent, layer, content, **more)
    assert row["outcome"] == "COMMITTED", row
    return row


def decide(agent: Agent, source: DictRow, decision: str, **more: Any) -> DictRow:
    """Carry out a decision about what note() wrote; `about` is the row of its target."""
    about = more.pop("about", None) or {"item_id": None, "version_id": None}
    arguments: dict[str, Any] = {
        "item_id": source["item_id"],
        "version_id": source["version_id"],
        "layer": "semantic",
        "decision": decision,
        "target": about["item_id"],
        "target_version": about["version_id"],
        "content": None,
        "reason": None,
        "decider": "test:1",
    } | more
    if arguments["content"] is not None:
        arguments["content"] = Jsonb(arguments["content"])
    row = agent.execute(CONSOLIDATE, arguments).fetchone()
    assert row is not None
    return row


def candidates(agent: Agent, **more: Any) -> list[UUID]:
    """The memories of the session layer that have no decision yet."""
    named = "".join(f", {name} => %({name})s" for name in more)
    rows = agent.execute(
        f"SELECT item_id FROM memwarden.consolidation_candidates('session', 'semantic'{named})",
        more,
    )
    return [row["item_id"] for row in rows]


def held(world: World, layer: str = "semantic") -> list[DictRow]:
    """Every item of a layer, oldest first, with the words of its newest version."""
    return world.rows(
        "SELECT i.*, v.content FROM memwarden_data.item AS i"
        "  JOIN memwarden_data.version AS v USING (org_id, version_id)"
        " WHERE i.layer = %s ORDER BY i.created_at",
        layer,
    )
