"""An administrator and an agent for all tests of a module."""

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
def admin(shared_world: World) -> Connection[DictRow]:
    """An administrator who is no superuser."""
    return shared_world.connect(shared_world.role("memwarden_admin"))


@pytest.fixture
def kind() -> str:
    """The name of a kind that no other test defines."""
    return f"kind.{uuid.uuid4().hex[:12]}"
