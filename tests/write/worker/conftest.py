"""A worker's login, and an agent whose writes are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

if TYPE_CHECKING:
    from conftest import World


@pytest.fixture(scope="module")
def worker_role(shared_world: World) -> str:
    """Return the login role of a worker."""
    return shared_world.role("memwarden_worker")


@pytest.fixture
def worker(shared_world: World, worker_role: str) -> Connection[DictRow]:
    """Return a connection of that worker."""
    return shared_world.connect(worker_role)


@pytest.fixture
def org(shared_world: World, home: str) -> str:
    """Return the name of the organisation that no other test uses."""
    shared_world.scope(home)
    return home.split("/")[2]


@pytest.fixture
def agent(shared_world: World, home: str) -> Connection[DictRow]:
    """Return a connection of an agent at home there."""
    return shared_world.agent(home)
