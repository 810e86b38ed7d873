#!/usr/bin/env python3
"""Measure the performance budget against a bare pgvector table in the same run.

Ratios, not times: both sides run in turns on one server, so a noisy machine slows both. Processor
time of the server: what else the machine does is not in it.
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from psycopg import Connection

from fill import Vectors, fill
from measure import Ratio, compare, machine
from store import AGENT, RAW_SEARCH, Stores, scope_path
from workload import Workload, array_literal, vector_literal

RECALL = "SELECT item_id FROM memwarden.recall(%s, %s::real[], scopes => ARRAY[%s])"
NEAREST = (
    "SELECT item_id FROM memwarden.recall(embedding => %s::real[], scopes => ARRAY[%s],"
    """ weights => '{"vector": 1}')"""
)
EXACT = """
SELECT e.item_id FROM memwarden_data.embedding AS e JOIN memwarden_data.scope AS s USING (scope_id)
 WHERE s.path = %s ORDER BY e.embedding <=> %s::halfvec, e.item_id LIMIT 10"""
# What a BI tool asks of an agent's memory: with policies by the agent, and by a superuser, whom no
# policy binds, with the same rows named in the query.
AGGREGATE = "SELECT kind, count(*), avg(confidence), max(updated_at) FROM memwarden_data.item"
SECURED = f"{AGGREGATE} GROUP BY kind"
UNSECURED = f"{AGGREGATE} WHERE org_id = ANY (%s) AND scope_id = ANY (%s) GROUP BY kind"


def writes(stores: Stores, workload: Workload, rounds: int) -> list[Ratio]:
    """One write beside one INSERT; a batch beside one INSERT of as many rows."""
    singles = workload.memories(2 * rounds + 100)
    batches = [workload.memories(1_000) for _ in range(12)]
    scopes = [n % stores.scopes for n in range(1_000)]
    single = compare(
        "one governed write",
        0.8,
        lambda n: stores.write(n % stores.scopes, singles[n]),
        lambda n: stores.raw_insert(n % stores.scopes, singles[rounds + n]),
        rounds,
        servers=(stores.agent, stores.admin),
    )
    batch = compare(
        "`write_many` of 1,000",
        0.35,
        lambda n: stores.write_many(scopes, batches[n]),
        lambda n: stores.raw_insert_many(scopes, batches[n]),
        rounds=6,
        warmup=1,
        servers=(stores.agent, stores.admin),
    )
    return [single, batch]


def reads(stores: Stores, workload: Workload, rounds: int) -> tuple[list[Ratio], float]:
    """Hybrid recall in a scope beside an HNSW search, row security beside none, and recall@10."""
    vectors = workload.vectors(rounds + 100).tolist()
    queries = [" ".join(text.split()[:6]) for text in workload.texts(rounds + 100)]
    recall = compare(
        "hybrid recall, top 10, in scope",
        1.8,
        lambda n: stores.agent.execute(
            RECALL, (queries[n], array_literal(vectors[n]), scope_path(n % stores.scopes))
        ).fetchall(),
        lambda n: stores.admin.execute(RAW_SEARCH, (vector_literal(vectors[n]),)).fetchall(),
        rounds,
        servers=(stores.agent, stores.admin),
    )
    with (
        stores.narrow_agent() as agent,
        psycopg.connect(stores.dsn, autocommit=True) as kept,
    ):
        kept.execute("SET plan_cache_mode = force_generic_plan")
        name = "row-level security, an agent of one scope"
        secured = [
            row_security(stores, agent, stores.admin, name, 1.1, rounds),
            row_security(stores, agent, kept, f"{name}, beside a kept plan", 1.4, rounds),
            row_security(
                stores,
                stores.agent,
                stores.admin,
                "row-level security, an agent that sees all",
                1.1,
                10,
            ),
        ]
    found = []
    for number in range(100):
        path = scope_path(number % stores.scopes)
        mine = stores.agent.execute(NEAREST, (array_literal(vectors[number]), path)).fetchall()
        exact = stores.admin.execute(EXACT, (path, vector_literal(vectors[number]))).fetchall()
        found.append(len(set(mine) & set(exact)) / max(len(exact), 1))
    return [recall, *secured], float(np.mean(found))


def row_security(
    stores: Stores,
    agent: Connection[Any],
    other: Connection[Any],
    name: str,
    budget: float,
    rounds: int,
) -> Ratio:
    """One query with the policies, and without them with the same rows named in it.

    PostgreSQL plans the latter anew each time, unless the other connection keeps plans.
    """
    seen = stores.seen_by(agent)
    return compare(
        name,
        budget,
        lambda _: agent.execute(SECURED).fetchall(),
        lambda _: other.execute(UNSECURED, seen).fetchall(),
        rounds,
        servers=(agent, other),
    )


def main() -> None:
    """Build the stores, measure, print and keep the report."""
    parser = argparse.ArgumentParser(description="Measure memwarden against a bare pgvector table.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--scopes", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--report", type=Path, default=Path("build/bench.json"))
    arguments = parser.parse_args()

    workload = Workload(seed=20)
    stores = Stores.create(arguments.dsn, arguments.scopes)
    each = arguments.items // arguments.scopes
    places = [(number, each) for number in range(arguments.scopes)]
    fill(stores, workload, Vectors(workload, None), places, raw=True)
    stores.index_raw()
    version = stores.admin.execute("SHOW server_version").fetchone()

    ratios = writes(stores, workload, arguments.rounds)
    read_ratios, recall_at_10 = reads(stores, workload, arguments.rounds)
    ratios += read_ratios

    print(f"{datetime.now(UTC):%Y-%m-%d}, PostgreSQL {version[0] if version else '?'}, {machine()}")
    print(f"{arguments.items:,} items in {arguments.scopes:,} scopes, 384 dimensions\n")
    print("| what | memwarden, ms | pgvector table, ms | ratio | budget | kept |")
    print("|---|---|---|---|---|---|")
    for ratio in ratios:
        print(ratio.row())
    print(f"\nrecall@10 of a vector recall in scope against an exact search: {recall_at_10:.3f}")

    arguments.report.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "ratios": {r.name: round(r.value, 3) for r in ratios},
        "recall_at_10": recall_at_10,
    }
    arguments.report.write_text(json.dumps(report, indent=2) + "\n")
    stores.admin.execute(f"DROP OWNED BY {AGENT}")


if __name__ == "__main__":
    main()
