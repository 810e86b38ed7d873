"""The queue as the worker sees it: five calls, each a transaction of its own."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString, TypeVar
from uuid import UUID

import psycopg
from psycopg.rows import class_row, tuple_row
from psycopg.types.json import Jsonb

from memwarden.errors import ConnectionFailed, translated, unreachable

_CLAIM: LiteralString = """
SELECT job_id, purpose, plugin, part, quorum, payload, settings, attempt, deadline
  FROM memwarden.claim_jobs(%(worker)s, %(plugins)s, 1, make_interval(secs => %(lease)s))
"""
_MAX_PAUSE = 30.0

log = logging.getLogger("memwarden.worker")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Job:
    """One question to one plug-in."""

    job_id: UUID
    purpose: str
    plugin: str
    part: int
    quorum: int
    payload: Mapping[str, Any]
    settings: Mapping[str, Any]
    attempt: int
    deadline: datetime


class Stopped(Exception):
    """The worker is to end, and the server cannot be reached meanwhile."""


class Queue:
    """A connection that listens for jobs; one that breaks is replaced until `stop` is set."""

    def __init__(self, dsn: str, worker: str, stop: threading.Event) -> None:
        self.worker = worker
        self._dsn = dsn
        self._stop = stop
        self._connection: psycopg.Connection[Any] | None = None

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
                self._connection.execute("LISTEN memwarden_job")
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

    def claim(self, plugins: Sequence[str], lease: float) -> Job | None:
        """Take the job that is longest due, for `lease` seconds; None when none is."""

        def take(connection: psycopg.Connection[Any]) -> Job | None:
            arguments = {"worker": self.worker, "plugins": list(plugins), "lease": lease}
            with connection.cursor(row_factory=class_row(Job)) as cursor:
                return cursor.execute(_CLAIM, arguments).fetchone()

        return self._again_until_done(take)

    def extend(self, job: Job, lease: float) -> bool:
        """Hold the job for `lease` seconds from now on; False when it is ours no longer."""
        call: LiteralString = "SELECT memwarden.extend_job(%s, %s, make_interval(secs => %s))"
        return bool(self._value(call, (job.job_id, self.worker, lease)))

    def complete(self, job: Job, verdict: Mapping[str, Any]) -> bool:
        """Give the verdict; False when the job is ours no longer.

        Raises:
            InvalidArgument: the server does not take it for a verdict.
        """
        call: LiteralString = "SELECT memwarden.complete_job(%s, %s, %s)"
        return bool(self._value(call, (job.job_id, self.worker, Jsonb(dict(verdict)))))

    def fail(self, job: Job, error: str, *, permanent: bool) -> str | None:
        """Say that there is no verdict; return the state of the job, None when it is not ours."""
        call: LiteralString = "SELECT memwarden.fail_job(%s, %s, %s, %s)"
        state = self._value(call, (job.job_id, self.worker, error.replace("\0", ""), permanent))
        return None if state is None else str(state)

    def wait(self, seconds: float) -> None:
        """Return when a job was made, after `seconds`, or when the worker is to end."""
        with contextlib.suppress(psycopg.OperationalError, ConnectionFailed):
            while seconds > 0 and not self._stop.is_set():
                # In slices: the event cannot interrupt the wait for the server.
                span = min(seconds, 0.5)
                if list(self.open().notifies(timeout=span, stop_after=1)):
                    return
                seconds -= span

    def _value(self, call: LiteralString, arguments: Sequence[object]) -> object:
        def ask(connection: psycopg.Connection[Any]) -> object:
            with connection.cursor(row_factory=tuple_row) as cursor:
                row = cursor.execute(call, arguments).fetchone()
            return None if row is None else row[0]

        return self._again_until_done(ask)

    def _again_until_done(self, call: Callable[[psycopg.Connection[Any]], T]) -> T:
        """Make a call; where the connection breaks, again on a new one.

        A call that was carried out though its answer was lost does no harm the second time: the
        job is then no longer ours, or was taken by us and returns when its lease is over.
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
                    raise translated(error) from error
