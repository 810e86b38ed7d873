"""A later statement about the same attribute of the same thing makes the earlier one outdated."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import call
from helpers import recall, write, write_many
from races import together
from write.judgement.test_constraint_graph import HOME, configure
from write.judgement.test_gates import VECTOR, near

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]
MONDAYS = "The choir meets on Mondays."
WEDNESDAYS = "The choir has moved to Wednesdays."
FRIDAYS = "The choir now meets on Fridays."
ASKED = "When does the choir meet?"


@pytest.fixture
def agent(world: World) -> Agent:
    """An agent of a store whose semantic layer compares what is written with what is there."""
    configure(world, conflict="auto_resolve", duplicate_similarity=0.9)
    return world.agent(HOME, role="curator")


def say(agent: Agent, text: Any, **more: Any) -> Any:
    """Remember something."""
    done = write(agent, "semantic", text, **more)
    assert done["outcome"] == "COMMITTED", done
    return done["item_id"]


def standings(agent: Agent, query: str = ASKED) -> dict[Any, str]:
    """The standing of each answer, best first."""
    return {row["item_id"]: row["standing"] for row in recall(agent, query=query, k=20)}


def outdated(agent: Agent, query: str = ASKED) -> set[Any]:
    """Which answers are outdated."""
    return {item for item, standing in standings(agent, query).items() if standing == "outdated"}


def test_the_new_value_comes_first_and_the_old_one_is_marked(agent: Agent) -> None:
    """In recall and in a context; nothing is deleted, and the older names the newer.

    Proves: V10, Z17
    """
    old, new = say(agent, MONDAYS), say(agent, WEDNESDAYS)
    rows = recall(agent, query=ASKED)
    assert [row["item_id"] for row in rows] == [new, old]
    assert [row["standing"] == "outdated" for row in rows] == [False, True]
    assert rows[1]["provenance"]["outdated_by"] == [str(new)]
    assert not rows[0]["contradicted"]
    assert not rows[1]["contradicted"]
    assert rows[1]["stale"]
    lines = agent.execute(
        "SELECT item_id, standing, stale FROM memwarden.compile_context(%s)", (ASKED,)
    ).fetchall()
    assert [line["item_id"] for line in lines] == [new, old]
    assert [line["stale"] for line in lines] == [False, True]


def test_a_context_brings_the_newer_value_along(agent: Agent) -> None:
    """Where only the older one answers the question.

    Proves: V10, Z17
    """
    old = say(agent, "The choir meets on Mondays in the old chapel.", embedding=VECTOR)
    new = say(agent, WEDNESDAYS, embedding=near(0.1))
    lines = agent.execute(
        "SELECT item_id FROM memwarden.compile_context(NULL, embedding => %s::real[],"
        " candidates => 1)",
        (VECTOR,),
    ).fetchall()
    assert [line["item_id"] for line in lines] == [new, old]


def test_it_is_found_however_unlike(agent: Agent) -> None:
    """By the key of the attribute: their vectors have nothing in common.

    Proves: V10, Z17
    """
    old = say(agent, MONDAYS, embedding=VECTOR)
    new = say(agent, WEDNESDAYS, embedding=near(0.0))
    assert outdated(agent) == {old}
    assert next(iter(standings(agent))) == new


def test_all_ways_of_writing_set_the_key(world: World, agent: Agent) -> None:
    """One write, a set, and one with a period: keys are equal, hashed, and rebuilt as they were.

    Proves: V10
    """
    say(agent, MONDAYS)
    write_many(agent, [{"layer": "semantic", "content": c} for c in ("Ana lives in Rome", FRIDAYS)])
    say(agent, WEDNESDAYS, valid_from=datetime.now(UTC) - timedelta(days=3))
    keys = "SELECT item_id, attribute_key FROM memwarden_data.item ORDER BY item_id"
    before = world.rows(keys)
    assert all(row["attribute_key"] is not None for row in before)
    assert len({row["attribute_key"] for row in before}) == 2
    world.admin.execute("SELECT * FROM memwarden.rebuild_heads(replace => true)")
    assert world.rows(keys) == before


def test_a_set_marks_as_single_writes_do(agent: Agent) -> None:
    """Both values in one call: the later of them holds.

    Proves: V10
    """
    done = write_many(agent, [{"layer": "semantic", "content": c} for c in (MONDAYS, WEDNESDAYS)])
    assert [row["outcome"] for row in done] == ["COMMITTED", "COMMITTED"]
    assert outdated(agent) == {done[0]["item_id"]}


@pytest.mark.parametrize("way", ["retracted", "erased", "changed"])
def test_the_mark_ends_with_the_newer_one(world: World, agent: Agent, way: str) -> None:
    """By whatever way it ends, and comes back with it.

    Proves: V10
    """
    old, new = say(agent, MONDAYS), say(agent, WEDNESDAYS)
    assert outdated(agent) == {old}
    if way == "retracted":
        call(agent, "retract", item_id=new, reason="it has not")
        assert outdated(agent) == set()
        call(agent, "rollback", item_id=new, reason="it has")
        assert outdated(agent) == {old}
    elif way == "erased":
        about = {"subject": "nobody", "identifiers": ["Wednesdays"], "reason": "asked"}
        call(world.admin, "erase_subject", org="acme", **about)
        assert outdated(agent) == set()
        assert world.rows("SELECT FROM memwarden_data.dispute") == []
    else:
        say(agent, "The choir has a new flute.", corrects=new)
        assert outdated(agent) == set()


def test_a_value_that_comes_back_is_current_again(agent: Agent) -> None:
    """Mondays, Wednesdays, Mondays: what is out of date itself makes nothing out of date.

    Proves: V10
    """
    first, second = say(agent, MONDAYS), say(agent, WEDNESDAYS)
    third = say(agent, "The choir has moved back to Mondays.")
    assert outdated(agent) == {second}
    assert first in standings(agent)
    fourth = say(agent, FRIDAYS)
    assert outdated(agent) == {first, second, third}
    assert next(iter(standings(agent))) == fourth


def test_who_settles_it_says_which_holds(agent: Agent) -> None:
    """That both hold ends the mark for good; the pair is listed, the newer first.

    Proves: V10
    """
    old, new = say(agent, MONDAYS), say(agent, WEDNESDAYS)
    [pair] = agent.execute("SELECT item_id, other_item_id FROM memwarden.disputes").fetchall()
    assert pair == {"item_id": new, "other_item_id": old}
    call(agent, "settle_dispute", item_id=old, other_item_id=new)
    assert outdated(agent) == set()
    assert agent.execute("SELECT FROM memwarden.disputes").fetchall() == []


def test_the_time_is_that_of_the_record(agent: Agent) -> None:
    """What was said earlier is the older one, written last or not; no writer makes it newer.

    Proves: V10
    """
    now = datetime.now(UTC)
    today = say(agent, MONDAYS)
    past = say(agent, WEDNESDAYS, valid_from=now - timedelta(days=900))
    assert outdated(agent) == {past}
    assert next(iter(standings(agent))) == today
    ahead = say(agent, "Ana lives in Rome", valid_from=now + timedelta(days=9))
    later = say(agent, "Ana lives in Bern now")
    assert outdated(agent, "Where does Ana live?") == {past, ahead}
    assert next(iter(standings(agent, "Where does Ana live?"))) == later


def test_what_stands_firmer_is_not_marked(world: World, agent: Agent) -> None:
    """A word of an agent against what a source with authority bears out.

    Proves: V10
    """
    old = say(agent, MONDAYS)
    world.admin.execute("UPDATE memwarden_data.item SET standing = 'supported'")
    say(agent, WEDNESDAYS)
    assert outdated(agent) == set()
    assert old in standings(agent)


def test_a_mark_tells_nothing_of_what_is_hidden(world: World) -> None:
    """Who does not read the newer one sees no mark; who may not read the older one sets none.

    Proves: V10
    """
    configure(world, conflict="auto_resolve", duplicate_similarity=0.9)
    chief = world.agent(HOME, clearance="restricted")
    clerk = world.agent(HOME, clearance="internal")
    old = say(clerk, MONDAYS)
    say(chief, WEDNESDAYS, classification="restricted")
    assert outdated(chief) == {old}
    assert outdated(clerk) == set()
    say(chief, "Ana lives in Rome", classification="restricted")
    say(clerk, "Ana lives in Bern now")
    assert outdated(chief, "Where does Ana live?") == {old}


def test_scopes_and_layers_stand_apart(world: World, agent: Agent) -> None:
    """Proves: V10."""
    say(agent, MONDAYS)
    other = world.agent("/org/acme/user/bo")
    say(other, WEDNESDAYS)
    assert outdated(agent) == set()


def test_two_changes_at_once_keep_their_order(world: World, agent: Agent) -> None:
    """Whichever is recorded last is current, and everything before it outdated.

    Proves: V10
    """
    first = say(agent, MONDAYS)
    days = ("Tuesdays", "Wednesdays", "Thursdays", "Fridays")
    writers = [world.agent(HOME) for _ in days]
    done = together(
        [
            partial(say, who, f"The choir has moved to {day}.")
            for who, day in zip(writers, days, strict=True)
        ]
    )
    newest = world.rows(
        "SELECT item_id FROM memwarden_data.item ORDER BY updated_at DESC, item_id DESC LIMIT 1"
    )[0]["item_id"]
    assert outdated(agent) == {first, *done} - {newest}
    assert next(iter(standings(agent))) == newest
