"""Pools: many threads or tasks, one call at a time on each connection."""

from __future__ import annotations

import asyncio
import runpy
from pathlib import Path

import psycopg
import pytest

pytest.importorskip("psycopg_pool", reason="needs memwarden[pool]")

from memwarden import AsyncClient, Client
from memwarden.pooling import async_memory_pool, memory_pool

ROOT = Path(__file__).parents[2]
SERVICE = ROOT / "docs" / "examples" / "service.py"


def test_a_service_with_threads_remembers_through_a_pool(
    agent_dsn: str, admin: psycopg.Connection
) -> None:
    """The example runs; a connection that is terminated while idle reaches nobody."""
    assert len(SERVICE.read_text(encoding="utf-8").splitlines()) < 60
    outcomes = runpy.run_path(str(SERVICE))["run"](agent_dsn)
    assert outcomes[0] == "COMMITTED"
    assert "nine bees" in outcomes[-1]
    with memory_pool(agent_dsn, min_size=2, max_size=2) as pool:
        pool.wait()
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = 'memwarden'"
        )
        for n in range(3):
            with pool.connection() as connection:
                result = Client(connection).write("semantic", {"n": n}, valid_to=None)
                assert result.committed
        with pool.connection() as connection:
            assert connection.autocommit
            prepared = connection.execute("SELECT count(*) FROM pg_prepared_statements")
            assert prepared.fetchone() == (0,)


def test_tasks_share_a_pool(agent_dsn: str) -> None:
    """Eight tasks, two connections."""

    async def work() -> list[str]:
        async with async_memory_pool(agent_dsn, min_size=1, max_size=2) as pool:

            async def write(n: int) -> str:
                async with pool.connection() as connection:
                    return (await AsyncClient(connection).write("semantic", {"n": n})).outcome

            return await asyncio.gather(*map(write, range(8)))

    assert asyncio.run(work()) == ["COMMITTED"] * 8
