#!/usr/bin/env python3
"""Measure what writers notice of a collection that runs beside them.

Two writers work on scopes in which most memories are due, in turns with the job and without.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg import Connection

from measure import machine, milliseconds
from store import AGENT, Stores, scope_path
from workload import Workload, array_literal

WRITERS = 2
SCOPES = 20
WRITE = """
SELECT outcome FROM memwarden.write('session', %s::jsonb, scope => %s, embedding => %s::real[])"""
# All are beyond their time: the job has work for as long as it is measured.
AGE = """
UPDATE memwarden_data.item SET expires_at = now() - interval '1 hour'
 WHERE status = 'ACTIVE' AND layer = 'episodic'"""
DUE = "UPDATE memwarden_data.collection SET finished_at = NULL WHERE begun_at IS NULL"
TAKING = """
SELECT FROM memwarden_data.collection
 WHERE stage = 'COLLECT' AND layer = 'episodic' AND looked > 0"""
LEFT = "SELECT count(*) FROM memwarden_data.item WHERE status = 'ACTIVE' AND expires_at < now()"


class Writer(threading.Thread):
    """Writes one memory after another into one scope until told to stop."""

    def __init__(
        self, agent: Connection[Any], number: int, workload: Workload, stop: threading.Event
    ) -> None:
        super().__init__()
        self.agent, self.path, self.stop = agent, scope_path(number), stop
        self.memories = [(c, array_literal(v)) for c, v in workload.memories(200)]
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


def collect(connection: Connection[Any], stop: threading.Event) -> None:
    """Collect, and once more, until told to stop."""
    while not stop.is_set():
        connection.execute(DUE)
        try:
            connection.execute("CALL memwarden.collect()")
        except psycopg.errors.QueryCanceled:
            return


def p95(
    agents: list[Connection[Any]],
    workload: Workload,
    seconds: float,
    collector: Connection[Any] | None,
) -> list[float]:
    """What each write took, in milliseconds, beside the job or without."""
    stop = threading.Event()
    writers = [Writer(agent, number, workload, stop) for number, agent in enumerate(agents)]
    threads: list[threading.Thread] = [*writers]
    if collector is not None:
        threads.append(threading.Thread(target=collect, args=(collector, stop)))
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    stop.set()
    if collector is not None:
        collector.cancel()
    for thread in threads:
        thread.join()
    return [one for writer in writers for one in writer.took]


def main() -> None:
    """Fill, age, then writers with and without the job."""
    parser = argparse.ArgumentParser(description="Measure what a collection costs its writers.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=3, help="of each side of a round")
    arguments = parser.parse_args()

    workload = Workload(seed=4)
    stores = Stores.create(arguments.dsn, SCOPES, "memwarden_collection")
    stores.load(workload, 0, arguments.items, raw=False)
    stores.admin.execute(AGE)
    stores.admin.execute("VACUUM ANALYZE")
    agents = [psycopg.connect(stores.dsn, user=AGENT, autocommit=True) for _ in range(WRITERS)]
    # Looking only reads: what is measured is the taking.
    stores.admin.execute("SELECT memwarden_internal.list_layers_to_collect()")
    while stores.admin.execute(TAKING).fetchone() is None:
        stores.admin.execute("SELECT memwarden_internal.collect_step(500, 10, clock_timestamp())")
    p95(agents, workload, 2, stores.admin)
    beside: list[list[float]] = []
    alone: list[list[float]] = []
    before = stores.admin.execute(LEFT).fetchone()
    for number in range(arguments.rounds):
        for collecting in (True, False) if number % 2 else (False, True):
            (beside if collecting else alone).append(
                p95(agents, workload, arguments.seconds, stores.admin if collecting else None)
            )
    after = stores.admin.execute(LEFT).fetchone()
    version = stores.admin.info.parameter_status("server_version")
    print(f"{datetime.now(UTC):%Y-%m-%d}, PostgreSQL {version}, {machine()}\n")
    assert before is not None
    assert after is not None
    print(
        f"expired {(before[0] - after[0]) / arguments.rounds / arguments.seconds:,.0f} a second\n"
    )
    if not after[0]:
        raise SystemExit("everything was collected before the end: give more --items")
    print("| of a write, beside a collection | ms | without | ratio |\n|---|---|---|---|")
    for name, quantile in (("median", 9), ("p95", 18)):
        here, there = (
            statistics.median(statistics.quantiles(took, n=20)[quantile] for took in side)
            for side in (beside, alone)
        )
        print(f"| {name} | {here:.2f} | {there:.2f} | {here / there:.2f} |")


if __name__ == "__main__":
    main()
