"""Who calls: one database connection for each principal, and none for a caller without a token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from mcp.server.auth.middleware.auth_context import get_access_token

from memwarden._async.client import AsyncClient
from memwarden.errors import NotIdentified
from memwarden.results import Reason


class Caller:
    """A principal's client, and the meaning of reason codes, read once when first needed."""

    def __init__(self, dsn: str) -> None:
        self.memory = AsyncClient(dsn=dsn)
        self._reasons: dict[str, Reason] | None = None

    async def reason(self, code: str | None) -> Reason | None:
        """Return what a reason code means and what the writer can do."""
        if code is None:
            return None
        if self._reasons is None:
            self._reasons = {each.reason: each for each in await self.memory.reasons()}
        return self._reasons.get(code)


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

    def __init__(self, dsn: str) -> None:
        self._caller = Caller(dsn)

    def caller(self) -> Caller:
        """Return the one there is."""
        return self._caller

    async def close(self) -> None:
        """Close the connection."""
        await self._caller.memory.close()


class BearerPrincipals:
    """Over HTTP: the principal whose bearer token came with this very request."""

    def __init__(self, connection: Callable[[str], str | None]) -> None:
        """`connection`: a connection string for a name, None where it is known no more."""
        self._connection = connection
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
        return self._callers.setdefault((token.client_id, dsn), Caller(dsn))

    async def close(self) -> None:
        """Close every connection."""
        for each in self._callers.values():
            await each.memory.close()
