"""Whoever is first decides: somebody who wants a memory kept, or a collection that deletes it."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection, errors
from psycopg.rows import DictRow

from operations.collection.conftest import Yard, yard
from operations.erasure.conftest import remember
from races import overlap

__all__ = ["yard"]

KEEP = {
    "hold": "SELECT * FROM memwarden.hold('a case', item_id => %(item)s, org => %(org)s)",
    "pin": "SELECT memwarden.pin(%(item)s, 'dear')",
    "link": "SELECT memwarden.link_action('a1', ARRAY[%(version)s])",
}


@pytest.fixture
def ended(yard: Yard) -> dict[str, Any]:
    """A memory that has expired longer ago than the grace lasts, by the collector's clock."""
    agent = yard.agent(validated=True)
    item = remember(agent, {"old": 1}, layer="episodic")
    version = yard.world.value(
        "SELECT version_id FROM memwarden_data.item WHERE item_id = %s", item
    )
    agent.execute("SELECT memwarden.expire(%s, 'old')", (item,))
    return {"item": item, "version": version, "org": yard.org}


def keeper(yard: Yard, how: str) -> Connection[DictRow]:
    """Who may keep it in that way."""
    groups = ("memwarden_agent", "memwarden_curator")
    if how == "hold":
        return yard.world.connect()
    return yard.world.connect(
        yard.world.register(yard.home, groups=groups, role="curator", validated=True)
    )


def delete(collector: Connection[Any], yard: Yard, item: UUID) -> Any:
    """The second phase of a pass that has found it; what went, by reason."""
    query = "SELECT memwarden_internal.delete_collectable(%s, %s, clock_timestamp() + %s) AS gone"
    found = f'{{"GRACE_OVER": ["{item}"]}}'
    row = collector.execute(query, (yard.org_id, found, "31 days")).fetchone()
    assert row is not None
    return row["gone"]


@pytest.mark.parametrize("how", KEEP)
def test_what_is_kept_first_is_not_deleted(yard: Yard, ended: dict[str, Any], how: str) -> None:
    """The collector waits, asks once more, and leaves it; who pins has the scope like any writer.

    Proves: Z5, G3, N8 (against collection)
    """
    first, collector = keeper(yard, how), yard.world.connect()
    keep, go = partial(first.execute, KEEP[how], ended), partial(delete, collector, yard)
    if how == "pin":
        with first.transaction():
            keep()
            assert go(ended["item"]) == {}
    else:
        assert overlap(yard.world.admin, first, keep, collector, partial(go, ended["item"])) == {}
    assert go(ended["item"]) == {}
    assert yard.status(ended["item"]) == "EXPIRED"


@pytest.mark.parametrize("how", KEEP)
def test_what_is_deleted_first_is_not_kept(yard: Yard, ended: dict[str, Any], how: str) -> None:
    """Who comes too late is told so, and holds nothing.

    Proves: Z5, G3, N8 (against collection)
    """
    second, collector = keeper(yard, how), yard.world.connect()

    def keep() -> str:
        try:
            return str(second.execute(KEEP[how], ended).fetchall())
        except errors.UndefinedObject:
            return "42704"

    told = overlap(
        yard.world.admin,
        collector,
        partial(delete, collector, yard, ended["item"]),
        second,
        keep,
    )
    assert told == "42704"
    assert yard.status(ended["item"]) is None
    assert yard.findings() == []
