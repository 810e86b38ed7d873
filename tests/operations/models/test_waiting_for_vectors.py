"""A layer may have its writes wait until the worker has made the vector that gates judge by."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from helpers import recall, write, write_many
from operations.models.desk import claim, embedded, give, look, register, switch, vectors
from races import together
from reviewing import ask, decide, reviewer
from write.gates.obedient import make_due, run_retries

if TYPE_CHECKING:
    from psycopg.rows import DictRow

    from conftest import World
    from operations.models.desk import Agent

LAYER = "semantic"


@pytest.fixture
def model(world: World) -> str:
    """A model that `toy` makes, active, and a layer that is judged by it."""
    name = register(world)
    switch(world, name)
    settings = '{"embedding": "worker"}'
    world.admin.execute("SELECT memwarden.configure_layer(%s, %s)", (LAYER, settings))
    return name


def request(world: World, asked: DictRow) -> DictRow:
    """Return the record of a request."""
    (row,) = world.rows(
        "SELECT * FROM memwarden_data.write_request WHERE request_id = %s", asked["request_id"]
    )
    return row


def jobs(world: World) -> list[DictRow]:
    """Return what is asked of the embedder."""
    return world.rows("SELECT * FROM memwarden_data.job WHERE purpose = 'embed' ORDER BY job_id")


def lapse(world: World, column: str = "deadline") -> None:
    """Let the time of every job be over."""
    world.admin.execute(f"UPDATE memwarden_data.job SET {column} = now() - interval '1 second'")


def fail(worker: Agent, job: DictRow, *, permanent: bool) -> int:
    """Say that a text got no vector."""
    row = worker.execute(
        "SELECT memwarden.fail_embeddings('one', %s, %s, 'too odd', %s) AS n",
        (job["model"], [job["item_id"]], permanent),
    ).fetchone()
    assert row is not None
    return int(row["n"])


def test_a_write_waits_for_its_vector_and_commits_with_it(
    world: World, worker: Agent, agent: Agent, model: str
) -> None:
    """The worker's call itself sends the request on, in the name of who asked.

    Proves: Z6
    """
    asked = write(agent, LAYER, "tea is green")
    assert (asked["outcome"], asked["reason"], asked["gate"]) == (
        "DEFERRED",
        "AWAITING_EMBEDDING",
        "34_embedding",
    )
    assert asked["detail"] == {"model": model}
    queue = world.rows("SELECT plugin, purpose, state, depth FROM memwarden.job_queue")
    assert queue == [{"plugin": "embedder", "purpose": "embed", "state": "ready", "depth": 1}]
    (job,) = claim(worker)
    assert (job["model"], job["version_id"], job["org"]) == (model, None, "acme")
    assert "tea is green" in job["content_text"]
    assert claim(worker, name="two") == []
    assert give(worker, [job]) == 1
    done = request(world, asked)
    assert (done["outcome"], done["attempt"], done["embedding"]) == ("COMMITTED", 2, None)
    expected = embedded(job["content_text"])
    found = vectors(world, model)[done["item_id"]]
    assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) < 0.01
    (left,) = jobs(world)
    assert (left["state"], left["payload"]) == ("done", None)
    assert [row["item_id"] for row in recall(agent, query="tea")] == [done["item_id"]]


@pytest.mark.usefixtures("model")
def test_the_gates_judge_by_that_vector(world: World, worker: Agent, agent: Agent) -> None:
    """What the model finds alike is looked at for saying the same; what it does not, is not.

    Proves: Z6, D1
    """

    def embed(text: str) -> list[float]:
        return [1.0] * 8 if "door" in text else embedded(text)

    setting = '{"duplicate_similarity": 0.9}'
    world.admin.execute("SELECT memwarden.configure_layer(%s, %s)", (LAYER, setting))
    decided = {}
    for text in (
        "The door is closed",
        "The door is really closed",
        "The box is closed",
        "The box is really closed",
    ):
        asked = write(agent, LAYER, text)
        give(worker, claim(worker), embed=embed)
        decided[text] = request(world, asked)["reason"]
    assert decided == {
        "The door is closed": None,
        "The door is really closed": "SEMANTIC_DUPLICATE",
        "The box is closed": None,
        "The box is really closed": None,
    }


def test_who_brings_a_vector_does_not_wait(world: World, agent: Agent, model: str) -> None:
    """Of any registered model; the words' own vector is none. Other layers wait for nothing.

    Proves: Z6
    """
    brought = write(agent, LAYER, "tea", embedding=embedded("tea"), embedding_model=model)
    assert brought["outcome"] == "COMMITTED"
    assert write(agent, "episodic", "milk")["outcome"] == "COMMITTED"
    lexical = world.value("SELECT memwarden.lexical_embedding('coffee')")
    named = write(agent, LAYER, "coffee", embedding=lexical, embedding_model="lexical")
    assert named["reason"] == "AWAITING_EMBEDDING"


def test_what_has_no_words_goes_on(world: World, worker: Agent, agent: Agent, model: str) -> None:
    """Where the embedder says so the request passes the gates by what it has.

    Proves: Z6
    """
    asked = write(agent, LAYER, "tea")
    assert give(worker, claim(worker), embed=lambda _text: None) == 0
    assert request(world, asked)["outcome"] == "COMMITTED"
    assert vectors(world, model) == {}


@pytest.mark.usefixtures("model")
def test_a_batch_waits_row_by_row(world: World, worker: Agent, agent: Agent) -> None:
    """One message wakes the worker, which takes them together.

    Proves: Z6, W8
    """
    rows: list[dict[str, Any]] = [{"layer": LAYER, "content": f"thing {n}"} for n in range(20)]
    rows.append({"layer": LAYER, "content": "brought", "embedding": embedded("brought")})
    asked = write_many(agent, rows)
    assert [row["reason"] for row in asked] == ["AWAITING_EMBEDDING"] * 20 + [None]
    taken = claim(worker)
    assert len(taken) == 20
    assert give(worker, taken) == 20
    assert {request(world, row)["outcome"] for row in asked} == {"COMMITTED"}


def test_two_workers_and_the_retrying_job_at_once(world: World, agent: Agent, model: str) -> None:
    """Each request is decided once, whoever is first, and nobody waits for another for ever.

    Proves: Z6
    """
    role = world.role("memwarden_embedder")
    workers = [world.connect(role) for _ in range(2)]
    retrying = world.connect("memwarden_jobs")

    def retry() -> int:
        return retrying.execute("CALL memwarden.retry_deferred()").rowcount

    for turn in range(6):
        asked = write_many(
            agent, [{"layer": LAYER, "content": f"thing {turn} {n}"} for n in range(8)]
        )
        held = [claim(each, name=str(at), count=4) for at, each in enumerate(workers)]
        assert [len(each) for each in held] == [4, 4]
        make_due(world)
        actions: list[Callable[[], int]] = [retry]
        for at, each in enumerate(workers):
            actions.append(partial(give, each, held[at], name=str(at)))
        together(actions)
        make_due(world)
        run_retries(world)
        assert {request(world, row)["outcome"] for row in asked} == {"COMMITTED"}
    assert {job["state"] for job in jobs(world)} == {"done"}
    assert len(vectors(world, model)) == 48


@pytest.mark.usefixtures("model")
def test_what_a_killed_worker_held_another_makes(world: World, worker: Agent, agent: Agent) -> None:
    """Alone, in case it was the text; who comes back late changes nothing.

    Proves: Z6
    """
    asked = [write(agent, LAYER, text) for text in ("tea", "milk")]
    late = claim(worker, name="gone")
    lapse(world, "run_at")
    (alone,) = claim(worker)
    assert alone["attempt"] == 2
    assert give(worker, late, name="gone") == 1
    assert {request(world, row)["outcome"] for row in asked} == {"COMMITTED", "DEFERRED"}
    assert give(worker, [alone]) == 1
    assert give(worker, [alone]) == 0
    assert {request(world, row)["outcome"] for row in asked} == {"COMMITTED"}
    assert {request(world, row)["attempt"] for row in asked} == {2}


@pytest.mark.usefixtures("model")
def test_a_worker_that_is_killed_while_it_gives_has_given_nothing(
    world: World, worker: Agent, agent: Agent
) -> None:
    """Its request waits as before, and another makes the vector when the lease is over.

    Proves: Z6
    """
    asked = write(agent, LAYER, "tea")
    killed = world.connect(worker.info.user, autocommit=False)
    held = claim(killed, name="gone")
    killed.commit()
    assert give(killed, held, name="gone") == 1
    world.admin.execute("SELECT pg_terminate_backend(%s, 5000)", (killed.info.backend_pid,))
    assert (request(world, asked)["outcome"], claim(worker)) == ("DEFERRED", [])
    lapse(world, "run_at")
    assert give(worker, claim(worker)) == 1
    assert request(world, asked)["outcome"] == "COMMITTED"


@pytest.mark.every_version
@pytest.mark.usefixtures("model")
def test_a_text_that_ends_workers_is_set_aside_and_asked_anew(
    world: World, worker: Agent, agent: Agent
) -> None:
    """After five, or at once where the embedder refuses it; an administrator revives it.

    Proves: Z6
    """
    asked = write(agent, LAYER, "poison")
    for attempt in range(5):
        (job,) = claim(worker, name=f"gone {attempt}")
        lapse(world, "run_at")
    assert claim(worker) == []
    (dead,) = world.rows("SELECT * FROM memwarden.dead_jobs")
    assert (dead["purpose"], dead["attempts"], dead["request_outcome"]) == ("embed", 5, "DEFERRED")
    world.admin.execute("SELECT memwarden.revive_job(%s)", (dead["job_id"],))
    (job,) = claim(worker)
    assert fail(worker, job, permanent=True) == 1
    (dead,) = world.rows("SELECT * FROM memwarden.dead_jobs")
    assert (dead["last_error"], request(world, asked)["outcome"]) == ("too odd", "DEFERRED")
    world.admin.execute("SELECT memwarden.revive_job(%s)", (dead["job_id"],))
    assert give(worker, claim(worker)) == 1
    assert request(world, asked)["outcome"] == "COMMITTED"


@pytest.mark.usefixtures("model")
def test_an_embedder_that_cannot_be_asked_is_asked_again(
    world: World, worker: Agent, agent: Agent
) -> None:
    """However often, as long as the request waits.

    Proves: Z6
    """
    asked = write(agent, LAYER, "tea")
    for _ in range(7):
        (job,) = claim(worker)
        assert fail(worker, job, permanent=False) == 1
        assert claim(worker) == []
        lapse(world, "run_at")
    assert give(worker, claim(worker)) == 1
    assert request(world, asked)["outcome"] == "COMMITTED"


@pytest.mark.usefixtures("model")
def test_nobody_waits_longer_than_an_hour(world: World, worker: Agent, agent: Agent) -> None:
    """Then it is refused: it was never judged. A deadline of its own may be shorter.

    Proves: Z6, W5
    """
    asked = write(agent, LAYER, "tea")
    brief = write(agent, LAYER, "milk", deadline="2999-01-01")
    assert world.value(
        "SELECT bool_and(retry_at BETWEEN now() + '59 minutes' AND now() + '61 minutes')"
        "  FROM memwarden_data.write_request WHERE outcome = 'DEFERRED'"
    )
    lapse(world)
    assert claim(worker) == []
    make_due(world)
    run_retries(world)
    for each in (asked, brief):
        row = request(world, each)
        assert (row["outcome"], row["reason"]) == ("REJECTED", "EMBEDDING_TIMEOUT")
    assert jobs(world) == []


def test_another_model_in_the_meantime_makes_the_vector(
    world: World, worker: Agent, agent: Agent, model: str
) -> None:
    """Taken or not: what is judged has a vector of the model that is active by then.

    Proves: Z6
    """
    asked = [write(agent, LAYER, text) for text in ("tea", "milk")]
    held = claim(worker, count=1)
    other = register(world, "other", 5)
    switch(world, other, partial=True)
    assert give(worker, held) == 0
    assert {request(world, row)["outcome"] for row in asked} == {"DEFERRED"}
    world.admin.execute("SELECT memwarden.drop_embedding_model(%s)", (model,))
    taken = claim(worker)
    assert {(job["model"], job["dimension"]) for job in taken} == {(other, 5)}
    assert give(worker, taken) == 2
    assert {request(world, row)["outcome"] for row in asked} == {"COMMITTED"}
    assert len(vectors(world, other)) == 2


def test_a_request_that_loses_its_vector_asks_for_another(
    world: World, worker: Agent, agent: Agent, model: str
) -> None:
    """Its model was given up while a human was asked.

    Proves: Z6
    """
    ask(world, LAYER)
    asked = write(agent, LAYER, "tea")
    assert give(worker, claim(worker)) == 1
    assert request(world, asked)["reason"] == "AWAITING_APPROVAL"
    other = register(world, "other", 5)
    switch(world, other, partial=True)
    world.admin.execute("SELECT memwarden.drop_embedding_model(%s)", (model,))
    decide(reviewer(world), "approve", asked["request_id"])
    assert request(world, asked)["reason"] == "AWAITING_EMBEDDING"
    assert give(worker, claim(worker)) == 1
    done = request(world, asked)
    assert (done["outcome"], list(vectors(world, other))) == ("COMMITTED", [done["item_id"]])


@pytest.mark.usefixtures("model")
def test_an_erased_request_leaves_nothing_to_embed(
    world: World, worker: Agent, agent: Agent
) -> None:
    """Neither its words nor a question, taken or not.

    Proves: Z6, R1
    """
    asked = [write(agent, LAYER, text, subject="Ana", predicate=text) for text in ("tea", "milk")]
    held = claim(worker, count=1)
    world.admin.execute(
        "SELECT * FROM memwarden.erase_subject("
        "    'Ana', identifiers => '{Ana}', reason => 'asked for', org => 'acme')"
    )
    assert jobs(world) == []
    assert claim(worker) == []
    assert give(worker, held) == 0
    assert {request(world, row)["reason"] for row in asked} == {"SUBJECT_ERASED"}


def test_a_worker_that_judges_does_not_get_what_is_to_be_embedded(
    world: World, agent: Agent, model: str
) -> None:
    """Nor one that embeds anything of what is judged.

    Proves: Z6
    """
    write(agent, LAYER, "tea")
    judge = world.connect(world.role("memwarden_worker"))
    taken = judge.execute(
        "SELECT * FROM memwarden.claim_jobs('one', '{embedder,toy}', 10)"
    ).fetchall()
    assert taken == []
    assert look(world, model)["embedder"] == "toy"


def edited(
    who: Agent, asked: DictRow, content: str, embedding: list[float] | None, model: str | None
) -> DictRow:
    """Agree to a proposal in other words, with a vector of them or without."""
    query = (
        "SELECT * FROM memwarden.approve_with_edit(%s, %s,"
        " embedding => %s::real[], embedding_model => %s)"
    )
    arguments = (asked["request_id"], Jsonb(content), embedding, model)
    (row,) = who.execute(query, arguments).fetchall()
    return row


def test_an_edit_may_bring_its_vector(world: World, agent: Agent, model: str) -> None:
    """It is judged and found by that one; one that is none is refused, and the proposal stays.

    Proves: H4 (edit), Z6
    """
    ask(world, LAYER)
    ana = reviewer(world)
    words = {"embedding": embedded("tea is green"), "embedding_model": model}
    asked = write(agent, LAYER, "tea is green", **words)
    assert asked["reason"] == "AWAITING_APPROVAL"
    refused = edited(ana, asked, "tea is hot", [1.0, 2.0], model)
    assert (refused["outcome"], refused["detail"]["state"]) == ("REJECTED", "pending")
    done = edited(ana, asked, "tea is hot", embedded("tea is hot"), model)
    assert done["outcome"] == "COMMITTED"
    assert vectors(world, model) == {
        done["item_id"]: pytest.approx(embedded("tea is hot"), abs=1e-2)
    }
    # The proposal's vector is of other words.
    asked = write(agent, LAYER, "milk is white", **words | {"embedding": embedded("milk")})
    waits = edited(ana, asked, "milk is cold", None, None)
    assert (waits["outcome"], waits["reason"]) == ("DEFERRED", "AWAITING_EMBEDDING")


def test_a_layer_that_nobody_embeds_for_is_told(world: World, agent: Agent) -> None:
    """By status() and by the write, in whatever order things are set up.

    Proves: Z6
    """

    def told() -> tuple[str, str]:
        query = "SELECT state, detail FROM memwarden.status() WHERE component = 'embedders'"
        (row,) = world.rows(query)
        assert agent.execute(query).fetchall() == [row]
        return row["state"], row["detail"]

    assert told() == ("ok", "no layer waits for vectors of the worker")
    world.admin.execute(
        "SELECT memwarden.configure_layer('semantic', '{\"embedding\": \"worker\"}')"
    )
    state, detail = told()
    assert state == "warning"
    assert all(word in detail for word in ("semantic", "'default'", "set_embedder", "optional"))
    asked = write(agent, LAYER, "tea is green")
    assert asked["detail"] == {"model": "default", "warning": "NO_EMBEDDER"}
    switch(world, register(world))
    assert told() == ("ok", "the worker makes what semantic waits for")
    assert write(agent, LAYER, "milk is white")["detail"] == {"model": "new"}
    world.admin.execute("SELECT memwarden.set_embedder('new', NULL)")
    assert told()[0] == "warning"
