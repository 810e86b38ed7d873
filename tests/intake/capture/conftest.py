"""Agents that capture, and what extractors make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]


def capture(agent: Agent, content: Any, source: str = "chat", **more: Any) -> UUID:
    """Append something to the capture log; its id."""
    named = "".join(f", {name} => %({name})s" for name in more)
    row = agent.execute(
        f"SELECT memwarden.capture(%(source)s, %(content)s{named}) AS id",
        {"source": source, "content": Jsonb(content)} | more,
    ).fetchone()
    assert row is not None
    return UUID(str(row["id"]))


def said(text: str, speaker: str = "Ana") -> dict[str, str]:
    """A turn of a conversation."""
    return {"role": "user", "speaker": speaker, "text": text}


def extract(agent: Agent, **more: Any) -> list[DictRow]:
    """Have extractors read the agent's captures."""
    named = ", ".join(f"{name} => %({name})s" for name in more)
    return agent.execute(f"SELECT * FROM memwarden.extract({named})", more).fetchall()


def age(world: World, capture_id: UUID, days: int) -> None:
    """Make a capture older than it is: what only a superuser can, who stops the guards."""
    with world.admin.transaction():
        world.admin.execute("SET LOCAL session_replication_role = replica")
        world.admin.execute(
            "UPDATE memwarden_data.capture SET recorded_at = recorded_at - %s * interval '1 day',"
            " captured_at = captured_at - %s * interval '1 day' WHERE capture_id = %s",
            (days, days, capture_id),
        )


def function(world: World, name: str, body: str) -> str:
    """A function of an administrator's own that makes candidates; its signature."""
    owner = world.role()
    world.admin.execute(f"GRANT CREATE ON SCHEMA public TO {owner}")
    world.admin.execute(
        f"CREATE OR REPLACE FUNCTION public.{name}(capture jsonb) RETURNS SETOF jsonb"
        f" LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $f$ {body} $f$"
    )
    world.admin.execute(f"ALTER FUNCTION public.{name}(jsonb) OWNER TO {owner}")
    return f"public.{name}(jsonb)"
