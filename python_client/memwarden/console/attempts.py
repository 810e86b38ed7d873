"""How often somebody may try to log in."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import timedelta


class Attempts:
    """Counts attempts by whom they come from and whom they are about, within a time.

    An attempt counts before it is judged, so that a hundred at once are not let through; one that
    succeeds is taken back.
    """

    def __init__(
        self, most: int, window: timedelta, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._window = window.total_seconds()
        self._clock = clock
        self._made: dict[str, deque[float]] = {}
        self._changing = threading.Lock()

    def take(self, *keys: str) -> bool:
        """Count an attempt under each key; whether none of them has too many."""
        now = self._clock()
        with self._changing:
            for key, made in list(self._made.items()):
                while made and now - made[0] >= self._window:
                    made.popleft()
                if not made:
                    del self._made[key]
            if any(len(self._made.get(key, ())) >= self._most for key in keys):
                return False
            for key in keys:
                self._made.setdefault(key, deque()).append(now)
            return True

    def give_back(self, *keys: str) -> None:
        """Take back the last attempt of each key: it was no failure."""
        with self._changing:
            for key in keys:
                if self._made.get(key):
                    self._made[key].pop()
