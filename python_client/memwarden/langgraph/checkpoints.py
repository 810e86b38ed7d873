"""LangGraph's own checkpointer, in a schema of its own beside memwarden.

A checkpoint is the state of a conversation, not a memory: it passes no gate. The tables are those
of `langgraph-checkpoint-postgres`, which `memwarden.setup()` guards: each row has the login that
wrote it, and only that one sees it.
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
_MAKE = SQL("CREATE SCHEMA IF NOT EXISTS {}").format(Identifier(SCHEMA))
_ENTER = SQL("SET search_path = {}").format(Identifier(SCHEMA))
# Binds the tables to the threads of logins, so that erasure and retention reach them.
_GUARD = "SELECT FROM memwarden.setup()"


@contextmanager
def checkpointer(dsn: str = "", *, setup: bool = False) -> Iterator[PostgresSaver]:
    """Open a PostgresSaver whose tables lie in the schema `memwarden_threads`.

    `setup` makes the tables, and needs a superuser. Who writes needs a principal, as for memories.
    Give its threads a `user_id` in the configuration, so that an erasure finds them.
    """
    with psycopg.connect(
        dsn, autocommit=True, prepare_threshold=0, row_factory=dict_row
    ) as connection:
        if setup:
            connection.execute(_MAKE)
        connection.execute(_ENTER)
        saver = PostgresSaver(connection)
        if setup:
            saver.setup()
            connection.execute(_GUARD)
        yield saver


@asynccontextmanager
async def async_checkpointer(
    dsn: str = "", *, setup: bool = False
) -> AsyncIterator[AsyncPostgresSaver]:
    """Open an AsyncPostgresSaver as `checkpointer` opens a PostgresSaver."""
    async with await psycopg.AsyncConnection.connect(
        dsn, autocommit=True, prepare_threshold=0, row_factory=dict_row
    ) as connection:
        if setup:
            await connection.execute(_MAKE)
        await connection.execute(_ENTER)
        saver = AsyncPostgresSaver(connection)
        if setup:
            await saver.setup()
            await connection.execute(_GUARD)
        yield saver


def forget_person(saver: PostgresSaver, user_id: str) -> list[str]:
    """Delete every thread of a person for good; return their ids.

    Of the login's own threads; `erase_subject` in the database takes those of all logins with it.
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
