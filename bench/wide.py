#!/usr/bin/env python3
"""Measure recalls of all that an agent sees, in one scope of a hundred memories or a thousand.

One by one first, then by the index over copies that a job makes. What is found is compared with an
exact answer. Processor time of the server.
"""

from __future__ import annotations

import argparse
import statistics
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection, sql

from fill import Vectors
from growth import PER_SCOPE, filled
from measure import cpu_milliseconds, machine
from sizes import questions, share
from store import AGENT, Stores, scope_path
from workload import Workload, array_literal

COLUMNS = "item_id, score, similarity"
NEAREST_BY = (
    f"SELECT {COLUMNS} FROM memwarden.recall(embedding => %s::real[],"
    """ weights => '{"vector": %s}')"""
)
RECALL = f"SELECT {COLUMNS} FROM memwarden.recall(%s, %s::real[])"
# As little as this changes no order, and no index knows it.
EXACT_NEAREST = NEAREST_BY.replace("%s}", '1, "importance": 1e-9}')
EXACT_RECALL = (
    f"SELECT {COLUMNS} FROM memwarden.recall(%s, %s::real[], weights => "
    """jsonb_build_object('vector', 0.6::float8, 'keyword', 0.4::float8, 'importance', 1e-9))"""
)
NEAREST = NEAREST_BY.replace("%s}", "1}")
WIDTHS = (1, 20, 200, 1_000)


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


def asked(agent: Connection[Any], statement: str, exact: str, values: list[tuple[Any, ...]]) -> str:
    """Cells: the server's time of one recall, and the share found."""
    agent.execute(statement, values[0]).fetchall()
    times = [
        cpu_milliseconds(agent, lambda v=v: agent.execute(statement, v).fetchall())  # type: ignore[misc]
        for v in values
    ]
    found = [
        share(agent.execute(statement, v).fetchall(), agent.execute(exact, v).fetchall())
        for v in values
    ]
    return f"{statistics.median(times):.1f} | {statistics.mean(found):.3f}"


def main() -> None:
    """Fill, ask, make the index, ask again; print the table."""
    parser = argparse.ArgumentParser(description="Measure recalls over many small scopes.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--vectors", type=Path, help="an .npz file of real vectors to mix")
    arguments = parser.parse_args()
    stores = filled(arguments.dsn, arguments.items, arguments.vectors)
    stores.read_into_memory()
    admin, workload = stores.admin, Workload(seed=arguments.items)
    vectors = [
        array_literal(v) for v in Vectors(workload, arguments.vectors).draw(arguments.rounds)
    ]
    rare = questions(workload, arguments.rounds)
    common = [" ".join(text.split()[:6]) for text in workload.texts(arguments.rounds)]

    version = admin.info.parameter_status("server_version")
    print(f"{datetime.now(UTC):%Y-%m-%d}, PostgreSQL {version}, {machine()}\n")
    ways = ("by vector", "and rare words", "and common words")
    columns = " | ".join(f"{way}, ms | found" for way in ways)
    print(f"| scopes seen, of {stores.scopes:,} | memories | compared | {columns} |")
    print("|---" * 9 + "|")
    for how, arrange in (("one by one", False), ("by the index", True)):
        admin.execute("UPDATE memwarden_data.shelf SET vacated_at = now() WHERE shelf < 0")
        admin.execute("DELETE FROM memwarden_data.wide_shelf")
        if arrange:
            admin.execute("CALL memwarden.arrange_shelves()")
            admin.execute("VACUUM ANALYZE memwarden_data.embedding")
        for width in (width for width in WIDTHS if width <= stores.scopes):
            with seeing(stores, width) as agent:
                cells = [
                    asked(agent, NEAREST, EXACT_NEAREST, [(v,) for v in vectors]),
                    asked(agent, RECALL, EXACT_RECALL, list(zip(rare, vectors, strict=True))),
                    asked(agent, RECALL, EXACT_RECALL, list(zip(common, vectors, strict=True))),
                ]
            size = f"{width:,} | {width * PER_SCOPE:,}"
            print(f"| {size} | {how} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
