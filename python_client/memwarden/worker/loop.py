"""What every part of the worker does: takes one thing after the other, until it is told to end."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from memwarden.errors import MemwardenError
from memwarden.telemetry import worker_span
from memwarden.worker.line import Line, Stopped

T = TypeVar("T")


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
