"""DROP EXTENSION leaves the data and closes it; installing again opens it as it was."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from conftest import World
from helpers import recall, write

from .conftest import Store

POLICIES = """
SELECT p.polrelid::regclass::text AS relation, p.polname, p.polcmd,
       pg_get_expr(p.polqual, p.polrelid) AS condition, p.polroles::regrole[]::text AS roles
  FROM pg_policy AS p ORDER BY 1, 2
"""
TRIGGERS = """
SELECT pg_get_triggerdef(t.oid) AS definition, t.tgenabled
  FROM pg_trigger AS t WHERE NOT t.tgisinternal ORDER BY 1
"""
VIEWS = """
SELECT c.relname, pg_get_viewdef(c.oid) AS definition, c.reloptions, c.relacl::text
  FROM pg_class AS c WHERE c.relnamespace = 'memwarden'::regnamespace ORDER BY 1
"""


def shape(world: World) -> list[Any]:
    """Policies, triggers and views: what goes with the extension."""
    return [world.rows(query) for query in (POLICIES, TRIGGERS, VIEWS)]


@pytest.fixture(scope="module")
def dropped(shared_store: Store) -> Store:
    """A store whose extension is gone."""
    shared_store.world.admin.execute("DROP EXTENSION memwarden CASCADE")
    return shared_store


def test_dropping_leaves_every_row(store: Store) -> None:
    """Tables, partitions, sequences and rows are the user's, not the extension's.

    Proves: T1
    """
    before = store.contents()
    store.world.admin.execute("DROP EXTENSION memwarden CASCADE")
    after = store.contents()
    assert before.pop("rights") != after.pop("rights")
    assert after == before


@pytest.mark.parametrize("group", ["agent", "reviewer", "curator", "auditor", "admin", "jobs"])
def test_dropping_closes_the_data_to_every_role(dropped: Store, group: str) -> None:
    """The policies went with the functions that they called, and nothing is open without one.

    Proves: A3 (the mechanism), Z1
    """
    role = dropped.world.role(f"memwarden_{group}")
    connections = [dropped.world.connect(role), dropped.world.connect(dropped.world.roles[0])]
    for connection in connections:
        for table in dropped.tables():
            try:
                assert connection.execute(f"SELECT * FROM {table}").fetchall() == [], table
            except psycopg.errors.InsufficientPrivilege:
                continue


def test_the_engine_role_cannot_be_logged_into_when_the_extension_is_gone(dropped: Store) -> None:
    """Its policy remains, so that nothing is lost: it must not become a way in."""
    policies = dropped.world.rows(
        "SELECT DISTINCT p.polname, p.polroles::regrole[]::text AS roles FROM pg_policy AS p"
    )
    assert policies == [{"polname": "engine", "roles": "{memwarden_owner}"}]
    with pytest.raises(psycopg.OperationalError, match="not permitted to log in"):
        psycopg.connect(dropped.world.dsn, user="memwarden_owner").close()


def test_installing_again_brings_everything_back(store: Store) -> None:
    """The same policies, triggers and views; the same memories, to the same readers; and writes.

    Proves: T1, Z1
    """
    remembered = recall(store.ana, query="tea", k=100)
    contents, before = store.contents(), shape(store.world)
    assert remembered
    store.world.admin.execute("DROP EXTENSION memwarden CASCADE")
    store.world.admin.execute("CREATE EXTENSION memwarden")
    store.world.admin.execute("SELECT * FROM memwarden.setup()")

    assert shape(store.world) == before
    after = store.contents()
    # While the triggers were away, nobody noted changes: to be sure, everything may have changed.
    assert after.pop("memwarden_data.settings_change") != contents.pop(
        "memwarden_data.settings_change"
    )
    assert after == contents
    ana, bob = (store.world.connect(one.info.user) for one in (store.ana, store.bob))
    again = recall(ana, query="tea", k=100)
    assert [row["item_id"] for row in again] == [row["item_id"] for row in remembered]
    [told] = recall(bob, k=100)
    assert (told["content"], len(told["same_as"])) == ({"drink": "black coffee"}, 2)
    known = write(ana, "semantic", {"drink": "green tea"}, subject="self", predicate="prefers")
    assert known["outcome"] == "ALREADY_COMMITTED"
    new = write(ana, "semantic", {"drink": "water"}, subject="self", predicate="prefers")
    assert (new["outcome"], new["item_id"]) == ("COMMITTED", known["item_id"])
