"""The client for asyncio does what the other does, side by side with other tasks."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

import memwarden
from memwarden import AsyncClient, Client, NotAllowed


def test_both_clients_have_the_same_methods_and_arguments() -> None:
    """Only `await` tells them apart."""

    def public(kind: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(member).parameters)
            for name, member in inspect.getmembers(kind, callable)
            if not name.startswith("_")
        }

    assert public(AsyncClient) == public(Client)
    assert memwarden.connect == Client.connect


def test_all_methods_work_with_asyncio(agent_dsn: str) -> None:
    """Each public method is awaited once against a real server."""

    async def live() -> None:
        async with await AsyncClient.connect(agent_dsn) as memory:
            written = await memory.write("semantic", {"statement": "Ana drinks tea"})
            many = await memory.write_many(
                {"layer": "semantic", "content": {"n": n}} for n in range(5)
            )
            assert written.committed
            assert [result.committed for result in many] == [True] * 5
            assert written.item_id is not None
            item = await memory.get(written.item_id)
            assert item is not None
            assert len(await memory.history(written.item_id)) == 1
            assert (await memory.recall("what does Ana drink?"))[0].item_id == item.item_id
            assert await memory.request_status(written.request_id) is not None
            assert await memory.status()
            assert await memory.reasons()
            agent = await memory.whoami()
            task = f"{agent.home}/task/one"
            assert await memory.create_scope(task, timedelta(hours=1)) > 0
            draft = (await memory.write("semantic", {"n": 7}, scope=task)).item_id
            assert draft is not None
            assert (await memory.promote(draft)).committed
            assert (await memory.annotate(draft, "doubted")).stored
            assert len(await memory.close_scope(task)) == 2
            assert (await memory.explain_access(agent.agent, written.item_id))[-1].decisive
            await memory.retract(written.item_id, "it was not so")
            with pytest.raises(NotAllowed):
                await memory.issue_token(agent.agent, "nor are they brokers")

    asyncio.run(live())


def test_all_methods_about_the_past_work_with_asyncio(
    agent_dsn: str, admin: psycopg.Connection
) -> None:
    """The same, for an agent that may undo."""

    async def live() -> None:
        async with await AsyncClient.connect(agent_dsn) as memory:
            agent = (await memory.whoami()).agent
            admin.execute("SELECT memwarden.change_agent(%s, role => 'curator')", (agent,))
            since = datetime.now(UTC) - timedelta(days=1)
            first, second = [
                (await memory.write("semantic", {"statement": text})).item_id
                for text in ("the sky is blue", "the sky has the colour blue")
            ]
            assert first is not None
            assert second is not None
            assert len(await memory.as_of(layers=["semantic"])) == 2
            assert len(await memory.diff_store(since)) == 2
            await memory.merge(first, second, "the same")
            assert isinstance(await memory.diff(first, 1, 2), list)
            assert len(await memory.lineage(first)) == 1
            assert len(await memory.rollback(first, "not the same")) == 2
            moved = await memory.reclassify(second, "episodic", "it was so once")
            assert moved.committed
            await memory.expire(first, "it is night")
            assert (await memory.recover(first, "it is day")).committed
            assert await memory.preview_rollback(agent=agent)
            assert await memory.rollback_batch("all of it", agent=agent)
            assert await memory.as_of() == []
            admin.execute("CALL memwarden.seal_log()")
            assert await memory.log_head() == (await memory.log_proof(first))["head"]
            with pytest.raises(NotAllowed):
                await memory.verify_log()

    asyncio.run(live())


def test_tasks_share_one_client(agent_dsn: str) -> None:
    """Their calls queue on its one connection."""

    async def live() -> set[str]:
        async with await AsyncClient.connect(agent_dsn) as memory:
            results = await asyncio.gather(
                *(memory.write("semantic", {"n": number}) for number in range(20))
            )
            return {result.outcome for result in results}

    assert asyncio.run(live()) == {"COMMITTED"}


class _Slow:
    name = "default"
    dimension = 384

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        time.sleep(0.3)
        return [[1.0] * 384 for _ in texts]


def test_embedding_does_not_hold_up_the_event_loop(agent_dsn: str) -> None:
    """Other tasks go on while a model computes."""

    async def live() -> int:
        async with await AsyncClient.connect(agent_dsn, embedder=_Slow()) as memory:
            writing = asyncio.create_task(memory.write("semantic", {"statement": "tea"}))
            turns = 0
            while not writing.done():
                await asyncio.sleep(0.01)
                turns += 1
            assert writing.result().committed
            return turns

    assert asyncio.run(live()) > 5


def test_a_cancelled_call_leaves_the_client_usable(
    agent_dsn: str, admin: psycopg.Connection
) -> None:
    """The server cancels the statement and the connection lives on."""

    async def live() -> None:
        async with await AsyncClient.connect(agent_dsn) as memory:
            admin.execute("BEGIN")
            admin.execute("LOCK TABLE memwarden_data.kept_layer IN ACCESS EXCLUSIVE MODE")
            writing = asyncio.create_task(memory.write("semantic", {"statement": "tea"}))
            await asyncio.sleep(0.3)
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
            assert writing.cancelled()
            admin.execute("ROLLBACK")
            assert (await memory.write("semantic", {"statement": "coffee"})).committed

    asyncio.run(live())
