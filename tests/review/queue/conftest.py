"""An organisation with an agent whose semantic writes wait, and a reviewer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from review.queue.desk import reviewer_of, wait_for_humans

if TYPE_CHECKING:
    from conftest import World


@pytest.fixture
def org(shared_world: World, home: str) -> str:
    """Return the name of the organisation that no other test uses; its semantic writes wait."""
    shared_world.scope(home)
    name = home.split("/")[2]
    wait_for_humans(shared_world, name)
    return name


@pytest.fixture
def agent(shared_world: World, home: str, org: str) -> Connection[DictRow]:
    """Return a connection of an agent at home there."""
    assert org in home
    return shared_world.agent(home)


@pytest.fixture
def reviewer(shared_world: World, home: str, org: str) -> Connection[DictRow]:
    """Return a connection of a reviewer there."""
    assert org in home
    return reviewer_of(shared_world, home)


@pytest.fixture(scope="module")
def worker_role(shared_world: World) -> str:
    """Return the login role of a worker."""
    return shared_world.role("memwarden_worker")


@pytest.fixture
def worker(shared_world: World, worker_role: str) -> Connection[DictRow]:
    """Return a connection of that worker."""
    return shared_world.connect(worker_role)
