"""Who is logged in: kept in this process alone, by ids that nobody can guess."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import psycopg

from memwarden._sync.client import Client


@dataclass(slots=True)
class Reviewer:
    """Somebody who has logged in, and the connection that acts for nobody else.

    `lasts` is how long at most, where the log-in itself says so.
    """

    name: str
    org: str
    client: Client
    connection: psycopg.Connection
    lasts: timedelta | None = None


@dataclass(slots=True)
class Session:
    """One browser in which somebody is logged in. `said` is shown once, on the next page."""

    reviewer: Reviewer
    ends_at: float
    used_at: float
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    said: dict[str, object] | None = None
    # One connection takes one statement at a time.
    turn: threading.Lock = field(default_factory=threading.Lock)


class Full(Exception):
    """As many people are logged in as the console takes."""


class Sessions:
    """All sessions, by the hash of their id: who reads this memory cannot log in with it."""

    def __init__(
        self,
        idle: timedelta,
        longest: timedelta,
        most: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._idle = idle.total_seconds()
        self._longest = longest.total_seconds()
        self._most = most
        self._clock = clock
        self._kept: dict[bytes, Session] = {}
        self._changing = threading.Lock()

    def open(self, reviewer: Reviewer) -> str:
        """Return the id of a new session.

        Raises:
            Full: there are too many; the connection is closed.
        """
        now = self._clock()
        lasts = self._longest
        if reviewer.lasts is not None:
            lasts = min(lasts, reviewer.lasts.total_seconds())
        session_id = secrets.token_urlsafe(32)
        self.sweep()
        with self._changing:
            if len(self._kept) >= self._most:
                reviewer.connection.close()
                raise Full
            self._kept[_key(session_id)] = Session(reviewer, ends_at=now + lasts, used_at=now)
        return session_id

    def get(self, session_id: str | None) -> Session | None:
        """Return a session that is not over, and count it as used."""
        self.sweep()
        with self._changing:
            session = self._kept.get(_key(session_id or ""))
            if session is not None:
                session.used_at = self._clock()
            return session

    def close(self, session_id: str | None) -> None:
        """End a session and its connection."""
        with self._changing:
            session = self._kept.pop(_key(session_id or ""), None)
        if session is not None:
            session.reviewer.connection.close()

    def close_all(self) -> None:
        """End every session."""
        with self._changing:
            ended, self._kept = list(self._kept.values()), {}
        for each in ended:
            each.reviewer.connection.close()

    def sweep(self) -> None:
        """End the sessions whose time is over, and those whose connection is."""
        now = self._clock()
        with self._changing:
            over = {
                key: each
                for key, each in self._kept.items()
                if now >= each.ends_at
                or now - each.used_at >= self._idle
                or each.reviewer.connection.closed
            }
            for key in over:
                del self._kept[key]
        for each in over.values():
            each.reviewer.connection.close()


def _key(session_id: str) -> bytes:
    return hashlib.sha256(session_id.encode()).digest()
