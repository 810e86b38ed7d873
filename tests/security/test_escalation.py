"""An agent that writes its own SQL gains nothing that it was not given."""

from __future__ import annotations

import re

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import recall, write

from .conftest import ANA, BOB, Store, sqlstate

DENIED = {
    "become the engine": "SET ROLE memwarden_owner",
    "become an administrator": "SET ROLE memwarden_admin",
    "become the jobs": "SET ROLE memwarden_jobs",
    "become a superuser": "SET ROLE postgres",
    "become somebody else": "SET SESSION AUTHORIZATION memwarden_jobs",
    "join the engine": "GRANT memwarden_owner TO CURRENT_USER",
    "make a login role": "CREATE ROLE forged LOGIN IN ROLE memwarden_agent",
    "switch triggers off": "SET session_replication_role = replica",
    "switch triggers off for a call": (
        "SELECT set_config('session_replication_role', 'replica', true)"
    ),
    "change the server": "ALTER SYSTEM SET session_replication_role = replica",
    "change the database": "ALTER DATABASE {database} SET session_replication_role = replica",
    "change the engine": "ALTER ROLE memwarden_owner SET row_security = off",
    "add to the public schema": (
        "CREATE FUNCTION memwarden.f() RETURNS int LANGUAGE sql AS 'SELECT 1'"
    ),
    "add a view": "CREATE VIEW memwarden.v AS SELECT 1",
    "add to the internal schema": (
        "CREATE FUNCTION memwarden_internal.f() RETURNS int LANGUAGE sql AS 'SELECT 1'"
    ),
    "add a table": "CREATE TABLE memwarden_data.forged (x int)",
    "move an object in": "ALTER TABLE pg_temp.mine SET SCHEMA memwarden_data",
    "drop a function": "DROP FUNCTION memwarden.get(uuid)",
    "rename a function": "ALTER FUNCTION memwarden.get(uuid) RENAME TO got",
    "change a function": "ALTER FUNCTION memwarden.get(uuid) SET search_path = public",
    "rename a schema": "ALTER SCHEMA memwarden_data RENAME TO other",
    "drop the extension": "DROP EXTENSION memwarden CASCADE",
    "update the extension": "ALTER EXTENSION memwarden UPDATE",
    "write Python": "DO LANGUAGE plpython3u $$ $$",
    "define Python": "CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE plpython3u AS 'return 1'",
    "watch statements": (
        "CREATE EVENT TRIGGER forged ON ddl_command_end"
        " EXECUTE FUNCTION memwarden_internal.gate_reset()"
    ),
    "replicate it all": "CREATE PUBLICATION forged FOR ALL TABLES",
    "decode the log": "SELECT pg_create_logical_replication_slot('forged', 'pgoutput')",
    "run a program": "COPY (SELECT 1) TO PROGRAM 'true'",
    "read the key": "SELECT pg_read_file('/proc/self/environ')",
    "load a library": "LOAD 'pg_cron'",
    "look past row security": "SET row_security = off; SELECT * FROM memwarden_data.item",
    "label a table": "SECURITY LABEL ON TABLE memwarden_data.item IS 'forged'",
    "comment a table": "COMMENT ON TABLE memwarden_data.item IS 'forged'",
    "change partman": "UPDATE partman.part_config SET retention = '1 day'",
    "drop partitions": "SELECT partman.run_maintenance('memwarden_data.log')",
}


def test_an_agent_cannot_leave_its_role_or_touch_what_governs_it(store: Store) -> None:
    """Proves: Z1."""
    intruder = store.intruder("memwarden_agent")
    intruder.execute("CREATE TEMP TABLE mine (x int)")
    before = store.contents()
    answers = {
        what: sqlstate(intruder, attempt.format(database=intruder.info.dbname))
        for what, attempt in DENIED.items()
    }
    # 22023: no label provider is loaded.
    assert {w: a for w, a in answers.items() if a not in {"42501", "22023"}} == {}
    assert store.contents() == before


def test_an_agent_cannot_replace_a_function_of_memwarden(store: Store) -> None:
    """Every function, with its own definition.

    Proves: Z1
    """
    intruder = store.intruder("memwarden_agent")
    definitions = store.world.rows(
        "SELECT pg_get_functiondef(p.oid) AS text, p.prosrc FROM pg_proc AS p"
        " WHERE p.pronamespace::regnamespace::text IN ('memwarden', 'memwarden_internal')"
    )
    assert len(definitions) > 80
    for definition in definitions:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            intruder.execute(definition["text"].replace("%", "%%"), prepare=False)


def calls(store: Store, role: str) -> list[tuple[str, str]]:
    """Every function that a role was not granted, with a call of it."""
    rows = store.world.rows(
        "SELECT p.oid::regprocedure::text AS signature, p.prokind AS kind,"
        "       n.nspname || '.' || p.proname AS name,"
        "       ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) AS t) AS types"
        "  FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace"
        " WHERE n.nspname IN ('memwarden', 'memwarden_internal')"
        "   AND NOT has_function_privilege(%s, p.oid, 'EXECUTE')",
        role,
    )
    return [(row["signature"], a_call(row)) for row in rows]


def a_call(row: DictRow) -> str:
    """Call a function with nulls that the planner does not know: a strict one is called as well."""
    if row["kind"] == "p":
        return f"CALL {row['name']}()"
    nulls = ", ".join(f"NULL::{type_} AS a{i}" for i, type_ in enumerate(row["types"]))
    arguments = ", ".join(f"a{i}" for i in range(len(row["types"])))
    return f"SELECT {row['name']}({arguments}) FROM (SELECT {nulls} OFFSET 0) AS nothing"


@pytest.mark.parametrize(
    ("group", "refused"),
    [
        (
            "memwarden_agent",
            "add_gate move_scope register_agent grant_scope set_policy issue_token maintain",
        ),
        ("memwarden_reviewer", "write write_many add_gate create_scope set_synonyms"),
        ("memwarden_curator", "move_gate register_embedding_model bind_login rotate_token_key"),
        ("memwarden_auditor", "write write_many remove_gate disable_gate setup"),
        ("memwarden_admin", "write write_many recall get history request_status setup"),
        ("memwarden_jobs", "write write_many recall get history add_gate create_scope status"),
    ],
)
def test_a_role_calls_only_what_it_was_granted(store: Store, group: str, refused: str) -> None:
    """Really called, each function: the catalog's word is not enough, and a grant is not hidden.

    Proves: Z1
    """
    connection = store.intruder(group)
    before = store.contents()
    forbidden = calls(store, connection.info.user)
    names = {re.sub(r"^memwarden(_internal)?\.|\(.*$", "", signature) for signature, _ in forbidden}
    assert names >= {*refused.split(), "raise_error", "keyed_hash", "load_python", "examine"}
    called = [signature for signature, call in forbidden if sqlstate(connection, call) != "42501"]
    assert called == []
    assert store.contents() == before


def test_not_even_an_administrator_takes_the_pipeline_apart(store: Store) -> None:
    """The gates that hold it together stay where they are, and on.

    Proves: Z1
    """
    admin = store.intruder("memwarden_admin")
    before = store.world.rows("SELECT * FROM memwarden.pipeline")
    for gate in ("reset", "identity", "access", "canonical", "scope_lock", "commit", "store"):
        for call in (
            f"move_gate('{gate}', 50)",
            f"disable_gate('{gate}')",
            f"remove_gate('{gate}')",
        ):
            assert sqlstate(admin, f"SELECT memwarden.{call}") == "55006", call
    for ordinary in ("idempotency", "deadline", "admission", "schema", "known"):
        assert sqlstate(admin, f"SELECT memwarden.remove_gate('{ordinary}')") == "55006", ordinary
    assert store.world.rows("SELECT * FROM memwarden.pipeline") == before


def test_another_role_of_ones_own_is_no_other_identity(store: Store) -> None:
    """SET ROLE changes current_user; who reads and writes is who logged in, prepared or not.

    Proves: A6 (a login role), Z1
    """
    ana, bob = store.ana.info.user, store.bob.info.user
    store.world.admin.execute(f"GRANT {bob} TO {ana}")
    store.ana.execute("PREPARE mine AS SELECT DISTINCT content FROM memwarden.items")
    for role in (ana, bob, "memwarden_agent"):
        store.ana.execute(f"SET ROLE {role}")
        mine = store.ana.execute("EXECUTE mine").fetchall()
        assert {"content": {"drink": "black coffee"}} not in mine
        assert {"content": {"drink": "green tea"}} in mine
        assert {row["scope"] for row in recall(store.ana)} == {ANA}
        row = write(store.ana, "working", {"as": role}, scope=BOB)
        assert row["reason"] == "UNKNOWN_SCOPE"
        row = write(store.ana, "working", {"as": role})
        assert row["outcome"] == "COMMITTED"
        store.ana.execute("RESET ROLE")
        author = store.world.value(
            "SELECT p.name FROM memwarden_data.item AS i"
            "  JOIN memwarden_data.principal AS p USING (principal_id) WHERE i.item_id = %s",
            row["item_id"],
        )
        assert author == ana


def test_a_function_of_ones_own_sees_no_row_before_row_security(store: Store) -> None:
    """A cheap function that tells what it is shown is asked after the policies, not before.

    Proves: A3
    """
    spy: Connection[DictRow] = store.ana
    store.read_tables()
    spy.execute(
        "CREATE FUNCTION pg_temp.tell(x anyelement) RETURNS boolean LANGUAGE plpgsql COST 0.0001"
        " AS $$ BEGIN RAISE NOTICE 'seen %', x::text; RETURN true; END $$"
    )
    seen: list[str] = []
    spy.add_notice_handler(lambda notice: seen.append(notice.message_primary or ""))
    hidden = write(store.bob, "semantic", {"secret": "swordfish"}, subject="swordfish")
    assert hidden["outcome"] == "COMMITTED"
    relations = [table for table in store.tables() if not re.search(r"_p\d|_default", table)]
    readable = 0
    for relation in [*relations, "memwarden.items", "memwarden.requests"]:
        try:
            spy.execute(f"SELECT count(*) FROM {relation} AS t WHERE pg_temp.tell(t)")
            readable += 1
        except psycopg.errors.InsufficientPrivilege:
            continue
    assert readable >= 10
    assert any("green tea" in message for message in seen)
    for hint in ("swordfish", "black coffee", BOB, store.bob.info.user):
        assert [message for message in seen if hint in message] == []


def test_statistics_tell_nothing_of_what_row_security_hides(store: Store) -> None:
    """The most common values of a column are rows, too.

    Proves: A3
    """
    store.world.admin.execute("ANALYZE")
    view = "SELECT * FROM pg_stats WHERE schemaname = 'memwarden_data'"
    assert store.world.rows(view)
    assert store.ana.execute(view).fetchall() == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        store.ana.execute("SELECT * FROM pg_statistic")
