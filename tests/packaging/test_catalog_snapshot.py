"""The comparison of catalogs sees what a careless release, dump or hand could change."""

from __future__ import annotations

import psycopg
import pytest

from catalog_snapshot import catalog_snapshot, differences
from conftest import World

MISTAKES = {
    "a policy is missing": "DROP POLICY application ON memwarden_data.item",
    "a policy lets more through": "ALTER POLICY application ON memwarden_data.item USING (true)",
    "a policy is for another role": "ALTER POLICY application ON memwarden_data.item TO PUBLIC",
    "a table grants more": "GRANT SELECT ON memwarden_data.item TO PUBLIC",
    "a column grants more": "GRANT UPDATE (status) ON memwarden_data.item TO memwarden_agent",
    "a function grants more": "GRANT EXECUTE ON PROCEDURE memwarden.retry_deferred() TO PUBLIC",
    "a function grants less": "REVOKE ALL ON FUNCTION memwarden.get(uuid) FROM memwarden_agent",
    "a schema grants more": "GRANT CREATE ON SCHEMA memwarden TO memwarden_agent",
    "a trigger is missing": "DROP TRIGGER guard_version ON memwarden_data.version",
    "a trigger is disabled": "ALTER TABLE memwarden_data.version DISABLE TRIGGER guard_version",
    "another volatility": "ALTER FUNCTION memwarden_internal.current_principal() IMMUTABLE",
    "another owner": "ALTER FUNCTION memwarden_internal.current_principal() OWNER TO postgres",
    "another path": "ALTER FUNCTION memwarden_internal.current_principal() RESET search_path",
    "a caller's rights": "ALTER FUNCTION memwarden_internal.current_principal() SECURITY INVOKER",
    "another parallel label": "ALTER FUNCTION memwarden_internal.current_principal() PARALLEL SAFE",
    "a comment is missing": "COMMENT ON TABLE memwarden_data.item IS NULL",
    "row security is off": "ALTER TABLE memwarden_data.item DISABLE ROW LEVEL SECURITY",
    "row security is not forced": "ALTER TABLE memwarden_data.item NO FORCE ROW LEVEL SECURITY",
    "an index is missing": "DROP INDEX memwarden_data.item_fingerprint",
    "a constraint is missing": "ALTER TABLE memwarden_data.version DROP CONSTRAINT version_check",
    "a domain's is missing": "ALTER DOMAIN memwarden_data.item_status"
    " DROP CONSTRAINT item_status_check",
    "a column may be null": "ALTER TABLE memwarden_data.item ALTER COLUMN layer DROP NOT NULL",
    "a column is stored otherwise": "ALTER TABLE memwarden_data.embedding"
    " ALTER COLUMN embedding SET STORAGE EXTERNAL",
    "a default is missing": "ALTER TABLE memwarden_data.item ALTER contradicted DROP DEFAULT",
    "a view runs as its owner": "ALTER VIEW memwarden.items RESET (security_invoker)",
    "a view is missing": "DROP VIEW memwarden.items",
    "a table is a member": "ALTER EXTENSION memwarden ADD TABLE memwarden_data.item",
    "a role may log in": "ALTER ROLE memwarden_owner LOGIN",
    "a role has another": "GRANT memwarden_admin TO memwarden_agent",
    "partitions are made otherwise": "UPDATE partman.part_config SET premake = 1",
    "a partition is gone": "ALTER TABLE memwarden_data.log DETACH PARTITION {partition}",
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_seen(shared_world: World, mistake: str) -> None:
    """Undone again at the end of the test, and then nothing differs."""
    before = catalog_snapshot(shared_world.admin)
    partition = shared_world.value(
        "SELECT inhrelid::regclass::text FROM pg_inherits"
        " WHERE inhparent = 'memwarden_data.log'::regclass LIMIT 1"
    )
    with shared_world.admin.transaction(force_rollback=True):
        shared_world.admin.execute(MISTAKES[mistake].format(partition=partition))
        assert differences(before, catalog_snapshot(shared_world.admin))
    assert differences(before, catalog_snapshot(shared_world.admin)) == {}


def test_the_path_of_the_session_makes_no_difference(shared_world: World) -> None:
    """Nor is it changed."""
    before = catalog_snapshot(shared_world.admin)
    with psycopg.connect(
        shared_world.dsn, options="-csearch_path=memwarden_data,memwarden"
    ) as other:
        assert differences(before, catalog_snapshot(other)) == {}
    assert shared_world.value("SELECT current_setting('search_path')") == '"$user", public'
