"""What a caller puts on its search path, or into its settings, changes nothing in memwarden."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest
from psycopg import Connection, sql
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write, write_many

from .conftest import ANA, BOB, Store

BODY = "LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trap' USING ERRCODE = 'TRAP0'; END $$"

# Functions, operators and relations of pg_catalog that occur in the code of memwarden.
CODE = """
WITH code AS (
    SELECT string_agg(p.prosrc, ' ') AS text FROM pg_proc AS p
     WHERE p.pronamespace::regnamespace::text IN ('memwarden', 'memwarden_internal')
), words AS MATERIALIZED (
    SELECT DISTINCT m[1] AS word, m[2] = '(' AS is_called
      FROM code, regexp_matches(code.text, '(\\w+)(\\(?)', 'g') AS m
)
"""
FUNCTIONS = f"""{CODE}
SELECT p.proname AS name, pg_get_function_identity_arguments(p.oid) AS arguments,
       pg_get_function_result(p.oid) AS result
  FROM pg_proc AS p
 WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f'
   AND p.proname IN (SELECT w.word FROM words AS w WHERE w.is_called)
"""
OPERATORS = f"""{CODE}
SELECT o.oprname AS name, o.oprleft::regtype::text AS left, o.oprright::regtype::text AS right,
       o.oprresult::regtype::text AS result
  FROM pg_operator AS o, code
 WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprkind = 'b' AND o.oprresult <> 0
   AND strpos(code.text, o.oprname) > 0
   AND o.oprleft::regtype::text = ANY (%(types)s) AND o.oprright::regtype::text = ANY (%(types)s)
"""
RELATIONS = f"""{CODE}
SELECT c.relname AS name FROM pg_class AS c
 WHERE c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
   AND (c.relnamespace = 'memwarden_data'::regnamespace
        OR (c.relnamespace = 'pg_catalog'::regnamespace
            AND c.relname IN (SELECT w.word FROM words AS w)))
"""
TYPES = """text, name, uuid, bigint, integer, smallint, boolean, jsonb, json, bytea, numeric, real,
oid, interval, tsvector, tsquery, tstzrange, text[], bigint[], real[], regclass, double precision,
timestamp with time zone, "char", anyarray, anyelement"""


# Some types cannot be had.
LAY = """
DO $lay$
DECLARE
    v_trap text;
    v_laid integer := 0;
BEGIN
    FOREACH v_trap IN ARRAY {}::text[] LOOP
        BEGIN
            EXECUTE v_trap;
            v_laid := v_laid + 1;
        EXCEPTION WHEN OTHERS THEN
            NULL;
        END;
    END LOOP;
    PERFORM set_config('traps.laid', v_laid::text, false);
END $lay$"""


def traps(world: World) -> list[str]:
    """Statements that make functions and operators named like those that memwarden's code uses."""
    made = [
        f"CREATE FUNCTION trap.{quoted(f['name'])} ({f['arguments']}) RETURNS {f['result']} {BODY}"
        for f in world.rows(FUNCTIONS)
    ]
    operators = world.admin.execute(OPERATORS, {"types": re.split(r",\s", TYPES)}).fetchall()
    return made + [
        f"CREATE FUNCTION trap.op{i}({o['left']}, {o['right']}) RETURNS {o['result']} {BODY};"
        f"CREATE OPERATOR trap.{o['name']} (LEFTARG = {o['left']},"
        f" RIGHTARG = {o['right']}, FUNCTION = trap.op{i})"
        for i, o in enumerate(operators)
    ]


def quoted(name: str) -> str:
    """The name as an identifier."""
    return sql.Identifier(name).as_string()


def lay_traps(store: Store, agent: Connection[DictRow]) -> int:
    """Give the agent a schema full of traps, first on its path, and temporary tables beside it."""
    role = sql.Identifier(agent.info.user)
    store.world.admin.execute(sql.SQL("CREATE SCHEMA trap AUTHORIZATION {}").format(role))
    agent.execute(sql.SQL(LAY).format(sql.Literal(traps(store.world))))
    shown = agent.execute("SHOW traps.laid").fetchone()
    assert shown is not None
    relations = [quoted(row["name"]) for row in store.world.rows(RELATIONS)]
    agent.execute(
        "".join(f"CREATE TEMP TABLE {name} (org_id int, principal_id int);" for name in relations)
    )
    agent.execute("SET search_path = trap, pg_temp, pg_catalog, public")
    return int(shown["traps.laid"]) + len(relations)


def everything_works(agent: Connection[DictRow], key: str) -> None:
    """Use the whole public API of an agent, and compare with what it must say."""
    first = write(agent, "semantic", {"city": f"Oslo {key}"}, subject=key, predicate="lives in")
    assert (first["outcome"], first["reason"]) == ("COMMITTED", None)
    again = write(agent, "semantic", {"city": f"Oslo {key}"}, subject=key, predicate="lives in")
    assert (again["outcome"], again["item_id"]) == ("ALREADY_COMMITTED", first["item_id"])
    moved = write(agent, "semantic", {"city": f"Bergen {key}"}, subject=key, predicate="lives in")
    assert (moved["outcome"], moved["item_id"]) == ("COMMITTED", first["item_id"])
    foreign = write(agent, "semantic", {"city": "Rome"}, scope=BOB)
    assert (foreign["outcome"], foreign["reason"]) == ("REJECTED", "UNKNOWN_SCOPE")
    known = {"subject": key, "predicate": "lives in", "layer": "semantic"}
    batch: list[Any] = [
        known | {"content": {"city": f"BERGEN {key}"}},
        {"layer": "episodic", "content": {"text": f"went to {key}"}, "ttl": "2 days"},
        {"layer": "episodic", "content_text": "{"},
    ]
    reasons = [row["reason"] for row in write_many(agent, batch)]
    assert reasons == ["STRUCTURAL_DUPLICATE", None, "INVALID_JSON"]

    found = recall(agent, query=f"Bergen {key}", k=1)
    assert [row["item_id"] for row in found] == [first["item_id"]]
    assert found[0]["score"] > 0.9
    everything = recall(agent, k=1000)
    assert {row["scope"] for row in everything} == {ANA}
    history = agent.execute("SELECT * FROM memwarden.history(%s)", (first["item_id"],)).fetchall()
    assert [row["operation"] for row in history] == ["UPDATE", "INSERT"]
    item = agent.execute("SELECT * FROM memwarden.get(%s)", (first["item_id"],)).fetchone()
    assert item is not None
    assert item["content"] == {"city": f"Bergen {key}"}
    status = agent.execute(
        "SELECT * FROM memwarden.request_status(%s)", (moved["request_id"],)
    ).fetchone()
    assert status is not None
    assert [gate["decision"] for gate in status["gates"]] == ["ACCEPT"] * 14
    scopes = agent.execute("SELECT DISTINCT scope FROM memwarden.items").fetchall()
    assert scopes == [{"scope": ANA}]
    assert agent.execute("SELECT * FROM memwarden.scopes").fetchall()
    digest = agent.execute("SELECT memwarden.content_hash('{}') AS hash").fetchone()
    assert digest is not None
    assert digest["hash"].hex().startswith("44136fa355b3678a")


def test_nothing_on_the_search_path_is_mistaken_for_pg_catalog(store: Store) -> None:
    """Functions, operators, types and tables of the caller's own, each of which would raise.

    Proves: Z1
    """
    agent = store.world.agent(ANA)
    assert lay_traps(store, agent) > 400
    for sprung in ("SELECT lower('X')", "SELECT 1 = 1", "SELECT clock_timestamp()"):
        with pytest.raises(psycopg.Error, match="trap"):
            agent.execute(sprung)
    everything_works(agent, "trapped")


SETTINGS = [
    "quote_all_identifiers = on",
    "bytea_output = escape",
    "standard_conforming_strings = off",
    "transform_null_equals = on",
    "array_nulls = off",
    "extra_float_digits = -15",
    "DateStyle = 'ISO, DMY'",
    "IntervalStyle = sql_standard",
    "TimeZone = 'Pacific/Kiritimati'",
    "default_text_search_config = simple",
    "client_encoding = LATIN1",
    "search_path = ''",
    "plan_cache_mode = force_custom_plan",
    "plan_cache_mode = force_generic_plan",
    "debug_parallel_query = on",
    "enable_seqscan = off",
    "lock_timeout = '1s'",
    "statement_timeout = '1min'",
    "memwarden.principal = '1'",
    "backslash_quote = on",
    "plpgsql.extra_errors = 'all'",
]


@pytest.mark.parametrize("half", [0, 1])
def test_no_setting_of_the_caller_changes_an_answer(store: Store, half: int) -> None:
    """Formats, plans and limits are the caller's; what memwarden decides is not.

    Proves: Z1
    """
    for number, setting in enumerate(SETTINGS[half::2]):
        agent = store.world.connect(store.ana.info.user)
        agent.execute(f"SET {setting}")
        try:
            everything_works(agent, f"key{number}")
        except Exception as error:
            error.add_note(f"with SET {setting}")
            raise


@pytest.mark.parametrize(
    ("setting", "state"),
    [
        ("row_security = off", "42501"),
        ("default_transaction_isolation = serializable", "25001"),
        ("default_transaction_isolation = 'repeatable read'", "25001"),
        ("default_transaction_read_only = on", "25006"),
    ],
)
def test_a_setting_that_cannot_be_served_is_refused(store: Store, setting: str, state: str) -> None:
    """Nothing is written then.

    Proves: Z1
    """
    before = store.contents()
    store.ana.execute(f"SET {setting}")
    with pytest.raises(psycopg.Error) as raised:
        write(store.ana, "semantic", {"city": "Oslo"})
    assert raised.value.sqlstate == state
    assert store.contents() == before


def test_no_setting_of_the_caller_changes_what_a_memory_is_worth(store: Store) -> None:
    """Confidence passes through JSON, which a session could round up; a batch as well.

    Proves: P3, Z1
    """
    one, many = {"confidence": 0.5537}, {"layer": "semantic", "confidence": 0.5537}
    worth = "SELECT adjusted_confidence AS n FROM memwarden_data.item WHERE item_id = %s"
    plain = store.world.value(worth, write(store.ana, "semantic", "Oslo", **one)["item_id"])
    for digits in ("-15", "0", "3"):
        agent = store.world.connect(store.ana.info.user)
        agent.execute(f"SET extra_float_digits = {digits}")
        written = write(agent, "semantic", {"city": f"Oslo {digits}"}, **one)
        (batched,) = write_many(agent, [many | {"content": {"town": f"Bergen {digits}"}}])
        for answer in (written, batched):
            assert answer["outcome"] == "COMMITTED"
            assert store.world.value(worth, answer["item_id"]) == plain
