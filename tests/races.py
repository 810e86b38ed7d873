"""Races: real connections, let go together by a barrier; waiting for a state, never for a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, TypeVar

from psycopg import Connection
from psycopg.rows import DictRow

Result = TypeVar("Result")

PATIENCE = 120.0
"""Seconds after which a race that does not end is a failure."""


def together(actions: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run every action in a thread of its own, all let go at once; results in the order given."""
    barrier = Barrier(len(actions))

    def run(action: Callable[[], Result]) -> Result:
        barrier.wait(PATIENCE)
        return action()

    with ThreadPoolExecutor(len(actions)) as pool:
        futures = [pool.submit(run, action) for action in actions]
        return [future.result(PATIENCE) for future in futures]


def wait_until_blocked(observer: Connection[DictRow], waiting: Connection[Any]) -> None:
    """Return once the other connection's statement waits for a lock that somebody holds."""
    while True:
        row = observer.execute(
            "SELECT cardinality(pg_blocking_pids(%s)) > 0 AS blocked", (waiting.info.backend_pid,)
        ).fetchone()
        if row is not None and row["blocked"]:
            return
