"""What the tests of injection share."""

from __future__ import annotations

import json
from typing import Any

from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write
from recall.context.conftest import tokens

Agent = Connection[DictRow]

HOME = "/org/acme/user/ana"
GOAL = "move the user service to the new database"


def call(caller: Agent, function: str, /, **arguments: Any) -> list[DictRow]:
    """Call a function of memwarden with named arguments, and return its rows."""
    casts = {
        "blocks": "::text[]",
        "plan": "::text[]",
        "constraints": "::jsonb",
        "settings": "::jsonb",
        "embedding": "::real[]",
        "used": "::uuid[]",
    }
    named = ", ".join(f"{name} => %({name})s{casts.get(name, '')}" for name in arguments)
    adapted = {
        name: json.dumps(value) if name in ("constraints", "settings") else value
        for name, value in arguments.items()
    }
    return caller.execute(f"SELECT * FROM memwarden.{function}({named})", adapted).fetchall()


def push(agent: Agent, **arguments: Any) -> list[DictRow]:
    """What is pushed, and what was left out."""
    return call(agent, "push", **arguments)


def start(agent: Agent, task: str = "move", **arguments: Any) -> DictRow:
    """Begin a task."""
    [row] = call(agent, "start_task", task=task, **arguments)
    return row


def prompt(agent: Agent, session_id: Any, **arguments: Any) -> DictRow:
    """What a model is to read now."""
    [row] = call(agent, "before_call", session_id=session_id, **arguments)
    return row


def set_policy(admin: Agent, settings: dict[str, Any], **arguments: Any) -> None:
    """Say what is pushed."""
    call(admin, "set_injection_policy", settings=settings, **arguments)


def remember(agent: Agent, text: str, layer: str = "semantic", **more: Any) -> Any:
    """Write a text that must be committed; return the id of the memory."""
    row = write(agent, layer, {"text": text}, **more)
    assert row["outcome"] == "COMMITTED", row
    return row["item_id"]


def given(rows: list[DictRow]) -> list[Any]:
    """The ids of what is given, in its order; the row of what is unknown stands for no memory."""
    return [row["item_id"] for row in rows if row["left_out"] is None and row["item_id"]]


def left_out(rows: list[DictRow]) -> dict[Any, str]:
    """Why each of the others is not."""
    return {row["item_id"]: row["left_out"] for row in rows if row["left_out"] is not None}


def named(rows: list[DictRow]) -> list[Any]:
    """The ids of all that a push tells of, given or left out."""
    return [row["item_id"] for row in rows if row["item_id"]]


def unknown(rows: list[DictRow]) -> list[DictRow]:
    """The row that says that nothing is known, if it is there."""
    return [row for row in rows if row["standing"] == "unknown"]


__all__ = [
    "GOAL",
    "HOME",
    "Agent",
    "call",
    "given",
    "left_out",
    "named",
    "prompt",
    "push",
    "remember",
    "set_policy",
    "start",
    "tokens",
    "unknown",
]
