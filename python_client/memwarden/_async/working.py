"""Working on a task: what is before an agent, and what its session remembers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from memwarden._async.session import AsyncSession
from memwarden._json import strict_json
from memwarden._lists import listed
from memwarden._request_id import new_request_id
from memwarden._statements import sessions as sql
from memwarden.sessions import (
    PlanProgress,
    SessionAnswer,
    SessionEntry,
    SessionMemory,
    SessionState,
    WorkingMemory,
)


class AsyncWorking:
    """Sessions of the caller's own, step by step; docs/sessions.md has the rules.

    Raises, each of them:
        NotFound: no such session of the caller's.
        NotReady: the session is over.
        InvalidArgument: an argument is out of range.
    """

    _session: AsyncSession

    async def open_session(
        self,
        task: str,
        *,
        scope: str | None = None,
        ttl: timedelta | None = None,
        shared: bool | None = None,
        subject: str | None = None,
        write_class: str | None = None,
    ) -> UUID:
        """Open the session of a task in a scope, home by default, or return the one that is open.

        `ttl`: after so long without a call it is over. `shared`: whether others read what it
        remembers from now on; None: as it is, and not for a new one. `subject`: of whom is what it
        remembers. `write_class`: of which class; where that is encrypted, so is the session.
        """
        arguments = {
            "scope": scope,
            "task": task,
            "ttl": ttl,
            "shared": shared,
            "subject": subject,
            "class": write_class,
        }
        rows = await self._session.fetch(sql.OPEN_SESSION, arguments, dict[str, UUID])
        return rows[0]["session_id"]

    async def resume_session(
        self,
        task: str,
        *,
        scope: str | None = None,
        ttl: timedelta | None = None,
        shared: bool | None = None,
    ) -> dict[str, Any]:
        """Open it and go on where the last one ended; the envelope of what that came to.

        `memwarden.contract.resumption_schema_text()` is its form.
        """
        arguments = {"scope": scope, "task": task, "ttl": ttl, "shared": shared}
        rows = await self._session.fetch(sql.RESUME_SESSION, arguments, dict[str, dict[str, Any]])
        return rows[0]["envelope"]

    async def set_goal(
        self,
        session_id: UUID,
        goal: str | None = None,
        *,
        plan: Sequence[str] | None = None,
        constraints: Sequence[str | Mapping[str, str]] | None = None,
    ) -> SessionAnswer:
        """Say what the session is for; what is None stays as it was.

        `constraints`: texts, or {"text", "importance"}; the eight that matter most stay.
        """
        request_id = new_request_id()
        arguments = {
            "session_id": session_id,
            "goal": goal,
            "plan": listed("plan", plan),
            "constraints": None
            if constraints is None
            else strict_json(listed("constraints", constraints)),
            "request_id": request_id,
        }
        rows = await self._session.fetch(sql.SET_GOAL, arguments, SessionAnswer, [request_id])
        return rows[0]

    async def observe(
        self,
        session_id: UUID,
        tool: str,
        result: str,
        importance: str = "normal",
        *,
        evidence: Sequence[Mapping[str, Any]] | None = None,
    ) -> SessionAnswer:
        """Note what a tool returned, in working memory and in the session's memories.

        `importance`: critical, high, normal or low. `evidence`: the tool's word by default.
        """
        request_id = new_request_id()
        arguments = {
            "session_id": session_id,
            "tool": tool,
            "result": result,
            "importance": importance,
            "evidence": None if evidence is None else strict_json(listed("evidence", evidence)),
            "request_id": request_id,
        }
        rows = await self._session.fetch(sql.OBSERVE, arguments, SessionAnswer, [request_id])
        return rows[0]

    async def advance_plan(self, session_id: UUID) -> PlanProgress:
        """The current step is done: go on with the next."""
        request_id = new_request_id()
        arguments = {"session_id": session_id, "request_id": request_id}
        rows = await self._session.fetch(sql.ADVANCE_PLAN, arguments, PlanProgress, [request_id])
        return rows[0]

    async def note(self, session_id: UUID, text: str) -> None:
        """Add a line to the scratchpad: there until the turn ends, and nowhere else."""
        arguments = {"session_id": session_id, "text": text}
        await self._session.fetch(sql.NOTE, arguments, dict[str, Any], repeatable=False)

    async def end_turn(self, session_id: UUID) -> int:
        """Clear observations and scratchpad; how many turns there were."""
        arguments = {"session_id": session_id}
        rows = await self._session.fetch(sql.END_TURN, arguments, dict[str, int], repeatable=False)
        return rows[0]["turn"]

    async def working_memory(self, session_id: UUID) -> WorkingMemory:
        """Return what is before the agent, slot by slot."""
        arguments = {"session_id": session_id}
        rows = await self._session.fetch(sql.WORKING_MEMORY, arguments, WorkingMemory)
        return rows[0]

    async def render_working_memory(self, session_id: UUID, token_budget: int = 1000) -> str:
        """Return it as a text for a model, at most so many tokens."""
        arguments = {"session_id": session_id, "token_budget": token_budget}
        rows = await self._session.fetch(sql.RENDER_WORKING_MEMORY, arguments, dict[str, str])
        return rows[0]["text"]

    async def search_session(
        self, session_id: UUID, query: str, *, k: int = 10, surface: str | None = None
    ) -> list[SessionMemory]:
        """Return what the session remembers about a query, best first, across a surface if any."""
        arguments = {"session_id": session_id, "query": query, "k": k, "surface": surface}
        return await self._session.fetch(sql.SEARCH_SESSION, arguments, SessionMemory)

    async def close_session(
        self,
        session_id: UUID,
        summary: str | None = None,
        *,
        promote: str = "important",
        target_scope: str | None = None,
        layer: str = "episodic",
    ) -> list[SessionEntry]:
        """End the session: ask for what matters to be kept, release the rest.

        Again, it answers with what came of it and does nothing.
        """
        arguments = {
            "session_id": session_id,
            "summary": summary,
            "promote": promote,
            "target_scope": target_scope,
            "layer": layer,
        }
        return await self._session.fetch(sql.CLOSE_SESSION, arguments, SessionEntry)

    async def sessions(self, *, open_only: bool = False, limit: int = 100) -> list[SessionState]:
        """Return the caller's own sessions, the newest first."""
        arguments = {"open_only": open_only, "limit": limit}
        return await self._session.fetch(sql.SESSIONS, arguments, SessionState)
