"""Memories that contradict each other and both stand are marked, for as long as both stand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection, Error
from psycopg.rows import DictRow

from access import call
from helpers import recall, write
from races import together
from write.judgement.test_constraint_graph import HOME, answer, configure, say
from write.judgement.test_gates import VECTOR, near

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]
# One agent says both, and "a door" may be another one: so neither takes the place of the other.
OPEN, SHUT = "A door is open", "A door is not open"


@pytest.fixture
def agent(world: World) -> Agent:
    """An agent of a store in which contradicting memories stand beside each other."""
    configure(world, conflict="coexist")
    return world.agent(HOME, role="curator")


def disputed(agent: Agent) -> set[Any]:
    """The active memories that are marked, in every way of reading."""
    rows = agent.execute(
        "SELECT item_id FROM memwarden.items WHERE contradicted AND status = 'ACTIVE'"
    ).fetchall()
    found = {row["item_id"] for row in rows}
    assert found == {r["item_id"] for r in recall(agent, query="door", k=100) if r["contradicted"]}
    return found


def both(agent: Agent, **more: Any) -> tuple[Any, Any]:
    """Write two memories that contradict each other."""
    one = write(agent, "semantic", OPEN, embedding=VECTOR)
    other = write(agent, "semantic", SHUT, embedding=near(0.9), **more)
    assert (one["outcome"], other["outcome"]) == ("COMMITTED", "COMMITTED")
    return one["item_id"], other["item_id"]


def ended(world: World, agent: Agent, other: Any, way: str) -> None:
    """End a memory in some way."""
    if way == "retracted":
        call(agent, "retract", item_id=other, reason="it is not")
    elif way == "erased":
        about = {"subject": "nobody", "identifiers": ["zzq"], "reason": "asked"}
        call(world.admin, "erase_subject", org="acme", **about)
    elif way == "expired":
        world.admin.execute(
            "UPDATE memwarden_data.item SET expires_at = clock_timestamp() WHERE item_id = %s",
            (other,),
        )
    else:
        world.admin.execute(
            "SELECT memwarden_internal.end_items(i.org_id, ARRAY[i.item_id], 'SUPERSEDED',"
            " 'SUPERSEDE', 'it did', 0) FROM memwarden_data.item AS i WHERE i.item_id = %s",
            (other,),
        )


@pytest.mark.parametrize("way", ["retracted", "expired", "erased", "superseded"])
def test_the_mark_goes_when_the_other_side_ends(world: World, agent: Agent, way: str) -> None:
    """By whatever way it ends; of three, when the last of the others has.

    Proves: F6
    """
    one = write(agent, "semantic", OPEN, embedding=VECTOR)["item_id"]
    cited = [{"uri": "https://example.org/zzq"}]
    other = write(agent, "semantic", SHUT, embedding=near(0.9), evidence=cited)["item_id"]
    assert disputed(agent) == {one, other}
    ended(world, agent, other, way)
    assert disputed(agent) == set()


def test_it_stays_while_something_else_contradicts(world: World, agent: Agent) -> None:
    """Proves: F6."""
    configure(world, duplicate_similarity=None)
    one, other = both(agent)
    third = write(agent, "semantic", "A door isn't open", embedding=near(0.8))["item_id"]
    assert {one, other} <= disputed(agent)
    call(agent, "retract", item_id=other, reason="r")
    assert disputed(agent) == {one, third}


def test_a_memory_that_comes_back_is_disputed_again(agent: Agent) -> None:
    """Proves: T5, F6."""
    one, other = both(agent)
    call(agent, "retract", item_id=other, reason="r")
    call(agent, "rollback", item_id=other, reason="r")
    assert disputed(agent) == {one, other}


def test_one_that_says_something_else_is_not_disputed_any_more(world: World, agent: Agent) -> None:
    """Proves: V10, F6."""
    one = say(agent, "door", "is", "open")["item_id"]
    other = say(world.agent(HOME), "door", "is", "not open")
    assert answer(other) == ("COMMITTED", None)
    assert other["item_id"] != one
    assert disputed(agent) == {one, other["item_id"]}
    again = say(agent, "door", "is", "not open, they say", confidence=0.1)
    assert (again["item_id"], again["outcome"]) == (one, "COMMITTED")
    assert len(disputed(agent)) in (0, 2)


def test_both_ended_at_once_leave_no_mark(world: World, agent: Agent) -> None:
    """And bringing either back alone marks nothing.

    Proves: F6
    """
    pair = both(agent)
    others = [world.agent(HOME, role="curator") for _ in pair]
    ends: list[Callable[[], object]] = [
        partial(call, who, "retract", item_id=item, reason="r")
        for who, item in zip(others, pair, strict=True)
    ]
    together(ends)
    assert disputed(agent) == set()
    call(agent, "rollback", item_id=pair[0], reason="r")
    assert disputed(agent) == set()


def test_one_written_while_the_other_ends_is_marked_for_what_stands(
    world: World, agent: Agent
) -> None:
    """Whichever is first, the mark says what is there afterwards.

    Proves: F6
    """
    one = write(agent, "semantic", OPEN, embedding=VECTOR)["item_id"]
    writer, ender = world.agent(HOME), world.agent(HOME, role="curator")
    race: list[Callable[[], object]] = [
        partial(write, writer, "semantic", SHUT, embedding=near(0.9)),
        partial(call, ender, "retract", item_id=one, reason="r"),
    ]
    together(race)
    assert disputed(agent) == set()


def test_the_mark_does_not_tell_of_what_is_hidden(world: World) -> None:
    """Who reads both sees it; who reads one of them does not.

    Proves: F6, A3
    """
    configure(world, conflict="coexist")
    chief = world.agent(HOME, clearance="restricted")
    clerk = world.agent(HOME, clearance="internal")
    one = write(clerk, "semantic", OPEN, embedding=VECTOR)["item_id"]
    other = write(chief, "semantic", SHUT, embedding=near(0.9), classification="restricted")[
        "item_id"
    ]
    assert disputed(chief) == {one, other}
    assert disputed(clerk) == set()


def test_rebuilt_heads_are_marked_as_before(world: World, agent: Agent) -> None:
    """Proves: F6."""
    pair = both(agent)
    world.admin.execute("SELECT * FROM memwarden.rebuild_heads(replace => true)")
    assert disputed(agent) == set(pair)


def pairs(connection: Agent) -> list[DictRow]:
    """What the view of disputes tells a caller."""
    return connection.execute("SELECT * FROM memwarden.disputes").fetchall()


def test_a_pair_is_listed_once_with_the_words_of_both(world: World, agent: Agent) -> None:
    """For who reads both; the newer one is named first.

    Proves: F6, Q7 (contradiction backlog)
    """
    one, other = both(agent)
    [pair] = pairs(agent)
    assert (pair["item_id"], pair["text"]) == (other, SHUT)
    assert (pair["other_item_id"], pair["other_text"]) == (one, OPEN)
    assert pairs(world.agent("/org/other/user/bo")) == []


@pytest.mark.every_version
def test_whoever_settles_it_says_which_one_holds(world: World, agent: Agent) -> None:
    """The other one is superseded, and comes back by one call.

    Proves: T5, F6, C4 (human)
    """
    one, other = both(agent)
    call(agent, "settle_dispute", item_id=one, other_item_id=other, keep=other, reason="looked")
    assert disputed(agent) == set()
    [item] = world.rows("SELECT status FROM memwarden_data.item WHERE item_id = %s", one)
    assert item["status"] == "SUPERSEDED"
    call(agent, "rollback", item_id=one, reason="looked again")
    assert disputed(agent) == {one, other}


def test_both_may_hold_and_the_same_words_are_not_marked_again(world: World, agent: Agent) -> None:
    """A person with APPROVE settles it.

    Proves: F6, C4 (human)
    """
    one, other = both(agent)
    groups = ("memwarden_reviewer",)
    reviewer = world.connect(world.register(HOME, groups=groups, kind="human", role="reviewer"))
    call(reviewer, "settle_dispute", item_id=other, other_item_id=one)
    assert disputed(agent) == set()
    call(agent, "retract", item_id=other, reason="r")
    call(agent, "rollback", item_id=other, reason="r")
    assert disputed(agent) == set()


@pytest.mark.parametrize(
    ("arguments", "state"),
    [
        ({"keep": "00000000-0000-4000-8000-000000000000"}, "22023"),
        ({"keep": "one"}, "22023"),
        ({"keep": "one", "reason": " "}, "22023"),
        ({"other_item_id": "00000000-0000-4000-8000-000000000000"}, "42704"),
        ({"other_item_id": None}, "22023"),
    ],
)
def test_what_cannot_be_settled_is_an_error(
    agent: Agent, arguments: dict[str, Any], state: str
) -> None:
    """Proves: F6."""
    one, other = both(agent)
    given = {"item_id": one, "other_item_id": other} | arguments
    given = {name: one if value == "one" else value for name, value in given.items()}
    with pytest.raises(Error) as caught:
        call(agent, "settle_dispute", **given)
    assert caught.value.sqlstate == state


@pytest.mark.every_version
def test_an_agent_that_may_only_write_settles_nothing(world: World, agent: Agent) -> None:
    """Whoever does not read both does not even learn that there is a pair.

    Proves: A1, F6
    """
    one, other = both(agent)
    for who, state in ((world.agent(HOME), "42501"), (world.agent("/org/acme/user/bo"), "42704")):
        with pytest.raises(Error) as caught:
            call(who, "settle_dispute", item_id=one, other_item_id=other)
        assert caught.value.sqlstate == state
    assert disputed(agent) == {one, other}
