#!/usr/bin/env python3
"""Measure what recall finds, and what it costs the server, in scopes of ten to a million memories.

Every answer is compared with an exact one: of vectors by a plain query, of vectors and words by a
recall that weighs something no index knows, and so scores every memory of the scope.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection

from fill import Vectors, fill
from measure import cpu_milliseconds, machine
from store import Stores, scope_path
from workload import Workload, array_literal, vector_literal

COLUMNS = "item_id, score, similarity"
RECALL = f"SELECT {COLUMNS} FROM memwarden.recall(%s, %s::real[], scopes => ARRAY[%s])"
NEAREST = (
    f"SELECT {COLUMNS} FROM memwarden.recall(embedding => %s::real[], scopes => ARRAY[%s],"
    """ weights => '{"vector": 1}')"""
)
# As little as this changes no order: all memories of the store are equally important.
EXACT_RECALL = (
    f"SELECT {COLUMNS} FROM memwarden.recall(%s, %s::real[], scopes => ARRAY[%s], weights => "
    """jsonb_build_object('vector', %s::float8, 'keyword', 1 - %s::float8, 'importance', 1e-9))"""
)
EXACT = """
SELECT e.item_id, 0, 1 - (e.embedding <=> %s::halfvec) FROM memwarden_data.embedding AS e
 WHERE e.scope_id = (SELECT s.scope_id FROM memwarden_data.scope AS s WHERE s.path = %s)
 ORDER BY e.embedding <=> %s::halfvec, e.item_id LIMIT 10"""
FILTERED = (
    f"SELECT {COLUMNS} FROM memwarden.recall(%s, %s::real[], scopes => ARRAY[%s], subject => %s)"
)
# How much of a scope a subject is said of.
SHARES = {"a tenth": 10, "a thousandth": 1000}


@dataclass
class Asked:
    """A way to ask, and how the same is asked exactly."""

    ask: Callable[[int], list[Any]]
    exact: Callable[[int], list[Any]]


def share(found: list[Any], expected: list[Any]) -> float:
    """The share of the expected that was found; what is exactly as good counts as found."""
    if not expected:
        return 1.0
    worst = min((round(row[1], 9), round(row[2] or 0, 6)) for row in expected)
    wanted = {row[0] for row in expected}
    hits = sum(
        row[0] in wanted or (round(row[1], 9), round(row[2] or 0, 6)) >= worst for row in found
    )
    return min(hits, len(expected)) / len(expected)


def store_of(dsn: str, sizes: list[int], over: float, file: Path | None) -> Stores:
    """A store with one scope of each size; one that is there is used again."""
    name = f"memwarden_sizes_{'_'.join(map(str, sizes))}"
    if over:
        name += f"_over_{round(over * 100)}"
    own = psycopg.conninfo.make_conninfo(dsn, dbname=name)
    try:
        with psycopg.connect(own) as connection:
            found = connection.execute("SELECT count(*) FROM memwarden_data.item").fetchone()
            if found and found[0] > sum(sizes):
                return Stores(own, len(sizes), made=True)
    except psycopg.Error:
        pass
    stores = Stores.create(dsn, len(sizes), name)
    workload = Workload(seed=len(sizes))
    fill(stores, workload, Vectors(workload, file), list(enumerate(sizes)))
    stores.admin.execute(
        "UPDATE memwarden_data.item SET subject = CASE WHEN random() < 0.001 THEN 'a thousandth'"
        " WHEN random() < 0.1 THEN 'a tenth' END"
    )
    stores.admin.execute(
        "UPDATE memwarden_data.item SET created_at = created_at - interval '90 days',"
        "       updated_at = updated_at - interval '90 days' WHERE random() < %s",
        (over,),
    )
    stores.admin.execute("CALL memwarden.arrange_shelves()")
    stores.admin.execute("VACUUM ANALYZE")
    return stores


def questions(workload: Workload, count: int) -> list[str]:
    """Six words each; those that are nearly everywhere are in nobody's question."""
    return [
        " ".join([word for word in text.split() if int(word.removeprefix("word")) >= 40][:6])
        for text in workload.texts(count)
    ]


def measured(agent: Connection[Any], asked: Asked, rounds: int, exact_rounds: int) -> str:
    """Cells: the share found, and the server's time of one recall."""
    asked.ask(0)
    found = [share(asked.ask(n), asked.exact(n)) for n in range(exact_rounds)]
    times = [cpu_milliseconds(agent, lambda n=n: asked.ask(n)) for n in range(rounds)]  # type: ignore[misc]
    return f"{statistics.mean(found):.3f} | {statistics.median(times):.1f}"


def row(
    stores: Stores, number: int, size: int, file: Path | None, rounds: int, exact_rounds: int
) -> str:
    """One line of the report: a size."""
    agent, admin, path = stores.agent, stores.admin, scope_path(number)
    workload = Workload(seed=1000 + number)
    vectors = Vectors(workload, file).draw(rounds)
    rare, common = (
        questions(workload, rounds),
        [" ".join(t.split()[:6]) for t in workload.texts(rounds)],
    )
    weight = admin.execute(
        "SELECT vector_weight FROM memwarden_data.embedding_model WHERE name = 'default'"
    ).fetchone()
    assert weight is not None
    admin.execute("SET enable_indexscan = off")

    def hybrid(queries: list[str], subject: str | None = None) -> Asked:
        def ask(n: int) -> list[Any]:
            values = (queries[n], array_literal(vectors[n]), path)
            if subject:
                return agent.execute(FILTERED, (*values, subject)).fetchall()
            return agent.execute(RECALL, values).fetchall()

        def exact(n: int) -> list[Any]:
            statement = EXACT_RECALL
            values = [queries[n], array_literal(vectors[n]), path, weight[0], weight[0]]
            if subject:
                statement = statement[:-1] + ", subject => %s)"
                values.append(subject)
            return agent.execute(statement, values).fetchall()

        return Asked(ask, exact)

    near = Asked(
        lambda n: agent.execute(NEAREST, (array_literal(vectors[n]), path)).fetchall(),
        lambda n: [
            (item, score, similarity)
            for item, score, similarity in admin.execute(
                EXACT, (vector_literal(vectors[n]), path, vector_literal(vectors[n]))
            ).fetchall()
        ],
    )
    cells = [
        measured(agent, asked, rounds, exact_rounds)
        for asked in (near, hybrid(rare), hybrid(common), *(hybrid(rare, s) for s in SHARES))
    ]
    return f"| {size:,} | " + " | ".join(cells) + " |"


def main() -> None:
    """Fill, ask, print the table."""
    parser = argparse.ArgumentParser(description="Measure scopes of many sizes.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--sizes", default="10,100,1000,10000,50000,100000")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--exact-rounds", type=int, default=50, help="compared with exact answers")
    parser.add_argument("--over", type=float, default=0, help="the share whose soft lifetime is")
    parser.add_argument("--vectors", type=Path, help="an .npz file of real vectors to mix")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    stores = store_of(arguments.dsn, sizes, arguments.over, arguments.vectors)
    version = stores.admin.info.parameter_status("server_version")
    print(f"{datetime.now(UTC):%Y-%m-%d}, PostgreSQL {version}, {machine()}\n")
    ways = ["by vector", "and words", "and common words", *(f"of {name}" for name in SHARES)]
    print("| memories in the scope | " + " | ".join(f"{way}: found | ms" for way in ways) + " |")
    print("|---" * (1 + 2 * len(ways)) + "|")
    for number, size in enumerate(sizes):
        print(
            row(
                stores,
                number,
                size,
                arguments.vectors,
                arguments.rounds,
                min(arguments.rounds, arguments.exact_rounds),
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
