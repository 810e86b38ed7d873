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


def overlap(
    observer: Connection[DictRow],
    first: Connection[Any],
    hold: Callable[[], object],
    second: Connection[Any],
    follow: Callable[[], Result],
    *,
    meanwhile: Callable[[], object] = lambda: None,
    rollback: bool = False,
) -> Result:
    """Let the second wait for the first; return what the second got.

    The first does `hold` in a transaction. Once `follow` waits for a lock on the second's
    connection, `meanwhile` is done and the transaction ends.
    """
    blocked = "SELECT cardinality(pg_blocking_pids(%s)) > 0 AS blocked"
    with ThreadPoolExecutor(1) as pool:
        with first.transaction(force_rollback=rollback):
            hold()
            future = pool.submit(follow)
            row: DictRow | None = None
            while row is None or not row["blocked"]:
                if future.done():
                    raise AssertionError(f"it did not wait: {future.result()}")
                row = observer.execute(blocked, (second.info.backend_pid,)).fetchone()
            meanwhile()
        return future.result(PATIENCE)
