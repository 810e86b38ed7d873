"""The rows of memwarden's tables, in a form that two databases can be compared by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import Connection, sql
from psycopg.rows import tuple_row

_DIGEST = """
SELECT count(*), md5(string_agg(r.row, E'\n' ORDER BY r.row COLLATE "C"))
  FROM (SELECT (to_jsonb(t) - %s::text[])::text AS row FROM ONLY {} AS t) AS r"""


def row_digests(
    connection: Connection[Any], *, without: Sequence[str] = ()
) -> dict[str, tuple[int, str | None]]:
    """Return number and MD5 of the rows of every table and partition of memwarden_data.

    Columns named in `without` do not count.
    """
    with connection.cursor(row_factory=tuple_row) as cursor:
        tables = cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'memwarden_data'::regnamespace ORDER BY relname"
        ).fetchall()
        digests: dict[str, tuple[int, str | None]] = {}
        for (name,) in tables:
            query = sql.SQL(_DIGEST).format(sql.Identifier("memwarden_data", name))
            (digests[name],) = cursor.execute(query, (list(without),)).fetchall()
        return digests
