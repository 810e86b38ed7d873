"""Once a day lifetimes are settled: marks, questions to people, and a warning."""

from __future__ import annotations

import json
from typing import Any

from conftest import World
from helpers import ranked
from reviewing import decide, queue, reviewer

from .conftest import Agent, age, remember, sweep, use


def mark(world: World, item: Any) -> Any:
    """What the head says of when it begins to count half."""
    return world.value("SELECT fresh_until::text FROM memwarden_data.item WHERE item_id = %s", item)


def doubt(world: World, agent: Agent, words: str, days: float) -> Any:
    """A memory that another contradicts, and that nobody has read for long."""
    item, other = remember(agent, words, "semantic"), remember(agent, f"not {words}", "semantic")
    age(world, item, days)
    world.admin.execute(
        "SELECT memwarden_internal.record_disputes(i.org_id, i.scope_id, i.item_id, ARRAY[%s])"
        "  FROM memwarden_data.item AS i WHERE i.item_id = %s",
        (other, item),
    )
    return item


def test_what_has_gone_stale_counts_half_until_it_is_read_again(
    shared_world: World, ana: Agent
) -> None:
    """A second run changes nothing. What is pinned counts fully.

    Proves: G6 (stale: half weight)
    """
    item, pinned = (doubt(shared_world, ana, f"gear {n} turns", 400) for n in "ab")
    shared_world.admin.execute(
        "INSERT INTO memwarden_data.pin"
        "       (org_id, item_id, scope_id, principal_id, login, reason, pinned_at)"
        " SELECT org_id, item_id, scope_id, principal_id, '', 'keep', now()"
        "   FROM memwarden_data.item"
        "  WHERE item_id = %s",
        (pinned,),
    )
    asked = {"query": "gear a turns", "weights": {"keyword": 1}}
    before = {row["item_id"]: row["sum"] for row in ranked(ana, **asked)}
    sweep(shared_world)
    after = {row["item_id"]: row["sum"] for row in ranked(ana, **asked)}
    assert after[item] == before[item] / 2
    assert after[pinned] == before[pinned]
    marked = mark(shared_world, item)
    sweep(shared_world)
    assert mark(shared_world, item) == marked
    use(shared_world, item, 0, given=1)
    age(shared_world, item, -300, "updated_at")
    sweep(shared_world)
    assert mark(shared_world, item) is None
    assert mark(shared_world, pinned) == "infinity"


def test_people_are_asked_about_what_is_read_though_its_time_is_over(world: World) -> None:
    """To approve renews, to reject leaves; nobody is asked twice, nor about what nobody reads.

    Proves: G2 (a place in the review queue), G9 (periodic review of permanent facts)
    """
    ana, human = world.agent(), reviewer(world)
    used, unread, left = (remember(ana, f"wheel {n}") for n in "abc")
    fact = remember(ana, "Ana leads sales", "semantic", **{"class": "entity_fact"})
    for item in (used, unread, left):
        age(world, item, 35)
    age(world, fact, 200, "updated_at")
    use(world, used, 1, given=1)
    use(world, left, 1, given=1)
    sweep(world)
    sweep(world)
    waiting = {row["content"]["item_id"]: row for row in queue(human)}
    assert waiting.keys() == {str(used), str(left), str(fact)}
    assert all(row["reasons"] == ["LIFETIME_OVER"] for row in waiting.values())
    for item in (used, fact):
        decide(human, "approve", waiting[str(item)]["proposal_id"])
        world.admin.execute("CALL memwarden.retry_deferred()")
        assert world.value(
            "SELECT version = 2 AND updated_at > now() - interval '1 hour'"
            "  FROM memwarden_data.item WHERE item_id = %s",
            item,
        )
    decide(human, "reject", waiting[str(left)]["proposal_id"], "OUTDATED")
    sweep(world)
    assert queue(human) == []
    assert world.value("SELECT version = 1 FROM memwarden_data.item WHERE item_id = %s", left)


def test_a_listener_hears_how_many_memories_end_within_a_week(
    shared_world: World, ana: Agent
) -> None:
    """Once a day, from a job. Proves: G9 (a warning before deletion)."""
    remember(ana, "the bell rings", ttl="2 days")
    listener = shared_world.connect(autocommit=True, application_name="listener")
    listener.execute("LISTEN memwarden_lifetime")
    sweep(shared_world)
    (heard,) = listener.notifies(timeout=20, stop_after=1)
    assert json.loads(heard.payload)["ending"] >= 1


def test_the_job_passes_over_what_somebody_writes_just_now(shared_world: World, ana: Agent) -> None:
    """It waits for no writer, and settles that memory the next time. Proves: G6."""
    busy, free = (doubt(shared_world, ana, f"lever {n} bends", 400) for n in "ab")
    writer = shared_world.connect()
    writer.execute("BEGIN")
    writer.execute("SELECT FROM memwarden_data.item WHERE item_id = %s FOR NO KEY UPDATE", (busy,))
    sweep(shared_world)
    assert mark(shared_world, free) is not None
    assert mark(shared_world, busy) is None
    writer.execute("COMMIT")
    sweep(shared_world)
    assert mark(shared_world, busy) is not None
