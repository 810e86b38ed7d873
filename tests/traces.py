"""Whether a word is found anywhere: for contents that must leave no copy behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg import sql

if TYPE_CHECKING:
    from conftest import World

LOG = "current_setting('data_directory') || '/../log'"
LOG_SIZE = f"SELECT size FROM pg_stat_file({LOG})"


def traces(world: World, marker: str) -> list[str]:
    """Where the marker is found: tables, in any column, plain or as bytes; the server's log.

    The log is read from where it ended when the world was lent: the marker is younger.
    """
    tables = world.rows(
        "SELECT c.relname FROM pg_class AS c"
        " WHERE c.relkind IN ('r', 'm') AND c.relnamespace = 'memwarden_data'::regnamespace"
    )
    names = [row["relname"] for row in tables]
    assert {"item", "version_hot", "embedding_shared", "idempotency"} <= set(names)
    each = sql.SQL(
        "SELECT {} AS name WHERE EXISTS (SELECT FROM {} AS t"
        " WHERE t::text ILIKE ANY (ARRAY[%(plain)s, %(bytes)s]))"
    )
    query = sql.SQL(" UNION ALL ").join(
        each.format(name, sql.Identifier("memwarden_data", name)) for name in names
    )
    patterns = {"plain": f"%{marker}%", "bytes": f"%{marker.encode().hex()}%"}
    found = [str(row["name"]) for row in world.admin.execute(query, patterns)]
    log = world.value(
        "SELECT pg_read_binary_file(f.name, CASE WHEN f.size < %s THEN 0 ELSE %s END, f.size)"
        "  FROM (SELECT n.name, (pg_stat_file(n.name)).size"
        f"         FROM (SELECT {LOG}) AS n (name)) AS f",
        world.log_size,
        world.log_size,
    )
    return found + (["server log"] if marker.encode() in bytes(log) else [])
