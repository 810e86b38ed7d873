"""What is hidden cannot be guessed from how PostgreSQL plans or runs a query that returns nothing.

PostgreSQL calls its own comparisons leakproof: it may run them before row security, and plan with
the statistics of hidden rows. They tell no value; EXPLAIN tells whether one of them was met. So
application roles read no table: what they read comes out of functions, and no condition goes in.
"""

from __future__ import annotations

import pytest
from psycopg import Connection, sql
from psycopg.rows import DictRow

from helpers import write

from .conftest import Store

HIDDEN = [
    ("memwarden.items", "subject"),
    ("memwarden.items", "text"),
    ("memwarden.items", "item_id"),
    ("memwarden.requests", "request_id"),
    ("memwarden.scopes", "scope"),
]
OPTIONS = {
    "run": "ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF",
    "estimate": "COSTS ON",
}


@pytest.fixture(scope="module")
def filled(shared_store: Store) -> Store:
    """Bob, who remembers the same thing many times, and statistics of it."""
    _, bob = shared_store.world.roles
    with shared_store.world.connect(bob) as agent:
        for number in range(30):
            row = write(
                agent, "semantic", {"n": number}, subject="swordfish", predicate=f"p{number}"
            )
            assert row["outcome"] == "COMMITTED"
    shared_store.world.admin.execute("ANALYZE")
    return shared_store


@pytest.fixture
def vault(filled: Store) -> Store:
    """The same, and Ana, connected anew."""
    filled.ana = filled.world.connect(filled.world.roles[0])
    for plan in ("indexscan", "bitmapscan", "indexonlyscan"):
        filled.ana.execute(f"SET enable_{plan} = off")
    return filled


def plan(agent: Connection[DictRow], options: str, relation: str, column: str, guess: str) -> str:
    """How the server plans or runs the search for a value, without the value."""
    query = sql.SQL("EXPLAIN ({}) SELECT FROM {} WHERE {} = {}").format(
        sql.SQL(options), sql.SQL(relation), sql.Identifier(column), sql.Literal(guess)
    )
    lines = [row["QUERY PLAN"] for row in agent.execute(query).fetchall()]
    return "\n".join(lines).replace(guess, "?")


@pytest.mark.parametrize(("relation", "column"), HIDDEN)
def test_a_right_guess_runs_like_a_wrong_one(vault: Store, relation: str, column: str) -> None:
    """A search for a hidden value and for one that nobody has: the same plan, run the same.

    Proves: A3
    """
    guess_at(vault, relation, column, "run")


def test_a_right_guess_is_planned_like_a_wrong_one(vault: Store) -> None:
    """The planner's estimate tells nothing of how often a hidden value occurs.

    Proves: A3
    """
    guess_at(vault, "memwarden.items", "subject", "estimate")


def test_application_roles_read_no_table_with_rows_to_hide(vault: Store) -> None:
    """Nor a partition of one; only settings, which are the same for everybody.

    Proves: A3
    """
    readable = {
        row["name"]
        for row in vault.world.rows(
            "SELECT c.relname AS name FROM pg_class AS c, unnest(%s::text[]) AS r (role)"
            " WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p')"
            "   AND has_any_column_privilege('memwarden_' || r.role, c.oid, 'SELECT')",
            ["agent", "reviewer", "curator", "auditor", "broker", "jobs"],
        )
    }
    settings = {"layer", "embedding_model", "scope_kind", "classification"}
    assert readable == settings | {"origin_kind", "source_type"}


def guess_at(vault: Store, relation: str, column: str, how: str) -> None:
    """Compare a guess that is right with one that is wrong."""
    seen = vault.ana.execute(f"SELECT {column}::text AS value FROM {relation}").fetchall()
    row = vault.world.admin.execute(
        f"SELECT {column}::text AS value FROM {relation} WHERE {column}::text <> ALL (%s)"
        "  GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
        ([row["value"] for row in seen],),
    ).fetchone()
    assert row is not None
    right = str(row["value"])
    wrong = right[:-1] + ("0" if right[-1] != "0" else "1")
    assert plan(vault.ana, OPTIONS[how], relation, column, right) == plan(
        vault.ana, OPTIONS[how], relation, column, wrong
    )


@pytest.mark.parametrize("how", OPTIONS)
def test_what_is_no_leakproof_comparison_tells_nothing(vault: Store, how: str) -> None:
    """Contents are jsonb, word vectors tsvector: these are compared after row security.

    Proves: A3
    """
    vault.world.grant_tables(str(vault.ana.info.user))
    for relation, condition in (
        ("memwarden_data.version", "content = {}"),
        ("memwarden_data.version", "content @> {}"),
        ("memwarden_data.version", "content ->> 'drink' = ({}::jsonb ->> 'drink')"),
        ("memwarden_data.version", "search_text LIKE '%%' || ({}::jsonb ->> 'drink') || '%%'"),
        ("memwarden_data.item", "search_vector @@ plainto_tsquery({}::jsonb ->> 'drink')"),
        ("memwarden.items", "content = {}"),
    ):
        plans = set()
        for guess in ('{"drink": "black coffee"}', '{"drink": "black velvet"}'):
            query = sql.SQL("EXPLAIN ({}) SELECT FROM {} WHERE " + condition).format(
                sql.SQL(OPTIONS[how]), sql.SQL(relation), sql.Literal(guess)
            )
            lines = [row["QUERY PLAN"] for row in vault.ana.execute(query).fetchall()]
            plans.add("\n".join(lines).replace("coffee", "?").replace("velvet", "?"))
        assert len(plans) == 1, (relation, condition)
