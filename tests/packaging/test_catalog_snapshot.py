"""The comparison of catalogs sees what a careless release, dump or hand could change."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from catalog_snapshot import Snapshot, catalog_snapshot, differences, of_kind
from conftest import World

# By the kind of object that a snapshot says it of.
MISTAKES = {
    "a policy is missing": ("policy", "DROP POLICY application ON memwarden_data.item"),
    "a policy lets more through": (
        "policy",
        "ALTER POLICY application ON memwarden_data.item USING (true)",
    ),
    "a policy is for another role": (
        "policy",
        "ALTER POLICY application ON memwarden_data.item TO PUBLIC",
    ),
    "a table grants more": ("relation", "GRANT SELECT ON memwarden_data.item TO PUBLIC"),
    "a column grants more": (
        "column",
        "GRANT UPDATE (status) ON memwarden_data.item TO memwarden_agent",
    ),
    "a function grants more": (
        "function",
        "GRANT EXECUTE ON PROCEDURE memwarden.retry_deferred() TO PUBLIC",
    ),
    "a function grants less": (
        "function",
        "REVOKE ALL ON FUNCTION memwarden.get(uuid) FROM memwarden_agent",
    ),
    "a schema grants more": ("schema", "GRANT CREATE ON SCHEMA memwarden TO memwarden_agent"),
    "a trigger is missing": ("trigger", "DROP TRIGGER guard_version ON memwarden_data.version"),
    "a trigger is disabled": (
        "trigger",
        "ALTER TABLE memwarden_data.version DISABLE TRIGGER guard_version",
    ),
    "another volatility": (
        "function",
        "ALTER FUNCTION memwarden_internal.current_principal() IMMUTABLE",
    ),
    "another owner": (
        "function",
        "ALTER FUNCTION memwarden_internal.current_principal() OWNER TO postgres",
    ),
    "another path": (
        "function",
        "ALTER FUNCTION memwarden_internal.current_principal() RESET search_path",
    ),
    "a caller's rights": (
        "function",
        "ALTER FUNCTION memwarden_internal.current_principal() SECURITY INVOKER",
    ),
    "another parallel label": (
        "function",
        "ALTER FUNCTION memwarden_internal.current_principal() PARALLEL SAFE",
    ),
    "a comment is missing": ("relation", "COMMENT ON TABLE memwarden_data.item IS NULL"),
    "row security is off": (
        "relation",
        "ALTER TABLE memwarden_data.item DISABLE ROW LEVEL SECURITY",
    ),
    "row security is not forced": (
        "relation",
        "ALTER TABLE memwarden_data.item NO FORCE ROW LEVEL SECURITY",
    ),
    "an index is missing": ("index", "DROP INDEX memwarden_data.item_fingerprint"),
    "a constraint is missing": (
        "constraint",
        "ALTER TABLE memwarden_data.version DROP CONSTRAINT version_check",
    ),
    "a domain's is missing": (
        "constraint",
        "ALTER DOMAIN memwarden_data.item_status DROP CONSTRAINT item_status_check",
    ),
    "a column may be null": (
        "column",
        "ALTER TABLE memwarden_data.item ALTER COLUMN layer DROP NOT NULL",
    ),
    "a column is stored otherwise": (
        "column",
        "ALTER TABLE memwarden_data.embedding ALTER COLUMN embedding SET STORAGE EXTERNAL",
    ),
    "a default is missing": (
        "column",
        "ALTER TABLE memwarden_data.item ALTER contradicted DROP DEFAULT",
    ),
    "a view runs as its owner": ("relation", "ALTER VIEW memwarden.items RESET (security_invoker)"),
    "a view is missing": ("relation", "DROP VIEW memwarden.items"),
    "a table is a member": ("relation", "ALTER EXTENSION memwarden ADD TABLE memwarden_data.item"),
    "a role may log in": ("role", "ALTER ROLE memwarden_owner LOGIN"),
    "a role has another": ("membership", "GRANT memwarden_admin TO memwarden_agent"),
    "partitions are made otherwise": (
        "partition set",
        "UPDATE partman.part_config SET premake = 1",
    ),
    "a partition is gone": (
        "relation",
        "ALTER TABLE memwarden_data.log DETACH PARTITION {partition}",
    ),
}


@pytest.fixture(scope="module")
def before(shared_world: World) -> Iterator[Snapshot]:
    """What everything is like, and is again once all mistakes were undone."""
    snapshot = catalog_snapshot(shared_world.admin)
    yield snapshot
    assert differences(snapshot, catalog_snapshot(shared_world.admin)) == {}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_seen(shared_world: World, before: Snapshot, mistake: str) -> None:
    """Undone again at the end of the test, and then nothing differs."""
    kind, statement = MISTAKES[mistake]
    partition = shared_world.value(
        "SELECT inhrelid::regclass::text FROM pg_inherits"
        " WHERE inhparent = 'memwarden_data.log'::regclass LIMIT 1"
    )
    admin = shared_world.admin
    with admin.transaction(force_rollback=True):
        admin.execute(statement.format(partition=partition))
        assert differences(of_kind(before, kind), catalog_snapshot(admin, kind))
    assert differences(of_kind(before, kind), catalog_snapshot(admin, kind)) == {}


def test_the_path_of_the_session_makes_no_difference(shared_world: World, before: Snapshot) -> None:
    """Nor is it changed."""
    with psycopg.connect(
        shared_world.dsn, options="-csearch_path=memwarden_data,memwarden"
    ) as other:
        assert differences(before, catalog_snapshot(other)) == {}
    assert shared_world.value("SELECT current_setting('search_path')") == '"$user", public'
