"""One agent and one connection for all tests of a module that need none of their own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow, dict_row

if TYPE_CHECKING:
    from conftest import World


@pytest.fixture(scope="module")
def agent(shared_world: World) -> Iterator[Connection[DictRow]]:
    """An agent at work in a whole organisation, connected as long as the module's tests run."""
    role = shared_world.register("/org/shared", descendants=True)
    with psycopg.connect(
        shared_world.dsn, user=role, autocommit=True, row_factory=dict_row
    ) as connection:
        yield connection


@pytest.fixture
def room(shared_world: World, agent: Connection[DictRow]) -> str:  # noqa: ARG001
    """The path of an empty scope that the agent writes."""
    path = f"/org/shared/task/{uuid.uuid4().hex}"
    shared_world.scope(path)
    return path
