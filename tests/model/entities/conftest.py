"""What the tests of entities share: an organisation with an ontology, its curator, its agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import call, curator, join
from conftest import World
from helpers import write

Agent = Connection[DictRow]
ORG = "/org/acme"
HOME = f"{ORG}/user/ana"


def register(who: Agent, entity: str, *aliases: str, **more: Any) -> None:
    """Register an entity; its type is what stands before the colon."""
    arguments = {"type": entity.split(":")[0], "aliases": list(aliases), "scope": ORG} | more
    call(who, "register_entity", entity=entity, **arguments)


def say(agent: Agent, subject: str, predicate: str, content: Any, **more: Any) -> DictRow:
    """Write a fact."""
    return write(agent, "semantic", content, subject=subject, predicate=predicate, **more)


def about(reader: Agent, entity: str, depth: int = 0, **more: Any) -> set[Any]:
    """The items that are remembered of an entity."""
    return {
        row["item_id"] for row in call(reader, "recall_entity", entity=entity, depth=depth, **more)
    }


def attribute(who: Agent, entity: str, name: str, value: Any, **more: Any) -> None:
    """Register an attribute."""
    arguments = {"entity": entity, "name": name, "value": Jsonb(value)} | more
    call(who, "set_entity_attribute", **arguments)


@dataclass
class Acme:
    """An organisation with people and companies."""

    world: World
    curator: Agent
    agent: Agent

    def member(self, scope: str = HOME, **standing: Any) -> Agent:
        """Another agent of the organisation."""
        return join(self.world, scope, **standing)


@pytest.fixture
def acme(world: World) -> Acme:
    """Types person and company, and an agent at home in a user's scope."""
    agent = world.agent(HOME, descendants=True)
    made = Acme(world, curator(world, ORG), agent)
    for kind in ("person", "company"):
        call(world.admin, "define_entity_type", type=kind)
    return made
