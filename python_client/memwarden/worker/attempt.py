"""A plug-in at work, in a thread of its own: waited for with a limit, and cut off from services."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_current: ContextVar[Attempt[Any] | None] = ContextVar("attempt", default=None)


class Attempt(Generic[T]):
    """One call in a daemon thread: Python cannot end a thread, but the process ends without it."""

    def __init__(self, call: Callable[[], T], name: str) -> None:
        self._call = call
        self._name = name
        self._done = threading.Event()
        self._cut = threading.Event()
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._result: list[T] = []
        self._error: Exception = RuntimeError("it ended the thread")

    def start(self) -> Attempt[T]:
        """Begin, in the context of the caller: what is called belongs to the same trace."""
        run = copy_context().run
        threading.Thread(target=run, args=(self._run,), name=self._name, daemon=True).start()
        return self

    def wait(self, seconds: float) -> bool:
        """Return whether the call has ended, after `seconds` at the latest."""
        return self._done.wait(seconds)

    def result(self) -> T:
        """Return what the call returned, or raise what it raised. Only after it has ended."""
        if not self._result:
            raise self._error
        return self._result[0]

    def cut(self) -> None:
        """End every exchange that the call has open, and let it open none from now on."""
        with self._lock:
            self._cut.set()
            for each in self._sockets:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def _run(self) -> None:
        _current.set(self)
        try:
            self._result.append(self._call())
        except Exception as error:
            self._error = error
        finally:
            self._done.set()

    @contextmanager
    def _holding(self, line: socket.socket) -> Iterator[None]:
        # Of its own: TLS takes the socket itself over.
        with line.dup() as same:
            with self._lock:
                if self._cut.is_set():
                    raise ConnectionAbortedError
                self._sockets.add(same)
            try:
                yield
            finally:
                with self._lock:
                    self._sockets.discard(same)


def cut_with_the_attempt(line: socket.socket) -> contextlib.AbstractContextManager[None]:
    """Have the attempt that this thread works for, where there is one, end the connection.

    Raises:
        ConnectionAbortedError: on entry, where the attempt was cut off already.
    """
    attempt = _current.get()
    return contextlib.nullcontext() if attempt is None else attempt._holding(line)


def pool(threads: int) -> ThreadPoolExecutor:
    """Return threads that work for the attempt of this one."""
    return ThreadPoolExecutor(threads, initializer=_current.set, initargs=(_current.get(),))


def sleep_unless_cut(seconds: float) -> None:
    """Sleep, and no longer where the attempt is cut off meanwhile."""
    attempt = _current.get()
    if attempt is None:
        time.sleep(seconds)
    else:
        attempt._cut.wait(seconds)
