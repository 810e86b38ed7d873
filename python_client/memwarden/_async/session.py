"""One connection: how it is made, kept, replaced once when it breaks, and asked."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime
from typing import Any, LiteralString, TypeVar
from uuid import UUID

import psycopg

from memwarden import _adapt
from memwarden._async.tokens import AsyncTokens
from memwarden._async.transaction import async_call
from memwarden._tokens import AsyncTokenSource
from memwarden.errors import InvalidArgument, translated, unreachable

IDLE = psycopg.pq.TransactionStatus.IDLE
RowT = TypeVar("RowT")


class AsyncSession:
    """A connection that this object opened from a connection string, or was handed.

    Each call is its own transaction, no statement is prepared and no setting is kept on the
    connection, so a transaction pooler such as PgBouncer may sit in between. With a token, each
    call acts for whom that names. A connection that was handed over stays as its owner made it,
    transaction included.
    """

    def __init__(
        self,
        dsn: str | None,
        connection: psycopg.AsyncConnection[Any] | None = None,
        token: AsyncTokenSource | None = None,
    ) -> None:
        self.read_only = False
        """Whether calls with a token cannot write, whatever settings a pooler passes on."""
        self._dsn = dsn
        self._connection = connection
        self._tokens = AsyncTokens(token)
        self._opening = asyncio.Lock()

    async def open(self, request_ids: Sequence[UUID] = ()) -> psycopg.AsyncConnection[Any]:
        """Return a usable connection, a new one if the last is gone.

        Raises:
            ConnectionFailed: the server does not let us in. `request_ids` are passed on.
            InvalidArgument: what we have is no connection string.
        """
        async with self._opening:
            if self._connection is None or (self._connection.closed and self._dsn is not None):
                try:
                    self._connection = await psycopg.AsyncConnection.connect(
                        self._dsn or "",
                        autocommit=True,
                        prepare_threshold=None,
                        client_encoding="utf8",
                        fallback_application_name="memwarden",
                    )
                except psycopg.ProgrammingError:
                    # Its message quotes the string, which may hold a password.
                    raise InvalidArgument(
                        "the connection string cannot be read",
                        hint="Write key=value pairs or a postgresql:// URI.",
                    ) from None
                except psycopg.Error as error:
                    raise unreachable(error, request_ids) from error
                _adapt.prepare(self._connection)
            return self._connection

    async def listener(self, listen: LiteralString) -> psycopg.AsyncConnection[Any] | None:
        """Return a connection beside this one that runs LISTEN; None where none can be made.

        Who waits looks from time to time as well, since a pooler may keep messages to itself.
        """
        if self._dsn is None:
            return None
        try:
            connection = await psycopg.AsyncConnection.connect(
                self._dsn, autocommit=True, fallback_application_name="memwarden"
            )
        except psycopg.Error:
            return None
        try:
            await connection.execute(listen)
        except psycopg.Error:
            await connection.close()
            return None
        return connection

    @property
    def tokens_from(self) -> Hashable:
        """What tells for whom calls act, on one connection; None: for its login."""
        return self._tokens.source

    def in_transaction(self) -> bool:
        """Whether the connection is in a transaction of its owner's."""
        connection = self._connection
        return connection is not None and connection.info.transaction_status != IDLE

    async def close(self) -> None:
        """Close the connection if this object opened it."""
        if self._connection is not None and self._dsn is not None:
            await self._connection.close()

    async def fetch(
        self,
        statement: LiteralString,
        arguments: Mapping[str, Any],
        row_type: type[RowT],
        request_ids: Sequence[UUID] = (),
        *,
        repeatable: bool = True,
    ) -> list[RowT]:
        """Run one call and return its rows.

        A connection that breaks on the way is replaced once and the call sent again, where it is
        `repeatable`: reads change nothing, and a write carries the same request id both times, so
        the server answers the second with the outcome of the first. A token that is refused is
        replaced once too: the call has not run then.

        Raises:
            ConnectionFailed: it broke twice, or was not ours to replace.
            MemwardenError: what the server raised, by its SQLSTATE.
        """
        arguments = {
            name: _adapt.zoned(value) if isinstance(value, datetime) else value
            for name, value in arguments.items()
        }
        replaced = renewed = False
        while True:
            token = await self._tokens.current()
            connection = await self.open(request_ids)
            try:
                answer = await async_call(
                    connection, token, statement, arguments, row_type, read_only=self.read_only
                )
            except UnicodeEncodeError:
                raise InvalidArgument("an argument holds half of a surrogate pair") from None
            except psycopg.DataError as error:
                if error.sqlstate is None:  # refused by psycopg: NUL in text
                    raise InvalidArgument(str(error)) from None
                raise translated(error, connection.info.user) from error
            except psycopg.Error as error:
                if not connection.closed:
                    raise translated(error, connection.info.user) from error
                if replaced or not repeatable or self._dsn is None:
                    raise unreachable(error, request_ids) from error
                replaced = True
                continue
            if isinstance(answer, list):
                return answer
            if answer.final or renewed or not self._tokens.drop(token):
                raise answer.error
            renewed = True
