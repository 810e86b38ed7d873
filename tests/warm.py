"""Connections that several tests use, one after the other, each under a login role of its own.

A connection's first write loads Python and plans some hundred statements, which takes longer than
most tests. Here a superuser's connection takes on a role by SET SESSION AUTHORIZATION, so that the
server sees the role as the one that logged in. Such a connection could turn back into a superuser:
tests of what a hostile caller can do have real logins.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import Connection, ConnectionInfo, pq, sql
from psycopg.rows import DictRow, dict_row

MOST = 8
PREPARE_AFTER = 5  # executions, as psycopg begins
OWN_FUNCTIONS = "SELECT p.oid FROM pg_proc AS p WHERE p.pronamespace = pg_my_temp_schema() LIMIT 1"
# What a session leaves behind; the plans stay. What it counted is handed in at once: part.py asks.
CLEAN = (
    "RESET SESSION AUTHORIZATION; RESET ALL; CLOSE ALL; UNLISTEN *;"
    " SELECT pg_advisory_unlock_all(), pg_stat_force_next_flush();"
    " DISCARD TEMP; DISCARD SEQUENCES"
)


class Info(ConnectionInfo):
    """Says the role that the connection has taken on."""

    role: str

    @property
    def user(self) -> str:
        """The name of the role."""
        return self.role


class Warm(Connection[Any]):
    """A connection that can take on another role."""

    role = "postgres"

    @property
    def info(self) -> Info:
        """As of any connection, but for the user."""
        info = Info(self.pgconn)
        info.role = self.role
        return info


class Pool:
    """The connections of one database that are free, at most so many."""

    def __init__(self, dsn: str, most: int = MOST) -> None:
        self.dsn = dsn
        self.most = most
        self.free: list[Warm] = []

    def take(self, role: str, *, autocommit: bool) -> Connection[DictRow]:
        """Return a connection under a role."""
        connection = self.free.pop() if self.free else Warm.connect(self.dsn, autocommit=True)
        connection.row_factory = dict_row
        become = sql.SQL("SET SESSION AUTHORIZATION {}").format(sql.Identifier(role))
        try:
            connection.execute(become)
        except psycopg.Error:
            connection.close()
            raise
        connection.role = role
        connection.autocommit = autocommit
        return connection

    def give_back(self, connection: Connection[Any]) -> None:
        """Clean a connection for the next test; close what cannot be used again."""
        if isinstance(connection, Warm) and not connection.closed and len(self.free) < self.most:
            try:
                connection.rollback()
                connection.isolation_level = None
                connection.read_only = None
                connection.deferrable = None
                connection.prepare_threshold = PREPARE_AFTER
                connection.autocommit = True
                # A function of a test's own may have changed the process itself.
                if connection.execute(OWN_FUNCTIONS).fetchone() is not None:
                    connection.close()
                    return
                connection.execute(CLEAN)
            except psycopg.Error:
                connection.close()
            else:
                if connection.info.transaction_status == pq.TransactionStatus.IDLE:
                    self.free.append(connection)
                    return
        connection.close()

    def close(self) -> None:
        """Close the connections."""
        for connection in self.free:
            connection.close()
        self.free.clear()
