#!/usr/bin/env python3
"""What it costs to keep a memory encrypted under a key of its subject.

Three scopes of as many memories: of no class, of a class in clear, of one that is encrypted. Writes
and recalls in turns; processor time of the server.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
from psycopg import Connection

from measure import Ratio, compare
from workload import Workload

DATABASE = "memwarden_bench_encryption"
ROLE = "memwarden_bench_encryption"
SCOPES = ("none", "clear", "encrypted")
WRITE = """
SELECT outcome FROM memwarden.write('semantic', %s::jsonb, subject => %s, scope => %s, class => %s,
                                    embedding => %s::real[])"""
RECALL = "SELECT item_id FROM memwarden.recall(%s, %s::real[], scopes => ARRAY[%s])"


def create(server_dsn: str) -> Connection[Any]:
    """Make the database anew; connect as its agent."""
    with psycopg.connect(server_dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {DATABASE}")
    dsn = psycopg.conninfo.make_conninfo(server_dsn, dbname=DATABASE)
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute("CREATE EXTENSION memwarden CASCADE")
        admin.execute("SELECT * FROM memwarden.setup()")
        admin.execute("UPDATE memwarden_data.approval_policy SET approval = 'never'")
        admin.execute(
            "SELECT memwarden.configure_layer('semantic',"
            """ '{"fact_threshold": 0, "min_external": 0, "rate_limit": 1000000}')"""
        )
        for name in SCOPES:
            admin.execute("SELECT memwarden.create_scope(%s)", (f"/org/acme/user/{name}",))
        for name, encrypted in (("clear", False), ("encrypted", True)):
            admin.execute(
                "SELECT memwarden.define_write_class(%s, encrypted => %s, org => 'acme')",
                (name, encrypted),
            )
        if not admin.execute("SELECT FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchall():
            admin.execute(f"CREATE ROLE {ROLE} LOGIN IN ROLE memwarden_agent")
        register = "SELECT memwarden.register_agent('a', '/org/acme', %s, descendants => true)"
        admin.execute(register, (ROLE,))
    return psycopg.connect(dsn, user=ROLE, autocommit=True)


def main() -> None:
    """Fill three scopes, measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--subjects", type=int, default=5)
    parser.add_argument("--memories", type=int, default=100)
    arguments = parser.parse_args()
    workload = Workload(1)
    memories = workload.memories(4 * (arguments.memories + arguments.rounds) + 200)
    agent = create(arguments.dsn)

    def write(name: str, number: int) -> None:
        content, vector = memories[number]
        values = (content, f"person {number % arguments.subjects}", f"/org/acme/user/{name}")
        row = agent.execute(WRITE, (*values, None if name == "none" else name, vector)).fetchone()
        assert row == ("COMMITTED",), row

    def recall(name: str, number: int) -> None:
        content, vector = memories[number]
        agent.execute(RECALL, (content[10:60], vector, f"/org/acme/user/{name}")).fetchall()

    def at(call: Callable[[str, int], None], name: str, start: int, number: int) -> None:
        call(name, start + number)

    for name in SCOPES:
        for number in range(arguments.memories):
            write(name, number)
    ratios: list[Ratio] = []
    # Recalls first: the scopes are of one size then.
    for title, call in (("recall", recall), ("write", write)):
        for other in ("clear", "none"):
            start = arguments.memories + 30 + (arguments.rounds + 60) * (other == "none")
            ratios.append(
                compare(
                    f"{title}, beside {'a class in clear' if other == 'clear' else 'no class'}",
                    99,
                    partial(at, call, "encrypted", start),
                    partial(at, call, other, start),
                    arguments.rounds,
                    servers=(agent, agent),
                )
            )
    print("| what | encrypted, ms | in clear, ms | ratio |\n|---|---|---|---|")
    for ratio in ratios:
        print(f"| {ratio.name} | {ratio.ours:.2f} | {ratio.theirs:.2f} | {ratio.value:.2f} |")


if __name__ == "__main__":
    main()
