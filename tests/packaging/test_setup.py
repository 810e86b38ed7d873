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

from catalog_snapshot import catalog_snapshot, differences
from conftest import World, deploy_server
from databases import empty_database, install, remembers
from helpers import ask_for_little, recall, write
from races import together


@pytest.fixture
def blank(world: World) -> Iterator[World]:
    """A database without memwarden."""
    with empty_database(world.admin) as made:
        yield made


def test_a_second_run_changes_nothing(world: World) -> None:
    """Nothing in the catalog, no row, no setting of the session."""
    agent = world.agent()
    write(agent, "semantic", {"drink": "tea"})
    before = catalog_snapshot(world.admin)
    rows = world.rows("SELECT s.*, s.xmin::text FROM memwarden_data.storage AS s")
    world.admin.execute("SET search_path = elsewhere, public")
    states = world.rows("SELECT * FROM memwarden.setup()")
    number = world.value("SELECT memwarden_internal.storage_version()")
    detail = f"version {number} of {number}"
    assert {"component": "storage", "state": "ok", "detail": detail} in states
    assert world.value("SELECT current_setting('search_path')") == "elsewhere, public"
    assert world.value("SELECT current_user") == "postgres"
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


@pytest.mark.parametrize(
    "mistake",
    [
        "DROP POLICY application ON memwarden_data.item",
        "ALTER POLICY application ON memwarden_data.item USING (true)",
        "ALTER POLICY application ON memwarden_data.item TO PUBLIC",
        "CREATE POLICY mine ON memwarden_data.item USING (true)",
        "DROP POLICY engine ON memwarden_data.item",
        "ALTER TABLE memwarden_data.item NO FORCE ROW LEVEL SECURITY",
        "GRANT SELECT ON memwarden_data.item TO memwarden_agent",
        "GRANT UPDATE (status) ON memwarden_data.item TO memwarden_agent",
        "REVOKE ALL ON memwarden.items FROM memwarden_agent",
        "DROP TRIGGER guard_version ON memwarden_data.version",
        "ALTER TABLE memwarden_data.version DISABLE TRIGGER guard_version",
        "DROP TRIGGER gate_25_schema ON memwarden_data.write_request",
        "DROP VIEW memwarden.items",
        "ALTER VIEW memwarden.items RESET (security_invoker)",
        "COMMENT ON VIEW memwarden.items IS NULL",
        "DROP VIEW memwarden.items; CREATE VIEW memwarden.items AS SELECT 1 AS mine;"
        " ALTER VIEW memwarden.items OWNER TO memwarden_owner",
    ],
)
def test_it_brings_back_what_somebody_changed(world: World, mistake: str) -> None:
    """By comparison with what it made; and it changes nothing else."""
    before = catalog_snapshot(world.admin)
    others = (
        "SELECT md5(string_agg(p.oid::text || p.xmin, ' ' ORDER BY p.oid)) FROM pg_policy AS p"
        " WHERE p.polrelid <> 'memwarden_data.item'::regclass"
    )
    policies = world.value(others)
    world.admin.execute(mistake)
    assert differences(before, catalog_snapshot(world.admin))
    world.admin.execute("SELECT FROM memwarden.setup()")
    assert differences(before, catalog_snapshot(world.admin)) == {}
    assert world.value(others) == policies


def test_a_gate_of_another_condition_is_made_anew_where_it_stands(world: World) -> None:
    """Moved and disabled as an administrator has left it."""
    world.admin.execute("SELECT memwarden.move_gate('deadline', 16)")
    world.admin.execute("SELECT memwarden.disable_gate('deadline')")
    before = catalog_snapshot(world.admin)
    world.admin.execute(
        "CREATE OR REPLACE TRIGGER gate_16_deadline BEFORE INSERT ON memwarden_data.write_request"
        " FOR EACH ROW EXECUTE FUNCTION memwarden_internal.gate_deadline()"
    )
    world.admin.execute("SELECT FROM memwarden.setup()")
    changed = differences(before, catalog_snapshot(world.admin))
    # Whoever replaced it has enabled it.
    assert [name for name in changed if not re.search(r"_p2\d{7} |_default ", name)] == [
        "trigger memwarden_data.write_request gate_16_deadline"
    ]
    world.admin.execute("SELECT memwarden.disable_gate('deadline')")
    assert differences(before, catalog_snapshot(world.admin)) == {}


def test_two_at_once_both_succeed(world: World, blank: World) -> None:
    """The second waits and finds the work done; the result is that of one."""
    blank.admin.execute("CREATE EXTENSION memwarden CASCADE")
    connections = [blank.connect() for _ in range(2)]
    states = together(
        [
            partial(connection.execute, "SELECT * FROM memwarden.setup()")
            for connection in connections
        ]
    )
    assert states[0].fetchall() == states[1].fetchall()
    assert differences(catalog_snapshot(world.admin), catalog_snapshot(blank.admin)) == {}
    ask_for_little(blank.admin)
    assert remembers(blank)


def test_two_databases_set_up_at_once_share_the_roles(world: World) -> None:
    """CREATE EXTENSION makes roles of the whole cluster, from two databases at the same moment."""
    with empty_database(world.admin) as one, empty_database(world.admin) as two:
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
def test_it_is_refused_without_a_superuser(world: World, how: str) -> None:
    """42501 for everyone else, whatever they were granted, and for one who gave the right up."""
    role = world.role("memwarden_admin")
    connection = world.connect("postgres" if how == "SET ROLE" else role)
    if how == "SET ROLE":
        connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(role)))
    if how != "administrator":
        granted = "memwarden, memwarden_internal"
        for grant in ("USAGE ON SCHEMA", "EXECUTE ON ALL FUNCTIONS IN SCHEMA"):
            world.admin.execute(f"GRANT {grant} {granted} TO {role}")
    with pytest.raises(psycopg.errors.InsufficientPrivilege) as refused:
        connection.execute("SELECT memwarden.setup()")
    assert how == "administrator" or "setup() needs a superuser" in str(refused.value)


def test_a_superuser_of_another_name_with_another_path_sets_up(blank: World) -> None:
    """The names in the session are not those that the functions use."""
    name = f'Other "DBA" {uuid.uuid4().hex[:8]}'
    blank.admin.execute(sql.SQL("CREATE ROLE {} SUPERUSER LOGIN").format(sql.Identifier(name)))
    blank.roles.append(name)
    blank.admin.execute(
        "CREATE SCHEMA decoy CREATE TABLE storage (storage_version int) CREATE TABLE pg_class ();"
        "CREATE FUNCTION decoy.format(text, VARIADIC text[]) RETURNS text LANGUAGE sql"
        " AS $$ SELECT 'DROP SCHEMA memwarden_data CASCADE' $$"
    )
    connection = blank.connect(name, options="-csearch_path=decoy,pg_catalog,public")
    connection.execute("CREATE EXTENSION vector SCHEMA public")
    install(connection)
    owners = blank.rows(
        "SELECT DISTINCT relowner::regrole::text AS owner FROM pg_class"
        " WHERE relnamespace = 'memwarden_data'::regnamespace"
    )
    assert owners == [{"owner": "memwarden_owner"}]
    assert connection.execute("SHOW search_path").fetchone() == {
        "search_path": "decoy,pg_catalog,public"
    }
    assert remembers(blank)
    # What that role owns goes with the database; roles are dropped before it.
    blank.admin.execute(sql.SQL("REASSIGN OWNED BY {} TO postgres").format(sql.Identifier(name)))


def test_the_other_extensions_may_live_in_another_schema(blank: World) -> None:
    """Neither their schema nor public is on any path that memwarden uses."""
    blank.admin.execute('CREATE SCHEMA "Else where"')
    for extension in ("vector", "pg_trgm", "btree_gist", "pgcrypto"):
        blank.admin.execute(f'CREATE EXTENSION {extension} SCHEMA "Else where"')
    install(blank.admin)
    assert remembers(blank)
    agent = blank.agent("/org/acme/user/bob")
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
        f"REVOKE ALL ON memwarden_data.whole_provenance, memwarden_data.said_version FROM {role}"
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


def test_a_schema_that_somebody_else_made_is_not_used(blank: World) -> None:
    """Whoever may create schemas could otherwise lay out tables for the storage to be kept in."""
    role = blank.role()
    blank.admin.execute("CREATE EXTENSION memwarden CASCADE")
    blank.admin.execute(f"CREATE SCHEMA memwarden_data AUTHORIZATION {role}")
    with pytest.raises(psycopg.errors.DuplicateSchema):
        blank.admin.execute("SELECT memwarden.setup()")
