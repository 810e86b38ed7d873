"""One call on a connection, for the login itself or for the holder of a token."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, LiteralString, TypeVar
from weakref import WeakKeyDictionary

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import class_row

from memwarden._statements import calls as sql
from memwarden._tokens import Refusal
from memwarden.errors import translated

RowT = TypeVar("RowT")

# Two clients may hold different tokens for one connection. A call of one between the statements of
# the other would act for the wrong agent, so that each waits for its turn.
_turns: WeakKeyDictionary[psycopg.AsyncConnection[Any], asyncio.Lock] = WeakKeyDictionary()


async def async_call(
    connection: psycopg.AsyncConnection[Any],
    token: str | None,
    statement: LiteralString,
    arguments: Mapping[str, Any],
    row_type: type[RowT],
    *,
    read_only: bool = False,
) -> list[RowT] | Refusal:
    """Return the rows of one call, or the refusal of the token: then it has not run.

    `read_only`: with a token, the call cannot write.
    """
    cursor = connection.cursor(row_factory=class_row(row_type))
    async with _turns.setdefault(connection, asyncio.Lock()):
        if token is not None:
            begin: LiteralString = "BEGIN READ ONLY" if read_only else "BEGIN"
            refusal = await _call_authenticated(
                connection, token, cursor, statement, arguments, begin
            )
            return await cursor.fetchall() if refusal is None else refusal
        await cursor.execute(statement, arguments)
        return await cursor.fetchall()


async def _call_authenticated(
    connection: psycopg.AsyncConnection[Any],
    token: str,
    cursor: psycopg.AsyncCursor[Any],
    statement: LiteralString,
    arguments: Mapping[str, Any],
    begin: LiteralString,
) -> Refusal | None:
    """Send BEGIN, authenticate, the call and COMMIT together: one round trip.

    In a transaction of the connection's owner there is neither BEGIN nor COMMIT.
    """
    ours = _is_idle(connection)
    # Whatever cursors the connection makes: one that binds on the client's side would write the
    # token into the text of the query.
    authentication = psycopg.AsyncCursor(connection)
    failure: psycopg.Error | None = None
    try:
        try:
            async with connection.pipeline():
                try:
                    if ours:
                        await psycopg.AsyncCursor(connection).execute(begin)
                    await authentication.execute(sql.AUTHENTICATE, {"token": token})
                    await cursor.execute(statement, arguments)
                    if ours:
                        await psycopg.AsyncCursor(connection).execute("COMMIT")
                except psycopg.Error as error:
                    failure = error
        except psycopg.Error as error:
            # At the end of a pipeline, what was skipped is an error too. The first tells why.
            failure = failure or _first(error)
    finally:
        if ours and not connection.closed and not _is_idle(connection):
            await _roll_back(connection)
    if failure is None:
        return None
    if failure.sqlstate and not connection.closed and authentication.pgresult is None:
        # Without the server's error: on some settings that quotes the parameters in its context.
        refusal = translated(failure, connection.info.user)
        return Refusal(refusal, final=not ours or failure.sqlstate != "28000")
    raise failure


def _is_idle(connection: psycopg.AsyncConnection[Any]) -> bool:
    """Whether a call on this connection is a transaction of its own."""
    return connection.autocommit and connection.info.transaction_status == TransactionStatus.IDLE


def _first(error: psycopg.Error) -> psycopg.Error:
    skipped = isinstance(error, psycopg.errors.PipelineAborted)
    return error.__context__ if skipped and isinstance(error.__context__, psycopg.Error) else error


async def _roll_back(connection: psycopg.AsyncConnection[Any]) -> None:
    try:
        await connection.rollback()
    except BaseException:
        # Whoever uses it next must not find itself in this transaction.
        await connection.close()
        raise
