#!/usr/bin/env python3
"""Measure what questions about the past, and work beside it, cost with a long and a short history.

Both stores hold as many memories in the same scopes at any time; ten thousand versions lie behind
those of the one, a million behind those of the other. Then all that is over moves to other tiers,
and the same is asked again. Filling takes some minutes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from measure import compare, machine
from past import LARGE, LONG_ITEM, LONG_SCOPE, SCOPES, SMALL, Past, filled
from store import scope_path
from workload import Workload, array_literal

MOMENTS = {"now": None, "recently": 0.99, "midway": 0.5, "near the beginning": 0.01}
SCOPE_AS_OF = "SELECT item_id FROM memwarden.as_of(%s, %s, scopes => ARRAY[%s])"
ITEM_AS_OF = "SELECT version FROM memwarden.as_of(%s, %s, item_id => %s)"
DIFF_STORE = "SELECT item_id FROM memwarden.diff_store(%s, %s, scope => %s)"
RECALL = "SELECT item_id FROM memwarden.recall(%s, %s::real[], scopes => ARRAY[%s])"
GET = "SELECT item_id FROM memwarden.get(%s)"
WRITE = """
SELECT outcome FROM memwarden.write(
    'semantic', %s::jsonb, scope => %s, subject => %s, predicate => 'is', embedding => %s::real[],
    valid_from => %s, valid_to => %s)"""
Call = Callable[[Past, int], object]


def scope_of(number: int) -> str:
    """Scopes in turns, but for the long one and that of the long item."""
    return scope_path(number * 7919 % SCOPES)


def ask(past: Past, statement: str, *arguments: object) -> list[Any]:
    """What the agent of the store is answered."""
    return past.stores.agent.execute(statement, arguments).fetchall()


def at_moments(name: str, call: Callable[[Past, int, datetime | None], object]) -> dict[str, Call]:
    """The same question about each of the moments."""

    def at(part: float | None) -> Call:
        return lambda past, n: call(past, n, None if part is None else past.moment(part))

    return {f"{name}, {moment}": at(part) for moment, part in MOMENTS.items()}


def questions() -> dict[str, Call]:
    """What is asked about the past: both stores answer with about as many rows."""
    long_scope = scope_path(LONG_SCOPE)
    return {
        **at_moments(
            "`as_of` of a scope", lambda p, n, t: ask(p, SCOPE_AS_OF, t, None, scope_of(n))
        ),
        **at_moments(
            "`as_of` of the long scope", lambda p, _n, t: ask(p, SCOPE_AS_OF, t, None, long_scope)
        ),
        **at_moments(
            "`as_of` of the long item", lambda p, _n, t: ask(p, ITEM_AS_OF, t, None, p.long_item)
        ),
        "what is held now of midway, of a scope": lambda p, n: ask(
            p, SCOPE_AS_OF, None, p.moment(0.5), scope_of(n)
        ),
        "what is held now of midway, of the long item": lambda p, _n: ask(
            p, ITEM_AS_OF, None, p.moment(0.5), p.long_item
        ),
        "what was held midway of the beginning, of the long item": lambda p, _n: ask(
            p, ITEM_AS_OF, p.moment(0.5), p.moment(0.1), p.long_item
        ),
        "`diff` of two versions of the long item": lambda p, _n: ask(
            p, "SELECT path FROM memwarden.diff(%s, 2, 9)", p.long_item
        ),
        "`diff_store` of a scope, ten changes": lambda p, n: ask(
            p, DIFF_STORE, *p.ten_changes[n % SCOPES], scope_path(n % SCOPES)
        ),
    }


def present(workload: Workload, rounds: int) -> dict[str, Call]:
    """What is done beside the past."""
    memories = workload.memories(rounds + 100)
    queries = [" ".join(text.split()[:6]) for text in workload.texts(len(memories))]
    vectors = [array_literal(vector) for _, vector in memories]
    long_scope, own_scope = scope_path(LONG_SCOPE), scope_path(LONG_ITEM)

    def write(past: Past, n: int, path: str, place: int, *valid: datetime) -> None:
        content = json.dumps({"text": f"{queries[n]} {datetime.now(UTC)}"})
        period = valid or (None, None)
        outcome = ask(past, WRITE, content, path, f"place-{place}", vectors[n], *period)
        if outcome != [("COMMITTED",)]:
            raise SystemExit(f"a write: {outcome}")

    return {
        "`get`": lambda p, n: ask(p, GET, p.current[n % len(p.current)]),
        "`get` of the long item": lambda p, _n: ask(p, GET, p.long_item),
        "`recall` in a scope": lambda p, n: ask(p, RECALL, queries[n], vectors[n], scope_of(n)),
        "`recall` in the long scope": lambda p, n: ask(
            p, RECALL, queries[n], vectors[n], long_scope
        ),
        "a new value, in a scope": lambda p, n: write(p, n, scope_of(n), 4 * (n % 25)),
        "a new value, in the long scope": lambda p, n: write(p, n, long_scope, 4 * (n % 25)),
        "a new value of the long item": lambda p, n: write(p, n, own_scope, 0),
        "a correction of the past of the long item": lambda p, n: write(
            p, n, own_scope, 0, p.moment(0.5 + n / 1e4), p.moment(0.5 + (n + 0.5) / 1e4)
        ),
    }


def put_away(past: Past) -> None:
    """Move all that is over: the newer half to the warm tier, the older to the cold one."""
    past.stores.admin.execute(
        "UPDATE memwarden_data.layer"
        "   SET warm_after = '0', cold_after = clock_timestamp() - %s::timestamptz",
        (past.moment(0.5),),
    )
    past.stores.admin.execute("CALL memwarden.compact_history()")
    past.stores.admin.execute("VACUUM ANALYZE")


def report(title: str, large: Past, small: Past, calls: dict[str, Call], rounds: int) -> None:
    """Each call on both stores in turns: a table."""
    sizes = f"{large.versions:,} versions, ms | {small.versions:,} versions, ms"
    print(f"\n{title}\n\n| what | {sizes} | ratio | budget | kept |\n|---|---|---|---|---|---|")
    for name, call in calls.items():
        ratio = compare(name, 1.2, partial(call, large), partial(call, small), rounds, warmup=30)
        print(ratio.row(), flush=True)


def main() -> None:
    """Fill both, measure, put what is over away, measure again."""
    parser = argparse.ArgumentParser(description="Measure how cost grows with history.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--rounds", type=int, default=200)
    arguments = parser.parse_args()

    small, large = (filled(arguments.dsn, size) for size in (SMALL, LARGE))
    workload = Workload(seed=int(datetime.now(UTC).timestamp()))
    calls = questions() | present(workload, arguments.rounds)
    version = large.stores.admin.info.parameter_status("server_version")
    print(f"{datetime.now(UTC):%Y-%m-%d}, PostgreSQL {version}, {machine()}")
    for past in (small, large):
        past.stores.read_into_memory()
    report("Nothing put away:", large, small, calls, arguments.rounds)
    for past in (small, large):
        put_away(past)
        past.stores.read_into_memory()
    title = "All that is over in the warm and cold tiers:"
    report(title, large, small, calls, arguments.rounds)


if __name__ == "__main__":
    main()
