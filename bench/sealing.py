#!/usr/bin/env python3
"""Measure what sealing the log costs, and what writers notice of it.

Four writers work on scopes of their own, in turns with a sealer beside them and without.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg import Connection

from measure import machine, milliseconds
from store import AGENT, WRITE, Stores, scope_path
from workload import Workload, array_literal

WRITERS = 4
ENTRIES = 20_000
HEADER = "| what | entries a second | time beside `write_many` |\n|---|---|---|"
WRITERS_HEADER = (
    "| {} writers, beside them | writes a second | without | ratio | p95, ms | without | ratio |\n"
    "|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Pace:
    """Writes a second of all writers together, and the 95th percentile of one, in milliseconds."""

    rate: float
    p95: float


class Writer(threading.Thread):
    """Writes one memory after another into one scope until told to stop."""

    def __init__(
        self, agent: Connection[Any], number: int, workload: Workload, stop: threading.Event
    ) -> None:
        super().__init__()
        self.agent, self.path, self.stop = agent, scope_path(number), stop
        self.memories = [
            (content, array_literal(vector)) for content, vector in workload.memories(200)
        ]
        self.took: list[float] = []

    def run(self) -> None:
        """Write; the content says when, so that none is a duplicate."""
        while not self.stop.is_set():
            content, vector = self.memories[len(self.took) % len(self.memories)]
            parameters = (
                content.replace('"text": "', f'"text": "{time.time_ns()} '),
                self.path,
                vector,
            )
            self.took.append(milliseconds(lambda p=parameters: self.agent.execute(WRITE, p)))  # type: ignore[misc]


def seal(connection: Connection[Any], stop: threading.Event, pause: float) -> None:
    """Seal, wait, seal again, until told to stop."""
    while not stop.is_set():
        connection.execute("CALL memwarden.seal_log()")
        stop.wait(pause)


def pace(
    stores: Stores,
    agents: list[Connection[Any]],
    workload: Workload,
    seconds: float,
    pause: float | None,
) -> Pace:
    """All writers for that long, beside a sealer with such pauses, or without one."""
    stop = threading.Event()
    writers = [Writer(agent, number, workload, stop) for number, agent in enumerate(agents)]
    threads: list[threading.Thread] = [*writers]
    if pause is not None:
        threads.append(threading.Thread(target=seal, args=(stores.admin, stop, pause)))
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    took = [one for writer in writers for one in writer.took]
    return Pace(len(took) / seconds, statistics.quantiles(took, n=20)[-1])


def report_rates(stores: Stores, workload: Workload) -> None:
    """How fast entries are written in batches, sealed and verified."""
    loading = milliseconds(lambda: stores.load(workload, 0, ENTRIES, raw=False))
    stores.admin.execute("VACUUM ANALYZE")
    sealing = milliseconds(lambda: stores.admin.execute("CALL memwarden.seal_log()"))
    verify = "SELECT * FROM memwarden.verify_log()"
    findings: list[Any] = []
    verifying = milliseconds(lambda: findings.extend(stores.admin.execute(verify).fetchall()))
    if findings:
        raise SystemExit(f"the log is not as it was sealed: {findings[:3]}")
    print(HEADER)
    for name, took in (("write_many", loading), ("seal_log", sealing), ("verify_log", verifying)):
        print(f"| `{name}` | {1000 * ENTRIES / took:,.0f} | {took / loading:.3f} |")


def main() -> None:
    """Fill, seal, verify, then writers with and without a sealer."""
    parser = argparse.ArgumentParser(description="Measure what sealing costs.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=4, help="of each side of a round")
    arguments = parser.parse_args()

    workload = Workload(seed=4)
    stores = Stores.create(arguments.dsn, 100, "memwarden_sealing")
    version = stores.admin.info.parameter_status("server_version")
    print(f"{datetime.now(UTC):%Y-%m-%d}, PostgreSQL {version}, {machine()}\n")
    report_rates(stores, workload)
    agents = [psycopg.connect(stores.dsn, user=AGENT, autocommit=True) for _ in range(WRITERS)]
    print("\n" + WRITERS_HEADER.format(WRITERS))
    for name, pause in (("a sealer every second", 1.0), ("a sealer without rest", 0.0)):
        pace(stores, agents, workload, 1, pause)
        beside: list[Pace] = []
        alone: list[Pace] = []
        for number in range(arguments.rounds):
            for sealed in (True, False) if number % 2 else (False, True):
                (beside if sealed else alone).append(
                    pace(stores, agents, workload, arguments.seconds, pause if sealed else None)
                )
        rate, rate_alone = (statistics.median(p.rate for p in side) for side in (beside, alone))
        p95, p95_alone = (statistics.median(p.p95 for p in side) for side in (beside, alone))
        print(
            f"| {name} | {rate:.0f} | {rate_alone:.0f} | {rate / rate_alone:.2f} "
            f"| {p95:.2f} | {p95_alone:.2f} | {p95 / p95_alone:.2f} |"
        )


if __name__ == "__main__":
    main()
