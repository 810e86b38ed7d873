"""Memories of a given age, and what is asked of them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import write

Agent = Connection[DictRow]


def remember(agent: Agent, content: Any, layer: str = "episodic", **arguments: Any) -> UUID:
    """Write a memory; return its item."""
    said = write(agent, layer, content, **arguments)
    assert said["outcome"] == "COMMITTED", said
    item = said["item_id"]
    assert isinstance(item, UUID)
    return item


def age(world: World, item: UUID, days: float, column: str | None = None) -> None:
    """Have a memory be older than it is: created and written then, or one of both."""
    columns = (column,) if column else ("created_at", "updated_at", "fresh_until")
    moved = ", ".join(f"{name} = {name} - make_interval(secs => %(s)s)" for name in columns)
    world.admin.execute(
        f"UPDATE memwarden_data.item SET {moved} WHERE item_id = %(id)s",
        {"s": days * 86400, "id": item},
    )


def use(world: World, item: UUID, days_ago: int, **counts: int) -> None:
    """Have the job have counted what recalls of a day gave and what came of it."""
    given = {"given": 0, "succeeded": 0, "failed": 0} | counts
    world.admin.execute(
        """
        INSERT INTO memwarden_data.recall_use AS u
               (org_id, item_id, day, scope_id, layer, given, succeeded, failed, last_given_at)
        SELECT i.org_id, i.item_id, (now() AT TIME ZONE 'UTC')::date - %(days)s, i.scope_id,
               i.layer, %(given)s, %(succeeded)s, %(failed)s,
               now() - make_interval(days => %(days)s)
          FROM memwarden_data.item AS i WHERE i.item_id = %(id)s""",
        given | {"days": days_ago, "id": item},
    )


def figures(world: World, item: UUID) -> DictRow:
    """What relevance_of() says of a memory now."""
    (row,) = world.rows(
        "SELECT g.* FROM memwarden_data.item AS i,"
        "       memwarden_internal.relevance_of(i.org_id, ARRAY[i.item_id]) AS g"
        " WHERE i.item_id = %s",
        item,
    )
    return row


def sweep(world: World) -> None:
    """Run the job, as though the last run were a day ago."""
    world.admin.execute("UPDATE memwarden_data.sweep SET finished_at = NULL")
    world.admin.execute("CALL memwarden.sweep()")


@pytest.fixture
def ana(shared_world: World, home: str) -> Agent:
    """An agent in an organisation of its own."""
    return shared_world.agent(home)
