"""Agents with a pace: limits of layers and of agents, in a world that tests share."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from helpers import write

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]


def configure(world: World, layer: str, **settings: object) -> None:
    """Change a layer's settings."""
    world.admin.execute("SELECT memwarden.configure_layer(%s, %s)", (layer, Jsonb(settings)))


def limit(world: World, agent: Agent, rate_limit: int | None, layer: str = "episodic") -> None:
    """Give an agent a limit of its own per hour, so that no test outlives its window."""
    world.admin.execute(
        "SELECT memwarden.set_rate_limit(%s, %s, %s, '1 hour')",
        (layer, agent.info.user, rate_limit),
    )


def note(agent: Agent, scope: str, layer: str = "episodic") -> str:
    """Write something new there; return the outcome, or the reason where there is one."""
    row = write(agent, layer, {"note": uuid.uuid4().hex}, scope=scope)
    return str(row["reason"] or row["outcome"])


@pytest.fixture
def tasks(shared_world: World, home: str) -> Callable[[int], list[str]]:
    """Makes so many tasks in the home, so that writers need not wait for one another."""

    def make(count: int) -> list[str]:
        paths = [f"{home}/task/t{n}" for n in range(count)]
        for path in paths:
            shared_world.scope(path)
        return paths

    return make
