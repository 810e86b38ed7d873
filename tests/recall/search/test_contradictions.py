"""Memories that contradict each other name each other, and the newer one is met first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import recall, write
from scope_calls import get, retract
from write.judgement.test_constraint_graph import HOME, configure
from write.judgement.test_gates import VECTOR, near

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]
OPEN, SHUT = "A door is open", "A door is not open"


@pytest.fixture
def agent(world: World) -> Agent:
    """An agent of a store in which contradicting memories stand beside each other."""
    configure(world, "durable", conflict="coexist", duplicate_similarity=None)
    return world.agent(HOME)


def say(agent: Agent, content: str, likeness: float = 1.0, **more: Any) -> Any:
    """Remember something that is as like VECTOR as that."""
    done = write(agent, "durable", content, embedding=near(likeness), **more)
    assert done["outcome"] == "COMMITTED", done
    return done["item_id"]


def told(agent: Agent, **asked: Any) -> dict[Any, list[Any]]:
    """Return what each answer of a recall names as its contrary, best first."""
    rows = recall(agent, **({"embedding": VECTOR} | asked))
    assert all(row["contradicted"] == bool(row["contradicts"]) for row in rows)
    return {row["item_id"]: row["contradicts"] for row in rows}


def test_each_names_the_other(agent: Agent) -> None:
    """In recall and get; what nothing contradicts names nothing, and neither does what has ended.

    Proves: F9, F6
    """
    lone = say(agent, "The garden is large", 0.5)
    one, other = say(agent, OPEN), say(agent, SHUT, 0.95)
    third = say(agent, "A door isn't open", 0.9)
    named = told(agent)
    assert named[lone] == []
    assert {one, third} <= set(named[one]) | {one}
    assert set(named[other]) <= {one, third}
    assert other in named[one]
    assert one in named[other]
    for item, others in named.items():
        assert get(agent, item)["contradicts"] == others
    retract(agent, other)
    assert told(agent)[one] == [third]
    assert get(agent, other)["contradicts"] == []
    retract(agent, third)
    assert told(agent) == {lone: [], one: []}


def test_what_the_reader_may_not_see_is_not_named(world: World, agent: Agent) -> None:
    """Neither by classification nor across a surface that is capped.

    Proves: A3
    """
    chief = world.agent(HOME, clearance="confidential")
    shut = say(chief, SHUT, 0.95, classification="confidential")
    # Of two that do not see each other none is told; who sees both tells both.
    again = say(chief, OPEN)
    assert told(chief) == {again: [shut], shut: [again]}
    assert told(agent) == {again: []}
    assert get(agent, again)["contradicts"] == []
    assert told(chief, classification="internal") == {again: []}


def test_the_newer_of_two_comes_first(agent: Agent) -> None:
    """Though it answers a little less well; what contradicts nothing keeps its order.

    Proves: L7, F6
    """
    one = say(agent, OPEN)
    first = say(agent, "The door is green", 0.97)
    newer = say(agent, SHUT, 0.94)
    last = say(agent, "The door creaks", 0.9)
    for fusion in ("weighted", "rrf"):
        assert list(told(agent, fusion=fusion)) == [newer, one, first, last]
    # Their scores stay what they are: each is the sum that explain_recall() gives.
    scores = {row["item_id"]: row["score"] for row in recall(agent, embedding=VECTOR)}
    assert scores[newer] < scores[first] < scores[one]
    steps = agent.execute(
        "SELECT * FROM memwarden.explain_recall(embedding => %s::real[])", (VECTOR,)
    ).fetchall()
    (dispute,) = (step for step in steps if step["step"] == "dispute")
    assert (dispute["facts"]["first"], dispute["facts"]["then"]) == (str(newer), str(one))
    # Said anew, the other is the newer one.
    write(agent, "durable", OPEN + " today", corrects=one, embedding=VECTOR)
    answered = list(told(agent))
    assert answered.index(one) == 0


def test_of_several_each_comes_before_all_that_are_older(agent: Agent) -> None:
    """Proves: L7, F6."""
    said = [SHUT, OPEN, "A door isn't open"]
    items = [say(agent, text, 1 - n / 50) for n, text in enumerate(said)]
    named = told(agent)
    assert set(named[items[1]]) == {items[0], items[2]}
    assert list(named) == items[::-1]


@pytest.mark.parametrize(
    "weights", [{"relevance": 1, "recency": 0}, {"relevance": 1, "freshness": 0.1}]
)
def test_weights_that_name_time_decide_alone(
    world: World, agent: Agent, weights: dict[str, float]
) -> None:
    """Of the call, or of the layer; without them the newer comes first.

    Proves: L7
    """
    one, newer = say(agent, OPEN), say(agent, SHUT, 0.8)
    say(agent, "The garden is large", 0.1)
    assert list(told(agent, weights=weights))[:2] == [one, newer]
    assert list(told(agent, weights={"relevance": 1}))[:2] == [newer, one]
    configure(world, "durable", weights=weights)
    assert list(told(agent))[:2] == [one, newer]
    assert list(told(agent, weights={"relevance": 1}))[:2] == [newer, one]


def test_what_hardly_answers_is_not_put_first(agent: Agent) -> None:
    """Less than half as relevant as the other.

    Proves: L7
    """
    one = say(agent, OPEN)
    newer = say(agent, SHUT, 0.6)
    assert list(told(agent)) == [newer, one]
    away = [0.6, -0.8] + [0.0] * 382
    assert list(told(agent, embedding=away)) == [one, newer]


def test_pages_hold_what_they_held(agent: Agent) -> None:
    """Each memory comes once, whatever the size of a page.

    Proves: L7
    """
    items = [say(agent, OPEN)]
    items += [say(agent, f"The door is number {n}", 0.99 - n / 100) for n in range(5)]
    items += [say(agent, SHUT, 0.9)]
    for size in (1, 2, 3, 7):
        seen: list[Any] = []
        while page := list(told(agent, k=size, exclude=seen)):
            assert not set(page) & set(seen)
            seen += page
        assert sorted(seen) == sorted(items)
