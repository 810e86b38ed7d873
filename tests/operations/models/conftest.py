"""A worker that may embed, and an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

if TYPE_CHECKING:
    from conftest import World


@pytest.fixture
def worker(world: World) -> Connection[DictRow]:
    """Return a connection of a worker that embeds."""
    return world.connect(world.role("memwarden_embedder"))


@pytest.fixture
def agent(world: World) -> Connection[DictRow]:
    """Return a connection of an agent of Ana's that may do all there is to do with memories."""
    return world.agent("/org/acme/user/ana", role="curator")
