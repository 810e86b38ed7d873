"""Reads tables of other systems in PostgreSQL, in one snapshot, without holding them in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import DictRow, dict_row

from memwarden.errors import InvalidArgument, unreachable

_ROWS = 1000


def rows(
    dsn: str, table: str, columns: tuple[str, ...], order: tuple[str, ...]
) -> Iterator[DictRow]:
    """Yield the columns of a table, which may be named with its schema, in that order.

    Raises:
        ConnectionFailed: the database does not let us in.
        InvalidArgument: there is no such table, or it has other columns.
    """
    query = sql.SQL("SELECT {} FROM {} ORDER BY {}").format(
        sql.SQL(", ").join(map(sql.Identifier, columns)),
        sql.Identifier(*table.split(".")),
        sql.SQL(", ").join(map(sql.Identifier, order)),
    )
    with _connect(dsn) as connection:
        connection.read_only = True
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        try:
            with connection.cursor("memwarden_import") as cursor:
                cursor.itersize = _ROWS
                yield from cursor.execute(query)
        except psycopg.ProgrammingError as error:
            raise InvalidArgument(
                f"{table} cannot be read: {error.diag.message_primary}",
                sqlstate=error.sqlstate,
                hint=f"It needs the columns {', '.join(columns)}; --table names another table.",
            ) from None
        except psycopg.OperationalError as error:
            raise unreachable(error, ()) from None


def identity(dsn: str, table: str) -> str:
    """Return what tells a table from those of other databases, however one connects to it."""
    query = "SELECT system_identifier::text || current_database() AS told FROM pg_control_system()"
    with _connect(dsn) as connection:
        try:
            found = connection.execute(query).fetchone()
        except psycopg.Error:
            found = None
        told = connection.info.dbname if found is None else found["told"]
        return f"{told} {table}"


def count(dsn: str, table: str) -> int | None:
    """Return how many rows a table has; None where it cannot be read."""
    query = sql.SQL("SELECT count(*) AS rows FROM {}").format(sql.Identifier(*table.split(".")))
    with _connect(dsn) as connection:
        try:
            found = connection.execute(query).fetchone()
        except psycopg.Error:
            return None
        return None if found is None else int(found["rows"])


def _connect(dsn: str) -> psycopg.Connection[dict[str, Any]]:
    try:
        return psycopg.connect(dsn, row_factory=dict_row, fallback_application_name="memwarden")
    except psycopg.ProgrammingError:
        # Its message quotes the string, which may hold a password.
        raise InvalidArgument("the connection string of the source cannot be read") from None
    except psycopg.OperationalError as error:
        raise unreachable(error, ()) from None
