"""The process: some runners side by side, and an end that leaves no job half done."""

from __future__ import annotations

import os
import signal
import socket
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from memwarden.errors import MemwardenError
from memwarden.worker.plugin import Verifier
from memwarden.worker.queue import Queue
from memwarden.worker.runner import Pace, Runner


def serve(
    dsn: str,
    plugins: Mapping[str, Verifier],
    *,
    concurrency: int = 1,
    once: bool = False,
    pace: Pace | None = None,
) -> None:
    """Take jobs until SIGTERM or Ctrl-C; with `once`, until none is due.

    The jobs that are being judged then are ended first. A second signal ends the process; its jobs
    come back when their leases are over.

    Raises:
        MemwardenError: the server refuses what a worker needs, or cannot be reached at first.
    """
    stop = threading.Event()
    # Unlike any other process, also one before it with the same number.
    name = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:12]}"
    runners = []
    for number in range(concurrency):
        queue = Queue(dsn, f"{name}:{number}", stop)
        queue.open()
        runners.append(Runner(queue, plugins, stop, pace or Pace()))
    threads = [
        threading.Thread(target=each.run, kwargs={"once": once}, name=f"runner {number}")
        for number, each in enumerate(runners)
    ]
    with _stopping_on_signals(stop):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for runner in runners:
        if isinstance(runner.failure, MemwardenError):
            raise runner.failure


@contextmanager
def _stopping_on_signals(stop: threading.Event) -> Iterator[None]:
    def note(number: int, _frame: FrameType | None) -> None:
        stop.set()
        signal.signal(number, signal.SIG_DFL)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.signal(each, note) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
