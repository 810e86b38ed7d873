"""An agent at work: calls about sessions, made as a caller would."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from scope_calls import one

Agent = Connection[DictRow]
HOME = "/org/acme/user/ana"
TASK = "upgrade user-service"


def open_session(agent: Agent, task: str = TASK, scope: str | None = None, **more: Any) -> UUID:
    """Open a session; its id."""
    named = "".join(f", {name} => %({name})s" for name in more)
    row = agent.execute(
        f"SELECT memwarden.open_session(%(scope)s, %(task)s{named}) AS id",
        {"scope": scope, "task": task} | more,
    ).fetchone()
    assert row is not None
    return UUID(str(row["id"]))


def set_goal(agent: Agent, session: UUID, goal: str | None = None, **more: Any) -> DictRow:
    """Say what a session is for."""
    if "constraints" in more:
        more["constraints"] = Jsonb(more["constraints"])
    casts = {"plan": "::text[]"}
    named = "".join(f", {name} => %({name})s{casts.get(name, '')}" for name in more)
    rows = agent.execute(
        f"SELECT * FROM memwarden.set_goal(%(session)s, %(goal)s{named})",
        {"session": session, "goal": goal} | more,
    ).fetchall()
    return rows[0]


def observe(
    agent: Agent, session: UUID, result: str, importance: str = "normal", **more: Any
) -> DictRow:
    """Note what a tool returned."""
    if "evidence" in more:
        more["evidence"] = Jsonb(more["evidence"])
    values = {"session": session, "tool": "look", "result": result, "importance": importance} | more
    named = "".join(f", {name} => %({name})s" for name in more if name != "tool")
    call = "memwarden.observe(%(session)s, %(tool)s, %(result)s, %(importance)s"
    return agent.execute(f"SELECT * FROM {call}{named})", values).fetchall()[0]


def advance(agent: Agent, session: UUID, **more: Any) -> DictRow:
    """Mark the current step as done."""
    named = "".join(f", {name} => %({name})s" for name in more)
    return agent.execute(
        f"SELECT * FROM memwarden.advance_plan(%(session)s{named})", {"session": session} | more
    ).fetchall()[0]


def note(agent: Agent, session: UUID, text: str) -> None:
    """Add to the scratchpad."""
    agent.execute("SELECT memwarden.note(%s, %s)", (session, text))


def end_turn(agent: Agent, session: UUID) -> int:
    """End a turn; how many there were."""
    return int(one(agent, "SELECT memwarden.end_turn(%s) AS turn", session)["turn"])


def slots(agent: Agent, session: UUID) -> DictRow:
    """Working memory, slot by slot."""
    return one(agent, "SELECT * FROM memwarden.working_memory(%s)", session)


def render(agent: Agent, session: UUID, budget: int = 1000) -> str:
    """Working memory as a model reads it."""
    query = "SELECT memwarden.render_working_memory(%s, %s) AS text"
    return str(one(agent, query, session, budget)["text"])


def search(agent: Agent, session: UUID, query: str, k: int = 10) -> list[DictRow]:
    """What the session remembers."""
    return agent.execute(
        "SELECT * FROM memwarden.search_session(%s, %s, %s)", (session, query, k)
    ).fetchall()


def close(agent: Agent, session: UUID, summary: str | None = None, **more: Any) -> list[DictRow]:
    """End a session; what became of its entries."""
    named = "".join(f", {name} => %({name})s" for name in more)
    return agent.execute(
        f"SELECT * FROM memwarden.close_session(%(session)s, %(summary)s{named})",
        {"session": session, "summary": summary} | more,
    ).fetchall()


def resume(agent: Agent, task: str = TASK, scope: str | None = None) -> dict[str, Any]:
    """Go on with a task; the envelope."""
    row = one(agent, "SELECT memwarden.resume_session(%s, %s) AS envelope", scope, task)
    envelope: dict[str, Any] = row["envelope"]
    return envelope
