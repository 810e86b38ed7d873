"""An agent's loop outlives its server: each step goes on where the server came back."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any, cast

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from clusters import Cluster
from helpers import ask_for_little
from memwarden import (
    AsyncClient,
    AsyncMemoryManager,
    Client,
    ConnectionFailed,
    MemoryManager,
)
from replay import check_store

SCOPE = "/org/acme/user/ana"
AGENT = "crash_test_loop"
GOAL, PLAN = "move the user service", ["read the changes", "migrate", "look again"]
FACT = {"fact": "the user service keeps 100 connections"}
SEEN = "v3 drops the users view"
STEPS: dict[str, Callable[[Any], Any]] = {
    "before_llm_call": lambda manager: manager.before_llm_call(),
    "tool_call": lambda manager: manager.tool_call("psql", "user service connections"),
    "observation": lambda manager: manager.observation("psql", "97 are in use", "critical"),
    "note": lambda manager: manager.note("ask billing"),
    "turn_end": lambda manager: manager.turn_end(),
    "step_done": lambda manager: manager.turn_end(step_done=True),
    "search": lambda manager: manager.search("users view", "session"),
    "complete": lambda manager: manager.complete("callers of the view go first"),
}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A cluster of the test's own, with an agent in it."""
    made = Cluster("loop")
    try:
        made.make_memory()
        made.up()
        with made.connect() as admin:
            ask_for_little(admin)
            admin.execute(f"CREATE ROLE {AGENT} LOGIN IN ROLE memwarden_agent")
            admin.execute("SELECT memwarden.create_scope(%s)", (SCOPE,))
            admin.execute("SELECT memwarden.register_agent('a', %s, %s)", (SCOPE, AGENT))
        yield made
    finally:
        made.drop()


async def done(answer: Any) -> Any:
    """What a step returns, awaited where it is to be."""
    return await answer if inspect.isawaitable(answer) else answer


class Loop:
    """Managers in the middle of their tasks: one with asyncio and one without for each step.

    Each has a connection of its own where each is to notice by itself that it is broken.
    """

    def __init__(
        self, dsn: str, stack: AsyncExitStack, *, fail_safe: bool, name: str, own: bool = False
    ) -> None:
        self._dsn, self._stack, self._fail_safe, self._name = dsn, stack, fail_safe, name
        self._own = own
        self._clients: tuple[Client, AsyncClient] | None = None
        self.managers: list[tuple[str, str, Any]] = []

    async def _connected(self) -> tuple[Client, AsyncClient]:
        if self._clients is None or self._own:
            self._clients = (
                self._stack.enter_context(Client.connect(self._dsn)),
                await self._stack.enter_async_context(await AsyncClient.connect(self._dsn)),
            )
        return self._clients

    async def start(self) -> None:
        """Begin a task for each, and observe something in it."""
        for step in STEPS:
            plain, awaited = await self._connected()
            for how, manager in (
                ("plain", MemoryManager(plain, fail_safe=self._fail_safe)),
                ("awaited", AsyncMemoryManager(awaited, fail_safe=self._fail_safe)),
            ):
                task = f"{self._name} {step} {how}"
                await done(manager.task_start(GOAL, PLAN, ["no downtime"], task=task))
                assert await done(manager.observation("changes", SEEN, "critical"))
                self.managers.append((step, task, cast("Any", manager)))

    async def step(self) -> list[Any]:
        """Have each take its step; what each returns, or raises."""
        return [await self._one(step, manager) for step, _, manager in self.managers]

    async def _one(self, step: str, manager: Any) -> Any:
        try:
            return await done(STEPS[step](manager))
        except ConnectionFailed as error:
            return error

    async def prompts(self) -> list[str]:
        """What each would have a model read now."""
        return [
            (await done(manager.before_llm_call())).text
            for step, _, manager in self.managers
            if step != "complete"
        ]


def entries(admin: Connection[DictRow]) -> dict[str, list[str]]:
    """What each task has written, by part and in order."""
    rows = admin.execute(
        "SELECT s.task, array_agg(e.part ORDER BY e.ordinal) AS parts"
        "  FROM memwarden_data.session AS s"
        "  JOIN memwarden_data.session_entry AS e USING (session_id)"
        " GROUP BY s.task"
    ).fetchall()
    return {row["task"]: row["parts"] for row in rows}


EXPECTED = {
    "observation": ["goal", "observation", "observation"],
    "step_done": ["goal", "observation", "progress"],
    "complete": ["goal", "observation", "summary"],
}


def test_each_step_goes_on_after_a_crash(cluster: Cluster) -> None:
    """A server that dies between two steps costs neither: with asyncio and without.

    While it is away, the step says so, or the agent goes on without; nothing is written twice,
    and working memory is made anew of what the session remembers.

    Proves: L9, L1, W4
    """
    asyncio.run(_crash(cluster))
    with cluster.connect() as admin:
        check_store(admin)


async def _crash(cluster: Cluster) -> None:
    dsn = cluster.dsn(user=AGENT)
    async with AsyncExitStack() as stack:
        # Of these the first learns of it by its next step, the others ask while nobody answers.
        loops = [
            Loop(dsn, stack, fail_safe=False, name="unaware", own=True),
            Loop(dsn, stack, fail_safe=False, name="told"),
            Loop(dsn, stack, fail_safe=True, name="safe"),
        ]
        stack.enter_context(Client.connect(dsn)).write("semantic", FACT)
        for loop in loops:
            await loop.start()
        told, safe = loops[1:]
        cluster.kill()
        assert {type(each) for each in await told.step()} == {ConnectionFailed}
        await safe.step()
        for _, _, manager in safe.managers:
            assert [type(error) for error in manager.errors] == [ConnectionFailed]
            assert manager.session_id is not None
        cluster.up()
        for loop in loops:
            answers = await loop.step()
            assert not [each for each in answers if isinstance(each, ConnectionFailed)]
        for _, _, manager in safe.managers:
            assert manager.metrics().errors == 1
        with cluster.connect() as admin:
            written = entries(admin)
        for loop in loops:
            for step, task, _ in loop.managers:
                assert written[task] == EXPECTED.get(step, ["goal", "observation"]), task
            for (step, task, _), text in zip(loop.managers, await loop.prompts(), strict=False):
                at = 1 if step == "step_done" else 0
                assert f'[TASK_GOAL] "{GOAL}"' in text, task
                assert f'[CURRENT_STEP] ({at}/3) "{PLAN[at]}"' in text, task
                assert '[CONSTRAINT] "no downtime"' in text, task
                shown = '[OBSERVATION] {"tool": "changes"' in text
                assert shown == (step not in ("turn_end", "step_done")), task
