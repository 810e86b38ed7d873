"""Connections over which a request has not arrived whole: they are few, and none lasts long.

uvicorn waits for a header or a body as long as the peer likes to drip it.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 10.0
"""From the connection, or the answer before, to the last byte of a request."""
MOST = 128
"""Connections over which requests arrive at once; the oldest is closed for one more."""


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, for peers that send what they ask."""

    _arrives_by: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._await_request()
        arriving = [
            each
            for each in self.connections
            if isinstance(each, BoundedProtocol) and each.is_arriving()
        ]
        if len(arriving) > MOST:
            min(arriving, key=BoundedProtocol.deadline).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the next request, unless this one has not even arrived."""
        if not self.is_arriving():
            self._await_request()
        super().on_response_complete()

    def is_arriving(self) -> bool:
        """Whether no request has arrived whole that is not answered yet."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def deadline(self) -> float:
        """Return when the connection is closed, on the clock of the loop."""
        return 0.0 if self._arrives_by is None else self._arrives_by.when()

    def _await_request(self) -> None:
        self._stop_waiting()
        self._arrives_by = self.loop.call_later(SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._arrives_by is not None:
            self._arrives_by.cancel()

    def _give_up(self) -> None:
        if self.is_arriving():
            self.transport.abort()


def options() -> dict[str, Any]:
    """Return what uvicorn is told; an upgrade would leave the bounds behind."""
    return {"http": BoundedProtocol, "ws": "none", "timeout_keep_alive": 5}
