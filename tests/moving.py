"""A small memory that is moved to another database, server or release, and what is asked of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from catalog_snapshot import catalog_snapshot, differences
from conftest import ROOT, World
from helpers import ask_for_little, recall, write
from row_digests import row_digests

MANUAL = (ROOT / "docs/operate.md").read_text(encoding="utf-8")
CRON_DATABASE = "memwarden_cron"
"""The one that pg_cron works in; the clusters of deploy/server have it."""
QUIET = ("-c", "fsync=off", "-c", "cron.launch_active_jobs=off")
"""Settings of a cluster whose rows no job changes under a test."""
OWN_JOBS = """
SELECT format('SELECT cron.schedule_in_database(%L, %L, %L, %L, %L);',
              jobname, schedule, command, database, username)
  FROM cron.job WHERE username <> 'memwarden_jobs'"""
UNFIT = "pg_cron|SCHEMA cron|DATA cron|SET cron|ACL partman (FUNCTION|PROCEDURE)"
"""The lines of a dump's list that the manual leaves out, where it was made with pg_cron in it."""


@dataclass
class Store:
    """A small memory, and what is known of it."""

    ana: str
    rows: dict[str, tuple[int, str | None]]
    erasures: Any


def make_store(world: World) -> Store:
    """Put it into the database of pg_cron: versions, a refusal, two people, a log half sealed."""
    world.admin.execute("CREATE EXTENSION pg_cron; CREATE EXTENSION memwarden CASCADE")
    world.admin.execute("SELECT memwarden.setup()")
    ask_for_little(world.admin)
    ana, bob = world.agent("/org/acme/user/ana"), world.agent("/org/acme/user/bob")
    for agent in (ana, bob):
        for cup in ("tea", "tea", "coffee"):
            write(agent, "semantic", {"cup": cup}, subject="self", predicate="drinks")
        write(agent, "episodic", {"café": "ein Täßchen 🍵"}, embedding=[0.5] * 384)
    write(ana, "episodic", "tea", subject="Petra")
    world.admin.execute("SELECT memwarden.erase_subject('Petra', 'asked for', '{petra}', 'acme')")
    world.admin.execute("CALL memwarden.seal_log()")
    write(ana, "durable", {"text": "not sealed yet"})
    world.admin.execute("SELECT cron.schedule('mine', '5 4 * * *', 'SELECT 1')")
    world.admin.execute(
        "INSERT INTO cron.job_run_details (runid, database, username, start_time)"
        " VALUES (nextval('cron.runid_seq'), 'gone', 'postgres', now())"
    )
    return Store(
        ana=ana.info.user,
        rows=row_digests(world.admin),
        erasures=world.value("SELECT memwarden.export_erasures()"),
    )


def troubles(world: World) -> dict[str, str]:
    """What status() says is to be done, but for jobs."""
    rows = world.rows(
        "SELECT component, state FROM memwarden.status()"
        " WHERE state <> 'ok' AND component !~ '^jobs?( |$)'"
    )
    return {row["component"]: row["state"] for row in rows}


def job_list(world: World) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
    """Our jobs for this database as pg_cron knows them, and as they should be."""
    scheduled = world.rows(
        "SELECT jobname, schedule, command FROM cron.job"
        " WHERE database = current_database() AND username = 'memwarden_jobs'"
    )
    wanted: set[tuple[str, ...]] = {
        (name, "10 seconds", "CALL memwarden.run_due_jobs()")
        for name in ("memwarden_jobs", "memwarden_jobs_2")
    }
    return {tuple(row.values()) for row in scheduled}, wanted


def assert_all_is_there(world: World, store: Store) -> None:
    """Every row is as it was, and setup() finds nothing to do but the logins of this server."""
    before = catalog_snapshot(world.admin)
    for _ in range(2):
        changed = dict(row_digests(world.admin).items() ^ store.rows.items())
        assert changed.keys() <= {"principal_login"}
        world.admin.execute("SELECT memwarden.setup()")
    assert differences(before, catalog_snapshot(world.admin)) == {}


def assert_it_goes_on(world: World, store: Store) -> None:
    """Erasures are applied, the log is whole, agents recall, are isolated, and write on."""
    world.admin.execute("SELECT memwarden.apply_erasures(%s)", (Jsonb(store.erasures),))
    world.admin.execute("CALL memwarden.seal_log()")
    assert troubles(world) == {}
    ana = world.connect(store.ana)
    for step in ("before anything is written", "after"):
        assert world.rows("SELECT * FROM memwarden.verify_log()") == [], step
        assert world.rows("SELECT * FROM memwarden.verify_provenance()") == [], step
        (found,) = recall(ana, query="Täßchen", k=1)
        assert found["content"] == {"café": "ein Täßchen 🍵"}
        with pytest.raises(psycopg.errors.UndefinedObject):
            recall(ana, query="Täßchen", scopes=["/org/acme/user/bob"])
        again = write(ana, "semantic", {"cup": "coffee"}, subject="self", predicate="drinks")
        assert again["outcome"] in ("REJECTED", "ALREADY_COMMITTED")
        assert write(ana, "episodic", {"text": f"told {step}"})["outcome"] == "COMMITTED"
        world.admin.execute("CALL memwarden.seal_log()")
    world.admin.execute("UPDATE partman.part_config SET premake = premake + 1")
    partitions = "SELECT count(*) FROM pg_inherits"
    before = world.value(partitions)
    world.connect("memwarden_jobs").execute("SELECT memwarden.maintain()")
    assert world.value(partitions) > before
