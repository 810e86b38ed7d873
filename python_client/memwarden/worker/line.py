"""A connection of a worker: it listens, and one that breaks is replaced until the worker ends."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, LiteralString, TypeVar

import psycopg
from psycopg.rows import tuple_row

from memwarden.errors import ConnectionFailed, translated, unreachable

_MAX_PAUSE = 30.0
LEAST_PAUSE = 0.2
"""Seconds between two looks that messages ask for: any login can send as many as it likes."""
READING_PAUSE = 0.01
"""Seconds between two times that messages are read."""

log = logging.getLogger("memwarden.worker")

T = TypeVar("T")


class Stopped(Exception):
    """The worker is to end, and the server cannot be reached meanwhile."""


class Line:
    """A connection that listens; each call is a transaction of its own."""

    listen: LiteralString

    def __init__(self, dsn: str, worker: str, stop: threading.Event) -> None:
        self.worker = worker
        self._dsn = dsn
        self._stop = stop
        self._connection: psycopg.Connection[Any] | None = None
        self._looked = 0.0

    def open(self) -> psycopg.Connection[Any]:
        """Return a connection that listens.

        Raises:
            ConnectionFailed: the server does not let us in.
        """
        if self._connection is None or self._connection.closed:
            try:
                self._connection = psycopg.connect(
                    self._dsn,
                    autocommit=True,
                    prepare_threshold=None,
                    client_encoding="utf8",
                    fallback_application_name="memwarden worker",
                )
                self._connection.execute(self.listen)
            except psycopg.ProgrammingError:
                # Its message quotes the string, which may hold a password.
                raise ConnectionFailed("the connection string cannot be read") from None
            except psycopg.Error as error:
                raise unreachable(error, ()) from error
        return self._connection

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()

    def wait(self, seconds: float) -> None:
        """Return when there may be something to do, after `seconds`, or when the worker is to end.

        What a message says is never read: it is a hint to look.
        """
        end = time.monotonic() + seconds
        heard = False
        with contextlib.suppress(psycopg.OperationalError, ConnectionFailed):
            while (now := time.monotonic()) < end and not self._stop.is_set():
                if heard and now >= self._looked + LEAST_PAUSE:
                    break
                # In slices: the event cannot interrupt the wait for the server.
                until = min(end, now + 0.5, self._looked + LEAST_PAUSE if heard else end)
                if list(self.open().notifies(timeout=until - now, stop_after=1)):
                    # Read on, so that the server need not keep them, but not without a pause.
                    heard = True
                    self._stop.wait(READING_PAUSE)
        self._looked = time.monotonic()

    def value(self, call: LiteralString, arguments: Sequence[object]) -> object:
        """Return the one value of a call."""

        def ask(connection: psycopg.Connection[Any]) -> object:
            with connection.cursor(row_factory=tuple_row) as cursor:
                row = cursor.execute(call, arguments).fetchone()
            return None if row is None else row[0]

        return self.again_until_done(ask)

    def again_until_done(self, call: Callable[[psycopg.Connection[Any]], T]) -> T:
        """Make a call; where the connection breaks, again on a new one.

        A call that was carried out though its answer was lost does no harm the second time: what it
        was about is then no longer ours, or was taken by us and returns when its lease is over.
        """
        pause = 0.5
        while True:
            try:
                connection = self.open()
                return call(connection)
            except ConnectionFailed as error:
                log.warning("the server cannot be reached: %s", error)
                if self._stop.wait(pause):
                    raise Stopped from None
                pause = min(pause * 2, _MAX_PAUSE)
            except psycopg.Error as error:
                if self._connection is not None and not self._connection.closed:
                    raise translated(error, self._connection.info.user) from error
