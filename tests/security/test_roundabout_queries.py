"""Whatever runs a query for the caller runs it as the caller."""

from __future__ import annotations

import re

from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write

from .brokerage import AUTHENTICATE, Brokerage

DRINKS = "SELECT content ->> 'drink' AS drink FROM memwarden.items"
INDIRECT = {
    "a copy": f"COPY ({DRINKS}) TO STDOUT",
    "a copy of a view": "COPY (TABLE memwarden.items) TO STDOUT",
    "a copy of a table": "COPY memwarden_data.item TO STDOUT",
    "a new table": f"CREATE TEMP TABLE t AS {DRINKS}; TABLE t",
    "INTO": DRINKS.replace("FROM", "INTO TEMP t FROM", 1) + "; TABLE t",
    "an insert": f"CREATE TEMP TABLE t (x text); INSERT INTO t {DRINKS} RETURNING x",
    "a merge": "CREATE TEMP TABLE t (x text); MERGE INTO t USING memwarden.items AS i ON false"
    " WHEN NOT MATCHED THEN INSERT VALUES (i.content ->> 'drink'); TABLE t",
    "a cursor": f"DECLARE c CURSOR FOR {DRINKS}; FETCH ALL FROM c",
    "a prepared statement": f"PREPARE p AS {DRINKS}; EXECUTE p; DEALLOCATE p",
    "a view of one's own": f"CREATE TEMP VIEW w AS {DRINKS}; TABLE w",
    "a view that bars": f"CREATE TEMP VIEW w WITH (security_barrier) AS {DRINKS}; TABLE w",
    "XML of a query": f"SELECT query_to_xml($${DRINKS}$$, true, false, '')",
    "XML of a table": "SELECT table_to_xml('memwarden_data.version', true, false, '')",
    "XML of a schema": "SELECT schema_to_xml('memwarden', true, false, '')",
    "statistics of words": "SELECT ts_stat('SELECT search_vector FROM memwarden_data.item')",
    "a query rewritten": "SELECT ts_rewrite('drink'::tsquery,"
    " 'SELECT ''drink''::tsquery, plainto_tsquery(search_text) FROM memwarden_data.version')",
    "a function": f"CREATE FUNCTION pg_temp.f() RETURNS SETOF text LANGUAGE sql AS $${DRINKS}$$;"
    " SELECT pg_temp.f()",
    "a function as its owner": "CREATE FUNCTION pg_temp.f() RETURNS SETOF text LANGUAGE plpgsql"
    f" SECURITY DEFINER AS $$BEGIN RETURN QUERY EXECUTE $q${DRINKS}$q$; END$$;"
    " SELECT pg_temp.f()",
    "a block": f"CREATE TEMP TABLE t (x text); DO $$BEGIN INSERT INTO t {DRINKS}; END$$; TABLE t",
    "a trigger": "CREATE TEMP TABLE t (x text);"
    " CREATE FUNCTION pg_temp.f() RETURNS trigger LANGUAGE plpgsql AS"
    f" $$BEGIN NEW.x := (SELECT string_agg(d, '') FROM ({DRINKS}) AS d(d)); RETURN NEW; END$$;"
    " CREATE TRIGGER f BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION pg_temp.f();"
    " INSERT INTO t VALUES ('') RETURNING x",
    "a rule": "CREATE TEMP TABLE t (x text); CREATE RULE r AS ON INSERT TO t DO INSTEAD"
    f" {DRINKS}; INSERT INTO t VALUES ('')",
    "all at once": f"SELECT jsonb_agg(x) FROM ({DRINKS}) AS x",
    "a set operation": f"{DRINKS} UNION {DRINKS} INTERSECT {DRINKS}",
}


def told(connection: Connection[DictRow], statements: str) -> str:
    """Everything that these statements return."""
    with connection.cursor() as cursor:
        if statements.startswith("COPY"):
            with cursor.copy(statements) as copy:
                return b"".join(bytes(block) for block in copy).decode()
        cursor.execute(statements, prepare=False)
        rows = cursor.fetchall() if cursor.description else []
        while cursor.nextset():
            rows += cursor.fetchall() if cursor.description else []
        return str(rows)


def test_a_roundabout_query_returns_ones_own_rows(office: Brokerage) -> None:
    """Copies, cursors, views, functions, triggers, rules, XML: by login and by token.

    Proves: A3, A6, A9
    """
    bound = office.world.agent(f"/org/{office.org}/user/carl")
    write(bound, "semantic", {"drink": "sparkling water"})
    client = office.world.connect(office.app)
    office.world.grant_tables("memwarden_agent")
    tokens = {"tea": office.token("ana"), "coffe": office.token("bob"), "water": None}
    for own, token in tokens.items():
        connection = bound if token is None else client
        for how, statements in INDIRECT.items():
            with connection.transaction(force_rollback=True):
                if token is not None:
                    connection.execute(AUTHENTICATE, (token,))
                answer = told(connection, statements)
            # As a word: among predicates that everybody reads is "teaches".
            heard = {drink for drink in tokens if re.search(rf"\b{drink}e?\b", answer)}
            assert heard == {own}, how
    for how, statements in INDIRECT.items():
        with client.transaction(force_rollback=True):
            answer = told(client, statements)
        assert {drink for drink in tokens if drink in answer} == set(), how
