"""setup(): makes the storage, and does no harm whenever else it runs."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from catalog_snapshot import Snapshot, catalog_snapshot, differences, of_kind
from conftest import World, deploy_server
from databases import empty_database, install, remembers
from helpers import ask_for_little, recall, write
from races import together


@pytest.fixture(scope="module")
def before(shared_world: World) -> Snapshot:
    """What setup() has made. Nobody changes it for good, or something is wrong with setup()."""
    return catalog_snapshot(shared_world.admin)


@pytest.fixture(scope="module")
def extended(shared_world: World) -> Iterator[str]:
    """The name of a database with the extension, and without storage."""
    with empty_database(shared_world.admin) as made:
        made.admin.execute("CREATE EXTENSION memwarden CASCADE")
        name = made.admin.info.dbname
        made.admin.close()
        yield name


@pytest.fixture
def without_storage(shared_world: World, extended: str) -> Iterator[World]:
    """A database of the test's own with the extension, before setup()."""
    with empty_database(shared_world.admin, extended) as made:
        yield made


def test_a_second_run_changes_nothing(shared_world: World, before: Snapshot) -> None:
    """Nothing in the catalog, no row, no setting of the session."""
    world = shared_world
    agent = world.agent()
    write(agent, "semantic", {"drink": "tea"})
    rows = world.rows("SELECT s.*, s.xmin::text FROM memwarden_data.storage AS s")
    world.admin.execute("SET search_path = elsewhere, public")
    states = world.rows("SELECT * FROM memwarden.setup()")
    number = world.value("SELECT memwarden_internal.storage_version()")
    detail = f"version {number} of {number}"
    assert {"component": "storage", "state": "ok", "detail": detail} in states
    assert world.value("SELECT current_setting('search_path')") == "elsewhere, public"
    assert world.value("SELECT current_user") == "postgres"
    world.admin.execute("RESET search_path")
    assert differences(before, catalog_snapshot(world.admin)) == {}
    assert world.rows("SELECT s.*, s.xmin::text FROM memwarden_data.storage AS s") == rows
    assert recall(agent, query="tea")


@pytest.mark.parametrize("sources", [0, 1], ids=["", "with a canonical source"])
def test_a_second_run_takes_no_lock_that_a_writer_meets(world: World, sources: int) -> None:
    """No lock that conflicts with reading, and none that conflicts with writing to a table.

    Only the table of sensitivity rules is held against changes: writers read it.
    """
    if sources:
        world.admin.execute("CREATE TABLE rules (id bigint PRIMARY KEY, body text NOT NULL)")
        world.admin.execute("GRANT SELECT, REFERENCES ON rules TO memwarden_owner")
        call = "SELECT memwarden.register_canonical_source('rules', 'rules', 'id', 'body')"
        world.admin.execute(call)
    with world.admin.transaction():
        world.admin.execute("SELECT FROM memwarden.setup()")
        held = world.rows(
            "SELECT l.locktype, c.relname, l.mode FROM pg_locks AS l"
            "  LEFT JOIN pg_class AS c ON c.oid = l.relation AND l.locktype = 'relation'"
            " WHERE l.pid = pg_backend_pid() AND l.locktype NOT IN ('virtualxid', 'transactionid')"
            "   AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock',"
            "                  'AccessExclusiveLock')"
        )
    assert {(row["relname"], row["mode"]) for row in held} == {
        ("pg_extension", "ShareRowExclusiveLock"),
        ("sensitivity_rule", "ShareRowExclusiveLock"),
    }


def test_a_view_made_anew_keeps_the_rights_that_a_dba_gave(world: World) -> None:
    """Also where its columns differ, so that it has to be dropped; on columns that are still there.

    A view of the DBA's on top of it is not dropped along: setup() names it and says what to do.
    """
    dba, other = world.role(), world.role()
    world.admin.execute(
        "DROP VIEW memwarden.items;"
        "CREATE VIEW memwarden.items AS SELECT 1 AS layer, 2 AS gone;"
        "ALTER VIEW memwarden.items OWNER TO memwarden_owner;"
        f"GRANT SELECT ON memwarden.items TO {dba} WITH GRANT OPTION;"
        f"GRANT SELECT (layer, gone) ON memwarden.items TO {other};"
        "CREATE VIEW public.report AS SELECT layer FROM memwarden.items"
    )
    with pytest.raises(psycopg.errors.DependentObjectsStillExist) as refused:
        world.admin.execute("SELECT FROM memwarden.setup()")
    assert "view public.report depends on" in str(refused.value.diag.message_detail)
    assert "run memwarden.setup() again" in str(refused.value.diag.message_hint)
    world.admin.execute("DROP VIEW public.report; SELECT FROM memwarden.setup()")
    kept = world.rows(
        "SELECT grantee, privilege_type AS may, is_grantable"
        "  FROM information_schema.table_privileges"
        " WHERE (table_schema, table_name) = ('memwarden', 'items') AND grantee = ANY (%s)",
        [dba, other],
    )
    assert kept == [{"grantee": dba, "may": "SELECT", "is_grantable": "YES"}]
    columns = world.rows(
        "SELECT attname FROM pg_attribute"
        " WHERE attrelid = 'memwarden.items'::regclass AND attnum > 0"
        "   AND has_column_privilege(%s, attrelid, attnum, 'SELECT')",
        other,
    )
    assert columns == [{"attname": "layer"}]


@pytest.mark.parametrize(
    ("kind", "mistake"),
    [
        ("policy", "DROP POLICY application ON memwarden_data.item"),
        ("policy", "ALTER POLICY application ON memwarden_data.item USING (true)"),
        ("policy", "ALTER POLICY application ON memwarden_data.item TO PUBLIC"),
        ("policy", "CREATE POLICY mine ON memwarden_data.item USING (true)"),
        ("policy", "DROP POLICY engine ON memwarden_data.item"),
        ("relation", "ALTER TABLE memwarden_data.item NO FORCE ROW LEVEL SECURITY"),
        ("relation", "GRANT SELECT ON memwarden_data.item TO memwarden_agent"),
        ("column", "GRANT UPDATE (status) ON memwarden_data.item TO memwarden_agent"),
        ("relation", "REVOKE ALL ON memwarden.items FROM memwarden_agent"),
        ("trigger", "DROP TRIGGER guard_version ON memwarden_data.version"),
        ("trigger", "ALTER TABLE memwarden_data.version DISABLE TRIGGER guard_version"),
        ("trigger", "DROP TRIGGER gate_25_schema ON memwarden_data.write_request"),
        ("relation", "DROP VIEW memwarden.items"),
        ("relation", "ALTER VIEW memwarden.items RESET (security_invoker)"),
        ("relation", "COMMENT ON VIEW memwarden.items IS NULL"),
        (
            "relation",
            "DROP VIEW memwarden.items; CREATE VIEW memwarden.items AS SELECT 1 AS mine;"
            " ALTER VIEW memwarden.items OWNER TO memwarden_owner",
        ),
    ],
)
def test_it_brings_back_what_somebody_changed(
    shared_world: World, before: Snapshot, kind: str, mistake: str
) -> None:
    """By comparison with what it made; and it changes nothing else."""
    admin = shared_world.admin
    others = (
        "SELECT md5(string_agg(p.oid::text || p.xmin, ' ' ORDER BY p.oid)) FROM pg_policy AS p"
        " WHERE p.polrelid <> 'memwarden_data.item'::regclass"
    )
    policies = shared_world.value(others)
    # Taken back: a test that fails leaves nothing to the others.
    with admin.transaction(force_rollback=True):
        admin.execute(mistake)
        assert differences(of_kind(before, kind), catalog_snapshot(admin, kind))
        admin.execute("SELECT FROM memwarden.setup()")
        assert differences(before, catalog_snapshot(admin)) == {}
        assert shared_world.value(others) == policies


def test_a_gate_of_another_condition_is_made_anew_where_it_stands(shared_world: World) -> None:
    """Moved and disabled as an administrator has left it."""
    admin = shared_world.admin
    with admin.transaction(force_rollback=True):
        admin.execute("SELECT memwarden.move_gate('deadline', 16)")
        admin.execute("SELECT memwarden.disable_gate('deadline')")
        before = catalog_snapshot(admin)
        admin.execute(
            "CREATE OR REPLACE TRIGGER gate_16_deadline"
            " BEFORE INSERT ON memwarden_data.write_request"
            " FOR EACH ROW EXECUTE FUNCTION memwarden_internal.gate_deadline()"
        )
        admin.execute("SELECT FROM memwarden.setup()")
        changed = differences(before, catalog_snapshot(admin))
        # Whoever replaced it has enabled it.
        assert [name for name in changed if not re.search(r"_p2\d{7} |_default ", name)] == [
            "trigger memwarden_data.write_request gate_16_deadline"
        ]
        admin.execute("SELECT memwarden.disable_gate('deadline')")
        assert differences(before, catalog_snapshot(admin)) == {}


def test_two_at_once_both_succeed(before: Snapshot, without_storage: World) -> None:
    """The second waits and finds the work done; the result is that of one."""
    blank = without_storage
    connections = [blank.connect() for _ in range(2)]
    states = together(
        [
            partial(connection.execute, "SELECT * FROM memwarden.setup()")
            for connection in connections
        ]
    )
    assert states[0].fetchall() == states[1].fetchall()
    assert differences(before, catalog_snapshot(blank.admin)) == {}
    ask_for_little(blank.admin)
    assert remembers(blank)


def test_two_databases_set_up_at_once_share_the_roles(shared_world: World) -> None:
    """CREATE EXTENSION makes roles of the whole cluster, from two databases at the same moment."""
    server = shared_world.admin
    with empty_database(server) as one, empty_database(server) as two:
        together([lambda: install(one.admin), lambda: install(two.admin)])
        assert differences(catalog_snapshot(one.admin), catalog_snapshot(two.admin)) == {}
        assert remembers(one)
        assert remembers(two)
        # An identity of one database is nobody in the other.
        role = one.register()
        with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification):
            write(two.connect(role), "semantic", {"drink": "tea"})


def test_it_is_refused_inside_an_extension_script(world: World) -> None:
    """Tables made there would belong to that extension, and be lost from dumps."""
    name = f"memwarden_caller_{uuid.uuid4().hex[:12]}"
    folder = Path(deploy_server("sharedir"))
    control, script = folder / f"{name}.control", folder / f"{name}--1.sql"
    try:
        control.write_text("default_version = '1'\n")
        script.write_text("SELECT memwarden.setup();\n")
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as refused:
            world.admin.execute(sql.SQL("CREATE EXTENSION {}").format(sql.Identifier(name)))
    finally:
        control.unlink(missing_ok=True)
        script.unlink(missing_ok=True)
    assert "setup() cannot run inside" in str(refused.value)
    assert world.rows("SELECT FROM pg_namespace WHERE nspname = 'memwarden_probe'") == []


@pytest.mark.parametrize("how", ["administrator", "with every right", "SET ROLE"])
def test_it_is_refused_without_a_superuser(shared_world: World, how: str) -> None:
    """42501 for everyone else, whatever they were granted, and for one who gave the right up."""
    admin = shared_world.admin
    role = sql.Identifier(shared_world.role("memwarden_admin"))
    with admin.transaction(force_rollback=True):
        if how != "administrator":
            granted = "memwarden, memwarden_internal"
            for grant in ("USAGE ON SCHEMA", "EXECUTE ON ALL FUNCTIONS IN SCHEMA"):
                admin.execute(sql.SQL(f"GRANT {grant} {granted} TO {{}}").format(role))
        become = "ROLE" if how == "SET ROLE" else "SESSION AUTHORIZATION"
        admin.execute(sql.SQL(f"SET LOCAL {become} {{}}").format(role))
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as refused, admin.transaction():
            admin.execute("SELECT memwarden.setup()")
    assert how == "administrator" or "setup() needs a superuser" in str(refused.value)


@pytest.fixture(scope="module")
def strange(shared_world: World) -> Iterator[World]:
    """Set up by a superuser of another name and path; other extensions in another schema."""
    name = f'Other "DBA" {uuid.uuid4().hex[:8]}'
    with empty_database(shared_world.admin) as made:
        made.admin.execute(sql.SQL("CREATE ROLE {} SUPERUSER LOGIN").format(sql.Identifier(name)))
        made.roles.append(name)
        made.admin.execute(
            "CREATE SCHEMA decoy"
            " CREATE TABLE storage (storage_version int) CREATE TABLE pg_class ();"
            "CREATE FUNCTION decoy.format(text, VARIADIC text[]) RETURNS text LANGUAGE sql"
            " AS $$ SELECT 'DROP SCHEMA memwarden_data CASCADE' $$"
        )
        made.admin.execute('CREATE SCHEMA "Else where"')
        for extension in ("vector", "pg_trgm", "btree_gist", "pgcrypto"):
            made.admin.execute(f'CREATE EXTENSION {extension} SCHEMA "Else where"')
        connection = made.connect(name, options="-csearch_path=decoy,pg_catalog,public")
        install(connection)
        assert connection.execute("SHOW search_path").fetchone() == {
            "search_path": "decoy,pg_catalog,public"
        }
        connection.close()
        yield made
        # What that role owns goes with the database; roles are dropped before it.
        reassign = sql.SQL("REASSIGN OWNED BY {} TO postgres")
        made.admin.execute(reassign.format(sql.Identifier(name)))


def test_a_superuser_of_another_name_with_another_path_sets_up(strange: World) -> None:
    """The names in the session are not those that the functions use."""
    owners = strange.rows(
        "SELECT DISTINCT relowner::regrole::text AS owner FROM pg_class"
        " WHERE relnamespace = 'memwarden_data'::regnamespace"
    )
    assert owners == [{"owner": "memwarden_owner"}]
    assert remembers(strange)


def test_the_other_extensions_may_live_in_another_schema(strange: World) -> None:
    """Neither their schema nor public is on any path that memwarden uses."""
    agent = strange.agent("/org/acme/user/bob")
    vector = [1.0] + [0.0] * 383
    assert write(agent, "semantic", {"x": 1}, embedding=vector)["outcome"] == "COMMITTED"
    (found,) = recall(agent, embedding=vector, k=1)
    assert found["similarity"] == pytest.approx(1)


def test_dropping_the_extension_keeps_the_data_and_closes_it(world: World) -> None:
    """CASCADE takes functions, views and policies; a new installation finds everything again."""
    role = world.register()
    world.grant_tables(role)
    # These views call functions of the extension: they go with it, and grants on them as well.
    world.admin.execute(
        "REVOKE ALL ON memwarden_data.whole_provenance, memwarden_data.said_version,"
        " memwarden_data.said_record, memwarden_data.said_capture,"
        " memwarden_data.said_working_memory,"
        f" memwarden_data.terms_at FROM {role}"
    )
    before = catalog_snapshot(world.admin)
    agent = world.connect(role)
    assert write(agent, "semantic", {"drink": "tea"})["outcome"] == "COMMITTED"
    heads = "SELECT * FROM memwarden_data.item"
    assert len(agent.execute(heads).fetchall()) == 1
    kept = world.rows(heads)
    world.admin.execute("SET client_min_messages = error; DROP EXTENSION memwarden CASCADE")
    assert agent.execute(heads).fetchall() == []
    with pytest.raises(psycopg.errors.InvalidSchemaName):
        write(agent, "semantic", {"drink": "coffee"})
    assert world.rows(heads) == kept
    install(world.admin)
    assert differences(before, catalog_snapshot(world.admin)) == {}
    assert world.rows(heads) == kept
    assert recall(agent, query="tea")


def test_a_schema_that_somebody_else_made_is_not_used(without_storage: World) -> None:
    """Whoever may create schemas could otherwise lay out tables for the storage to be kept in."""
    role = without_storage.role()
    admin = without_storage.admin
    admin.execute(f"CREATE SCHEMA memwarden_data AUTHORIZATION {role}")
    with pytest.raises(psycopg.errors.DuplicateSchema):
        admin.execute("SELECT memwarden.setup()")
