"""Pools: many threads or tasks, one call at a time on each connection."""

from __future__ import annotations

import asyncio
import os
import runpy
import subprocess
import sys
import zipfile
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


def test_a_program_is_checked_against_the_types_of_the_package(tmp_path: Path) -> None:
    """`mypy --strict`, with the wheel as it is installed: `py.typed` is there, and no Any."""
    pytest.importorskip("mypy", reason="mypy is not installed (extra dev)")
    pytest.importorskip("hatchling", reason="hatchling is not installed (extra dev)")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT / "python_client", check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")

    def checked(file: Path) -> tuple[int, str]:
        ran = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", file],
            env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        return ran.returncode, ran.stdout + ran.stderr

    code, said = checked(SERVICE)
    assert code == 0, said
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import memwarden\n"
        "with memwarden.connect() as memory:\n"
        "    memory.recal('tea')\n"
        "    number: int = memory.recall('tea')[0].text\n"
        "    memory.write('semantic')\n"
        "async def ask(memory: memwarden.AsyncClient) -> list[str]:\n"
        "    return await memory.recall('tea')\n"
    )
    code, said = checked(wrong)
    assert code == 1
    for line in (3, 4, 5, 7):
        assert f"wrong.py:{line}: error:" in said, said
