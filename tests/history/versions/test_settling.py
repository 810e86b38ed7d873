"""settle_values(): a value told ahead of its time becomes what the item says when that comes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from access import call
from conftest import World
from helpers import recall
from history.versions.past import (
    HOUR,
    KEY,
    Agent,
    check_timeline,
    cites,
    contents,
    head,
    history,
    now,
    pass_time,
    rolled_back,
    say,
    year,
)
from history.versions.past import state as stands
from scope_calls import get, retract


def settle(world: World) -> None:
    """Run the job."""
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute("CALL memwarden.settle_values()")


def soon(world: World, hours: float = 1) -> datetime:
    """A moment to come."""
    return now(world, hours=hours)


def test_its_time_comes(shared_world: World, author: Agent) -> None:
    """By a version that says it again; who asks of the present is told before that, too.

    Proves: T4
    """
    item = say(author, "Lund", valid_from=year(2015))["item_id"]
    moment = soon(shared_world)
    told = say(author, "Oslo", valid_from=moment, confidence=0.9)
    settle(shared_world)
    assert stands(shared_world, item) == ("ACTIVE", "Lund")
    pass_time(shared_world, item)
    assert stands(shared_world, item) == ("ACTIVE", "Lund")
    assert contents(author, valid_time=now(shared_world)) == ["Oslo"]
    settle(shared_world)
    shown = get(author, item)
    assert (shown["content"], shown["valid_to"]) == ("Oslo", None)
    assert moment - HOUR - shown["valid_from"] == timedelta(seconds=1)
    assert shown["confidence"] == 0.9
    assert shown["provenance"]["agent"] == author.info.user
    assert [row["content"] for row in recall(author, query="Oslo Lund")] == ["Oslo"]
    row = history(author, item)[0]
    expected = ("UPDATE", "memwarden", "what holds at present", 2)
    names = ("operation", "actor", "reason", "restores_version")
    assert tuple(row[name] for name in names) == expected
    assert row["version_id"] != told["version_id"]
    version = shown["version"]
    settle(shared_world)
    assert get(author, item)["version"] == version
    check_timeline(shared_world)


def test_a_vacation_ends(shared_world: World, author: Agent) -> None:
    """And what was before it holds again.

    Proves: T4
    """
    item = say(author, "Lund", valid_from=year(2015))["item_id"]
    moment = soon(shared_world)
    say(author, "Crete", valid_to=moment)
    assert stands(shared_world, item) == ("ACTIVE", "Crete")
    pass_time(shared_world, item)
    settle(shared_world)
    shown = get(author, item)
    assert (shown["content"], shown["valid_to"]) == ("Lund", None)
    assert shown["valid_from"] < now(shared_world)
    check_timeline(shared_world)


def test_of_several_to_come_each_in_its_time(shared_world: World, author: Agent) -> None:
    """Told in any order, with nothing before them and gaps between.

    Proves: T4
    """
    first, middle, second = (soon(shared_world, hours) for hours in (1, 2, 3))
    item = say(author, "late", valid_from=year(2090))["item_id"]
    say(author, "two", valid_from=second, valid_to=year(2080))
    say(author, "one", valid_from=first, valid_to=middle)
    assert stands(shared_world, item) == ("ACTIVE", "one")
    said: list[Any] = []
    for _ in range(3):
        pass_time(shared_world, item)
        settle(shared_world)
        said.append(head(shared_world, item)["content"])
    assert said == ["one", "one", "two"]
    assert contents(author, valid_time=year(2091)) == ["late"]
    check_timeline(shared_world)


def test_what_has_ended_stays_so(shared_world: World, author: Agent, curator: Agent) -> None:
    """Retracted or expired: no value comes back by the passing of time.

    Proves: T4, T2
    """
    moment = soon(shared_world)
    items = []
    for name in ("retracted", "expired", "gone"):
        more = {"ttl": "1 microsecond"} if name == "gone" else {}
        say(author, "before", valid_to=moment, subject=name)
        say(author, "after", valid_from=moment, subject=name, **more)
        made = say(author, "now", subject=name, valid_to=moment, **more)
        items.append(made["item_id"])
    retract(curator, items[0])
    call(curator, "expire", item_id=items[1], reason="over")
    before = [head(shared_world, item)["version"] for item in items]
    pass_time(shared_world, *items)
    settle(shared_world)
    assert [head(shared_world, item)["version"] for item in items] == before
    statuses = [stands(shared_world, item)[0] for item in items]
    assert statuses == ["RETRACTED", "EXPIRED", "ACTIVE"]


@pytest.mark.parametrize("how", ["rollback", "batch"])
def test_a_bad_value_that_has_come_into_force_is_undone(
    shared_world: World, home: str, author: Agent, curator: Agent, how: str
) -> None:
    """With what the job made of it: who wrote it is what counts, and it does not come back.

    Proves: T5, T4
    """
    poisoned = shared_world.agent(home)
    item = say(author, "Lund", valid_from=year(2015))["item_id"]
    moment = soon(shared_world)
    say(poisoned, "Atlantis", valid_from=moment)
    town = say(author, "a town", subject="Atlantis", evidence=cites(item))["item_id"]
    pass_time(shared_world, item)
    settle(shared_world)
    resting = say(author, "wet", subject="Ana's feet", evidence=cites(item))["item_id"]
    assert stands(shared_world, item) == ("ACTIVE", "Atlantis")
    if how == "rollback":
        row = rolled_back(curator, item)
    else:
        (row,) = call(curator, "rollback_batch", reason="poisoned", agent=poisoned.info.user)
    assert row["action"] == "RESTORE"
    assert row["dependents"] == [resting]
    assert stands(shared_world, item) == ("ACTIVE", "Lund")
    assert contents(author, valid_time=year(2090), **KEY) == ["Lund"]
    settle(shared_world)
    assert stands(shared_world, item) == ("ACTIVE", "Lund")
    assert [get(author, each)["stale"] for each in (town, resting)] == [False, True]
    # Undone itself, it is in force again.
    rolled_back(curator, item)
    assert stands(shared_world, item) == ("ACTIVE", "Atlantis")
    assert [get(author, each)["stale"] for each in (town, resting)] == [False, False]
    check_timeline(shared_world)


def test_what_somebody_else_said_since_is_kept(
    shared_world: World, home: str, author: Agent, curator: Agent
) -> None:
    """A batch leaves an item alone whose last word, by a person, is another's.

    Proves: T5, T4
    """
    poisoned = shared_world.agent(home)
    item = say(poisoned, "Atlantis", valid_from=year(2015))["item_id"]
    moment = soon(shared_world)
    say(author, "Crete", valid_to=moment)
    pass_time(shared_world, item)
    settle(shared_world)
    assert stands(shared_world, item) == ("ACTIVE", "Atlantis")
    (row,) = call(curator, "rollback_batch", reason="poisoned", agent=poisoned.info.user)
    assert row["action"] == "CHANGED_SINCE"
    # One by one, it can be: first the vacation, then what was bad.
    rolled_back(curator, item)
    assert contents(author, valid_time=year(2090)) == ["Atlantis"]
    assert head(shared_world, item)["valid_during"].upper is None
