"""switch_embedding_model(): one statement, and the next recall uses the new vectors."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from helpers import recall, write, write_many
from operations.models.desk import (
    DIMENSION,
    OLD,
    Agent,
    assert_filled,
    embedded,
    fill,
    look,
    reembed,
    register,
    switch,
    vectors,
)
from races import together

if TYPE_CHECKING:
    from conftest import World


def old(text: str) -> list[float]:
    """Return a vector of the model that is active at first."""
    return embedded(text, 384)


def remember(agent: Agent, *texts: str) -> None:
    """Write memories with vectors that name no model."""
    rows = write_many(
        agent,
        [{"layer": "semantic", "content": text, "embedding": old(text)} for text in texts],
    )
    assert {row["outcome"] for row in rows} == {"COMMITTED"}


def active(agent: Agent) -> tuple[Any, Any]:
    """Return what the agent is told of the active model."""
    row = agent.execute("SELECT * FROM memwarden.active_embedding_model()").fetchone()
    assert row is not None
    return row["name"], row["dimension"]


def test_the_next_recall_and_write_mean_the_new_model(
    world: World, worker: Agent, agent: Agent
) -> None:
    """Where they name none; the old one is there for who names it, and to go back to.

    Proves: Z6
    """
    remember(agent, "tea", "coffee")
    model = register(world)
    reembed(world, model)
    fill(worker)
    assert active(agent) == (OLD, 384)
    assert recall(agent, embedding=old("tea"), k=1)[0]["similarity"] > 0.999
    assert switch(world, model) == OLD
    assert active(agent) == (model, DIMENSION)
    for text in ("tea", "coffee"):
        (found,) = recall(agent, embedding=embedded(text), k=1)
        assert (found["content"], found["similarity"] > 0.999) == (text, True)
        (before,) = recall(agent, embedding=old(text), embedding_model=OLD, k=1)
        assert (before["content"], before["similarity"] > 0.999) == (text, True)
    # A query of the old dimension is told which model it was held against.
    with pytest.raises(psycopg.errors.InvalidParameterValue) as error:
        recall(agent, embedding=old("tea"))
    assert "a vector of new is 8" in str(error.value)
    cocoa = write(agent, "semantic", "cocoa", embedding=embedded("cocoa"))
    assert cocoa["item_id"] in vectors(world, model)
    states = (look(world, model)["state"], look(world, OLD)["state"])
    assert states == ("active", "retired")
    # What is written without a vector is followed still; the old model is not.
    write(agent, "semantic", "milk")
    assert fill(worker) == 1
    assert_filled(world, model)
    assert switch(world, OLD, partial=True) == model
    assert active(agent) == (OLD, 384)


def test_what_is_missing_is_counted_and_refuses(world: World, agent: Agent) -> None:
    """Unless it is said that this may be; then what is missing is found by its words.

    Proves: Z6
    """
    remember(agent, "tea", "coffee", "milk")
    model = register(world)
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as error:
        switch(world, model)
    assert "3 of 3 memories have no vector of it" in str(error.value)
    write(agent, "semantic", "tea two", embedding=embedded("tea two"), embedding_model=model)
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as error:
        switch(world, model)
    assert "3 of 4" in str(error.value)
    assert active(agent) == (OLD, 384)
    assert switch(world, model, partial=True) == OLD
    found = recall(agent, query="milk", embedding=embedded("milk"), k=4)
    assert len(found) == 4
    milk = found[0]
    assert milk["content"] == "milk"
    # As near as it has the question's words: all of them.
    assert (milk["vector_score"], milk["similarity"]) == (1, None)
    assert milk["keyword_score"] > 0


def test_a_tenant_switches_alone(world: World, worker: Agent) -> None:
    """Others stay with what they have, and a later switch for all passes it by.

    Proves: Z6
    """
    acme, other = world.agent("/org/acme/user/ana"), world.agent("/org/other/user/eve")
    everybody = world.agent("/global")
    for agent in (acme, other, everybody):
        remember(agent, "tea", "coffee")
    model, third = register(world), register(world, "third", 16)
    reembed(world, model, "acme")
    fill(worker)
    assert switch(world, model, "acme") == OLD
    assert (active(acme), active(other)) == ((model, DIMENSION), (OLD, 384))
    assert recall(acme, embedding=embedded("tea"), k=1)[0]["similarity"] > 0.999
    assert recall(other, embedding=old("tea"), k=1)[0]["similarity"] > 0.999
    # What all share has vectors of both.
    assert len(recall(acme, embedding=embedded("tea"), k=9)) >= 2
    reembed(world, third)
    fill(worker)
    assert switch(world, third) == OLD
    assert (active(acme), active(other)) == ((model, DIMENSION), (third, 16))
    assert len(vectors(world, third)) == 4


def test_no_recall_fails_and_no_write_is_lost_while_models_change(
    world: World, worker: Agent, agent: Agent
) -> None:
    """Who names the model is served before, while and after.

    Proves: Z6
    """
    texts = [f"fact {n}" for n in range(20)]
    remember(agent, *texts)
    model = register(world)
    reembed(world, model)
    done = threading.Event()
    reader, writer = world.connect(agent.info.user), world.agent("/org/acme/user/bob")

    def read() -> int:
        count = 0
        while not done.is_set() or count < 20:
            (found,) = recall(reader, embedding=old("fact 7"), embedding_model=OLD, k=1)
            assert found["content"] == "fact 7"
            assert recall(reader, query="fact 7", k=1)[0]["content"] == "fact 7"
            count += 1
        return count

    def keep_writing() -> int:
        count = 0
        while not done.is_set() or count < 20:
            text = f"more {count}"
            row = write(writer, "semantic", text, embedding=old(text), embedding_model=OLD)
            assert row["outcome"] == "COMMITTED"
            # Without a name: of the model that is active just now, or was.
            row = write(writer, "semantic", f"{text} again", embedding=old(text))
            assert row["outcome"] == "COMMITTED"
            count += 1
        return count

    def go_over() -> int:
        try:
            for _ in range(5):
                fill(worker)
            switch(world, model, partial=True)
        finally:
            done.set()
        return 1

    together([read, keep_writing, go_over])
    fill(worker)
    assert_filled(world, model)
    assert look(world, model)["missing"] == 0


def test_a_changed_dimension_blocks_no_write(world: World, agent: Agent) -> None:
    """Whoever embeds still with the model before writes vectors of that model.

    Proves: Z6
    """
    model = register(world)
    switch(world, model)
    for arguments in ({"embedding": old("tea")}, {"embedding": embedded("tea")}, {}):
        row = write(agent, "semantic", f"tea {len(arguments.get('embedding', []))}", **arguments)
        assert row["outcome"] == "COMMITTED"
    assert (len(vectors(world, OLD)), len(vectors(world, model))) == (1, 1)
    # What no model of theirs ever was is refused as before.
    row = write(agent, "semantic", "milk", embedding=embedded("milk", 9))
    assert (row["outcome"], row["reason"]) == ("REJECTED", "EMBEDDING_DIMENSION")


def test_a_kind_that_wants_another_dimension_is_named_before(world: World, agent: Agent) -> None:
    """Its writes would be refused from then on.

    Proves: Z6, V1
    """
    define = "SELECT memwarden.define_schema('semantic', 'note', '{}', embedding_dimension => %s)"
    world.admin.execute(define, (384,))
    model = register(world)
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as error:
        switch(world, model, partial=True)
    assert "semantic/note" in str(error.value)
    world.admin.execute(define, (None,))
    switch(world, model)
    assert write(agent, "semantic", "tea", kind="note", embedding=old("tea"))["outcome"] == (
        "COMMITTED"
    )


@pytest.mark.every_version
def test_a_request_that_waits_means_what_it_meant(world: World, agent: Agent) -> None:
    """Of two models of one dimension the vector alone does not tell.

    Proves: Z6
    """
    model = register(world, dimension=384)
    world.admin.execute("SELECT memwarden.require_verifier('semantic', 'gate', 'someone')")
    asked = write(agent, "semantic", "tea", embedding=old("tea"))
    assert asked["outcome"] == "DEFERRED"
    switch(world, model)
    world.admin.execute("SELECT memwarden.release_verifier('semantic', 'gate', 'someone')")
    world.admin.execute("UPDATE memwarden_data.write_request SET retry_at = now()")
    world.admin.execute("CALL memwarden.retry_deferred()")
    assert (len(vectors(world, OLD)), len(vectors(world, model))) == (1, 0)


def test_lexical_cannot_be_what_a_vector_is_of(world: World) -> None:
    """It stands in where there is none.

    Proves: Z6
    """
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        switch(world, "lexical")
    with pytest.raises(psycopg.errors.UndefinedObject):
        switch(world, "nowhere")
    register(world)
    with pytest.raises(psycopg.errors.UndefinedObject):
        switch(world, "new", "nobody")


def test_a_promotion_takes_the_vector_of_the_active_model(
    world: World, worker: Agent, agent: Agent
) -> None:
    """Of several.

    Proves: Z6
    """
    above = world.agent("/org/acme", descendants=True)
    remember(agent, "tea")
    model = register(world)
    reembed(world, model)
    fill(worker)
    switch(world, model)
    (item,) = vectors(world, model)
    asked = above.execute("SELECT outcome FROM memwarden.promote(%s, '/org/acme')", (item,))
    assert asked.fetchone() == {"outcome": "COMMITTED"}
    assert (len(vectors(world, OLD)), len(vectors(world, model))) == (1, 2)


def test_two_switches_at_once_leave_one_active_model(world: World) -> None:
    """One after the other, whichever is last.

    Proves: Z6
    """
    names = [register(world, f"m{n}") for n in range(3)]
    admins = [world.connect("postgres") for _ in names]
    call = "SELECT memwarden.switch_embedding_model(%s)"
    together([lambda a=a, n=n: a.execute(call, (n,)) for a, n in zip(admins, names, strict=True)])  # type: ignore[misc]
    states = [look(world, name)["state"] for name in [*names, OLD]]
    assert sorted(states) == ["active", "retired", "retired", "retired"]
