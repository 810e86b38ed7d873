#!/usr/bin/env python3
"""Measure what a write and a recall cost in a large store beside a small one, in turns.

Both have scopes of the same size, so that only the store grows. Then recalls of agents that see
one, twenty or a thousand scopes, in the large one, of everything that they see. Processor time of
the server: what else the machine does is not in it. A store that is there is used again.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg import Connection, sql

from fill import Vectors, fill
from measure import Ratio, cpu_milliseconds, machine
from store import AGENT, Stores, scope_path
from workload import Workload, array_literal

PER_SCOPE = 100
RECALL = "SELECT item_id FROM memwarden.recall(%s, %s::real[], scopes => ARRAY[%s])"
RECALL_ALL = "SELECT item_id FROM memwarden.recall(%s, %s::real[])"
WIDTHS = (1, 20, 200, 1_000)


def filled(dsn: str, items: int) -> Stores:
    """A store of that many items, made when it is missing or smaller."""
    database = f"memwarden_growth_{items}"
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
    fill(stores, workload, Vectors(workload, None), places)
    return stores


def seeing(stores: Stores, scopes: int) -> Connection[Any]:
    """Connect as an agent that sees the first so many scopes."""
    role = f"{AGENT}_{scopes}"
    if not stores.admin.execute("SELECT FROM pg_roles WHERE rolname = %s", (role,)).fetchall():
        stores.admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
    stores.admin.execute(sql.SQL("GRANT memwarden_agent TO {}").format(sql.Identifier(role)))
    known = "SELECT FROM memwarden.agents WHERE agent = %s"
    if not stores.admin.execute(known, (role,)).fetchall():
        register = "SELECT memwarden.register_agent(%s, %s, %s)"
        stores.admin.execute(register, (role, scope_path(0), role))
        grant = "SELECT memwarden.grant_scope(%s, %s)"
        for number in range(1, scopes):
            stores.admin.execute(grant, (role, scope_path(number)))
        stores.admin.execute("ANALYZE memwarden_data.scope_grant")
    return psycopg.connect(stores.dsn, user=role, autocommit=True)


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

    print(f"\n| scopes seen, of {large.scopes:,} | memories | recall of all, ms |")
    print("|---|---|---|")
    for width in (width for width in WIDTHS if width <= large.scopes):
        with seeing(large, width) as agent:

            def recall_all(number: int, agent: Connection[Any] = agent) -> None:
                vector = array_literal(memories[number][1])
                agent.execute(RECALL_ALL, (queries[number], vector)).fetchall()

            recall_all(0)
            times = [
                cpu_milliseconds(agent, lambda n=n: recall_all(n))  # type: ignore[misc]
                for n in range(min(rounds, 20))
            ]
        print(f"| {width:,} | {width * PER_SCOPE:,} | {statistics.median(times):.1f} |", flush=True)


if __name__ == "__main__":
    main()
