#!/usr/bin/env python3
"""Measure what a write and a recall cost in a large store beside a small one, in turns.

Both have scopes of the same size, so that only the store grows. Processor time of the server: what
else the machine does is not in it. A store that is there is used again.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection

from fill import Vectors, fill
from measure import Ratio, cpu_milliseconds, machine
from store import Stores, scope_path
from workload import Workload, array_literal

PER_SCOPE = 100
RECALL = "SELECT item_id FROM memwarden.recall(%s, %s::real[], scopes => ARRAY[%s])"


def filled(dsn: str, items: int, file: Path | None = None) -> Stores:
    """A store of that many items, made when it is missing or smaller."""
    database = f"memwarden_growth_{items}{'_real' if file else ''}"
    own = psycopg.conninfo.make_conninfo(dsn, dbname=database)
    scopes = items // PER_SCOPE
    try:
        with psycopg.connect(own) as connection:
            found = connection.execute("SELECT count(*) FROM memwarden_data.item").fetchone()
            if found and found[0] >= items:
                return Stores(own, scopes, made=True)
    except psycopg.Error:
        pass
    stores = Stores.create(dsn, scopes, database)
    workload = Workload(seed=items)
    places = [(number, PER_SCOPE) for number in range(scopes)]
    fill(stores, workload, Vectors(workload, file), places)
    return stores


def compared(
    name: str,
    budget: float,
    ours: tuple[Connection[Any], Callable[[int], object]],
    theirs: tuple[Connection[Any], Callable[[int], object]],
    rounds: int,
) -> Ratio:
    """Median processor time of two ways over interleaved rounds; some first rounds do not count."""
    taken: tuple[list[float], list[float]] = ([], [])
    for number in range(-20, rounds):
        for (connection, call), times in zip((ours, theirs), taken, strict=True):
            time = cpu_milliseconds(connection, lambda n=number, c=call: c(n))  # type: ignore[misc]
            if number >= 0:
                times.append(time)
    return Ratio(name, statistics.median(taken[0]), statistics.median(taken[1]), budget)


def main() -> None:
    """Fill both, measure in turns, print the ratios."""
    parser = argparse.ArgumentParser(description="Measure how cost grows with the store.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--small", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=200)
    arguments = parser.parse_args()
    rounds = arguments.rounds

    small, large = (filled(arguments.dsn, n) for n in (arguments.small, arguments.large))
    for stores in (small, large):
        stores.read_into_memory()
    workload = Workload(seed=int(datetime.now(UTC).timestamp()))
    memories = workload.memories(rounds + 20)
    queries = [" ".join(text.split()[:6]) for text in workload.texts(len(memories))]

    def write(stores: Stores, number: int) -> None:
        stores.write(number * 7919 % stores.scopes, memories[number])

    def recall(stores: Stores, number: int) -> None:
        path = scope_path(number * 7919 % stores.scopes)
        vector = array_literal(memories[number][1])
        stores.agent.execute(RECALL, (queries[number], vector, path)).fetchall()

    version = large.admin.info.parameter_status("server_version")
    print(f"{datetime.now(UTC):%Y-%m-%d}, PostgreSQL {version}, {machine()}\n")
    sizes = f"at {arguments.large:,}, ms | at {arguments.small:,}, ms"
    print(f"| what | {sizes} | ratio | budget | kept |")
    print("|---|---|---|---|---|---|")
    for name, call in (("write", write), ("recall in scope", recall)):
        at_large = (large.agent, lambda n, call=call: call(large, n))
        at_small = (small.agent, lambda n, call=call: call(small, n))
        print(compared(f"one {name}", 1.2, at_large, at_small, rounds).row(), flush=True)


if __name__ == "__main__":
    main()
