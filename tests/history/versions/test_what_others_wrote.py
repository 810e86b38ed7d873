"""Whoever may delete its own memories alone ends no memory of another by overwriting it first."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from access import call, state
from conftest import World
from history.versions.past import Agent, check_timeline, say
from history.versions.past import state as stands
from scope_calls import get, remember
from shipped import SCOPE, Shipped

FORBIDDEN = "42501"


@pytest.fixture
def other(shared_world: World, home: str) -> Agent:
    """Who writes in the home as well."""
    return shared_world.agent(home)


def holds(agent: Agent, item: Any) -> tuple[Any, ...]:
    """What a memory says, and who wrote that."""
    row = get(agent, item)
    return row["status"], row["content"], row["provenance"]["agent"]


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("way", ["retract", "expire"])
def test_ending_ones_own_words_brings_back_anothers(
    shared_world: World, author: Agent, other: Agent, way: str, times: int
) -> None:
    """Whose they are again; a second time is refused, and so is everything by a third.

    Proves: A1
    """
    item = say(author, "Lund")["item_id"]
    for n in range(times):
        assert say(other, f"Oslo {n}")["item_id"] == item
    row = call(other, way, item_id=item, reason="not so")
    answer = row[0] if isinstance(row, list) else row
    assert answer["outcome"] == "COMMITTED"
    assert holds(author, item) == ("ACTIVE", "Lund", author.info.user)
    assert get(author, item)["version_id"] == answer["version_id"]
    check_timeline(shared_world)
    assert state(other, way, item_id=item, reason="again") == FORBIDDEN
    assert state(other, "rollback", item_id=item, reason="again") == FORBIDDEN


def test_whoever_may_delete_what_others_wrote_ends_all_of_it(
    shared_world: World, author: Agent, other: Agent, curator: Agent
) -> None:
    """As before.

    Proves: A1
    """
    item = say(author, "Lund")["item_id"]
    say(other, "Oslo")
    say(curator, "Rome")
    call(curator, "retract", item_id=item, reason="r")
    assert stands(shared_world, item)[0] == "RETRACTED"


def test_no_other_way_ends_it(shared_world: World, home: str, author: Agent, other: Agent) -> None:
    """Rolling back without bringing back, or past it; moving it away; merging it.

    Proves: A1
    """
    item = say(author, "Malmo")["item_id"]
    since = shared_world.value("SELECT clock_timestamp()")
    say(author, "Lund")
    say(other, "Oslo")
    mine = remember(other, home, 1)
    assert state(other, "rollback", item_id=item, reason="r", restore=[]) == FORBIDDEN
    assert state(other, "rollback", item_id=item, reason="r", to_version=1) == FORBIDDEN
    assert state(other, "reclassify", item_id=item, layer="episodic", reason="r") == FORBIDDEN
    assert state(other, "merge", item_id=mine, absorbed=item, reason="r") in {FORBIDDEN, "22023"}
    undone = call(other, "rollback_batch", reason="r", scope=home, since=since)
    assert {row["action"] for row in undone if row["item_id"] == item} == {"ROLE_FORBIDS"}
    assert holds(author, item)[:2] == ("ACTIVE", "Oslo")
    # Its own change alone it may undo.
    call(other, "rollback", item_id=item, reason="r")
    assert holds(author, item)[:2] == ("ACTIVE", "Lund")
    check_timeline(shared_world)


def test_a_short_life_does_not_end_it(author: Agent, other: Agent) -> None:
    """A value lives no shorter than what it overwrote; however often it is overwritten.

    Proves: A1
    """
    item = say(author, "Lund", ttl="1 year")["item_id"]
    until = get(author, item)["expires_at"]
    for n in range(2):
        say(other, f"Oslo {n}", ttl="1 second")
        assert get(author, item)["expires_at"] == until
    other_item = say(author, "Lund", subject="Klaus", ttl="1 year")["item_id"]
    say(author, "Ystad", subject="Klaus", ttl="1 second")
    assert get(author, other_item)["expires_at"] < until


def test_what_was_replaced_comes_back(shared_world: World, author: Agent, other: Agent) -> None:
    """What contradicted another's memory and ended it goes, and that is there again.

    Proves: A1
    """
    shared_world.admin.execute(
        "SELECT memwarden.configure_layer('semantic', '{\"conflict\": \"latest_wins\"}')"
    )
    write = "SELECT * FROM memwarden.write('semantic', %s)"
    row = author.execute(write, (Jsonb("The harbour cafe is open on Mondays."),)).fetchone()
    assert row is not None
    ended = row["item_id"]
    row = other.execute(write, (Jsonb("The harbour cafe is not open on Mondays."),)).fetchone()
    assert row is not None
    assert row["outcome"] == "COMMITTED"
    assert stands(shared_world, ended)[0] == "SUPERSEDED"
    call(other, "retract", item_id=row["item_id"], reason="r")
    assert stands(shared_world, row["item_id"])[0] == "RETRACTED"
    assert holds(author, ended) == (
        "ACTIVE",
        "The harbour cafe is open on Mondays.",
        author.info.user,
    )


def key(agent: Agent, city: str) -> Any:
    """Write where Ana lives, in a store as it was shipped."""
    row = agent.execute(
        "SELECT * FROM memwarden.write("
        "'semantic', %s, subject => 'Ana', predicate => 'lives in', scope => %s)",
        (Jsonb({"city": city}), SCOPE),
    ).fetchone()
    assert row is not None
    assert row["outcome"] == "COMMITTED", row
    return row["item_id"]


@pytest.mark.parametrize("conflict", [None, "latest_wins", "accumulate"])
def test_as_shipped_and_whatever_a_layer_does_with_conflicts(
    shipped: Shipped, conflict: str | None
) -> None:
    """One agent's word comes and goes; the other's is there afterwards as it was before.

    Proves: A1
    """
    if conflict is not None:
        shipped.world.admin.execute(
            "SELECT memwarden.configure_layer('semantic', %s, org => 'acme')",
            (Jsonb({"conflict": conflict}),),
        )
    theirs = key(shipped.application, "Rome")
    before = holds(shipped.application, theirs)
    mine = key(shipped.agent, "Oslo")
    assert (mine == theirs or stands(shipped.world, theirs)[0] == "SUPERSEDED") == bool(conflict)
    call(shipped.agent, "retract", item_id=mine, reason="not so")
    assert holds(shipped.application, theirs) == before
    assert before[0] == "ACTIVE"


def test_where_people_are_asked_what_another_wrote_comes_back_when_they_agree(
    shipped: Shipped,
) -> None:
    """Until then all stays as it is.

    Proves: A1
    """
    shipped.world.admin.execute(
        "SELECT memwarden.configure_layer('semantic', %s, org => 'acme')",
        (Jsonb({"conflict": "latest_wins"}),),
    )
    theirs = key(shipped.application, "Rome")
    before = holds(shipped.application, theirs)
    mine = key(shipped.agent, "Oslo")
    shipped.world.admin.execute(
        "SELECT memwarden.set_approval_policy('semantic', approval => 'always', org => 'acme')"
    )
    (asked,) = call(shipped.agent, "retract", item_id=mine, reason="not so")
    assert asked["outcome"] == "DEFERRED"
    assert holds(shipped.application, theirs) != before
    shipped.approve(asked)
    assert holds(shipped.application, theirs) == before
