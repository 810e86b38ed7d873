"""A scope that fills up says so, and lets the least relevant facts go a pass later."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from helpers import write
from operations.collection.conftest import Yard
from operations.collection.test_held_back import metric, status
from shipped import Shipped


@pytest.fixture
def yard(shipped: Shipped) -> Yard:
    """The organisation of a store as init leaves it."""
    return Yard(shipped.world, "acme")


def configure(yard: Yard, layer: str, **settings: Any) -> None:
    """Settings of a layer, for this organisation."""
    yard.world.admin.execute(
        "SELECT memwarden.configure_layer(%s, %s, org => %s)", (layer, Jsonb(settings), yard.org)
    )


def agreed(shipped: Shipped, answer: DictRow) -> UUID:
    """The item of a write, which a reviewer approves where people are asked."""
    shipped.approve(answer)
    query = "SELECT item_id FROM memwarden_data.write_request WHERE request_id = %s"
    if answer["outcome"] == "DEFERRED":
        answer["item_id"] = shipped.world.value(query, answer["request_id"])
    item: UUID = answer["item_id"]
    return item


def fill(yard: Yard) -> tuple[float, str]:
    """How full the fullest scope is."""
    yard.world.admin.execute("DELETE FROM memwarden_data.metric_point")
    yard.world.admin.execute("CALL memwarden.take_metrics()")
    return metric(yard.world, "scope_fill", yard.org)["*"]


@pytest.mark.parametrize("layer", ["semantic", "procedural"])
def test_the_least_relevant_facts_go_a_pass_after_the_warning(
    shipped: Shipped, yard: Yard, layer: str
) -> None:
    """Warned of from nine tenths on; pinned ones stay; what went can be recovered.

    Proves: G7 (caps of facts and procedures)
    """
    world = yard.world
    agent = yard.agent(validated=True)
    contents = [{"n": n, "word": f"w{n * 7919}"} for n in range(19)]
    items = [agreed(shipped, write(agent, layer, content)) for content in contents]
    configure(yard, layer, max_items=20)
    listener = world.log_in("postgres")
    listener.execute("LISTEN memwarden_alert")
    assert fill(yard) == (0.95, "WARNING")
    assert yard.collect() == {}
    ((state, says),) = status(world)
    assert state == "warning"
    assert f"1 scopes of {yard.org} hold more than nine tenths" in says
    assert "by relevance" in says

    for n in range(4):
        answer = write(agent, layer, contents[0], subject=f"s{n}", predicate="is")
        items.append(agreed(shipped, answer))
    # All but four are read often; these were looked at last. One of them is pinned.
    world.admin.execute(
        "INSERT INTO memwarden_data.recall_use"
        " (org_id, item_id, day, scope_id, layer, given, last_given_at)"
        " SELECT i.org_id, i.item_id, now()::date, i.scope_id, i.layer, 9 * l.is_liked::integer,"
        "        now() + interval '1 minute' * (1 - l.is_liked::integer)"
        "   FROM memwarden_data.item AS i, LATERAL (SELECT i.item_id <> ALL (%s)) AS l (is_liked)"
        "  WHERE i.org_id = %s",
        (items[5:9], yard.org_id),
    )
    world.admin.execute(
        "INSERT INTO memwarden_data.pin SELECT org_id, item_id, scope_id, 'x', 0, 'x', now()"
        " FROM memwarden_data.item WHERE item_id = %s",
        (items[5],),
    )
    assert fill(yard) == (1.15, "ALERT")
    # The pass that first meets it tells; the next one acts.
    assert yard.collect() == {}
    assert yard.collect() == {"OVER_CAP": 3}
    ended = {item for item in items if yard.status(item) == "EXPIRED"}
    assert ended == {*items[6:9]}
    told = [json.loads(notice.payload) for notice in listener.notifies(timeout=0.2)]
    full = [notice for notice in told if notice["event"] == "SCOPE_FULL"]
    assert full == [
        {"event": "SCOPE_FULL", "org": yard.org, "layer": layer, "scopes": 1, "memories": 19}
    ]
    lost = min(ended)
    query = "SELECT * FROM memwarden.recover(%s, 'still needed')"
    (answer,) = agent.execute(query, (lost,)).fetchall()
    shipped.approve(answer)
    assert yard.status(lost) == "ACTIVE"


def test_a_layer_without_eviction_keeps_all_and_goes_on_warning(yard: Yard) -> None:
    """Nothing goes where nobody said what goes first; it is told all the same."""
    configure(yard, "semantic", max_items=2, eviction=None)
    items = yard.many(yard.agent(validated=True), 5, layer="semantic")
    for _ in range(2):
        assert yard.collect() == {}
    assert {yard.status(item) for item in items} == {"ACTIVE"}
    ((_, says),) = status(yard.world)
    assert "None goes, since the layer has no eviction" in says
    assert fill(yard) == (2.5, "ALERT")
