"""Who calls: one database connection for each principal, and none for a caller without a token."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, LiteralString, Protocol
from uuid import UUID

from mcp.server.auth.middleware.auth_context import get_access_token
from psycopg.conninfo import conninfo_to_dict

from memwarden._async.client import AsyncClient
from memwarden._tokens import AsyncTokenSource
from memwarden.embedders import Embedder
from memwarden.errors import InvalidArgument, NotFound, NotIdentified
from memwarden.mcp.issuers import WRITE
from memwarden.results import IssuedToken, Reason, RequestStatus

_ISSUE: Final[LiteralString] = """
SELECT token, token_id, expires_at
FROM memwarden.issue_token_for(
    issuer => %(iss)s::text, subject => %(sub)s::text, audience => %(audience)s::text)
"""
_CONNECTIONS = 64
"""Of as many principals; the one that was idle longest is closed for one more."""
_LISTENERS = 2
"""Connections that hear of decisions while a principal waits; more waits of it ask in turn."""


class Caller:
    """A principal's client, and the meaning of reason codes, read once when first needed."""

    def __init__(
        self,
        dsn: str,
        token: AsyncTokenSource | None = None,
        embedder: Embedder | None = None,
        *,
        read_only: bool = False,
    ) -> None:
        self.memory = AsyncClient(dsn=dsn, token=token, embedder=embedder)
        self.memory._session.read_only = read_only
        self._reasons: dict[str, Reason] | None = None
        self._listening = 0

    async def reason(self, code: str | None) -> Reason | None:
        """Return what a reason code means and what the writer can do."""
        if code is None:
            return None
        if self._reasons is None:
            self._reasons = {each.reason: each for each in await self.memory.reasons()}
        return self._reasons.get(code)

    async def decided(self, request_id: UUID, patience: float) -> RequestStatus | None:
        """Wait so many seconds for a decision; return where the request stands then."""
        if self._listening < _LISTENERS:
            self._listening += 1
            try:
                return await self.memory.await_decision(request_id, patience)
            finally:
                self._listening -= 1
        status = await self.memory.request_status(request_id)
        if status is None or status.outcome != "DEFERRED":
            return status
        await asyncio.sleep(patience)
        return await self.memory.request_status(request_id)


class Principals(Protocol):
    """Finds the caller of the request that is being answered."""

    def caller(self) -> Caller:
        """Return who calls.

        Raises:
            NotIdentified: nobody that is known here.
        """

    async def close(self) -> None:
        """Close every connection."""


class OnePrincipal:
    """Over stdio: whoever started the server, as the login that the connection string names."""

    def __init__(self, dsn: str, embedder: Embedder | None = None) -> None:
        self._caller = Caller(dsn, embedder=embedder)

    def caller(self) -> Caller:
        """Return the one there is."""
        return self._caller

    async def close(self) -> None:
        """Close the connection."""
        await self._caller.memory.close()


class BearerPrincipals:
    """Over HTTP: the principal whose bearer token came with this very request."""

    def __init__(
        self, connection: Callable[[str], str | None], embedder: Embedder | None = None
    ) -> None:
        """`connection`: a connection string for a name, None where it is known no more."""
        self._connection = connection
        self._embedder = embedder
        self._callers: dict[tuple[str, str], Caller] = {}

    def caller(self) -> Caller:
        """Return the caller of the request that is being answered; see `Principals`."""
        token = get_access_token()
        dsn = None if token is None else self._connection(token.client_id)
        if token is None or dsn is None:
            raise NotIdentified(
                "the request carries no token that is known here",
                hint="Send the header Authorization: Bearer TOKEN.",
            )
        # A line that was changed is another connection from then on.
        name = (token.client_id, dsn)
        if name not in self._callers:
            self._callers[name] = Caller(dsn, embedder=self._embedder)
        return self._callers[name]

    async def close(self) -> None:
        """Close every connection."""
        for each in self._callers.values():
            await each.memory.close()


class IssuedPrincipals:
    """Over HTTP: the agent that an administrator has bound to whom the issuer's token names.

    `dsn` is a login that is bound to nobody, and acts for each by a token of the store; `broker` is
    the login that gets such tokens. The transactions of whoever may only read cannot write.
    """

    def __init__(self, dsn: str, broker: str, embedder: Embedder | None = None) -> None:
        """Connect later, when somebody calls.

        Raises:
            InvalidArgument: `dsn` names no login.
        """
        self._login = str(conninfo_to_dict(dsn).get("user") or "")
        if not self._login:
            raise InvalidArgument("--dsn names no login", hint="Write user=LOGIN in it.")
        self._dsn = dsn
        self._broker = AsyncClient(dsn=broker)
        self._embedder = embedder
        self._callers: dict[tuple[str, str, bool], Caller] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def caller(self) -> Caller:
        """Return the caller of the request that is being answered; see `Principals`."""
        token = get_access_token()
        if token is None or token.claims is None:
            raise NotIdentified("the request carries no token of the issuer")
        name = (token.claims["iss"], token.claims["sub"], WRITE in token.scopes)
        caller = self._callers.pop(name, None) or self._made(*name)
        self._callers[name] = caller  # the last of all
        if len(self._callers) > _CONNECTIONS:
            oldest = self._callers.pop(next(iter(self._callers)))
            task = asyncio.get_running_loop().create_task(oldest.memory.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
        return caller

    def _made(self, issuer: str, subject: str, writes: bool) -> Caller:
        asked = {"iss": issuer, "sub": subject, "audience": self._login}

        async def issued() -> IssuedToken:
            try:
                rows = await self._broker._session.fetch(_ISSUE, asked, IssuedToken)
            except NotFound as error:
                raise NotIdentified(
                    "no agent here is bound to whom the token names",
                    hint="An administrator runs bind_identity() with iss and sub of the token.",
                ) from error
            return rows[0]

        return Caller(self._dsn, token=issued, embedder=self._embedder, read_only=not writes)

    async def close(self) -> None:
        """Close every connection."""
        for each in self._callers.values():
            await each.memory.close()
        await self._broker.close()
