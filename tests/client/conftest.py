"""Clients and connection strings for one test's database."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from client.desk import Desk
from memwarden import Client

if TYPE_CHECKING:
    from conftest import World

ROOT = Path(__file__).parents[2]
SCOPE = "/org/acme/user/ana"


@pytest.fixture(scope="session", autouse=True)
def _package_path() -> None:
    """Let the processes that tests start find the package, installed or not."""
    os.environ["PYTHONPATH"] = f"{ROOT / 'python_client'}{os.pathsep}{ROOT / 'plpython'}"


@pytest.fixture
def agent_scope() -> str:
    """Return the home of the agent."""
    return SCOPE


@pytest.fixture
def agent_dsn(world: World) -> str:
    """Return how an agent connects that reads and writes its home."""
    return make_conninfo(world.dsn, user=world.register(SCOPE))


@pytest.fixture
def memory(agent_dsn: str) -> Iterator[Client]:
    """Yield the client of that agent."""
    with Client.connect(agent_dsn) as client:
        yield client


@pytest.fixture
def admin(world: World) -> Iterator[psycopg.Connection[Any]]:
    """Yield a superuser's connection to the same database."""
    with psycopg.connect(world.dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
def stranger_dsn(world: World) -> str:
    """Return how a login connects that has the role of agents and is bound to none."""
    return make_conninfo(world.dsn, user=world.role("memwarden_agent"))


@pytest.fixture
def outsider_dsn(world: World) -> str:
    """Return how a login connects that has no role of memwarden."""
    return make_conninfo(world.dsn, user=world.role())


@pytest.fixture
def server_dsn(world: World) -> str:
    """Return how a superuser reaches the server."""
    return make_conninfo(world.dsn, dbname="postgres")


@pytest.fixture
def empty_dsn(server_dsn: str) -> Iterator[str]:
    """Yield a superuser's way to a database without the extension."""
    name = f"empty_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server_dsn, autocommit=True) as server:
        server.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        yield make_conninfo(server_dsn, dbname=name)
        server.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


@pytest.fixture(scope="module")
def desk(shared_world: World) -> Iterator[Desk]:
    """One organisation, its broker, and a login that is bound to nobody."""
    with ExitStack() as stack:
        yield Desk(shared_world, stack)


@pytest.fixture
def agent(desk: Desk) -> str:
    """Return the name of a new agent without a login."""
    return desk.agent()
