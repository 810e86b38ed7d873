"""The thread that collects what is over from time to time, as LangGraph's stores start one."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress

from langgraph.store.base import TTLConfig

from memwarden.errors import MemwardenError

_log = logging.getLogger("memwarden")


def pause(minutes: float | None, ttl: TTLConfig | None) -> float:
    """How many seconds lie between two sweeps: as given, as the store has it, or five minutes."""
    return 60.0 * (minutes or (ttl or {}).get("sweep_interval_minutes") or 5)


class Sweeper:
    """Calls `sweep` every so many seconds, until it is stopped or its future is cancelled."""

    def __init__(self, sweep: Callable[[], int], seconds: float) -> None:
        self._sweep = sweep
        self._seconds = seconds
        self._stop = threading.Event()
        self.ends: Future[None] = Future()
        self.ends.add_done_callback(lambda _: self._stop.set())
        self._thread = threading.Thread(target=self._run, daemon=True, name="ttl-sweeper")
        self._thread.start()

    def stop(self, timeout: float | None) -> bool:
        """Stop; whether it came to its end in time."""
        self._stop.set()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._stop.wait(self._seconds):
            try:
                self._sweep()
            except MemwardenError:
                _log.exception("LangGraph: a sweep failed")
        with suppress(InvalidStateError):  # it was cancelled
            self.ends.set_result(None)
