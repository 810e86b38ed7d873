"""The cast of the tests of approval: an agent that proposes, and people who decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import join
from helpers import write

if TYPE_CHECKING:
    from conftest import World

ORG = "/org/acme"
HOME = "/org/acme/user/ana"


def ask(world: World, layer: str = "semantic", **policy: Any) -> None:
    """Have a human asked about a layer: always, or as the policy says."""
    arguments = {"layer": layer, "approval": "always"} | policy
    casts = {"needed": "::integer", "sla": "::interval", "class": "::text"}
    named = ", ".join(f"{name} => %({name})s{casts.get(name, '')}" for name in arguments)
    world.admin.execute(f"SELECT memwarden.set_approval_policy({named})", arguments)


def reviewer(world: World, **standing: Any) -> Connection[DictRow]:
    """Connect as a person who decides about what waits in the organisation, and no more."""
    arguments: dict[str, Any] = {
        "kind": "human",
        "role": "reviewer",
        "descendants": True,
        "writes": False,
        "clearance": "restricted",
    } | standing
    return join(world, arguments.pop("scope", ORG), "reviewer", **arguments)


def queue(connection: Connection[DictRow], **filters: Any) -> list[DictRow]:
    """Return the proposals that the caller may decide about."""
    named = ", ".join(f"{name} => %({name})s" for name in filters)
    return connection.execute(f"SELECT * FROM memwarden.review_queue({named})", filters).fetchall()


def decide(connection: Connection[DictRow], function: str, *arguments: Any) -> DictRow:
    """Call approve(), approve_with_edit() or reject(); return its one row."""
    values = [Jsonb(a) if isinstance(a, dict | list) else a for a in arguments]
    marks = ", ".join("%s" for _ in values)
    row = connection.execute(f"SELECT * FROM memwarden.{function}({marks})", values).fetchone()
    assert row is not None
    return row


def propose(connection: Connection[DictRow], content: Any = "The sky is blue", **more: Any) -> str:
    """Write something that waits for a human; return its number."""
    said = write(connection, "semantic", content, **more)
    assert said["outcome"] == "DEFERRED", said
    return str(said["request_id"])


def status(connection: Connection[DictRow], request_id: str) -> DictRow:
    """Return where a request of the caller's stands."""
    row = connection.execute("SELECT * FROM memwarden.await_decision(%s)", (request_id,)).fetchone()
    assert row is not None
    return row


def events(world: World, request_id: str) -> list[str]:
    """Return what the audit says of a proposal, in order."""
    return [
        row["event"]
        for row in world.rows(
            "SELECT event FROM memwarden_data.review_event WHERE request_id = %s ORDER BY event_id",
            request_id,
        )
    ]


def let_time_pass(world: World, request_id: str) -> None:
    """Move the end of a proposal's time into the past, as waiting would."""
    world.admin.execute(
        "UPDATE memwarden_data.review SET expires_at = clock_timestamp() - interval '1 second'"
        " WHERE request_id = %s",
        (request_id,),
    )
