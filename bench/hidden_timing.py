#!/usr/bin/env python3
"""How long a write takes where its key is held by something hidden, beside one where it is free.

Both are answered alike; what may differ is the time that the question takes whether the writer may
see what is there. Two organisations of the same shape, written to in turns in random order; prints
one line: both medians, their difference with a bootstrap interval, and the standard deviation that
an observer has to see through.
"""

from __future__ import annotations

import argparse
import random
import statistics

import psycopg
from psycopg import Connection

from measure import milliseconds

DATABASE = "memwarden_bench_hidden"
SIDES = ("hidden", "absent")
WRITE = """
SELECT outcome FROM memwarden.write('semantic', %s::jsonb, subject => %s, predicate => 'is',
                                    scope => %s, classification => %s)"""


def create(server_dsn: str) -> str:
    """Make the database anew; return its connection string."""
    with psycopg.connect(server_dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {DATABASE}")
    dsn = psycopg.conninfo.make_conninfo(server_dsn, dbname=DATABASE)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION memwarden CASCADE")
        connection.execute("SELECT * FROM memwarden.setup()")
        connection.execute("UPDATE memwarden_data.approval_policy SET approval = 'never'")
        connection.execute(
            "SELECT memwarden.configure_layer('semantic',"
            """ '{"fact_threshold": 0, "min_external": 0, "rate_limit": 1000000}')"""
        )
        for side in SIDES:
            connection.execute("SELECT memwarden.create_scope(%s)", (scope(side),))
    return dsn


def scope(side: str) -> str:
    """Where a side writes."""
    return f"/org/{side}/user/ana"


def join(dsn: str, side: str, clearance: str) -> Connection[tuple[str]]:
    """Connect as an agent of a side."""
    role = f"memwarden_bench_{side}_{clearance}"
    with psycopg.connect(dsn, autocommit=True) as admin:
        if not admin.execute("SELECT FROM pg_roles WHERE rolname = %s", (role,)).fetchall():
            admin.execute(f"CREATE ROLE {role} LOGIN")
        admin.execute(f"GRANT memwarden_agent TO {role}")
        register = "SELECT memwarden.register_agent(%s, %s, %s, clearance => %s)"
        admin.execute(register, (role, scope(side), role, clearance))
    return psycopg.connect(dsn, user=role, autocommit=True)


def write(agent: Connection[tuple[str]], side: str, subject: str, level: str, text: str) -> None:
    """One write that must be accepted."""
    arguments = (f'{{"text": "{text}"}}', subject, scope(side), level)
    row = agent.execute(WRITE, arguments).fetchone()
    assert row == ("COMMITTED",), row


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", required=True, help="a superuser's, of the server to use")
    parser.add_argument("--rounds", type=int, default=2000)
    options = parser.parse_args()
    dsn = create(options.dsn)
    authors = {side: join(dsn, side, "confidential") for side in SIDES}
    writers = {side: join(dsn, side, "internal") for side in SIDES}
    times: dict[str, list[float]] = {side: [] for side in SIDES}
    for number in range(-100, options.rounds):
        for side in SIDES:  # as many rows on both, but only one holds the key that is written next
            held = f"subject {number}" if side == "hidden" else f"other {number}"
            write(authors[side], side, held, "confidential", f"secret {number}")
        for side in random.sample(SIDES, 2):
            took = milliseconds(
                lambda side=side, n=number: write(  # type: ignore[misc]
                    writers[side], side, f"subject {n}", "internal", f"note {n}"
                )
            )
            if number >= 0:
                times[side].append(took)
    pairs = [h - a for h, a in zip(times["hidden"], times["absent"], strict=True)]
    samples = sorted(statistics.median(random.choices(pairs, k=len(pairs))) for _ in range(1_000))
    hidden, absent = (statistics.median(times[side]) for side in SIDES)
    print(
        f"write: hidden {hidden:.3f} ms, absent {absent:.3f} ms; median difference of pairs "
        f"{statistics.median(pairs):+.3f} ms (95 %: {samples[25]:+.3f} to {samples[974]:+.3f}), "
        f"one write varies by {statistics.stdev(times['absent']):.3f} ms; {len(pairs)} rounds"
    )


if __name__ == "__main__":
    main()
