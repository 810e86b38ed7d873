#!/usr/bin/env python3
"""Measure what a write and a recall cost in a large store beside a small one, in turns.

Both have scopes of the same size, so that only the store grows. Filling a million takes half an
hour; a store that is there and large enough is used again.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

import psycopg

from measure import compare, machine
from store import Stores, scope_path
from workload import Workload, array_literal

PER_SCOPE = 100
RECALL = "SELECT item_id FROM memwarden.recall(%s, %s::real[], scopes => ARRAY[%s])"


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
    stores.load(Workload(seed=items), 0, items, raw=False)
    stores.admin.execute("VACUUM ANALYZE")
    return stores


def main() -> None:
    """Fill both, measure in turns, print the ratios."""
    parser = argparse.ArgumentParser(description="Measure how cost grows with the store.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--small", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=400)
    arguments = parser.parse_args()

    small, large = (filled(arguments.dsn, n) for n in (arguments.small, arguments.large))
    for stores in (small, large):
        stores.read_into_memory()
    workload = Workload(seed=int(datetime.now(UTC).timestamp()))
    memories = workload.memories(2 * arguments.rounds + 100)
    queries = [" ".join(text.split()[:6]) for text in workload.texts(len(memories))]

    def write(stores: Stores, number: int) -> None:
        stores.write(number * 7919 % stores.scopes, memories[number])

    def recall(stores: Stores, number: int) -> None:
        path = scope_path(number * 7919 % stores.scopes)
        vector = array_literal(memories[number][1])
        stores.agent.execute(RECALL, (queries[number], vector, path)).fetchall()

    ratios = [
        compare(
            f"one {name}",
            1.2,
            lambda n, call=call: call(large, n),  # type: ignore[misc]
            lambda n, call=call: call(small, n),  # type: ignore[misc]
            arguments.rounds,
            warmup=50,
        )
        for name, call in (("write", write), ("recall in scope", recall))
    ]
    version = large.admin.info.parameter_status("server_version")
    print(f"{datetime.now(UTC):%Y-%m-%d}, PostgreSQL {version}, {machine()}\n")
    sizes = f"at {arguments.large:,}, ms | at {arguments.small:,}, ms"
    print(f"| what | {sizes} | ratio | budget | kept |")
    print("|---|---|---|---|---|---|")
    for ratio in ratios:
        print(ratio.row())


if __name__ == "__main__":
    main()
