"""The process: what it does side by side, and an end that leaves nothing half done."""

from __future__ import annotations

import os
import signal
import socket
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from memwarden.errors import MemwardenError
from memwarden.worker.backlog import Backlog
from memwarden.worker.channel import Channel
from memwarden.worker.courier import Courier
from memwarden.worker.embedder import EmbedderPlugin
from memwarden.worker.embedding import Embedding
from memwarden.worker.loop import Loop, Pace
from memwarden.worker.outbox import Outbox
from memwarden.worker.plugin import Verifier
from memwarden.worker.queue import Queue
from memwarden.worker.runner import Runner


def serve(
    dsn: str,
    plugins: Mapping[str, Verifier],
    *,
    channels: Mapping[str, Channel] | None = None,
    embedders: Mapping[str, EmbedderPlugin] | None = None,
    concurrency: int = 1,
    once: bool = False,
    pace: Pace | None = None,
) -> bool:
    """Take jobs, send notices and embed until SIGTERM or Ctrl-C; with `once`, until none is due.

    What is being done then has two seconds to end; after that its exchanges are cut off, and others
    do it again. A second signal ends the process; what it held comes back when the leases are over.
    Returns whether every call of a plug-in has ended: where not, threads of its own may hold up the
    end of the process.

    Raises:
        MemwardenError: the server refuses what a worker needs, or cannot be reached at first.
    """
    stop = threading.Event()
    # Unlike any other process, also one before it with the same number.
    name = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:12]}"
    pace = pace or Pace()
    workers: list[Loop[Any]] = []
    for number in range(concurrency if plugins else 0):
        queue = Queue(dsn, f"{name}:{number}", stop)
        queue.open()
        workers.append(Runner(queue, plugins, stop, pace))
    if channels:
        outbox = Outbox(dsn, f"{name}:notices", stop)
        outbox.open()
        workers.append(Courier(outbox, channels, stop, pace))
    for number in range(concurrency if embedders else 0):
        backlog = Backlog(dsn, f"{name}:vectors:{number}", stop)
        backlog.open()
        workers.append(Embedding(backlog, embedders or {}, stop, pace))
    threads = [
        threading.Thread(target=each.run, kwargs={"once": once}, name=f"worker {number}")
        for number, each in enumerate(workers)
    ]
    with stopping_on_signals(stop):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for worker in workers:
        if isinstance(worker.failure, MemwardenError):
            raise worker.failure
    return all(worker.has_ended() for worker in workers)


@contextmanager
def stopping_on_signals(stop: threading.Event) -> Iterator[None]:
    """Set `stop` at the first SIGTERM or Ctrl-C; the second ends the process."""

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
