#!/usr/bin/env python3
"""What it costs a single write that another profile is tried beside the present one.

Three copies of one store, in turns, in processor time of the server: plain writes, the same writes
through each gate by itself, and the same while a profile is tried, as observe_profile() has it.
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from functools import partial
from statistics import median
from typing import Any

import psycopg
from psycopg import Connection

from measure import cpu_milliseconds, machine
from store import DATABASE, Stores, grounds, scope_path
from workload import Workload, array_literal

SCOPES = 100
WRITE = """
SELECT outcome FROM memwarden.write('semantic', %s::jsonb, scope => %s, embedding => %s::real[],
                                    evidence => %s::jsonb, idempotency_key => %s)"""
TRIED = "SELECT memwarden.observe_profile('strict', NULL)"


def copy(server_dsn: str, number: int) -> Stores:
    """Make a copy of the store; return connections to it."""
    name = f"{DATABASE}_{number}"
    with psycopg.connect(server_dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {DATABASE}")
    return Stores(psycopg.conninfo.make_conninfo(server_dsn, dbname=name), SCOPES, made=True)


def write(
    agent: Connection[Any], memory: tuple[str, list[float]], number: int, key: str | None
) -> None:
    """One write; with a key of its own it passes each gate."""
    content, vector = memory
    given = (content, scope_path(number % SCOPES), array_literal(vector))
    row = agent.execute(WRITE, (*given, json.dumps(grounds(content)), key)).fetchone()
    if row is None or row[0] != "COMMITTED":
        raise SystemExit(f"not committed: {row}")


def main() -> None:
    """Fill a store, copy it, write to the copies in turns, print a table."""
    parser = argparse.ArgumentParser(description="Measure what trying a profile costs a write.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=200)
    arguments = parser.parse_args()

    workload = Workload(seed=20)
    filled = Stores.create(arguments.dsn, SCOPES)
    filled.load(workload, 0, arguments.items, raw=False)
    filled.admin.execute("VACUUM ANALYZE")
    for connection in (filled.admin, filled.agent):
        connection.close()
    plain, gates, tried = (copy(arguments.dsn, number) for number in range(3))
    tried.admin.execute(TRIED)
    memories = workload.memories(arguments.rounds + 1)
    sides = {
        "plain": (plain.agent, None),
        "each gate by itself": (gates.agent, "key"),
        "while a profile is tried": (tried.agent, None),
    }
    spent: dict[str, list[float]] = {what: [] for what in sides}
    for number, memory in enumerate(memories):
        for what, (agent, key) in sides.items():
            own = None if key is None else f"{key} {number}"
            spent[what].append(cpu_milliseconds(agent, partial(write, agent, memory, number, own)))

    print(f"{datetime.now(UTC):%Y-%m-%d}, {machine()}; {arguments.items:,} items\n")
    print("| a single write | ms | ratio |")
    print("|---|---|---|")
    first = median(spent["plain"][1:])
    for what, times in spent.items():
        print(f"| {what} | {median(times[1:]):.2f} | {median(times[1:]) / first:.2f} |")


if __name__ == "__main__":
    main()
