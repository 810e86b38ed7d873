"""What every part of the worker does: takes one thing after the other, until it is told to end."""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from memwarden.errors import MemwardenError
from memwarden.telemetry import worker_span
from memwarden.worker.attempt import Attempt
from memwarden.worker.line import Line, Stopped
from memwarden.worker.plugin import PluginError

T = TypeVar("T")
R = TypeVar("R")

log = logging.getLogger("memwarden.worker")

LONGEST = 3600.0
"""Seconds that any call of a plug-in may take."""
_GRACE = 2.0
_LOOK = 0.2
_MOST_UNENDED = 16


class TakenAway(PluginError):
    """Another worker does it by now."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How often the queue is looked at unasked, and how long a job is held; both in seconds."""

    poll: float = 10.0
    lease: float = 60.0


class Loop(ABC, Generic[T]):
    """One connection and one thing at a time. Several run side by side."""

    def __init__(self, line: Line, stop: threading.Event, pace: Pace) -> None:
        self._line = line
        self._stop = stop
        self._pace = pace
        self._once = False
        self._unended: defaultdict[str, list[Attempt[Any]]] = defaultdict(list)
        self._stopped: float | None = None
        self.failure: MemwardenError | None = None

    def run(self, *, once: bool) -> None:
        """Do what is due until told to stop; with `once`, until nothing is."""
        self._once = once
        try:
            while not self._stop.is_set():
                taken = self._take()
                if taken is not None:
                    with worker_span(*self._span(taken), self._trace_id(taken)):
                        self._do(taken)
                elif once:
                    return
                else:
                    self._line.wait(self._pace.poll)
        except Stopped:
            pass
        except MemwardenError as error:
            # A right is missing, or the extension: going on would repeat it for ever.
            self.failure = error
            self._stop.set()
        finally:
            self._line.close()

    def has_ended(self) -> bool:
        """Return whether no call of a plug-in still runs."""
        return all(each.wait(_LOOK) for calls in self._unended.values() for each in calls)

    def _attempt(
        self,
        call: Callable[[], R],
        plugin: str,
        seconds: float,
        extend: Callable[[], bool] = lambda: True,
    ) -> R:
        """Make a call of a plug-in, no longer than it may take and the worker runs.

        `extend`: keeps what it is about for another lease.

        Raises:
            TakenAway: `extend` returned false.
            PluginError: it did not end in time, or the worker is to end; or what the call raised.
        """
        attempt = Attempt(call, plugin).start()
        began = extended = time.monotonic()
        while not attempt.wait(min(_LOOK, seconds)):
            now = time.monotonic()
            if now >= began + seconds:
                error = PluginError(f"no answer within {seconds:g} seconds")
            elif self._stop.is_set() and now >= self._end():
                error = PluginError("the worker was told to end")
            elif now >= extended + self._pace.lease / 3 and not extend():
                error = TakenAway("it was taken away")
            else:
                extended = now if now >= extended + self._pace.lease / 3 else extended
                continue
            attempt.cut()
            self._unended[plugin].append(attempt)
            raise error
        return attempt.result()

    def _end(self) -> float:
        """When what still runs is cut off; the first time that this is asked, the clock starts."""
        if self._stopped is None:
            self._stopped = time.monotonic()
        return self._stopped + _GRACE

    def _usable(self, plugins: Iterable[str]) -> list[str]:
        """Return those of the plug-ins of which not too many calls still run.

        A thread cannot be ended from outside: a plug-in that hangs is asked no more, and the others
        are served.
        """
        usable = []
        for plugin in plugins:
            before = self._unended[plugin]
            self._unended[plugin] = [each for each in before if not each.wait(0)]
            if len(self._unended[plugin]) < _MOST_UNENDED:
                usable.append(plugin)
            elif len(before) == len(self._unended[plugin]):
                log.error("%s calls of %s hang: it is asked no more", len(before), plugin)
        return usable

    @abstractmethod
    def _take(self) -> T | None:
        """Return the next thing to do, held for a lease; None where nothing is due."""

    @abstractmethod
    def _do(self, taken: T, /) -> None:
        """Do it, outside any transaction, and say how it went."""

    def _trace_id(self, taken: T, /) -> str | None:
        """Return the trace of the write that waits for this; None where no write does."""
        del taken
        return None

    @abstractmethod
    def _span(self, taken: T, /) -> tuple[str, Mapping[str, str | int]]:
        """Return what its span is called and has: ids and names of the installation only."""
