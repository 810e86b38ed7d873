"""Texts without a key that hold one after the other contradict nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import recall, write
from write.judgement.test_constraint_graph import configure
from write.judgement.test_two_things import ask_nobody

if TYPE_CHECKING:
    from conftest import World

HOME = "/org/acme"
Agent = Connection[DictRow]
PAIRS = (
    ("The garden door is open.", "The garden door is closed."),
    ("Ana works in Rome.", "Ana does not work in Rome."),
    ("The pump in hall 4 is running.", "The pump in hall 4 is not running."),
)


@pytest.fixture
def compared(world: World) -> World:
    """A store as shipped that asks no person; contradictions are for people."""
    ask_nobody(world, "semantic")
    configure(world, conflict="review")
    return world


def standings(agent: Agent, query: str) -> dict[str, str]:
    """What recall tells of each text."""
    return {row["text"]: row["standing"] for row in recall(agent, query=query, k=5)}


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("mine", [True, False])
@pytest.mark.parametrize("turned", [False, True])
def test_what_has_ended_does_not_contradict_what_follows(
    compared: World, first: str, second: str, *, mine: bool, turned: bool
) -> None:
    """In either order, of one writer or two; the one that ended is told as such.

    Proves: V4
    """
    one = compared.agent(HOME)
    other = one if mine else compared.agent(HOME)
    periods: list[tuple[str, dict[str, Any]]] = [
        (first, {"valid_from": "2020-01-01", "valid_to": "2022-01-01"}),
        (second, {"valid_from": "2022-01-01"}),
    ]
    for agent, (text, period) in zip(
        (one, other), reversed(periods) if turned else periods, strict=True
    ):
        answer = write(agent, "semantic", text, **period)
        assert (answer["outcome"], answer["reason"], answer["detail"]) == ("COMMITTED", None, None)
    told = standings(one, first)
    assert told[first] == "outdated"
    assert told[second] not in ("outdated", "disputed")
    assert one.execute("SELECT FROM memwarden.disputes").fetchall() == []


def test_what_is_said_now_follows_what_has_ended(compared: World) -> None:
    """Without a date a text holds from now on. Proves: V4."""
    agent = compared.agent(HOME)
    write(agent, "semantic", PAIRS[0][0], valid_from="2020-01-01", valid_to="2022-01-01")
    answer = write(compared.agent(HOME), "semantic", PAIRS[0][1])
    assert (answer["outcome"], answer["detail"]) == ("COMMITTED", None)
    assert standings(agent, PAIRS[0][0])[PAIRS[0][0]] == "outdated"


def test_an_earlier_text_never_takes_the_place_of_a_later_one(compared: World) -> None:
    """Told afterwards, by the same writer, without an end: both are marked. Proves: V4."""
    agent = compared.agent(HOME)
    later = write(agent, "semantic", PAIRS[0][1], valid_from="2024-01-01")
    earlier = write(agent, "semantic", PAIRS[0][0], valid_from="2023-01-01")
    assert (earlier["outcome"], earlier["reason"]) == ("COMMITTED", None)
    assert earlier["item_id"] != later["item_id"]
    assert earlier["detail"]["marked"][0]["relation"] == "precedes"
    assert len(standings(agent, PAIRS[0][0])) == 2


def test_periods_that_overlap_contradict_as_before(compared: World) -> None:
    """By the policy of the layer. Proves: V4."""
    first = {"valid_from": "2020-01-01", "valid_to": "2022-01-01"}
    write(compared.agent(HOME), "semantic", PAIRS[0][0], **first)
    second = {"valid_from": "2019-01-01", "valid_to": "2021-01-01"}
    answer = write(compared.agent(HOME), "semantic", PAIRS[0][1], **second)
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "CONTRADICTION")
