"""drop_embedding_model(): gone by name at once, and its vectors bit by bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from helpers import recall, write, write_many
from operations.models.desk import (
    OLD,
    Agent,
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

PLACES = ("embedding", "past_embedding", "embedding_job", "noise", "embedding_use", "embedder")


def drop(world: World, model: str) -> None:
    """Give a model up."""
    world.admin.execute("SELECT memwarden.drop_embedding_model(%s)", (model,))


def number_of(world: World, model: str) -> int:
    """Return the number of a model."""
    number: int = world.value(
        "SELECT model_id FROM memwarden_data.embedding_model WHERE name = %s", model
    )
    return number


def left(world: World, number: int) -> dict[str, int]:
    """Count what is left of a model, by table."""
    counts = {
        table: world.value(
            f"SELECT count(*) FROM memwarden_data.{table} WHERE model_id = %s", number
        )
        for table in (*PLACES, "embedding_model")
    }
    return {table: count for table, count in counts.items() if count}


def filled(world: World, worker: Agent, agent: Agent, count: int = 5) -> tuple[str, int]:
    """Make a model with vectors everywhere it can have them; return name and number."""
    world.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = 5")
    write_many(agent, [{"layer": "durable", "content": f"lamp {n}"} for n in range(count)])
    world.admin.execute("CALL memwarden.arrange_shelves()")
    model = register(world)
    reembed(world, model)
    for value in ("tea", "coffee"):
        write(agent, "semantic", value, subject="Ana", predicate="drinks")
        fill(worker)
    write(agent, "semantic", "not made yet")
    number = number_of(world, model)
    places = left(world, number)
    assert places["embedding"] == count + 1
    assert places["past_embedding"] == 1
    return model, number


def test_nothing_of_it_is_left(world: World, worker: Agent, agent: Agent) -> None:
    """Vectors on every shelf and of versions that are over, jobs, indexes, and the model.

    Proves: Z6
    """
    model, number = filled(world, worker, agent)
    drop(world, model)
    assert recall(agent, query="lamp", k=20)
    with pytest.raises(psycopg.errors.UndefinedObject):
        recall(agent, embedding=embedded("tea"), embedding_model=model)
    refused = write(agent, "semantic", "x", embedding=embedded("x"), embedding_model=model)
    assert refused["reason"] == "UNKNOWN_EMBEDDING_MODEL"
    # The name is free at once.
    again = register(world)
    write(agent, "semantic", "again", embedding=embedded("again"), embedding_model=again)
    jobs = world.connect("memwarden_jobs")
    jobs.execute("CALL memwarden.clear_models()")
    assert left(world, number) == {}
    indexes = "SELECT count(*) FROM pg_class WHERE relname LIKE '%%nearest_' || %s"
    assert world.value(indexes, str(number)) == 0
    assert len(vectors(world, again)) == 1
    # Versions that come back have what the words give.
    jobs.execute("CALL memwarden.clear_models()")


def test_what_is_in_use_stays(world: World, agent: Agent) -> None:
    """For whomever it is active; and lexical, which the server makes itself.

    Proves: Z6
    """
    model = register(world)
    world.scope("/org/acme")
    switch(world, model, "acme")
    for name in (model, OLD, "lexical"):
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
            drop(world, name)
    switch(world, model)
    drop(world, OLD)
    world.admin.execute("CALL memwarden.clear_models()")
    assert write(agent, "semantic", "tea", embedding=embedded("tea"))["outcome"] == "COMMITTED"
    assert write(agent, "semantic", "coffee")["outcome"] == "COMMITTED"
    assert world.rows("SELECT * FROM memwarden.setup()")
    assert look(world, model)["state"] == "active"


def test_a_request_that_waits_goes_on_with_its_words(world: World, agent: Agent) -> None:
    """Its vector goes with the model.

    Proves: Z6
    """
    model = register(world)
    world.admin.execute("SELECT memwarden.require_verifier('semantic', 'gate', 'someone')")
    asked = write(agent, "semantic", "tea", embedding=embedded("tea"), embedding_model=model)
    assert asked["outcome"] == "DEFERRED"
    drop(world, model)
    world.admin.execute("SELECT memwarden.release_verifier('semantic', 'gate', 'someone')")
    world.admin.execute("UPDATE memwarden_data.write_request SET retry_at = now()")
    world.admin.execute("CALL memwarden.retry_deferred()")
    assert len(vectors(world, "lexical")) == 1
    world.admin.execute("CALL memwarden.clear_models()")
    assert world.value("SELECT count(*) FROM memwarden_data.embedding_model") == 2


def test_the_model_stays_as_long_as_somebody_may_still_write_with_it(
    world: World, agent: Agent
) -> None:
    """Who has begun ends; then nothing is left all the same.

    Proves: Z6
    """
    model = register(world)
    number = number_of(world, model)
    with agent.transaction():
        write(agent, "semantic", "tea", embedding=embedded("tea"), embedding_model=model)
        # The writer holds what it has read of the models; nobody else sees its vector.
        drop(world, model)
        world.admin.execute("CALL memwarden.clear_models()")
        assert left(world, number) == {"embedding_model": 1}
    world.admin.execute("CALL memwarden.clear_models()")
    assert left(world, number) == {}


def test_clearing_twice_at_once_and_while_others_write(
    world: World, worker: Agent, agent: Agent
) -> None:
    """Neither job nor writer fails.

    Proves: Z6
    """
    model, number = filled(world, worker, agent, 40)
    writer = world.agent("/org/acme/user/bob")
    jobs = [world.connect("memwarden_jobs") for _ in range(2)]
    drop(world, model)

    def keep_writing() -> None:
        for n in range(20):
            write(writer, "semantic", f"value {n}", subject="Ana", predicate="thinks")

    clear = "CALL memwarden.clear_models()"
    together([keep_writing, *[lambda job=job: job.execute(clear) for job in jobs]])
    world.admin.execute(clear)
    assert left(world, number) == {}
