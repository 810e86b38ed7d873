"""The part of the tests that runs on the second PostgreSQL, and the proof that it misses nothing.

What is the same on both versions runs whole on one. On the other run all tests of the folders
below, the first test of every file that asks for a database, and those marked `every_version`.
What is Python of the client's own runs on one only, and so do tests marked `one_version`: they
repeat for long what shorter ones execute as well. The server counts calls, and the run fails when a
public function, a job or a gate was never executed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from psycopg import Connection

PART = "MEMWARDEN_TEST_PART" in os.environ
TESTS = Path(__file__).resolve().parent
WHOLE = {"catalog", "recovery", "packaging"}
# Calls what the others call, through a client, a page or a command that no PostgreSQL changes.
CLIENTS = {"client", "console", "docs"}
# The fixtures from which every database comes: the server of the tests, and a file's own.
SERVERS = {"server", "cluster"}
# A call that ends with an error is not counted, and these end so. `test_observe.py` shows what
# they answer.
RAISE = {"memwarden_internal.gate_answer()"}

# Public functions and procedures, the functions of the gates' triggers, and what public views ask.
WANTED = """
SELECT p.oid::regprocedure::text AS name
  FROM pg_proc AS p
 WHERE p.pronamespace = 'memwarden'::regnamespace
    OR EXISTS (SELECT FROM pg_trigger AS t
                WHERE t.tgfoid = p.oid AND t.tgrelid = 'memwarden_data.write_request'::regclass
                  AND t.tgname ~ '^gate_')
    OR p.prosecdef AND EXISTS (
       SELECT FROM pg_depend AS d JOIN pg_rewrite AS r ON r.oid = d.objid
         JOIN pg_class AS c ON c.oid = r.ev_class
        WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_proc'::regclass
          AND d.refobjid = p.oid AND p.proname LIKE 'list\\_%'
          AND c.relnamespace = 'memwarden'::regnamespace)"""
EXECUTED = """
SELECT s.funcid::regprocedure::text AS name FROM pg_stat_user_functions AS s
 WHERE s.schemaname IN ('memwarden', 'memwarden_internal') AND s.calls > 0"""
OTHERS = """
SELECT a.pid::text FROM pg_stat_activity AS a
 WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()"""

wanted: set[str] = set()
executed: set[str] = set()


def settings() -> list[str]:
    """What the server is started with, beside the rest."""
    return ["-c", "track_functions=all"] if PART else []


def first_of_each_file(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """The tests of the part, in their order."""
    seen: set[Path] = set()
    for item in items:
        if item.get_closest_marker("one_version"):
            continue
        folder = item.path.parent.name
        is_client = not CLIENTS.isdisjoint(item.path.relative_to(TESTS).parts)
        asks = not is_client and not SERVERS.isdisjoint(getattr(item, "fixturenames", ()))
        is_first = asks and item.path not in seen
        if asks:
            seen.add(item.path)
        if is_first or folder in WHOLE or item.get_closest_marker("every_version"):
            yield item


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the other PostgreSQL has shown."""
    if not PART:
        return
    chosen = list(first_of_each_file(items))
    kept = {item.nodeid for item in chosen}
    config.hook.pytest_deselected(items=[i for i in items if i.nodeid not in kept])
    items[:] = chosen


def values(connection: Connection[Any], query: str) -> set[str]:
    """The first column of a query, however the connection gives its rows."""
    with connection.cursor() as cursor:
        rows = cursor.execute(query).fetchall()
    return {next(iter(row.values())) if isinstance(row, dict) else row[0] for row in rows}


def look_at_calls(admin: Connection[Any]) -> None:
    """Note what was executed so far: a server that a test has killed forgets it."""
    if PART:
        executed.update(values(admin, EXECUTED))


def count_calls(admin: Connection[Any]) -> None:
    """Note what was executed in a database, before it is dropped; its sessions have been closed."""
    if not PART or admin.closed:  # a test may have killed the server
        return
    admin.execute("SELECT pg_stat_force_next_flush()")
    patience = time.monotonic() + 5
    while values(admin, OTHERS) and time.monotonic() < patience:
        time.sleep(0.001)  # a session hands in its counts when it ends
    look_at_calls(admin)
    if not wanted:
        wanted.update(values(admin, WANTED) - RAISE)


class Never:
    """Gathers what the workers have counted, and says what nobody has executed."""

    def __init__(self) -> None:
        self.wanted: set[str] = set()
        self.executed: set[str] = set()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker has ended."""
        counts = getattr(node, "workeroutput", {}).get("calls", ((), ()))
        self.wanted.update(counts[0])
        self.executed.update(counts[1])

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """The run fails when something was never executed."""
        self.wanted |= wanted
        self.executed |= executed
        if self.wanted - self.executed and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Name it."""
        for name in sorted(self.wanted - self.executed):
            terminalreporter.write_line(f"NEVER EXECUTED on this version: {name}", red=True)


def register(config: pytest.Config) -> None:
    """Gather in the process that starts the workers, or that has none."""
    if PART and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Never(), "never-executed")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker hands in what it has counted."""
    if PART and hasattr(session.config, "workerinput"):
        output: dict[str, Any] = session.config.workeroutput  # type: ignore[attr-defined]
        output["calls"] = (sorted(wanted), sorted(executed))
