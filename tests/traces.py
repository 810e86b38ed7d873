"""Whether a word is found anywhere: for contents that must leave no copy behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg import sql

if TYPE_CHECKING:
    from conftest import World


def traces(world: World, marker: str) -> list[str]:
    """Where the marker is found: tables, in any column, plain or as bytes; the server's log."""
    found: list[str] = []
    tables = world.rows(
        "SELECT c.relname FROM pg_class AS c"
        " WHERE c.relkind IN ('r', 'm') AND c.relnamespace = 'memwarden_data'::regnamespace"
    )
    assert {"item", "version_hot", "embedding_shared", "idempotency"} <= {
        row["relname"] for row in tables
    }
    for name in (row["relname"] for row in tables):
        query = sql.SQL(
            "SELECT EXISTS (SELECT FROM {} AS t"
            " WHERE t::text ILIKE ANY (ARRAY[%(plain)s, %(bytes)s])) AS found"
        ).format(sql.Identifier("memwarden_data", name))
        patterns = {"plain": f"%{marker}%", "bytes": f"%{marker.encode().hex()}%"}
        row = world.admin.execute(query, patterns).fetchone()
        assert row is not None
        found += [name] if row["found"] else []
    log = world.value("SELECT pg_read_file(current_setting('data_directory') || '/../log')")
    return found + (["server log"] if marker in log else [])
