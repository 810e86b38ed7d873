"""ALTER EXTENSION UPDATE and setup() bring a database to what a fresh installation is.

With a release that is made up here: see next_release.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from catalog_snapshot import catalog_snapshot, differences
from conftest import World
from databases import install, remembers
from helpers import recall, write
from next_release import NEW_COLUMN, VERSION, make_next_release
from row_digests import row_digests
from server_checkout import WorkingCopy
from test_build import version


@dataclass
class Update:
    """A database that was updated, and what was seen on the way."""

    copy: WorkingCopy
    stack: ExitStack
    world: World
    agent: Connection[DictRow]
    rows_before: dict[str, tuple[int, str | None]]
    rows_after: dict[str, tuple[int, str | None]]
    embeddings: list[list[float]]
    between: list[str]

    def database(self, name: str) -> World:
        """Another database on the same server, empty."""
        return database(self.copy, self.stack, name)


def database(copy: WorkingCopy, stack: ExitStack, name: str) -> World:
    """Create a database on the copy's server; the stack closes the connections to it."""
    copy.query("test", f"CREATE DATABASE {name}")
    connection = psycopg.connect(copy.server("dsn", "test", name))
    world = World(stack.enter_context(connection))
    stack.callback(world.close)
    return world


def embedding(connection: Connection[DictRow]) -> list[float]:
    """A value that the next release computes in another way."""
    row = connection.execute("SELECT memwarden.lexical_embedding('green tea') AS e").fetchone()
    assert row
    return list(row["e"])


@pytest.fixture(scope="module")
def update(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Update]:
    """Install this tree, seed a database, make it the next release, update the database."""
    copy = WorkingCopy(tmp_path_factory.mktemp("update") / "copy")
    try:
        copy.server("install")
        copy.server("up", "test", "-c", "fsync=off")
        with ExitStack() as stack:
            yield updated(copy, stack)
    finally:
        copy.server("clean")


def updated(copy: WorkingCopy, stack: ExitStack) -> Update:
    """Do what the fixture says."""
    world = database(copy, stack, "updated")
    install(world.admin)
    agent = world.agent()
    for n in range(3):
        for layer in ("episodic", "semantic"):
            write(agent, layer, {"cup": n}, subject="ana", predicate="drinks")
    embeddings = [embedding(agent)]
    before = row_digests(world.admin)

    make_next_release(copy, version())
    copy.server("install")
    world.admin.execute("ALTER EXTENSION memwarden UPDATE")
    between = []
    try:
        write(agent, "semantic", {"cup": 4})
    except psycopg.errors.ObjectNotInPrerequisiteState as refused:
        between.append(str(refused.diag.message_hint))
    between.append(world.value("SELECT state FROM memwarden.status() WHERE component = 'storage'"))
    world.admin.execute("SELECT memwarden.setup()")
    embeddings.append(embedding(agent))
    after = row_digests(world.admin, without=[NEW_COLUMN])
    return Update(copy, stack, world, agent, before, after, embeddings, between)


def test_an_updated_database_is_like_a_fresh_one(update: Update) -> None:
    """Functions, rights, tables, policies, triggers, views: the same, with the same names."""
    fresh = update.database("fresh")
    install(fresh.admin)
    found = catalog_snapshot(fresh.admin)
    assert "column memwarden_data.item.note" in found
    assert differences(found, catalog_snapshot(update.world.admin)) == {}
    assert remembers(fresh)


def test_a_restored_database_is_like_the_updated_one(update: Update) -> None:
    """After a dump and a restore nothing else has to be run."""
    restored = update.database("restored")
    dump = Path(update.copy.server("shared"), "updated.dump")
    names = [update.copy.server("dsn", "test", name) for name in ("updated", "restored")]
    update.copy.server("exec", "pg_dump", "--format=custom", "--file", str(dump), names[0])
    update.copy.server("exec", "pg_restore", "--exit-on-error", "--dbname", names[1], str(dump))
    expected = catalog_snapshot(update.world.admin)
    assert differences(expected, catalog_snapshot(restored.admin)) == {}
    assert row_digests(restored.admin) == row_digests(update.world.admin)


def test_no_row_was_lost_or_changed(update: Update) -> None:
    """Every table of the old release has the rows it had; only the storage's version is new."""
    after = {name: rows for name, rows in update.rows_after.items() if name != "remark"}
    assert after.keys() == update.rows_before.keys()
    changed = {name for name, rows in after.items() if rows != update.rows_before[name]}
    assert changed == {"storage"}
    assert update.rows_before["item"][0] == 4


def test_writes_wait_for_setup(update: Update) -> None:
    """Between the two steps they are refused, and the refusal says what to run."""
    hint, state = update.between
    assert "memwarden.setup()" in hint
    assert state == "outdated"


def test_an_open_session_runs_the_new_python(update: Update) -> None:
    """The agent's connection had loaded the old release's code."""
    old, new = update.embeddings
    assert old != new == [1.0] + [0.0] * 383


def test_an_open_session_goes_on_writing_and_recalling(update: Update) -> None:
    """With what it wrote before the update."""
    assert write(update.agent, "semantic", {"cup": "new"})["outcome"] == "COMMITTED"
    assert len(recall(update.agent, subject="ana", layers=["episodic"])) == 3
    with pytest.raises(psycopg.errors.UndefinedFunction):
        update.agent.execute("SELECT * FROM memwarden.request_status(NULL)")


def test_a_script_run_by_hand_does_nothing(update: Update) -> None:
    """Sourced in psql, an update script stops at its first line."""
    name = f"memwarden--{version()}--{VERSION}.sql"
    script = Path(update.copy.server("shared"), name)
    script.write_text((update.copy.directory / "build" / name).read_text())
    dsn = update.copy.server("dsn", "test", "template1")
    said = update.copy.server("exec", "psql", "-X", dsn, "-f", str(script))
    assert said == f"Use \"ALTER EXTENSION memwarden UPDATE TO '{VERSION}'\" to load this file."
