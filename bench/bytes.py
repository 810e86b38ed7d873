#!/usr/bin/env python3
"""What a plain write takes on disk and in the write-ahead log (WAL), by table.

Plain writes go one by one through memwarden.write() into a fresh store: 120 bytes of text, a
vector of 384 dimensions and one piece of evidence, layer episodic. Nothing but bytes is measured,
so that a busy machine gives the same figures; the processor time beside them is for orientation.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from datetime import UTC, datetime
from typing import Any

from psycopg import Connection

from measure import cpu_milliseconds
from store import Stores
from workload import Workload

DATABASE = "memwarden_bytes"
# Partitions count as their table; a table's toast and that toast's index are its own.
SIZES = """
SELECT coalesce((SELECT p.relname FROM pg_class AS p WHERE p.oid = pg_partition_root(c.oid)),
                c.relname),
       sum(pg_relation_size(c.oid))::bigint, sum(pg_indexes_size(c.oid))::bigint,
       sum(coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0))::bigint
  FROM pg_class AS c
 WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind = 'r'
 GROUP BY 1"""
INDEXES = """
SELECT coalesce((SELECT p.relname FROM pg_class AS p WHERE p.oid = pg_partition_root(c.oid)),
                c.relname),
       sum(pg_relation_size(c.oid))::bigint
  FROM pg_class AS c
 WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind = 'i'
 GROUP BY 1"""
WAL = """
SELECT "resource_manager/record_type", combined_size::bigint, fpi_size::bigint, count::bigint
  FROM pg_get_wal_stats(%s, %s)
 ORDER BY 2 DESC"""
# What is logged of each table and index, without images of whole pages, and those.
RECORDS = """
SELECT coalesce(c.relname, 'others'), sum(w.record_length)::bigint,
       sum(coalesce(w.block_fpi_length, 0))::bigint
  FROM pg_get_wal_block_info(%s, %s) AS w
  LEFT JOIN pg_class AS c ON pg_relation_filenode(c.oid) = w.relfilenode
 GROUP BY 1"""
# Of the store alone: what autovacuum logs meanwhile, of the catalog, is in none of these records.
OWN = """
SELECT coalesce(sum(r.length - r.images), 0)::bigint
  FROM (SELECT w.start_lsn, max(w.record_length) AS length,
               sum(coalesce(w.block_fpi_length, 0)) AS images
          FROM pg_get_wal_block_info(%s, %s) AS w
          JOIN pg_class AS c ON pg_relation_filenode(c.oid) = w.relfilenode
         WHERE c.relnamespace = 'memwarden_data'::regnamespace
         GROUP BY w.start_lsn) AS r"""
TEXT_BYTES = 120
# Writes that come before what is measured: every table has its first pages by then.
WARM = 200


def memories(count: int) -> list[tuple[str, list[float]]]:
    """Contents whose text has exactly 120 bytes, and their vectors."""
    workload = Workload(seed=7)
    chance = random.Random(7)
    made = []
    for content, vector in workload.memories(count):
        text = json.loads(content)["text"]
        while len(text) < TEXT_BYTES:
            text += " " + chance.choice(text.split())
        made.append(
            (json.dumps({"text": text[:TEXT_BYTES].strip().ljust(TEXT_BYTES, "x")}), vector)
        )
    return made


def sizes(admin: Connection[Any], query: str) -> dict[str, tuple[int, ...]]:
    """Bytes by table or index."""
    return {name: tuple(numbers) for name, *numbers in admin.execute(query).fetchall()}


def position(admin: Connection[Any]) -> str:
    """Where the WAL has come to."""
    row = admin.execute("SELECT pg_current_wal_insert_lsn()::text").fetchone()
    assert row is not None
    return str(row[0])


def table(
    heading: str,
    before: dict[str, tuple[int, ...]],
    after: dict[str, tuple[int, ...]],
    writes: int,
) -> None:
    """Print what has grown, the largest first."""
    grown = [
        (name, [(new - old) / writes for new, old in zip(after[name], before[name], strict=True)])
        for name in after
    ]
    columns = [sum(numbers) for numbers in zip(*(numbers for _, numbers in grown), strict=True)]
    print(f"\n| {heading} |\n|{'---|' * (heading.count('|') + 1)}")
    for name, numbers in [*sorted(grown, key=lambda row: -sum(row[1])), ("**all**", columns)]:
        if sum(numbers) >= 1:
            shown = numbers if len(numbers) == 1 else [*numbers, sum(numbers)]
            print(f"| {name} | " + " | ".join(f"{number:,.0f}" for number in shown) + " |")


def main() -> None:
    """Write, and print what has grown."""
    parser = argparse.ArgumentParser(description="Bytes of a plain write.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--writes", type=int, default=2_000)
    parser.add_argument("--scopes", type=int, default=20)
    arguments = parser.parse_args()
    writes = arguments.writes

    stores = Stores.create(arguments.dsn, arguments.scopes, DATABASE)
    admin = stores.admin
    admin.execute("CREATE EXTENSION IF NOT EXISTS pg_walinspect")
    made = memories(writes + WARM)
    for number, memory in enumerate(made[:WARM]):
        stores.write(number % arguments.scopes, memory)
    admin.execute("CHECKPOINT")
    tables, indexes = sizes(admin, SIZES), sizes(admin, INDEXES)
    start = position(admin)
    times = [
        cpu_milliseconds(stores.agent, lambda n=n, m=m: stores.write(n % arguments.scopes, m))  # type: ignore[misc]
        for n, m in enumerate(made[WARM:])
    ]
    end = position(admin)
    print(
        f"{datetime.now(UTC):%Y-%m-%d}, {writes} writes in {arguments.scopes} scopes, bytes a write"
    )
    table("table | heap | indexes | toast | all", tables, sizes(admin, SIZES), writes)
    table("index | bytes", indexes, sizes(admin, INDEXES), writes)
    print("\n| WAL | bytes | of these full-page images | records |\n|---|---|---|---|")
    stats = admin.execute(WAL, (start, end)).fetchall()
    for name, size, images, count in stats:
        if size:
            shares = (size / writes, images / writes, count / writes)
            print("| {} | {:,.0f} | {:,.0f} | {:,.1f} |".format(name, *shares))
    size, images, count = (sum(row[n] for row in stats) / writes for n in (1, 2, 3))
    print(f"| **all** | {size:,.0f} | {images:,.0f} | {count:,.1f} |")
    own = admin.execute(OWN, (start, end)).fetchone()
    assert own is not None
    print(f"| of the store, without images | {own[0] / writes:,.0f} | | |")
    print("\n| logged of | bytes | of these full-page images |\n|---|---|---|")
    for name, size, images in sorted(admin.execute(RECORDS, (start, end)), key=lambda r: -r[1]):
        if size >= 10 * writes:
            print(f"| {name} | {size / writes:,.0f} | {images / writes:,.0f} |")
    print(f"\nprocessor time of the server, median: {statistics.median(times):.2f} ms a write")


if __name__ == "__main__":
    main()
