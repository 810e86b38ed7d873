"""The tools of a task: its session, its plan and what was observed."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult
from pydantic import Field

from memwarden.mcp import shapes
from memwarden.mcp.answers import answered, brief, decision, refused, result
from memwarden.mcp.principals import Principals
from memwarden.mcp.tools import ADDS, STEPS, made


class TaskTools:
    """Each method is a tool; its docstring is what the model reads."""

    def __init__(self, who: Principals) -> None:
        self._who = who

    def tools(self) -> list[Tool]:
        """Return the tools, with what a host may tell its user about each."""
        return made(
            [
                # Looking at a session keeps it alive.
                (ADDS, (self.start_session, self.working_memory)),
                (STEPS, (self.observe, self.advance_plan, self.end_session)),
            ]
        )

    @answered
    async def start_session(
        self,
        task: Annotated[str, Field(description="Name of the task; the same name goes on.")],
        goal: Annotated[str | None, Field(description="What the task is to reach.")] = None,
        plan: Annotated[list[str] | None, Field(description="Its steps, in order.")] = None,
        constraints: Annotated[
            list[str] | None, Field(description="What must hold meanwhile.")
        ] = None,
        scope: shapes.Scope = None,
        ttl_seconds: shapes.Seconds = None,
    ) -> Annotated[CallToolResult, shapes.WorkingMemory]:
        """Open the session of a task, or go on with the one that is open, with working memory."""
        memory = self._who.caller().memory
        ttl = None if ttl_seconds is None else timedelta(seconds=ttl_seconds)
        session_id = await memory.open_session(task, scope=scope, ttl=ttl)
        if goal is not None or plan is not None or constraints is not None:
            await memory.set_goal(session_id, goal, plan=plan, constraints=constraints)
        return result(brief(await memory.working_memory(session_id)))

    @answered
    async def observe(
        self,
        session_id: shapes.SessionId,
        tool: Annotated[str, Field(description="What gave the result.")],
        observation: Annotated[str, Field(description="What it said.")],
        importance: Annotated[
            Literal["critical", "high", "normal", "low"] | None,
            Field(description="critical and high outlive the session; normal where left out."),
        ] = None,
    ) -> Annotated[CallToolResult, shapes.Observed]:
        """Note in working memory what a tool returned. Important notes outlive the session."""
        caller = self._who.caller()
        said = await caller.memory.observe(session_id, tool, observation, importance or "normal")
        told = await decision(caller, said)
        return result(told, failed=refused(told) and not said.kept)

    @answered
    async def advance_plan(
        self, session_id: shapes.SessionId
    ) -> Annotated[CallToolResult, shapes.Progress]:
        """Say that the current step of the plan is done."""
        return result(brief(await self._who.caller().memory.advance_plan(session_id)))

    @answered
    async def working_memory(
        self, session_id: shapes.SessionId
    ) -> Annotated[CallToolResult, shapes.WorkingMemory]:
        """Show the goal, plan, observations and constraints of a session."""
        return result(brief(await self._who.caller().memory.working_memory(session_id)))

    @answered
    async def end_session(
        self,
        session_id: shapes.SessionId,
        summary: Annotated[str | None, Field(description="What came of the task.")] = None,
        promote: Annotated[
            Literal["important", "none"] | None,
            Field(description="What is asked to be kept; important where left out."),
        ] = None,
    ) -> Annotated[CallToolResult, shapes.Ended]:
        """End a session: what matters is asked to be kept, the rest is released."""
        entries = await self._who.caller().memory.close_session(
            session_id, summary, promote=promote or "important"
        )
        return result({"session_id": session_id, "entries": brief(entries)})
