#!/usr/bin/env python3
"""What a connection's first write costs, and how much memory a connection keeps for itself.

A plain write, as bytes.py makes it, on connection after connection, each new: processor time of its
server process. Then one connection writes and recalls a hundred times. Its memory is told as the
system tells it: what is private, and what of that is no file and no shared memory. Pages of the
shared buffers that no other process has touched yet count as private, though they are not.
"""

from __future__ import annotations

import argparse
import json
import statistics
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection

from bytes import memories
from measure import cpu_milliseconds
from store import AGENT, WRITE, Stores, grounds, scope_path
from workload import array_literal

DATABASE = "memwarden_connection"
RECALL = """
SELECT count(*) FROM memwarden.recall(query => %s, embedding => %s::real[], scope => %s)"""
SCOPES = 20
EACH = 100


def megabytes(connection: Connection[Any]) -> tuple[float, float]:
    """Private memory of the server process, and what of it is its own alone."""
    lines = Path(f"/proc/{connection.info.backend_pid}/smaps_rollup").read_text().splitlines()[1:]
    sizes = {name: int(size.split()[0]) for name, size in (line.split(":") for line in lines)}
    private = sizes["Private_Dirty"] + sizes["Private_Clean"]
    return private / 1024, sizes["Anonymous"] / 1024


def write(connection: Connection[Any], number: int, memory: tuple[str, list[float]]) -> None:
    """One plain write."""
    content, vector = memory
    scope = scope_path(number % SCOPES)
    evidence = json.dumps(grounds(content))
    connection.execute(WRITE, (content, scope, array_literal(vector), evidence))


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description="First write and memory of a connection.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()

    stores = Stores.create(arguments.dsn, SCOPES, DATABASE)
    made = iter(memories(200 + 2 * arguments.rounds + EACH))
    for number in range(200):
        stores.write(number % SCOPES, next(made))
    first: list[float] = []
    second: list[float] = []
    for number in range(arguments.rounds):
        with psycopg.connect(stores.dsn, user=AGENT, autocommit=True) as agent:
            agent.execute("SELECT 1")
            for times in (first, second):
                memory = next(made)
                times.append(cpu_milliseconds(agent, lambda: write(agent, number, memory)))  # noqa: B023
    print(f"{datetime.now(UTC):%Y-%m-%d}, {arguments.rounds} connections\n")
    print("| processor time of the server, median | ms |\n|---|---|")
    print(f"| first write of a connection | {statistics.median(first):.1f} |")
    print(f"| its second write | {statistics.median(second):.1f} |")
    print("\n| memory of a connection, MB | private | of that not shared at all |\n|---|---|---|")
    with psycopg.connect(stores.dsn, user=AGENT, autocommit=True) as agent:
        kept = list(memories(EACH))
        agent.execute("SELECT 1")
        print("| connected | {:.1f} | {:.1f} |".format(*megabytes(agent)))
        for number in range(EACH):
            write(agent, number, next(made))
        print("| {} writes | {:.1f} | {:.1f} |".format(EACH, *megabytes(agent)))
        for number, (content, vector) in enumerate(kept):
            words = json.loads(content)["text"][:40]
            agent.execute(RECALL, (words, array_literal(vector), scope_path(number % SCOPES)))
        print("| and {} recalls | {:.1f} | {:.1f} |".format(EACH, *megabytes(agent)))


if __name__ == "__main__":
    main()
