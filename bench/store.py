"""The two stores that are compared: memwarden, and a bare pgvector table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import Connection, sql

from workload import Workload, array_literal, vector_literal

DATABASE = "memwarden_bench"
AGENT = "memwarden_bench_agent"
RAW_TABLE = """
CREATE TABLE raw_memory (
    id        uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    scope_id  integer NOT NULL,
    content   jsonb NOT NULL,
    words     tsvector NOT NULL,
    embedding vector(384) NOT NULL
)"""
RAW_INSERT = """
INSERT INTO raw_memory (scope_id, content, words, embedding)
VALUES (%(scope)s, %(content)s::jsonb, to_tsvector('english', %(content)s::jsonb ->> 'text'),
        %(vector)s::vector)"""
RAW_INSERT_MANY = """
INSERT INTO raw_memory (scope_id, content, words, embedding)
SELECT r.scope, r.content, to_tsvector('english', r.content ->> 'text'), r.embedding::text::vector
  FROM json_to_recordset(%s::json) AS r (scope integer, content jsonb, embedding json)"""
RAW_SEARCH = "SELECT id FROM raw_memory ORDER BY embedding <=> %s::vector LIMIT 10"
WRITE = """
SELECT outcome FROM memwarden.write(
    'episodic', %s::jsonb, scope => %s, embedding => %s::real[], evidence => %s::jsonb)"""
# As `memwarden init` leaves an organisation: every gate has something to weigh.
PROFILE = "SELECT memwarden.use_profile('balanced')"
SOURCE = "SELECT memwarden.define_source(%s, 'document', authority => 1)"
WRITE_MANY = "SELECT outcome FROM memwarden.write_many(%s::json)"


def scope_path(number: int) -> str:
    """The path of the n-th scope."""
    return f"/org/bench/user/u{number}"


def grounds(content: str) -> list[dict[str, str]]:
    """The evidence for a memory: a document that says so."""
    return [{"uri": "bench:notes", "excerpt": json.loads(content)["text"]}]


class Stores:
    """Connections to one database that holds both."""

    def __init__(self, dsn: str, scopes: int, *, made: bool = False) -> None:
        self.dsn = dsn
        self.scopes = scopes
        self.admin = psycopg.connect(dsn, autocommit=True)
        if not made:
            self._make_agent()
        self.agent = psycopg.connect(dsn, user=AGENT, autocommit=True)

    @classmethod
    def create(cls, server_dsn: str, scopes: int, database: str = DATABASE) -> Stores:
        """Make the database anew, empty."""
        with psycopg.connect(server_dsn, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {database}")
        dsn = psycopg.conninfo.make_conninfo(server_dsn, dbname=database)
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION memwarden CASCADE")
            connection.execute("SELECT * FROM memwarden.setup()")
            connection.execute(RAW_TABLE)
            connection.execute(PROFILE)
            for pattern in ("bench:*", "locomo:*"):
                connection.execute(SOURCE, (pattern,))
        return cls(dsn, scopes)

    def _make_agent(self) -> None:
        if not self.admin.execute("SELECT FROM pg_roles WHERE rolname = %s", (AGENT,)).fetchall():
            self.admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(AGENT)))
        self.admin.execute(sql.SQL("GRANT memwarden_agent TO {}").format(sql.Identifier(AGENT)))
        self.widen(self.scopes)
        self.admin.execute(
            "SELECT memwarden.register_agent(%s, '/org/bench', %s, descendants => true)",
            (AGENT, AGENT),
        )

    @contextmanager
    def narrow_agent(self) -> Iterator[Connection[Any]]:
        """Connect as an agent that lives in one scope, as most do."""
        role = f"{AGENT}_of_one"
        if not self.admin.execute("SELECT FROM pg_roles WHERE rolname = %s", (role,)).fetchall():
            self.admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
        self.admin.execute(sql.SQL("GRANT memwarden_agent TO {}").format(sql.Identifier(role)))
        self.admin.execute(
            "SELECT memwarden.register_agent(%s, %s, %s)", (role, scope_path(0), role)
        )
        with psycopg.connect(self.dsn, user=role, autocommit=True) as connection:
            yield connection

    def seen_by(self, agent: Connection[Any]) -> tuple[Any, Any]:
        """Organisations and scopes that an agent sees: only a benchmark looks behind policies."""
        self.admin.execute(
            sql.SQL("GRANT USAGE ON SCHEMA memwarden_internal TO {}").format(
                sql.Identifier(agent.info.user)
            )
        )
        # Policies hold where a DBA grants SELECT on a table; the application roles have none.
        self.admin.execute(
            sql.SQL("GRANT SELECT ON memwarden_data.item TO {}").format(
                sql.Identifier(agent.info.user)
            )
        )
        seen = agent.execute(
            "SELECT memwarden_internal.visible_orgs(), memwarden_internal.visible_scopes()"
        ).fetchone()
        assert seen is not None
        return seen[0], seen[1]

    def widen(self, scopes: int) -> None:
        """Make scopes up to that number."""
        for number in range(scopes):
            self.admin.execute("SELECT memwarden.create_scope(%s)", (scope_path(number),))
        self.scopes = scopes

    def load(self, workload: Workload, first: int, last: int, *, raw: bool = True) -> None:
        """Fill both stores with memories number first to last, spread over the scopes."""
        for start in range(first, last, 1_000):
            memories = workload.memories(min(1_000, last - start))
            numbers = range(start, start + len(memories))
            outcomes = self.write_many([n % self.scopes for n in numbers], memories)
            if outcomes != len(memories):
                raise SystemExit(
                    f"{len(memories) - outcomes} of {len(memories)} were not committed"
                )
            if raw:
                self.raw_insert_many([n % self.scopes for n in numbers], memories)

    def read_into_memory(self) -> None:
        """Fill the server's buffers, as those of a store in use are."""
        self.admin.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm")
        self.admin.execute(
            "SELECT pg_prewarm(c.oid) FROM pg_class AS c"
            " WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'i')"
        )

    def index_raw(self) -> None:
        """Build the raw table's indexes, once it is loaded: faster than row by row, same shape."""
        self.admin.execute("SET maintenance_work_mem = '2GB'")
        self.admin.execute("CREATE INDEX ON raw_memory USING hnsw (embedding vector_cosine_ops)")
        self.admin.execute("CREATE INDEX ON raw_memory USING gin (words)")
        self.admin.execute("VACUUM ANALYZE")

    def write(self, scope: int, memory: tuple[str, list[float]]) -> None:
        """One governed write."""
        content, vector = memory
        evidence = json.dumps(grounds(content))
        self.agent.execute(WRITE, (content, scope_path(scope), array_literal(vector), evidence))

    def raw_insert(self, scope: int, memory: tuple[str, list[float]]) -> None:
        """One INSERT into the raw table."""
        parameters = {"scope": scope, "content": memory[0], "vector": vector_literal(memory[1])}
        self.admin.execute(RAW_INSERT, parameters)

    def write_many(self, scopes: list[int], memories: list[tuple[str, list[float]]]) -> int:
        """One governed batch; returns how many were committed."""
        requests = [
            {
                "layer": "episodic",
                "content": json.loads(content),
                "scope": scope_path(scope),
                "embedding": vector,
                "evidence": grounds(content),
            }
            for scope, (content, vector) in zip(scopes, memories, strict=True)
        ]
        rows = self.agent.execute(WRITE_MANY, (json.dumps(requests),)).fetchall()
        return sum(outcome == "COMMITTED" for (outcome,) in rows)

    def raw_insert_many(self, scopes: list[int], memories: list[tuple[str, list[float]]]) -> None:
        """The same rows in one INSERT."""
        rows = [
            {"scope": scope, "content": json.loads(content), "embedding": vector}
            for scope, (content, vector) in zip(scopes, memories, strict=True)
        ]
        self.admin.execute(RAW_INSERT_MANY, (json.dumps(rows),))
