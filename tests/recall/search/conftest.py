"""What the tests of recall share: an agent alone in its scope, and short ways to remember."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import write

Remember = Callable[..., UUID]


@pytest.fixture
def reader(shared_world: World, home: str) -> Connection[DictRow]:
    """An agent of an organisation of its own."""
    return shared_world.agent(home, descendants=True)


@pytest.fixture
def remember(reader: Connection[DictRow]) -> Remember:
    """Write a text that must be committed, return its item."""

    def commit(text: str, layer: str = "episodic", **arguments: Any) -> UUID:
        row = write(reader, layer, {"text": text}, **arguments)
        assert row["outcome"] == "COMMITTED", row
        item: UUID = row["item_id"]
        return item

    return commit
