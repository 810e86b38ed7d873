#!/usr/bin/env python3
"""Measure what figures cost: to look at them in a large store, to take them, and to writers beside.

The memories are made as growth.py makes them; the counts of ten million writes and a month of every
metric are put into the tables that the job fills. Nothing is recorded at a write or a recall, so
what these cost is measured with the job running beside them all the time, in turns.
"""

from __future__ import annotations

import argparse
import statistics
import threading
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg import Connection

from growth import RECALL, filled
from measure import cpu_milliseconds, machine, milliseconds
from store import Stores, scope_path
from workload import Workload, array_literal

ORGS, AGENTS, DAYS = 10, 100, 31
# Counts of recalls and decisions are kept for longer.
KEPT = 400
BUDGET = 100.0
VIEWS = (
    *("metrics", "health", "rejection_reasons", "gate_latency", "write_latency"),
    *("duplicate_tiers", "correctness_impact"),
    *("memory_errors", "revalidations", "leaked_memories"),
    *("write_facts", "decision_facts", "recall_facts", "job_facts"),
    *("dim_organisation", "dim_scope", "dim_agent", "dim_layer", "dim_gate", "dim_reason"),
    *("dim_day", "metric_history('health')"),
)
# Ten organisations, of ten agents each: each writes in two layers, in four ways, every hour.
PLANT = (
    "SELECT memwarden.create_scope('/org/bench' || n) FROM generate_series(1, %(orgs)s) AS n",
    "CREATE TEMP TABLE org AS SELECT org_id, row_number() OVER () AS n"
    "  FROM memwarden_data.organisation WHERE name LIKE 'bench%%'",
    "SELECT memwarden.register_agent('bench-' || n, '/org/bench' || (1 + n %% %(orgs)s))"
    "  FROM generate_series(1, %(agents)s) AS n",
    "CREATE TEMP TABLE hour AS SELECT date_trunc('hour', now()) - n * interval '1 hour' AS hour"
    "  FROM generate_series(0, 24 * %(days)s - 1) AS n",
    "INSERT INTO memwarden_data.write_hour"
    " SELECT p.org_id, h.hour, l, p.principal_id, o.outcome, o.gate, o.reason, o.writes, 0"
    "  FROM hour AS h, org AS g JOIN memwarden_data.principal AS p USING (org_id),"
    "  unnest('{semantic,episodic}'::text[]) AS l,"
    "  (VALUES ('COMMITTED', '-', '-', 45), ('MERGED', '38_known', '-', 10),"
    "   ('REJECTED', '38_known', 'EXACT_DUPLICATE', 8),"
    "   ('REJECTED', '25_schema', 'SCHEMA_VIOLATION', 5)) AS o (outcome, gate, reason, writes)"
    " WHERE p.name LIKE 'bench-%%'",
    "INSERT INTO memwarden_data.write_day"
    " SELECT org_id, (hour AT TIME ZONE 'UTC')::date, layer, principal_id, outcome, gate, reason,"
    "  sum(writes), sum(retried) FROM memwarden_data.write_hour GROUP BY 1, 2, 3, 4, 5, 6, 7",
    "INSERT INTO memwarden_data.gate_hour SELECT g.org_id, h.hour, t, b, 100"
    "  FROM hour AS h, org AS g, generate_series(28, 40) AS b,"
    "  (SELECT substr(tgname, 6) AS t FROM pg_trigger"
    "    WHERE tgrelid = 'memwarden_data.write_request'::regclass AND tgname ~ '^gate_') AS t",
    "INSERT INTO memwarden_data.metric_point"
    " SELECT g.org_id, d.metric, '*', h.hour, 0.5, 100, 'OK', h.hour, now()"
    "  FROM hour AS h, org AS g, memwarden_internal.metric_definitions() AS d",
    "INSERT INTO memwarden_data.recall_day"
    " SELECT p.org_id, current_date - d, p.principal_id, u, l, 100, 90, 900, 10, 50, 45, 30, 40,"
    "  450, 300 FROM generate_series(0, %(kept)s - 1) AS d, org AS g"
    "  JOIN memwarden_data.principal AS p USING (org_id), unnest('{recall,push}'::text[]) AS u,"
    "  unnest('{*,semantic,episodic}'::text[]) AS l WHERE p.name LIKE 'bench-%%'",
    # Twenty decisions a day in each organisation, and some proposals that wait.
    "INSERT INTO memwarden_data.review (org_id, request_id, scope_id, layer, label_id,"
    "  principal_id, tier, reasons, risk, factors, report, state, needed, four_eyes, opened_at,"
    "  due_at, expires_at, decided_at)"
    " SELECT p.org_id, gen_random_uuid(), p.home_scope_id, 'semantic', 1, p.principal_id, 'async',"
    "  '{ALWAYS}', 0.5, '{}', '{}', s, 1, false, t.at - interval '3 hours', t.at, t.at,"
    "  CASE WHEN s <> 'pending' THEN t.at END"
    "  FROM generate_series(0, %(kept)s - 1) AS d, org AS g"
    "  JOIN memwarden_data.principal AS p USING (org_id),"
    "  unnest('{approved,rejected,pending}'::text[]) AS s,"
    "  LATERAL (SELECT now() - d * interval '1 day') AS t (at)"
    "  WHERE p.name LIKE 'bench-%%' AND (s <> 'pending' OR d < 7)",
    "ANALYZE memwarden_data.write_hour, memwarden_data.write_day, memwarden_data.gate_hour,"
    "  memwarden_data.metric_point, memwarden_data.recall_day, memwarden_data.review",
)


def plant(admin: Connection[Any]) -> None:
    """Put in what the job would have counted; once."""
    found = admin.execute("SELECT count(*) FROM memwarden_data.write_hour").fetchone()
    if found is None or not found[0]:
        for statement in PLANT:
            admin.execute(statement, {"orgs": ORGS, "agents": AGENTS, "days": DAYS, "kept": KEPT})


def look(dsn: str) -> None:
    """Print how long each view takes who sees all: medians of five, after one.

    What other work does meanwhile is in the time that passes, and not in the server's.
    """
    print("| view | rows | ms | of the server, ms | budget | kept |\n|---|---|---|---|---|---|")
    with psycopg.connect(dsn, autocommit=True) as dba:
        for view in VIEWS:
            query = f"SELECT * FROM memwarden.{view}"
            rows = len(dba.execute(query).fetchall())

            def ask(q: str = query) -> object:
                return dba.execute(q).fetchall()

            took = statistics.median(milliseconds(ask) for _ in range(5))
            busy = statistics.median(cpu_milliseconds(dba, ask) for _ in range(5))
            kept = "yes" if took <= BUDGET else "**no**"
            figures = f"{rows:,} | {took:.1f} | {busy:.1f} | {BUDGET:g} | {kept}"
            print(f"| {view} | {figures} |", flush=True)


def beside(stores: Stores, rounds: int) -> None:
    """Print what a write and a recall cost with the job beside them, over what they cost alone."""
    workload = Workload(seed=int(datetime.now(UTC).timestamp()))
    memories = workload.memories(2 * rounds)
    words = [" ".join(text.split()[:6]) for text in workload.texts(len(memories))]
    taken: dict[tuple[str, bool], list[float]] = {}
    stop = threading.Event()
    runs = [0]

    def measure() -> None:
        with psycopg.connect(stores.dsn, autocommit=True) as job:
            while not stop.is_set():
                job.execute("CALL memwarden.take_metrics()")
                runs[0] += 1

    for number in range(2 * rounds):
        with_job = number % 20 >= 10
        if number % 20 == 10:
            stop.clear()
            thread = threading.Thread(target=measure)
            thread.start()
        path = scope_path(number * 7919 % stores.scopes)
        vector = array_literal(memories[number][1])
        for name, call in (
            ("write", lambda n=number: stores.write(n * 7919 % stores.scopes, memories[n])),
            (
                "recall",
                lambda n=number, p=path, v=vector: stores.agent.execute(
                    RECALL, (words[n], v, p)
                ).fetchall(),
            ),
        ):
            taken.setdefault((name, with_job), []).append(cpu_milliseconds(stores.agent, call))
        if number % 20 == 19:
            stop.set()
            thread.join()
    print("\n| what | beside take_metrics(), ms | alone, ms | ratio |\n|---|---|---|---|")
    for name in ("write", "recall"):
        ours, alone = (statistics.median(taken[name, each]) for each in (True, False))
        print(f"| one {name} | {ours:.2f} | {alone:.2f} | {ours / alone:.2f} |")
    print(f"\n{runs[0]} runs of the job beside them.")


def main() -> None:
    """Fill, look, take, and measure who works beside."""
    parser = argparse.ArgumentParser(description="Measure what figures cost.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=200)
    arguments = parser.parse_args()

    stores = filled(arguments.dsn, arguments.items)
    plant(stores.admin)
    counted = stores.admin.execute("SELECT sum(writes) FROM memwarden_data.write_hour").fetchone()
    assert counted is not None
    version = stores.admin.info.parameter_status("server_version")
    print(f"{datetime.now(UTC):%Y-%m-%d}, PostgreSQL {version}, {machine()}")
    print(f"{arguments.items:,} memories, counts of {counted[0]:,} writes\n")
    stores.admin.execute("DROP ROLE IF EXISTS memwarden_bench_dba")
    stores.admin.execute("CREATE ROLE memwarden_bench_dba LOGIN IN ROLE memwarden_admin")
    first = milliseconds(lambda: stores.admin.execute("CALL memwarden.take_metrics()"))
    again = milliseconds(lambda: stores.admin.execute("CALL memwarden.take_metrics()"))
    print(f"take_metrics(): {first / 1000:.1f} s, once more in the hour {again / 1000:.1f} s\n")
    look(psycopg.conninfo.make_conninfo(stores.dsn, user="memwarden_bench_dba"))
    beside(stores, arguments.rounds)


if __name__ == "__main__":
    main()
