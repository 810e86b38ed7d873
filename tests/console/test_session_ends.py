"""Sessions end by themselves, and log-ins are let through only so often."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import pytest

from memwarden.console.attempts import Attempts
from memwarden.console.sessions import Full, Reviewer, Sessions

IDLE, LONGEST = timedelta(minutes=15), timedelta(hours=8)


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    def pass_(self, **time: float) -> None:
        """Move the clock on."""
        self.now += timedelta(**time).total_seconds()


class Line:
    """Stands where the connection of a session is: only its end matters here."""

    closed = False

    def close(self) -> None:
        """End it."""
        self.closed = True


def somebody(lasts: timedelta | None = None) -> Reviewer:
    """Return a reviewer whose connection can be seen to end."""
    line = cast("Any", Line())
    return Reviewer("rita", "acme", cast("Any", None), line, lasts)


def test_a_session_that_is_not_used_ends_and_its_connection_with_it() -> None:
    """Use keeps it."""
    clock = Clock()
    sessions = Sessions(IDLE, LONGEST, 5, clock)
    who = somebody()
    session_id = sessions.open(who)
    for _ in range(3):
        clock.pass_(minutes=14)
        assert sessions.get(session_id) is not None
    clock.pass_(minutes=15)
    assert sessions.get(session_id) is None
    assert who.connection.closed


def test_no_use_keeps_a_session_for_ever() -> None:
    """A day's work, or the life of the token."""
    for lasts, minutes in ((None, 480), (timedelta(minutes=5), 5)):
        clock = Clock()
        sessions = Sessions(IDLE, LONGEST, 5, clock)
        session_id = sessions.open(somebody(lasts))
        for _ in range(minutes - 1):
            clock.pass_(minutes=1)
            assert sessions.get(session_id) is not None
        clock.pass_(minutes=1)
        assert sessions.get(session_id) is None


def test_a_session_ends_with_its_connection() -> None:
    """Whoever ends that in the database logs the person out."""
    sessions = Sessions(IDLE, LONGEST, 5)
    who = somebody()
    session_id = sessions.open(who)
    who.connection.close()
    assert sessions.get(session_id) is None


def test_ids_are_unlike_and_none_is_kept() -> None:
    """Nor is anything but the very id a session."""
    sessions = Sessions(IDLE, LONGEST, 100)
    ids = {sessions.open(somebody()) for _ in range(50)}
    assert len(ids) == 50
    assert min(map(len, ids)) >= 40
    for wrong in (None, "", "x", next(iter(ids))[:-1]):
        assert sessions.get(wrong) is None


def test_only_so_many_are_logged_in_at_once() -> None:
    """A connection each; who comes too late keeps none."""
    sessions = Sessions(IDLE, LONGEST, 1)
    first = sessions.open(somebody())
    late = somebody()
    with pytest.raises(Full):
        sessions.open(late)
    assert late.connection.closed
    sessions.close(first)
    assert sessions.get(sessions.open(somebody())) is not None


def test_failed_attempts_are_few_until_time_has_passed() -> None:
    """By each of their keys; those that succeed do not count."""
    clock = Clock()
    attempts = Attempts(3, timedelta(minutes=10), clock)
    for _ in range(9):
        assert attempts.take("from a", "for rita")
        attempts.give_back("from a", "for rita")
    for _ in range(3):
        assert attempts.take("from a", "for rita")
    assert not attempts.take("from a", "for otto")
    assert not attempts.take("from b", "for rita")
    assert attempts.take("from b", "for otto")
    clock.pass_(minutes=10)
    assert attempts.take("from a", "for rita")
