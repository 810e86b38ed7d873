"""LangGraph's own checkpointer, in a schema of its own beside memwarden.

A checkpoint is the state of a conversation, not a memory: it passes no gate. The tables are those
of `langgraph-checkpoint-postgres`. Who may read the schema reads every thread in it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier

from memwarden.errors import InvalidArgument

SCHEMA = "memwarden_threads"


@contextmanager
def checkpointer(
    dsn: str = "", *, schema: str = SCHEMA, setup: bool = False
) -> Iterator[PostgresSaver]:
    """Open a PostgresSaver whose tables lie in that schema.

    `setup` makes the schema and the tables, and needs the right to create a schema. Give its
    threads a `user_id` in the configuration, so that `forget_person` finds them.
    """
    with psycopg.connect(
        dsn, autocommit=True, prepare_threshold=0, row_factory=dict_row
    ) as connection:
        if setup:
            connection.execute(SQL("CREATE SCHEMA IF NOT EXISTS {}").format(Identifier(schema)))
        connection.execute(SQL("SET search_path = {}").format(Identifier(schema)))
        saver = PostgresSaver(connection)
        if setup:
            saver.setup()
        yield saver


@asynccontextmanager
async def async_checkpointer(
    dsn: str = "", *, schema: str = SCHEMA, setup: bool = False
) -> AsyncIterator[AsyncPostgresSaver]:
    """Open an AsyncPostgresSaver as `checkpointer` opens a PostgresSaver."""
    async with await psycopg.AsyncConnection.connect(
        dsn, autocommit=True, prepare_threshold=0, row_factory=dict_row
    ) as connection:
        if setup:
            make = SQL("CREATE SCHEMA IF NOT EXISTS {}").format(Identifier(schema))
            await connection.execute(make)
        await connection.execute(SQL("SET search_path = {}").format(Identifier(schema)))
        saver = AsyncPostgresSaver(connection)
        if setup:
            await saver.setup()
        yield saver


def forget_person(saver: PostgresSaver, user_id: str) -> list[str]:
    """Delete every thread of a person for good; return their ids.

    Call it beside `erase_subject`, which erases memories and does not know of threads.
    """
    if not user_id.strip():
        raise InvalidArgument("user_id is blank")
    return _forget(saver, {"user_id": user_id}, None)


def forget_old(saver: PostgresSaver, age: timedelta) -> list[str]:
    """Delete every thread whose newest checkpoint is older than `age`; return their ids."""
    if age <= timedelta(0):
        raise InvalidArgument("age must be positive")
    return _forget(saver, None, datetime.now(UTC) - age)


def _forget(
    saver: PostgresSaver, filter: dict[str, Any] | None, before: datetime | None
) -> list[str]:
    newest: dict[str, datetime] = {}
    for found in saver.list(None, filter=filter):
        thread = str(found.config["configurable"]["thread_id"])
        at = datetime.fromisoformat(found.checkpoint["ts"])
        newest[thread] = max(at, newest.get(thread, at))
    gone = sorted(each for each, at in newest.items() if before is None or at < before)
    for thread in gone:
        saver.delete_thread(thread)
    return gone
