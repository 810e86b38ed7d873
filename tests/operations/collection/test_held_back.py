"""Collection that would take most of a layer says so, and goes on when a person agrees."""

from __future__ import annotations

import json

import pytest

from conftest import World
from helpers import set_up_now
from operations.collection.conftest import Yard
from shipped import Shipped


@pytest.fixture
def yard(shipped: Shipped) -> Yard:
    """The organisation of a store as init leaves it."""
    set_up_now(shipped.world.admin)
    return Yard(shipped.world, "acme")


def metric(world: World, name: str, org: str) -> dict[str, tuple[float, str]]:
    """The latest values of a metric, and their states, by part."""
    rows = world.rows(
        "SELECT part, value, state FROM memwarden.metrics WHERE metric = %s AND org = %s", name, org
    )
    return {row["part"]: (row["value"], row["state"]) for row in rows}


def status(world: World) -> list[tuple[str, str]]:
    """The state of collection, and what to do."""
    rows = world.rows("SELECT state, detail FROM memwarden.status() WHERE component = 'collection'")
    return [(row["state"], row["detail"]) for row in rows]


def test_collection_that_waits_says_so_until_a_person_lets_it_go_on(yard: Yard) -> None:
    """In status(), a metric and a notice, once; run_gc() with a number ends it.

    Proves: G3 (a rule that would expire everything asks first, and says so), G8, Q4
    """
    world = yard.world
    assert status(world) == [("ok", "nothing held back, no scope full")]
    items = yard.many(yard.agent(validated=True), 12)
    listener = world.log_in("postgres")
    listener.execute("LISTEN memwarden_alert")
    for _ in range(2):
        assert yard.collect(days=40) == {}
    told = [json.loads(notice.payload) for notice in listener.notifies(timeout=0.2)]
    expected = {
        "event": "COLLECTION_HELD_BACK",
        "org": yard.org,
        "layer": "episodic",
        "memories": 12,
    }
    assert told == [expected]
    ((state, says),) = status(world)
    assert state == "warning"
    assert f"layer episodic of {yard.org}: 12 of 12 memories" in says
    assert f"memwarden.run_gc('episodic', org => '{yard.org}')" in says
    world.admin.execute("CALL memwarden.take_metrics()")
    found = metric(world, "collection_held_back", yard.org)
    assert found == {"*": (12, "ALERT"), "episodic": (12, "ALERT")}
    assert metric(world, "collection_lag", yard.org)["*"] == (1, "ALERT")

    # While the next pass looks, what the last one held back is still so.
    world.admin.execute(
        "UPDATE memwarden_data.collection SET finished_at = NULL WHERE org_id = %s", (yard.org_id,)
    )
    yard.step()
    assert status(world) == [(state, says)]

    world.admin.execute(
        "UPDATE memwarden_data.item SET created_at = created_at - interval '40 days',"
        " updated_at = updated_at - interval '40 days' WHERE item_id = ANY (%s)",
        (items,),
    )
    (row,) = world.rows(
        "SELECT sum(done) AS done FROM memwarden.run_gc('episodic', false, 12, %s)", yard.org
    )
    assert row["done"] == 12
    assert {yard.status(item) for item in items} == {"EXPIRED"}
    assert status(world) == [("ok", "nothing held back, no scope full")]
    world.admin.execute("CALL memwarden.take_metrics()")
    assert metric(world, "collection_held_back", yard.org)["*"] == (0, "OK")


def test_collection_keeps_within_a_tenth_of_growth(yard: Yard) -> None:
    """What is due for a day counts against what was written; what is pinned does not.

    Proves: Q4 (collection within 10 % of growth)
    """
    world, agent = yard.world, yard.agent(validated=True)
    items = yard.many(agent, 30)

    def lag() -> tuple[float, str]:
        world.admin.execute("DELETE FROM memwarden_data.metric_point")
        world.admin.execute("CALL memwarden.take_metrics()")
        return metric(world, "collection_lag", yard.org)["*"]

    def end(count: int, hours: int) -> None:
        world.admin.execute(
            "UPDATE memwarden_data.item SET expires_at = now() - %s * interval '1 hour'"
            " WHERE item_id = ANY (%s)",
            (hours, items[:count]),
        )

    assert lag() == (0, "OK")
    end(6, hours=23)
    assert lag() == (0, "OK")
    end(3, hours=25)
    assert lag() == (0.1, "OK")
    end(6, hours=25)
    assert lag() == (0.2, "ALERT")
    world.admin.execute(
        "INSERT INTO memwarden_data.pin SELECT org_id, item_id, scope_id, 'x', 0, 'x', now()"
        " FROM memwarden_data.item WHERE item_id = ANY (%s)",
        (items[:3],),
    )
    assert lag() == (0.1, "OK")
    assert yard.collect() == {"TTL_OVER": 3}
    assert lag() == (0, "OK")
    # What has expired goes for good after the layer's grace: that is growth, too.
    world.admin.execute(
        "UPDATE memwarden_data.item SET updated_at = now() - interval '400 days'"
        " WHERE org_id = %s AND status = 'EXPIRED'",
        (yard.org_id,),
    )
    assert lag() == (0.1, "OK")
