"""A scope that holds more than its layer allows lets some go, by the layer's order."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from operations.collection.conftest import Yard


@pytest.mark.parametrize("eviction", ["lru", "fifo", "ttl"])
def test_the_excess_of_a_scope_goes(yard: Yard, eviction: str) -> None:
    """Least recently read, oldest, or soonest to end; never a pinned one.

    Proves: G7 (caps with LRU, FIFO and TTL eviction)
    """
    agent = yard.agent(validated=True)
    items = [
        yard.many(agent, 1, subject=f"s{n}", predicate="is", ttl=timedelta(days=300 - n))[0]
        for n in range(4)
    ]
    yard.world.admin.execute(
        "INSERT INTO memwarden_data.recall_use"
        " (org_id, item_id, day, scope_id, layer, given, last_given_at)"
        " SELECT org_id, item_id, now()::date, scope_id, layer, 1, now() + interval '1 minute'"
        "   FROM memwarden_data.item WHERE item_id = %s",
        (items[0],),
    )
    configure(yard, max_items=3, eviction=eviction)
    try:
        assert yard.collect() == {"OVER_CAP": 1}
    finally:
        configure(yard, max_items=10000, eviction="lru")
    gone = {"lru": items[1], "fifo": items[0], "ttl": items[3]}[eviction]
    assert [item for item in items if yard.status(item) == "EXPIRED"] == [gone]
    assert yard.why(gone) == [("EXPIRE", "OVER_CAP")]


def test_a_duty_lets_another_go(yard: Yard) -> None:
    """What a rule of retention still wants kept is not the excess.

    Proves: G7, R5 (the duty to keep goes before caps)
    """
    agent = yard.agent(validated=True)
    yard.rule("class", "ledger", keep_at_least="10 years")
    yard.world.admin.execute(
        "SELECT memwarden.define_write_class('ledger', org => %s)", (yard.org,)
    )
    kept = yard.many(agent, 1, **{"class": "ledger"})
    others = [yard.many(agent, 1, subject=f"s{n}", predicate="is")[0] for n in range(2)]
    configure(yard, max_items=2, eviction="fifo")
    try:
        assert yard.collect() == {"OVER_CAP": 1}
    finally:
        configure(yard, max_items=10000, eviction="lru")
    assert [yard.status(item) for item in kept + others] == ["ACTIVE", "EXPIRED", "ACTIVE"]


def configure(yard: Yard, **settings: Any) -> None:
    """Settings of the episodic layer, of all tests."""
    yard.world.admin.execute("SELECT memwarden.configure_layer('episodic', %s)", (Jsonb(settings),))
