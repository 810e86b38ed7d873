"""reclassify(): a memory moves to another layer, through the gates there."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from psycopg.rows import DictRow

from access import call, refusal, state
from conftest import World
from helpers import recall, write
from history.versions.past import Agent, cites, head, history, say, year
from history.versions.past import state as stands
from scope_calls import get, remember, retract


def reclassify(agent: Agent, item: UUID, layer: str = "durable") -> DictRow:
    """Call ``memwarden.reclassify``."""
    return call(agent, "reclassify", item_id=item, layer=layer, reason="it stays")[0]


def test_it_moves(author: Agent, curator: Agent) -> None:
    """A new item with the words, the period, the label, and the original as evidence.

    Proves: G4
    """
    made = say(author, {"city": "Lund"}, confidence=0.9, importance=0.3, valid_from=year(2015))
    item = made["item_id"]
    row = reclassify(curator, item)
    assert row["outcome"] == "COMMITTED"
    new, old = get(author, row["item_id"]), get(author, item)
    same = ("content", "subject", "predicate", "confidence", "importance", "valid_from", "scope")
    assert {name: new[name] for name in same} == {name: old[name] for name in same}
    assert (new["layer"], old["layer"], old["status"]) == ("durable", "semantic", "SUPERSEDED")
    (evidence,) = new["provenance"]["evidence"]
    assert evidence == cites(item)[0] | {"version_id": str(made["version_id"])}
    entry = history(author, item)[0]
    told = (entry["operation"], entry["reason"], entry["request_id"])
    assert told == ("SUPERSEDE", "it stays", row["request_id"])
    assert [each["item_id"] for each in recall(author)] == [row["item_id"]]
    assert not get(author, row["item_id"])["stale"]


def test_where_the_layer_knows_it_already(shared_world: World, home: str, curator: Agent) -> None:
    """The original ends all the same, and a rollback of it brings it back alone.

    Proves: G4, T5
    """
    known = remember(shared_world.agent(home), home, "a fact", layer="durable")
    item = remember(curator, home, "a fact")
    row = reclassify(curator, item)
    told = (row["outcome"], row["reason"], row["item_id"])
    assert told == ("REJECTED", "EXACT_DUPLICATE", known)
    assert stands(shared_world, item)[0] == "SUPERSEDED"
    (back,) = call(curator, "rollback", item_id=item, reason="no")
    assert (back["item_id"], back["action"]) == (item, "RESTORE")
    assert stands(shared_world, known) == ("ACTIVE", "a fact")


def test_where_the_layer_holds_another_value(shared_world: World, curator: Agent) -> None:
    """It becomes the next value there; undone, the one before stands again, and the original too.

    Proves: G4, T5
    """
    there = say(curator, "Lund", layer="durable")["item_id"]
    item = say(curator, "Oslo")["item_id"]
    assert reclassify(curator, item)["item_id"] == there
    assert stands(shared_world, there) == ("ACTIVE", "Oslo")
    rows = call(curator, "rollback", item_id=there, reason="no")
    assert {row["item_id"] for row in rows} == {there, item}
    assert stands(shared_world, there) == ("ACTIVE", "Lund")
    assert stands(shared_world, item) == ("ACTIVE", "Oslo")


def test_where_the_gates_refuse_it_the_original_stays(shared_world: World, home: str) -> None:
    """A layer that takes only what is vouched for, or nothing directly.

    Proves: G4
    """
    agent = shared_world.agent(home, role="curator", validated=False)
    item = remember(agent, home, "a fact", layer="session")
    row = reclassify(agent, item)
    assert (row["outcome"], row["reason"]) == ("REJECTED", "AGENT_NOT_VALIDATED")
    assert stands(shared_world, item)[0] == "ACTIVE"
    assert [each["item_id"] for each in recall(agent)] == [item]


def test_again_after_it_was_undone(shared_world: World, home: str, curator: Agent) -> None:
    """The move is made anew.

    Proves: G4, T5
    """
    item = remember(curator, home, "a fact")
    first = reclassify(curator, item)
    call(curator, "rollback", item_id=item, reason="no")
    second = reclassify(curator, item)
    assert second["outcome"] == "COMMITTED"
    assert stands(shared_world, item)[0] == "SUPERSEDED"
    assert stands(shared_world, first["item_id"])[0] == "RETRACTED"
    assert [row["item_id"] for row in recall(curator)] == [second["item_id"]]


def test_a_busy_scope_is_told(shared_world: World, home: str, curator: Agent) -> None:
    """55P03 for either layer, and nothing has happened.

    Proves: G4
    """
    writer = shared_world.agent(home)
    item = remember(curator, home, "a fact")
    remember(curator, home, "another", layer="durable")
    curator.execute("SET lock_timeout = '1ms'")
    for layer in ("semantic", "durable"):
        with writer.transaction(force_rollback=True):
            write(writer, layer, {"busy": layer})
            assert (
                state(curator, "reclassify", item_id=item, layer="durable", reason="r") == "55P03"
            )
    assert stands(shared_world, item)[0] == "ACTIVE"
    assert reclassify(curator, item)["outcome"] == "COMMITTED"


@pytest.mark.parametrize("layer", [None, "semantic", "nowhere", ""])
def test_another_layer_is_named(home: str, curator: Agent, layer: Any) -> None:
    """22023 for the one that it is in, or none.

    Proves: G4
    """
    item = remember(curator, home, "a fact")
    assert state(curator, "reclassify", item_id=item, layer=layer, reason="r") == "22023"


def test_who_may(shared_world: World, home: str, author: Agent, curator: Agent) -> None:
    """Who deletes the one and writes the other; a reason is given; ended items do not move.

    Proves: G4, A1
    """
    item = remember(author, home, "a fact")
    stranger = shared_world.agent(home)
    raised = refusal(stranger, "reclassify", item_id=item, layer="durable", reason="r")
    assert raised.sqlstate == "42501"
    orchestrator = shared_world.agent(home, role="orchestrator")
    row = reclassify(orchestrator, item)
    assert (row["outcome"], row["reason"]) == ("REJECTED", "ROLE_FORBIDS")
    assert stands(shared_world, item)[0] == "ACTIVE"
    for reason in (None, " "):
        asked = {"item_id": item, "layer": "durable", "reason": reason}
        assert state(curator, "reclassify", **asked) == "22023"
    assert head(shared_world, item)["status"] == "ACTIVE"
    retract(curator, item)
    asked = {"item_id": item, "layer": "durable", "reason": "r"}
    assert state(curator, "reclassify", **asked) == "42704"
