#!/usr/bin/env python3
"""What the gates cost: writes through all, through some, and through those that storing needs.

One store, and copies of it with gates switched off, which nobody but a benchmark does. Beside a
bare pgvector table, in turns, in processor time of the server.
"""

from __future__ import annotations

import argparse
import re
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import psycopg
from psycopg import Connection

from fill import Vectors, fill
from measure import cpu_milliseconds, machine
from store import AGENT, DATABASE, Stores
from workload import Workload

SCOPES = 1_000
Memory = tuple[str, list[float]]
# Copies by the gates that stand in them.
COPIES = {
    "all gates": r".*",
    "but for those that compare with what is there, or ask a human": (
        r"gate_(?!28|29|36|37|45|50|52|60|65|78|80|88)"
    ),
    "who, where, the content's form and secrets, provenance, commit": (
        r"gate_(00|05|06|07|08|25|34|70|90|99)"
    ),
}
GATES = """
SELECT t.tgname FROM pg_trigger AS t
 WHERE t.tgrelid = 'memwarden_data.write_request'::regclass AND t.tgname LIKE 'gate\\_%'"""


def copy(server_dsn: str, number: int, only: str) -> Stores:
    """Make a copy of the store in which only some gates stand; return connections to it."""
    name = f"{DATABASE}_{number}"
    with psycopg.connect(server_dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {DATABASE}")
    stores = Stores(psycopg.conninfo.make_conninfo(server_dsn, dbname=name), SCOPES, made=True)
    for (gate,) in stores.admin.execute(GATES).fetchall():
        if not re.match(only, gate):
            stores.admin.execute(f"ALTER TABLE memwarden_data.write_request DISABLE TRIGGER {gate}")
    return stores


@dataclass(frozen=True)
class Side:
    """One line of the report: how it writes one memory and many, on which connection."""

    what: str
    server: Connection[Any]
    one: Callable[[int, Memory], object]
    many: Callable[[list[int], list[Memory]], object]


def in_turns(sides: list[Side], call: Callable[[Side, int], object], rounds: int) -> list[float]:
    """Median processor time of every side, the first round left out."""
    spent = [
        [cpu_milliseconds(side.server, partial(call, side, number)) for side in sides]
        for number in range(rounds + 1)
    ]
    return [statistics.median(times) for times in zip(*spent[1:], strict=True)]


def main() -> None:
    """Fill a store, copy it, write to the copies in turns, print a table."""
    parser = argparse.ArgumentParser(description="Measure what the gates cost.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--batches", type=int, default=8)
    arguments = parser.parse_args()

    workload = Workload(seed=20)
    filled = Stores.create(arguments.dsn, SCOPES)
    places = [(number, arguments.items // SCOPES) for number in range(SCOPES)]
    fill(filled, workload, Vectors(workload, None), places, raw=True)
    filled.index_raw()
    for connection in (filled.admin, filled.agent):
        connection.close()
    copies = [copy(arguments.dsn, number, only) for number, only in enumerate(COPIES.values())]
    sides = [
        Side(what, stores.agent, stores.write, stores.write_many)
        for what, stores in zip(COPIES, copies, strict=True)
    ]
    bare = copies[0]
    sides.append(Side("pgvector table", bare.admin, bare.raw_insert, bare.raw_insert_many))

    singles = workload.memories(arguments.rounds + 1)
    batches = [workload.memories(SCOPES) for _ in range(arguments.batches + 1)]
    scopes = list(range(SCOPES))
    ones = in_turns(sides, lambda side, n: side.one(n % SCOPES, singles[n]), arguments.rounds)
    many = in_turns(sides, lambda side, n: side.many(scopes, batches[n]), arguments.batches)

    print(f"{datetime.now(UTC):%Y-%m-%d}, {machine()}; {arguments.items:,} items in 1,000 scopes\n")
    print("| gates | one write, ms | ratio | 1,000 at once, ms | ratio |")
    print("|---|---|---|---|---|")
    for side, one, batch in zip(sides, ones, many, strict=True):
        ratios = one / ones[-1], batch / many[-1]
        print(f"| {side.what} | {one:.2f} | {ratios[0]:.2f} | {batch:.0f} | {ratios[1]:.2f} |")
    bare.admin.execute(f"DROP OWNED BY {AGENT}")


if __name__ == "__main__":
    main()
