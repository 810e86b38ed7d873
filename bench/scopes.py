#!/usr/bin/env python3
"""Measure from which size on a scope is better searched by an index of its own.

Two stores hold the same memories in one scope. In one they lie on the shared shelf and are compared
one by one; in the other arrange_shelves() has given them a shelf. Both are asked in turns; while
the shelf is made, others write.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

from fill import Vectors, fill
from measure import Ratio, compare, machine
from store import Stores, scope_path
from workload import Workload, array_literal

RECALL = "SELECT item_id FROM memwarden.recall(%s, %s::real[], scopes => ARRAY[%s])"
NEAR = """
SELECT n ->> 'item_id'
  FROM memwarden_data.item AS i,
       jsonb_array_elements(memwarden_internal.neighbours(
           i.org_id, i.scope_id, i.layer, i.principal_id, i.label_id, 2::smallint,
           %s::real[]::halfvec, NULL, -1, now())) AS n
 WHERE i.item_id = %s"""


class Waits(threading.Thread):
    """A writer of one scope who keeps the time of its slowest write."""

    def __init__(self, stores: Stores, scope: int, memories: list[tuple[str, list[float]]]) -> None:
        super().__init__(daemon=True)
        self.stores, self.scope, self.memories = stores, scope, memories
        self.longest = 0.0
        self.done = threading.Event()

    def run(self) -> None:
        """Write until told to stop."""
        for memory in self.memories:
            if self.done.wait(0.02):
                return
            start = time.perf_counter()
            self.stores.write(self.scope, memory)
            self.longest = max(self.longest, (time.perf_counter() - start) * 1000)


def move(dsn: str, memories: list[tuple[str, list[float]]]) -> tuple[float, float, float]:
    """Run the job beside two writers: its seconds, and the longest wait in and beside the scope."""
    half = len(memories) // 2
    writers = [
        Waits(Stores(dsn, 3, made=True), scope, part)
        for scope, part in ((0, memories[:half]), (1, memories[half:]))
    ]
    with psycopg.connect(dsn, autocommit=True) as admin:
        for writer in writers:
            # The first write of a connection loads code.
            writer.stores.write(writer.scope, writer.memories.pop())
            writer.start()
        start = time.perf_counter()
        admin.execute("CALL memwarden.arrange_shelves()")
        seconds = time.perf_counter() - start
        for writer in writers:
            writer.done.set()
            writer.join()
        admin.execute("VACUUM ANALYZE memwarden_data.embedding_shared")
    return seconds, writers[0].longest, writers[1].longest


def overlap(ask: Callable[[Stores, int], list[Any]], one: Stores, other: Stores, n: int) -> float:
    """The share of what the first store answers that the second answers too."""
    shares = []
    for number in range(n):
        expected = ask(one, number)
        shares.append(len(set(expected) & set(ask(other, number))) / max(len(expected), 1))
    return sum(shares) / n


def measure(dsn: str, size: int, rounds: int, file: Path | None) -> str:
    """One line of the report."""
    workload = Workload(seed=size)
    vectors = Vectors(workload, file)
    name = f"memwarden_scopes_{size}"
    exact = Stores.create(dsn, 3, name)
    exact.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = 2147483647")
    fill(exact, workload, vectors, [(0, size)])
    first = exact.admin.execute("SELECT item_id FROM memwarden_data.item LIMIT 1").fetchone()
    assert first is not None
    exact.agent.close()
    exact.admin.close()
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name}_own WITH (FORCE)")
        admin.execute(f"CREATE DATABASE {name}_own TEMPLATE {name}")
    exact, own = (
        Stores(psycopg.conninfo.make_conninfo(dsn, dbname=database), 3, made=True)
        for database in (name, f"{name}_own")
    )
    own.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = %s", (size // 2,))
    count = 4 * rounds + 20_000
    memories = list(
        zip((text for text, _ in workload.memories(count)), vectors.draw(count), strict=True)
    )
    # What is written beside the move is written to both, so that both answer from the same.
    seconds, inside, outside = move(own.dsn, memories[4 * rounds :])
    copied = own.admin.execute("SELECT count(*) FROM memwarden_data.item").fetchone()
    # Words that are everywhere are in nobody's question; what remains are in a twentieth, or fewer.
    queries = [
        " ".join([word for word in text.split() if int(word.removeprefix("word")) >= 40][:6])
        for text in workload.texts(2 * rounds)
    ]
    path = scope_path(0)

    def recall(words: bool, stores: Stores, number: int) -> list[Any]:
        vector = array_literal(memories[number][1])
        asked = (queries[number] if words else None, vector, path)
        return [row[0] for row in stores.agent.execute(RECALL, asked).fetchall()]

    def near(stores: Stores, number: int) -> list[Any]:
        vector = array_literal(memories[number][1])
        return [row[0] for row in stores.admin.execute(NEAR, (vector, first[0])).fetchall()]

    def both(ask: Callable[[Stores, int], object], title: str, times: int) -> Ratio:
        return compare(title, 1.0, lambda n: ask(own, n), lambda n: ask(exact, n), times, warmup=3)

    assert copied is not None
    own.admin.execute(
        "DELETE FROM memwarden_data.embedding AS e USING memwarden_data.item AS i"
        " WHERE i.item_id = e.item_id AND i.created_at >"
        "   (SELECT min(created_at) FROM memwarden_data.item)"
    )
    found = [
        overlap(ask, exact, own, min(rounds, 50))
        for ask in (lambda s, n: recall(False, s, n), lambda s, n: recall(True, s, n), near)
    ]
    timed = [
        both(lambda s, n: recall(False, s, n), "recall by vector", rounds),
        both(lambda s, n: recall(True, s, n), "recall by vector and words", rounds),
        both(lambda s, n: s.write(0, memories[2 * rounds + n]), "write", rounds),
    ]
    cells = [f"{r.ours:.1f} / {r.theirs:.1f} = {r.value:.2f}" for r in timed]
    cells += [f"{share:.3f}" for share in found]
    cells += [f"{seconds:.1f}", f"{inside:.0f}", f"{outside:.0f}"]
    for stores in (exact, own):
        stores.agent.close()
        stores.admin.close()
    return f"| {size:,} | " + " | ".join(cells) + " |"


def main() -> None:
    """Measure each size, print the table."""
    parser = argparse.ArgumentParser(description="Measure scopes that have grown.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--sizes", default="1000,5000,10000,20000,50000")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--vectors", type=Path, help="an .npz file of real vectors to mix")
    arguments = parser.parse_args()
    print(f"{datetime.now(UTC):%Y-%m-%d}, {machine()}\n")
    print(
        "| memories in the scope | recall by vector, ms | by vector and words, ms | write, ms"
        " | recall@10 | with words | nearest 50 | move, s | wait in the scope, ms | elsewhere, ms |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for size in map(int, arguments.sizes.split(",")):
        print(measure(arguments.dsn, size, arguments.rounds, arguments.vectors), flush=True)


if __name__ == "__main__":
    main()
