"""Where the token of a call comes from, and how long one is kept."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Hashable
from datetime import UTC, datetime

from memwarden._offload import awaited
from memwarden._tokens import AsyncTokenSource
from memwarden.errors import InvalidArgument
from memwarden.results import IssuedToken

_SHARE_OF_LIFE = 0.8  # what is left covers a slow call and a clock that is a little off


class AsyncTokens:
    """A token that stays, or a callable that is asked for one, or nothing.

    The callable decides how often: text is good for one call, an `IssuedToken` is kept until most
    of its life is over.
    """

    def __init__(self, source: AsyncTokenSource | None) -> None:
        self._source = source
        self._kept = ""
        self._renew_at = 0.0
        self._asking = asyncio.Lock()

    @property
    def source(self) -> Hashable:
        """What tells one source of tokens from another; None where the login acts for itself."""
        return self._source if isinstance(self._source, Hashable) else id(self._source)

    async def current(self) -> str | None:
        """Return the token for the next call; None where the login acts for itself.

        Raises:
            InvalidArgument: what the client was given, or the callable returned, is no token.
        """
        if self._source is None:
            return None
        async with self._asking:
            if self._kept and time.monotonic() < self._renew_at:
                return self._kept
            given = self._source
            if callable(given):
                given = await awaited(given())
            if isinstance(given, IssuedToken):
                life = (given.expires_at - datetime.now(UTC)).total_seconds()
                self._renew_at = time.monotonic() + life * _SHARE_OF_LIFE
                self._kept = given = given.token
            if not isinstance(given, str):
                raise InvalidArgument(
                    f"a token is text or an IssuedToken, and not {type(given).__name__}",
                    hint="token: one of those, or a callable that returns one.",
                )
            return given

    def drop(self, refused: str | None) -> bool:
        """Forget a token that the server refused; return whether there may be another."""
        if self._kept == refused:
            self._kept = ""
        return callable(self._source)
