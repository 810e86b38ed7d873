#!/usr/bin/env python3
"""Measure what every way of reading costs the server: statements a call, and processor time.

In a store that run.py has filled; each round asks in another scope. Statements are those that the
server runs inside a call, as auto_explain logs them.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg import Connection

from measure import cpu_milliseconds, machine
from memwarden import Client, MemoryManager
from store import AGENT, DATABASE, Stores, scope_path
from workload import Workload, array_literal

COUNTING = """
LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = off;
SET auto_explain.log_nested_statements = on; SET client_min_messages = log;"""
ITEM = """
SELECT i.item_id FROM memwarden_data.item AS i JOIN memwarden_data.scope AS s USING (scope_id)
 WHERE s.path = %s ORDER BY i.item_id LIMIT 1"""
RECALL = "SELECT * FROM memwarden.recall(%(query)s, %(vector)s::real[], scopes => ARRAY[%(scope)s])"
READS = {
    "`recall`": RECALL,
    "`recall` without a vector": (
        "SELECT * FROM memwarden.recall(%(query)s, scopes => ARRAY[%(scope)s])"
    ),
    "`explain_recall`": RECALL.replace("recall(", "explain_recall(", 1),
    "`compile_context`": (
        "SELECT * FROM memwarden.compile_context(%(query)s, %(vector)s::real[],"
        " scopes => ARRAY[%(scope)s])"
    ),
    "`get`": "SELECT * FROM memwarden.get(%(item)s)",
    "`history`": "SELECT * FROM memwarden.history(%(item)s)",
    "`as_of` of an item": (
        "SELECT * FROM memwarden.as_of(now() - interval '1 s', item_id => %(item)s)"
    ),
    "`as_of` of a scope": (
        "SELECT * FROM memwarden.as_of(now() - interval '1 s', scopes => ARRAY[%(scope)s])"
    ),
    "`push`": (
        "SELECT * FROM memwarden.push(task => %(query)s, embedding => %(vector)s::real[],"
        " scope => %(scope)s)"
    ),
}
Steps = dict[str, Callable[[], object]]


class Counter:
    """A connection that counts the statements of a call, and one that is timed."""

    def __init__(self, stores: Stores) -> None:
        self.stores = stores
        self.counting = psycopg.connect(stores.dsn, autocommit=True)
        self.counting.execute(COUNTING)
        self.counting.execute(f"SET SESSION AUTHORIZATION {AGENT}")
        self.counted = 0
        self.counting.add_notice_handler(self._count)

    def _count(self, diagnostic: psycopg.errors.Diagnostic) -> None:
        self.counted += "Query Text:" in (diagnostic.message_primary or "")

    def statements(self, call: Callable[[], object]) -> int:
        """How many statements a call on the counting connection runs, itself one of them."""
        self.counted = 0
        call()
        return self.counted


def turn(manager: MemoryManager, query: str) -> Steps:
    """The steps of a task, in the order in which a loop takes them."""
    return {
        "`task_start`": lambda: manager.task_start(query, ["look", "tell"]),
        "`before_llm_call`, chosen anew": lambda: manager.before_llm_call(refresh=True),
        "`before_llm_call`, kept": manager.before_llm_call,
        "`tool_call`": lambda: manager.tool_call("shell", query),
        "`observation`": lambda: manager.observation("shell", f"{query} was found"),
        "`note`": lambda: manager.note(query),
        "`turn_end`": lambda: manager.turn_end(step_done=True),
        "`search`": lambda: manager.search(query),
        "`complete`": lambda: manager.complete(query),
    }


def measured(stores: Stores, rounds: int) -> dict[str, tuple[list[int], list[float]]]:
    """Of each call its statements and its milliseconds, round by round."""
    counter, workload = Counter(stores), Workload(seed=23)
    vectors = workload.vectors(rounds + 5).tolist()
    queries = [" ".join(text.split()[:6]) for text in workload.texts(rounds + 5)]
    found: dict[str, tuple[list[int], list[float]]] = {}

    def take(
        name: str, number: int, counted: Callable[[], object], timed: Callable[[], object]
    ) -> None:
        counts, times = found.setdefault(name, ([], []))
        count, taken = counter.statements(counted), cpu_milliseconds(stores.agent, timed)
        if number >= 5:
            counts.append(count)
            times.append(taken)

    for number in range(rounds + 5):
        scope = scope_path(number % stores.scopes)
        item = stores.admin.execute(ITEM, (scope,)).fetchone()
        assert item is not None
        asked = {
            "query": queries[number],
            "vector": array_literal(vectors[number]),
            "scope": scope,
            "item": item[0],
        }

        def ask(connection: Connection[Any], query: str, asked: dict[str, Any] = asked) -> object:
            return connection.execute(query, asked).fetchall()

        for name, query in READS.items():
            take(
                name,
                number,
                lambda query=query: ask(counter.counting, query),  # type: ignore[misc]
                lambda query=query: ask(stores.agent, query),  # type: ignore[misc]
            )
        counted, timed = (
            turn(MemoryManager(Client(connection), scope=scope, fail_safe=False), queries[number])
            for connection in (counter.counting, stores.agent)
        )
        for name in timed:
            take(name, number, counted[name], timed[name])
    return found


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description="Measure what every way of reading costs.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--scopes", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=60)
    arguments = parser.parse_args()
    own = psycopg.conninfo.make_conninfo(arguments.dsn, dbname=DATABASE)
    stores = Stores(own, arguments.scopes, made=True)
    stores.agent.execute("SELECT 1")
    found = measured(stores, arguments.rounds)
    plain = statistics.median(found["`recall`"][1])
    print(f"{datetime.now(UTC):%Y-%m-%d}, {machine()}, {arguments.rounds} rounds\n")
    print("| call | statements | ms | beside `recall` |\n|---|---|---|---|")
    for name, (counts, times) in found.items():
        middle = statistics.median(times)
        print(f"| {name} | {statistics.median(counts):.0f} | {middle:.2f} | {middle / plain:.2f} |")


if __name__ == "__main__":
    main()
