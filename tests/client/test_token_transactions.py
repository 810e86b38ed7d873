"""A call with a token is one transaction and one round trip, whoever else uses the connection."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.pq import Trace, TransactionStatus

from client.desk import Desk, Source
from memwarden import AsyncClient, Client, InvalidArgument, NotIdentified

FACT = {"statement": "Ana drinks green tea"}


@contextmanager
def _traced(connection: psycopg.Connection[Any], path: Path) -> Iterator[None]:
    """Write every message of the protocol to a file, F for those sent and B for the answers."""
    with path.open("w") as file:
        connection.pgconn.trace(file.fileno())
        connection.pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
        yield
        connection.pgconn.untrace()


def test_a_call_with_a_token_is_one_round_trip_and_one_transaction(
    desk: Desk, agent: str, tmp_path: Path
) -> None:
    """All is sent before anything is answered, and the token is a parameter."""
    path = tmp_path / "wire"
    with Client.connect(desk.dsn, token=desk.issue(agent)) as memory:
        memory.whoami()
        with _traced(memory._session.open(), path):
            assert memory.write("semantic", FACT).committed
    wire = path.read_text()
    messages = re.findall(r"^([FB])\t\d+\t(\w+)", wire, re.MULTILINE)
    asked = [way for way, _ in messages]
    assert asked == sorted(asked, reverse=True), "it waited for an answer in between"
    assert messages.count(("F", "Sync")) == messages.count(("B", "ReadyForQuery")) == 1
    statements = re.findall(r'^F\t\d+\tParse\t "" "(.*?)" \d', wire, re.MULTILINE | re.DOTALL)
    words = [re.findall("BEGIN|authenticate|memwarden.write|COMMIT", each) for each in statements]
    assert words == [["BEGIN"], ["authenticate"], ["memwarden.write"], ["COMMIT"]]
    assert "mw1." in wire
    assert "mw1." not in "".join(statements)


def test_nothing_of_a_token_stays_on_the_connection(desk: Desk, agent: str) -> None:
    """No setting, no prepared statement, no open transaction: a pooler may hand it on."""
    with Client.connect(desk.dsn, token=desk.issue(agent)) as memory:
        for number in range(8):
            assert memory.write("semantic", {"n": number}).committed
        with pytest.raises(InvalidArgument):
            memory.recall("n", k=0)
        connection = memory._session.open()
        assert connection.info.transaction_status == TransactionStatus.IDLE
        row = connection.execute(
            "SELECT current_setting('memwarden.ticket', true), count(*) FROM pg_prepared_statements"
        ).fetchone()
        assert row in ((None, 0), ("", 0))


def test_a_connection_that_binds_in_the_client_still_sends_the_token_apart(
    desk: Desk, agent: str
) -> None:
    """The server refuses one that is part of a query."""
    with desk.connect(cursor_factory=psycopg.ClientCursor) as connection:
        memory = Client(connection, token=desk.issue(agent))
        assert memory.write("semantic", FACT).committed
        assert len(memory.recall("tea")) == 1


def test_in_a_transaction_of_the_caller_the_memory_is_the_callers_to_commit(
    desk: Desk, agent: str
) -> None:
    """The calls act for the agent, and vanish with the rest."""
    token = desk.issue(agent)
    with desk.connect(autocommit=False) as connection:
        memory = Client(connection, token=token)
        item_id = memory.write("semantic", FACT).item_id
        assert item_id is not None
        assert memory.get(item_id) is not None
        connection.rollback()
        assert memory.get(item_id) is None
        connection.rollback()
    with desk.connect() as connection:
        memory = Client(connection, token=token)
        with connection.transaction():
            item_id = memory.write("semantic", FACT).item_id
        assert item_id is not None
        assert memory.get(item_id) is not None


def test_a_transaction_of_the_caller_serves_one_agent(desk: Desk, agent: str) -> None:
    """Proves: A6."""
    source = Source(desk.issue(desk.agent()))
    with desk.connect(autocommit=False) as connection:
        Client(connection, token=desk.issue(agent)).whoami()
        with pytest.raises(NotIdentified):
            Client(connection, token=source).whoami()
        assert source.asked == 1, "the transaction has failed: another token would not help"


def test_threads_share_one_connection_for_different_agents(desk: Desk) -> None:
    """They take turns: no call lands in the transaction of another agent.

    Proves: A6
    """
    names = [desk.agent() for _ in range(3)]
    seen: list[tuple[str, str | None]] = []

    def work(connection: psycopg.Connection[Any], name: str) -> None:
        memory = Client(connection, token=desk.issue(name))
        for number in range(5):
            assert memory.write("semantic", {"n": number}).committed
            seen.extend((name, item.scope) for item in memory.recall(str(number)))

    with desk.connect() as connection:
        threads = [
            threading.Thread(target=work, args=(connection, name), daemon=True) for name in names
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(seen) == 3 * sum(range(1, 6))
    assert set(seen) == {(name, desk.home(name)) for name in names}


def test_tasks_share_one_connection_for_different_agents(desk: Desk) -> None:
    """As threads do.

    Proves: A6
    """
    tokens = {name: desk.issue(name) for name in (desk.agent() for _ in range(3))}

    async def work(memory: AsyncClient, name: str, number: int) -> tuple[str, str]:
        item_id = (await memory.write("semantic", {"n": number})).item_id
        assert item_id is not None
        item = await memory.get(item_id)
        return name, item.scope if item else ""

    async def live() -> list[tuple[str, str]]:
        async with await psycopg.AsyncConnection.connect(desk.dsn, autocommit=True) as connection:
            return await asyncio.gather(
                *(
                    work(AsyncClient(connection, token=token), name, number)
                    for number in range(5)
                    for name, token in tokens.items()
                )
            )

    seen = asyncio.run(live())
    assert sorted(seen) == sorted((name, desk.home(name)) for name in tokens for _ in range(5))


def test_a_cancelled_call_leaves_no_transaction_behind(desk: Desk, agent: str) -> None:
    """The connection is good for the next call, and nothing of the cancelled one is kept."""
    token = desk.issue(agent)

    async def live() -> None:
        async with await AsyncClient.connect(desk.dsn, token=token) as memory:
            assert (await memory.whoami()).agent == agent
            with desk.world.connect() as admin, admin.transaction():
                admin.execute("LOCK TABLE memwarden_data.kept_layer IN ACCESS EXCLUSIVE MODE")
                writing = asyncio.create_task(memory.write("semantic", {"statement": "tea"}))
                while not admin.execute(
                    "SELECT FROM pg_locks WHERE NOT granted AND relation ="
                    " 'memwarden_data.kept_layer'::regclass"
                ).fetchall():
                    await asyncio.sleep(0.01)
                writing.cancel()
                await asyncio.gather(writing, return_exceptions=True)
                assert writing.cancelled()
            connection = await memory._session.open()
            assert connection.info.transaction_status == TransactionStatus.IDLE
            assert (await memory.write("semantic", {"statement": "coffee"})).committed
            assert len(await memory.recall("tea coffee")) == 1

    asyncio.run(live())
