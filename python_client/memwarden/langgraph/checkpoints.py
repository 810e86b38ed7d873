"""LangGraph's own checkpointer, in a schema of its own beside memwarden.

A checkpoint is the state of a conversation, not a memory: it passes no gate. The tables are those
of `langgraph-checkpoint-postgres`; each row has the login that wrote it, and only that one sees it.
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
from psycopg.sql import SQL, Composed, Identifier

from memwarden.errors import InvalidArgument

SCHEMA = "memwarden_threads"
TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
# memwarden_owner is whom erasures and jobs of the database run as.
_GUARD = """
ALTER TABLE {table} ADD COLUMN IF NOT EXISTS login_role name NOT NULL DEFAULT session_user;
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON {table};
CREATE POLICY own ON {table} USING (login_role = session_user);
DROP POLICY IF EXISTS erasure ON {table};
CREATE POLICY erasure ON {table} TO memwarden_owner USING (true);
GRANT SELECT, DELETE ON {table} TO memwarden_owner;
GRANT USAGE ON SCHEMA {schema} TO memwarden_owner"""


def _guards(schema: str) -> list[Composed]:
    """The statements that let each login see its own threads, and erasures all."""
    return [
        SQL(statement).format(table=Identifier(schema, table), schema=Identifier(schema))
        for table in TABLES
        for statement in _GUARD.split(";")
    ]


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
            for statement in _guards(schema):
                connection.execute(statement)
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
            for statement in _guards(schema):
                await connection.execute(statement)
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
