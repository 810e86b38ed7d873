"""Agents of one organisation, and those who look after it, for the tests of a module."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import join

if TYPE_CHECKING:
    from conftest import World


class House:
    """An organisation of its own: an agent at home in it, and an auditor who reads all of it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.org = f"o{uuid.uuid4().hex[:12]}"
        self.home = f"/org/{self.org}/user/ana"
        self.agent: Connection[DictRow] = join(world, self.home)
        self.auditor: Connection[DictRow] = join(
            world, f"/org/{self.org}", "auditor", descendants=True, clearance="restricted"
        )

    def curator(self) -> Connection[DictRow]:
        """Connect as a person who administers the organisation."""
        return join(
            self.world,
            f"/org/{self.org}",
            "curator",
            role="curator",
            descendants=True,
            clearance="restricted",
        )


@pytest.fixture
def house(shared_world: World) -> House:
    """An organisation that no other test uses."""
    return House(shared_world)


@pytest.fixture
def secret() -> str:
    """An access token that no other test uses."""
    return f"ghp_{uuid.uuid4().hex}Zq9K"
