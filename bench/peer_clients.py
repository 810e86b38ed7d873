#!/usr/bin/env python3
"""One measurement of one side, for peers.py: its clients, each a process with a connection.

Runs in the environment of peers.txt and prints JSON: for writes and searches, how long all of them
took together, what each call took, and the processor time of servers and clients.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from peer_stores import SIDES, Store, Stub
from workload import Workload

WARM_UP = 10
PATIENCE = 300.0


@dataclass(frozen=True)
class Work:
    """What is measured."""

    side: str
    dsn: str
    texts: list[str]
    questions: list[str]
    spare: list[str]
    batch: int
    clients: int
    stub: Stub


@dataclass(frozen=True)
class Part:
    """What one client did, or all together: seconds, but milliseconds a memory for the calls."""

    began: float
    ended: float
    calls: list[float]
    server: float
    client: float
    found: int


def workload(items: int, searches: int, clients: int) -> tuple[list[list[str]], Stub]:
    """The same memories, questions and spare texts for every side, and their vectors."""
    source = Workload(seed=20)
    memories = source.memories(items + clients * WARM_UP)
    texts = [json.loads(content)["text"] for content, _ in memories]
    asked = [" ".join(text.split()[:6]) for text in source.texts(searches)]
    vectors = dict(zip(texts, (vector for _, vector in memories), strict=True))
    vectors |= dict(zip(asked, source.vectors(searches).round(5).tolist(), strict=True))
    return [texts[:items], asked, texts[items:]], Stub(vectors)


def busy(process: int) -> float:
    """The processor time of a server process in seconds; 0 where it runs elsewhere."""
    schedule = Path(f"/proc/{process}/schedstat")
    return int(schedule.read_text().split()[0]) / 1e9 if schedule.exists() else 0.0


def timed(
    store: Store, barrier: Barrier, calls: list[tuple[int, Callable[[], int | None]]]
) -> Part:
    """Make the calls, each of so many memories or of one question, once every client is ready."""
    process = store.server()
    barrier.wait(PATIENCE)
    server, client, began = busy(process), time.process_time(), time.monotonic()
    taken, found = [], 0
    for many, call in calls:
        start = time.monotonic()
        found += call() or 0
        taken.append((time.monotonic() - start) * 1000 / many)
    ended = time.monotonic()
    return Part(began, ended, taken, busy(process) - server, time.process_time() - client, found)


def client(work: Work, number: int, barrier: Barrier, results: Connection) -> None:
    """Warm up elsewhere, write a share of the memories, ask a share of the questions."""
    store: Store = SIDES[work.side](work.dsn, work.stub)
    spare = work.spare[number :: work.clients]
    for text in spare[: WARM_UP // 2]:
        store.write(1, text)
    store.write_many(1, spare[WARM_UP // 2 :])
    for text in spare:
        store.search(1, text)
    share = work.texts[number :: work.clients]
    batches = [share[n : n + work.batch] for n in range(0, len(share), work.batch)]
    writes: list[tuple[int, Callable[[], int | None]]] = [
        (len(batch), partial(store.write_many, 0, batch)) for batch in batches
    ]
    if work.batch == 1:
        writes = [(1, partial(store.write, 0, text)) for text in share]
    searches: list[tuple[int, Callable[[], int | None]]] = [
        (1, partial(store.search, 0, text)) for text in work.questions[number :: work.clients]
    ]
    results.send([timed(store, barrier, writes), timed(store, barrier, searches)])


def together(parts: list[Part]) -> dict[str, Any]:
    """What all clients did, from the first call to the last answer."""
    whole = Part(
        min(part.began for part in parts),
        max(part.ended for part in parts),
        [call for part in parts for call in part.calls],
        sum(part.server for part in parts),
        sum(part.client for part in parts),
        sum(part.found for part in parts),
    )
    return asdict(whole)


def measure(work: Work) -> dict[str, Any]:
    """Run the clients side by side."""
    fork = multiprocessing.get_context("fork")
    barrier = fork.Barrier(work.clients)
    receivers, processes = [], []
    for number in range(work.clients):
        receiver, sender = fork.Pipe(duplex=False)
        process = fork.Process(target=client, args=(work, number, barrier, sender))
        process.start()
        sender.close()
        receivers.append(receiver)
        processes.append(process)
    # A client that fails closes its end, and its message is on stderr.
    parts = [receiver.recv() for receiver in receivers]
    for process in processes:
        process.join()
    return {
        "writes": together([writes for writes, _ in parts]),
        "searches": together([searches for _, searches in parts]),
    }


def main() -> None:
    """Prepare a database, or measure in one."""
    parser = argparse.ArgumentParser(description="One measurement of one side, for peers.py.")
    parser.add_argument("--side", required=True, choices=SIDES)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--prepare", action="store_true", help="make the tables, and nothing else")
    parser.add_argument("--items", type=int, default=1_500)
    parser.add_argument("--searches", type=int, default=0)
    parser.add_argument("--batch", type=int, default=1, help="1: one by one")
    parser.add_argument("--clients", type=int, default=1)
    given = parser.parse_args()
    (texts, questions, spare), stub = workload(given.items, given.searches, given.clients)
    if given.prepare:
        SIDES[given.side](given.dsn, stub, empty=True)
        return
    work = Work(given.side, given.dsn, texts, questions, spare, given.batch, given.clients, stub)
    print(json.dumps(measure(work)))


if __name__ == "__main__":
    main()
