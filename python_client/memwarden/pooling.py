"""Pools of connections for services with many threads or tasks, through psycopg_pool.

    with memory_pool("dbname=app user=my_agent") as pool:
        with pool.connection() as connection:
            memwarden.Client(connection).recall("what does Ana drink?")

psycopg_pool is in the extra `pool`. Whatever makes the pool, its connections should be as
`SETTINGS` says: each call its own transaction, nothing prepared that a pooler could not keep.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import psycopg

from memwarden import _adapt
from memwarden._needs import needs

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool, ConnectionPool

SETTINGS: Mapping[str, Any] = {
    "autocommit": True,
    "prepare_threshold": None,
    "client_encoding": "utf8",
    "fallback_application_name": "memwarden",
}


def memory_pool(
    dsn: str = "", *, min_size: int = 1, max_size: int | None = 8, **options: Any
) -> ConnectionPool[psycopg.Connection[Any]]:
    """Return a pool of connections for `Client`; enter it, or open and close it.

    It keeps `min_size` to `max_size` connections; `options` are others of psycopg_pool. A
    connection that broke while it was idle is replaced before anybody gets it.

    Raises:
        NotInstalled: psycopg_pool is missing.
    """
    with needs("pool"):
        from psycopg_pool import ConnectionPool
    return ConnectionPool(
        dsn,
        kwargs={**SETTINGS, **(options.pop("kwargs", None) or {})},
        configure=_adapt.prepare,
        check=ConnectionPool.check_connection,
        min_size=min_size,
        max_size=max_size,
        open=False,
        **options,
    )


def async_memory_pool(
    dsn: str = "", *, min_size: int = 1, max_size: int | None = 8, **options: Any
) -> AsyncConnectionPool[psycopg.AsyncConnection[Any]]:
    """Return a pool of connections for `AsyncClient`, as `memory_pool` does for `Client`.

    Raises:
        NotInstalled: psycopg_pool is missing.
    """
    with needs("pool"):
        from psycopg_pool import AsyncConnectionPool

    async def prepare(connection: psycopg.AsyncConnection[Any]) -> None:
        _adapt.prepare(connection)

    return AsyncConnectionPool(
        dsn,
        kwargs={**SETTINGS, **(options.pop("kwargs", None) or {})},
        configure=prepare,
        check=AsyncConnectionPool.check_connection,
        min_size=min_size,
        max_size=max_size,
        open=False,
        **options,
    )
