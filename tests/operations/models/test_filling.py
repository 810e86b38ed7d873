"""reembed(): the worker makes what a model lacks, of what was there and of what comes."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import psycopg
import pytest

from helpers import recall, write, write_many
from operations.models.desk import (
    Agent,
    assert_filled,
    claim,
    current,
    embedded,
    fill,
    give,
    look,
    reembed,
    register,
    vectors,
)
from races import together

if TYPE_CHECKING:
    from conftest import World


def remember(agent: Agent, count: int, word: str = "lamp") -> list[uuid.UUID]:
    """Write so many memories; return them."""
    rows = write_many(
        agent, [{"layer": "semantic", "content": f"{word} number {n}"} for n in range(count)]
    )
    assert {row["outcome"] for row in rows} == {"COMMITTED"}
    return [row["item_id"] for row in rows]


def test_what_is_there_and_what_comes_gets_vectors(
    world: World, worker: Agent, agent: Agent
) -> None:
    """Recall by the old ones goes on, and by the new ones where the model is named.

    Proves: Z6
    """
    remember(agent, 50)
    model = register(world)
    assert claim(worker) == []
    reembed(world, model)
    assert look(world, model)["state"] == "filling"
    assert look(world, model)["missing"] == 50
    assert give(worker, claim(worker, count=20)) == 20
    late = write(agent, "semantic", "a late lamp")
    own = write(agent, "semantic", "its own", embedding=embedded("its own"), embedding_model=model)
    assert len(recall(agent, query="lamp number 3", k=100)) == 52
    assert fill(worker) == 31
    assert_filled(world, model)
    (found,) = recall(agent, embedding=embedded("a late lamp"), embedding_model=model, k=1)
    assert found["item_id"] == late["item_id"]
    assert found["similarity"] > 0.999
    assert own["item_id"] in vectors(world, model)
    row = look(world, model)
    assert (row["state"], row["items"], row["missing"], row["waiting"]) == ("ready", 52, 0, 0)


def test_changed_restored_and_ended_memories_are_followed(
    world: World, worker: Agent, agent: Agent
) -> None:
    """A vector is of what a memory says now; one that ended has none.

    Proves: Z6
    """
    model = register(world)
    reembed(world, model)
    first = write(agent, "semantic", "tea", subject="Ana", predicate="drinks")
    gone = write(agent, "semantic", "not for long")
    fill(worker)
    assert_filled(world, model)
    write(agent, "semantic", "coffee", subject="Ana", predicate="drinks")
    agent.execute("SELECT memwarden.retract(%s, 'wrong')", (gone["item_id"],))
    assert gone["item_id"] not in vectors(world, model)
    assert fill(worker) == 1
    assert_filled(world, model)
    agent.execute("SELECT memwarden.rollback(%s, 'tea after all')", (first["item_id"],))
    assert "tea" in current(world)[first["item_id"]]
    # Both are back with the version: that of the words, and the one that was made.
    assert vectors(world, "lexical").keys() == vectors(world, model).keys() == {first["item_id"]}
    fill(worker)
    assert_filled(world, model)


def test_what_changes_while_it_is_embedded_is_embedded_again(
    world: World, worker: Agent, agent: Agent
) -> None:
    """The vector of words that are over is not taken for the new ones.

    Proves: Z6
    """
    model = register(world)
    reembed(world, model)
    write(agent, "semantic", "tea", subject="Ana", predicate="drinks")
    jobs = claim(worker)
    write(agent, "semantic", "coffee", subject="Ana", predicate="drinks")
    assert give(worker, jobs) == 0
    assert vectors(world, model) == {}
    assert fill(worker) == 1
    assert_filled(world, model)


def test_several_workers_and_writers_at_once_leave_no_gap(
    world: World, worker: Agent, agent: Agent
) -> None:
    """Each memory gets one vector, however the writes and the workers fall.

    Proves: Z6
    """
    remember(agent, 30)
    model = register(world)
    writers = [world.agent(f"/org/acme/user/w{n}") for n in range(3)]
    workers = [world.connect(worker.info.user) for _ in range(3)]

    def writes(number: int) -> None:
        for n in range(25):
            value = f"value {n} of {number}"
            write(writers[number], "semantic", value, subject="Ana", predicate=f"p{n % 5}")
            write(writers[number], "semantic", f"fact {n} of {number}")

    def embeds(number: int) -> None:
        for _ in range(12):
            if jobs := claim(workers[number], name=f"w{number}", count=7):
                give(workers[number], jobs, name=f"w{number}")

    together(
        [
            lambda: reembed(world, model),
            *[lambda n=n: writes(n) for n in range(3)],
            *[lambda n=n: embeds(n) for n in range(3)],
        ]
    )
    fill(worker)
    assert_filled(world, model)


@pytest.mark.parametrize("begins", ["before", "after"])
def test_a_write_that_commits_late_is_found(
    world: World, worker: Agent, agent: Agent, begins: str
) -> None:
    """Though everything was looked through while nobody saw it.

    Proves: Z6
    """
    model = register(world)
    other = world.agent("/org/acme/user/bob")
    if begins == "after":
        reembed(world, model)
    with agent.transaction():
        write(agent, "semantic", "seen late")
        if begins == "before":
            reembed(world, model)
        write(other, "semantic", "seen at once")
        assert fill(worker) == 1
        assert fill(worker) == 0
    assert fill(worker) == 1
    assert_filled(world, model)


def test_a_worker_that_dies_is_followed_by_another(
    world: World, worker: Agent, agent: Agent
) -> None:
    """What it held comes back alone, so that one text cannot take the others along.

    At last it is set aside, which a change of the memory, or reembed(), ends.

    Proves: Z6
    """
    remember(agent, 3)
    model = register(world)
    reembed(world, model)
    assert len(claim(worker, name="killed")) == 3
    assert claim(worker) == []
    over = "UPDATE memwarden_data.embedding_job SET run_at = now() WHERE state = 'running'"
    for _ in range(4 * 3):
        world.admin.execute(over)
        assert len(claim(worker, name="killed too")) == 1
    world.admin.execute(over)
    assert claim(worker) == []
    row = look(world, model)
    assert (row["dead"], row["missing"]) == (3, 3)
    assert row["last_error"] == "no worker that took it came back"
    reembed(world, model)
    assert fill(worker) == 3
    assert_filled(world, model)


@pytest.mark.every_version
def test_an_embedder_that_cannot_be_asked_loses_nothing(
    world: World, worker: Agent, agent: Agent
) -> None:
    """A failure of the service counts for no text; a text that no embedder takes is set aside.

    Proves: Z6
    """
    poison, *_ = remember(agent, 3)
    model = register(world)
    reembed(world, model)
    failed = "SELECT memwarden.fail_embeddings('one', %s, %s, %s, %s)"
    due = "UPDATE memwarden_data.embedding_job SET run_at = now() WHERE state = 'ready'"
    for _ in range(8):
        jobs = claim(worker)
        assert len(jobs) == 3
        worker.execute(failed, (model, [job["item_id"] for job in jobs], "no answer", False))
        assert claim(worker) == []
        world.admin.execute(due)
    claim(worker)
    worker.execute(failed, (model, [poison], "too long", True))
    world.admin.execute("UPDATE memwarden_data.embedding_job SET run_at = now()")
    world.admin.execute("UPDATE memwarden_data.embedding_job SET attempts = 0")
    assert fill(worker) == 2
    assert (look(world, model)["dead"], look(world, model)["missing"]) == (1, 1)
    agent.execute("SELECT memwarden.retract(%s, 'wrong')", (poison,))
    assert look(world, model)["missing"] == 0


def test_a_text_without_a_vector_is_asked_for_once(
    world: World, worker: Agent, agent: Agent
) -> None:
    """It is not missing, until the memory says something else.

    Proves: Z6
    """
    model = register(world)
    reembed(world, model)
    write(agent, "semantic", "...", subject="Ana", predicate="says")
    assert give(worker, claim(worker), embed=lambda _: None) == 0
    assert fill(worker) == 0
    assert look(world, model)["state"] == "ready"
    reembed(world, model)
    assert fill(worker) == 0
    write(agent, "semantic", "hello", subject="Ana", predicate="says")
    assert fill(worker) == 1
    assert_filled(world, model)


def test_an_organisation_alone_is_filled_with_what_all_share(world: World, worker: Agent) -> None:
    """And not the others.

    Proves: Z6
    """
    acme, other = world.agent("/org/acme/user/ana"), world.agent("/org/other/user/eve")
    everybody = world.agent("/global")
    ours = {*remember(acme, 3), *remember(everybody, 2, "rule")}
    remember(other, 4)
    model = register(world)
    reembed(world, model, "acme")
    assert fill(worker) == 5
    assert vectors(world, model).keys() == ours
    assert look(world, model, "acme")["state"] == "ready"
    remember(other, 1, "tree")
    ours |= {*remember(acme, 1, "tree")}
    assert fill(worker) == 1
    assert vectors(world, model).keys() == ours


@pytest.mark.parametrize(
    "numbers", [[1.0] * 7, [1.0] * 9, [0.0] * 8, [float("nan")] + [1.0] * 7, [70000.0] * 8, []]
)
def test_what_is_no_vector_of_the_model_is_refused(
    world: World, worker: Agent, agent: Agent, numbers: list[float]
) -> None:
    """22023, and the memory still waits for one.

    Proves: Z6
    """
    remember(agent, 1)
    reembed(world, register(world))
    jobs = claim(worker)
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        give(worker, jobs, embed=lambda _: numbers)
    assert give(worker, jobs) == 1


def test_what_a_worker_does_not_hold_it_cannot_give(
    world: World, worker: Agent, agent: Agent
) -> None:
    """Neither under another's name nor as another login.

    Proves: Z6
    """
    remember(agent, 1)
    reembed(world, register(world))
    other = world.connect(world.role("memwarden_embedder"))
    jobs = claim(worker)
    assert give(worker, jobs, name="two") == 0
    assert give(other, jobs) == 0
    assert give(worker, jobs) == 1
    assert give(worker, jobs) == 0
