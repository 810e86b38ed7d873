"""Code of the caller's own, in whatever clause of a query, is shown no row that is hidden."""

from __future__ import annotations

import psycopg
import pytest

from helpers import write_many

from .conftest import Store

SECRETS = ("swordfish", "black coffee", "not a number")

SPY = """
CREATE FUNCTION pg_temp.tell(x {type}) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT
COST 0.0001 AS $$ BEGIN RAISE NOTICE 'seen %', x::text; RETURN true; END $$
"""
SPIES = [
    SPY.format(type="anyelement"),
    SPY.format(type="text"),
    "CREATE FUNCTION pg_temp.less(x text, y text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT"
    " COST 0.0001 AS $$ BEGIN RAISE NOTICE 'seen % %', x, y; RETURN x < y; END $$",
    # The planner asks an operator about the most common values; this one would tell.
    "CREATE OPERATOR pg_temp.<<< (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.less,"
    " RESTRICT = scalarltsel, JOIN = scalarltjoinsel)",
    "CREATE OPERATOR pg_temp.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.less,"
    " RESTRICT = eqsel, JOIN = eqjoinsel)",
    "CREATE TYPE pg_temp.told AS (x text)",
    "CREATE FUNCTION pg_temp.to_told(x text) RETURNS pg_temp.told LANGUAGE plpgsql IMMUTABLE STRICT"
    " COST 0.0001 AS $$ BEGIN RAISE NOTICE 'seen %', x; RETURN row(x); END $$",
    "CREATE CAST (text AS pg_temp.told) WITH FUNCTION pg_temp.to_told(text)",
    "CREATE FUNCTION pg_temp.add(total bigint, x text) RETURNS bigint LANGUAGE plpgsql IMMUTABLE"
    " COST 0.0001 AS $$ BEGIN RAISE NOTICE 'seen %', x; RETURN total + 1; END $$",
    "CREATE AGGREGATE pg_temp.tally (text)"
    " (SFUNC = pg_temp.add, STYPE = bigint, INITCOND = '0', PARALLEL = SAFE)",
    "CREATE TEMP VIEW loose AS SELECT * FROM memwarden_data.version",
    "CREATE TEMP VIEW looser WITH (security_barrier = false, security_invoker = true)"
    " AS SELECT * FROM loose WHERE pg_temp.tell(search_text)",
    "CREATE TEMP TABLE own (word text)",
    "INSERT INTO own VALUES ('swordfis'), ('a'), ('z')",
]
V = "memwarden_data.version AS v"
SPYING = [
    f"SELECT FROM {V} WHERE pg_temp.tell(v)",
    f"SELECT FROM {V} WHERE pg_temp.tell(v.search_text) OR v.version > 0",
    f"SELECT FROM {V} WHERE v.search_text OPERATOR(pg_temp.<<<) 'm'",
    f"SELECT FROM {V} WHERE 'm' OPERATOR(pg_temp.===) v.search_text",
    f"SELECT FROM {V} JOIN own AS o ON v.search_text OPERATOR(pg_temp.<<<) o.word",
    f"SELECT FROM own AS o LEFT JOIN {V} ON pg_temp.less(o.word, v.search_text)",
    f"SELECT FROM own WHERE EXISTS (SELECT FROM {V} WHERE pg_temp.less(v.search_text, word))",
    f"SELECT FROM {V} WHERE (v.search_text::pg_temp.told).x > ''",
    f"SELECT FROM {V}, LATERAL (SELECT pg_temp.tell(v.search_text) OFFSET 0) AS t",
    f"SELECT pg_temp.tell(v.search_text) FROM {V}",
    f"SELECT pg_temp.tally(v.search_text) FROM {V}",
    f"SELECT pg_temp.tally(v.search_text) FILTER (WHERE pg_temp.tell(v.search_text)) FROM {V}",
    f"SELECT pg_temp.tally(v.search_text) OVER (ORDER BY pg_temp.tell(v.search_text)) FROM {V}",
    f"SELECT pg_temp.tell(v.search_text) FROM {V} GROUP BY 1 HAVING bool_or(pg_temp.tell(v.layer))",
    f"SELECT DISTINCT ON (pg_temp.tell(v.search_text)) 1 FROM {V}",
    f"SELECT 1 FROM {V} ORDER BY pg_temp.tell(v.search_text) LIMIT 1",
    f"SELECT CASE WHEN pg_temp.tell(v.search_text) THEN 1 END FROM {V} TABLESAMPLE SYSTEM (100)",
    f"WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT n FROM r, {V}"
    " WHERE pg_temp.tell(v.search_text)) TABLE r",
    "SELECT FROM loose WHERE pg_temp.tell(search_text)",
    "SELECT FROM looser WHERE pg_temp.less(search_text, 'm')",
    "SELECT FROM memwarden.items AS i WHERE pg_temp.tell(i)",
    "SELECT FROM memwarden.items AS i NATURAL JOIN memwarden.items AS j WHERE pg_temp.tell(i.text)",
    "SELECT FROM memwarden.requests AS r WHERE pg_temp.tell(r)",
    "SELECT FROM memwarden_data.item AS i WHERE pg_temp.tell(i.subject) AND i.subject > 's'",
    "SELECT FROM memwarden_data.scope AS s WHERE pg_temp.tell(s.path)",
    f"EXPLAIN ANALYZE SELECT FROM {V} WHERE v.search_text OPERATOR(pg_temp.<<<) 'm'",
]
PLANS = [
    (),
    ("enable_hashjoin", "enable_mergejoin", "enable_seqscan"),
    ("enable_nestloop", "enable_indexscan", "enable_bitmapscan", "enable_indexonlyscan"),
]


@pytest.fixture
def secretive(store: Store) -> Store:
    """Ana and Bob, Bob with many secrets, and statistics that the planner has gathered of them."""
    rows = [
        {"layer": "semantic", "content": {"n": n}, "subject": "swordfish"} for n in range(150)
    ] + [{"layer": "semantic", "content": {"n": "not a number"}}]
    store.read_tables()
    outcomes = {row["outcome"] for row in write_many(store.bob, rows)}
    assert outcomes == {"COMMITTED"}
    store.world.admin.execute("ANALYZE")
    return store


@pytest.mark.parametrize("off", PLANS, ids=["default", "nested loops", "hashes"])
def test_code_of_ones_own_is_shown_nothing_hidden(secretive: Store, off: tuple[str, ...]) -> None:
    """Functions, operators and their estimators, casts, aggregates, views, in every clause.

    Proves: A3
    """
    spy = secretive.ana
    seen: list[str] = []
    spy.add_notice_handler(lambda notice: seen.append(notice.message_primary or ""))
    told = 0
    with spy.transaction(force_rollback=True):
        for definition in [*SPIES, *(f"SET LOCAL {setting} = off" for setting in off)]:
            spy.execute(definition)
        for query in SPYING:
            seen.clear()
            spy.execute(query)
            told += bool(seen)
            shown = [message.replace("swordfis ", "") for message in seen]
            assert [m for m in shown if any(secret in m for secret in SECRETS)] == [], query
    assert told >= len(SPYING) - 3  # it is a spy, and was shown what is its own


def test_only_a_superuser_calls_a_function_leakproof(store: Store) -> None:
    """With that word, code of the caller's own would be asked before row security.

    Proves: A3
    """
    for word in ("LEAKPROOF", "LEAKPROOF SECURITY DEFINER"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            store.ana.execute(
                f"CREATE FUNCTION pg_temp.f(text) RETURNS boolean {word} LANGUAGE sql RETURN true"
            )
    store.ana.execute("CREATE FUNCTION pg_temp.f(text) RETURNS boolean LANGUAGE sql RETURN true")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        store.ana.execute("ALTER FUNCTION pg_temp.f(text) LEAKPROOF")


ERRORS = [
    "SELECT FROM memwarden_data.version AS v WHERE (v.content ->> 'n')::integer >= 0",
    "SELECT FROM memwarden_data.version AS v WHERE v.search_text::integer >= 0",
    "SELECT FROM memwarden_data.version AS v WHERE 1 / strpos(v.search_text, 'tea') > 0",
    "SELECT FROM memwarden_data.item AS i WHERE i.subject::uuid IS NOT NULL",
    "SELECT FROM memwarden.items AS i WHERE i.text::xml IS NOT NULL",
    "SELECT FROM memwarden_data.scope AS s WHERE s.path::numeric > 0",
]


def test_an_error_tells_of_no_hidden_row(secretive: Store) -> None:
    """A cast that fails on a secret would repeat it; it is asked of one's own rows only.

    Proves: A3
    """
    for query in ERRORS:
        try:
            secretive.ana.execute(query)
        except psycopg.Error as error:
            told = f"{error} {error.diag.message_detail} {error.diag.context}"
            assert [secret for secret in SECRETS if secret in told] == [], query
    for query in ERRORS[:1]:  # Ana has no content with n: no row, no error
        assert secretive.ana.execute(query).fetchall() == []
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            secretive.bob.execute(query)
