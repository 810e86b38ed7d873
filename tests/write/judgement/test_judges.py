"""Judges outside the database: what they find takes the place of what the rules find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write
from operations.erasure.conftest import Desk
from write.gates.obedient import run_retries
from write.judgement.test_gates import VECTOR, configure, near
from write.worker.desk import claim, complete, jobs, new_plugin, require

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]
OPEN, SHUT = "The door is open", "The door is not open"


@pytest.fixture
def plugin(world: World) -> str:
    """A plug-in that judges what the semantic layer is told."""
    configure(world, conflict="review", duplicate_similarity=0.95)
    name = new_plugin()
    require(world, name, purpose="judge")
    return name


@pytest.fixture
def worker(world: World) -> Agent:
    """A worker's connection."""
    return world.connect(world.role("memwarden_worker"))


def status(agent: Agent, answer: DictRow) -> DictRow:
    """What became of a request."""
    row = agent.execute(
        "SELECT outcome, reason, detail, item_id FROM memwarden.request_status(%s)",
        (answer["request_id"],),
    ).fetchone()
    assert row is not None
    return row


def verdict(job: DictRow, relation: str | None, score: float = 0.97) -> dict[str, Any]:
    """What a judge says of every neighbour of a job."""
    named = ("item_id", "version_id")
    return {
        "neighbours": [
            {name: each[name] for name in named} | {"relation": relation, "score": score}
            for each in job["payload"]["neighbours"]
        ]
    }


def test_the_job_has_what_is_near_with_its_words(world: World, plugin: str, worker: Agent) -> None:
    """And nothing that the writer does not read; what has nothing near it does not wait.

    Proves: V7, V4
    """
    home = "/org/acme/user/ana"
    chief, clerk = (world.agent(home, clearance=c) for c in ("restricted", "internal"))
    hidden = {"classification": "restricted"}
    assert write(chief, "semantic", "A secret", embedding=near(0.8), **hidden)["outcome"] == (
        "COMMITTED"
    )
    first = write(clerk, "semantic", OPEN, embedding=VECTOR)
    assert first["outcome"] == "COMMITTED"
    asked = write(clerk, "semantic", SHUT, embedding=near(0.9))
    assert (asked["outcome"], asked["reason"]) == ("DEFERRED", "AWAITING_VERDICT")
    [job] = claim(worker, plugin)
    assert (job["payload"]["text"], job["payload"]["content"]) == (SHUT, SHUT)
    [told] = job["payload"]["neighbours"]
    assert (told["text"], told["item_id"]) == (OPEN, str(first["item_id"]))
    assert told["similarity"] == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize(
    ("relation", "outcome", "reason"),
    [
        ("contradicts", "REJECTED", "CONTRADICTION"),
        ("unrelated", "COMMITTED", None),
        (None, "REJECTED", "CONTRADICTION"),
    ],
)
def test_a_verdict_takes_the_place_of_the_rules(
    world: World, plugin: str, worker: Agent, relation: str | None, outcome: str, reason: str | None
) -> None:
    """Where the judge says nothing of a neighbour, the rules' verdict stands.

    Proves: V7, V5
    """
    agent = world.agent()
    write(world.agent(), "semantic", OPEN, embedding=VECTOR)
    asked = write(agent, "semantic", SHUT, embedding=near(0.9))
    [job] = claim(worker, plugin)
    complete(worker, job, "accept", detail=verdict(job, relation), version="7")
    answer = status(agent, asked)
    assert (answer["outcome"], answer["reason"]) == (outcome, reason)
    if outcome == "REJECTED":
        [told] = answer["detail"]["contradicts"]
        judge = (plugin, "7") if relation else ("built-in", told["version"])
        assert (told["judge"], told["version"]) == judge
        assert (told["relation"], bool(told["version"])) == ("contradicts", True)


def test_a_verdict_that_does_not_come_refuses_the_write(
    world: World, plugin: str, worker: Agent
) -> None:
    """Fail closed, as its administrator has said.

    Proves: V7
    """
    agent = world.agent()
    write(agent, "semantic", OPEN, embedding=VECTOR)
    asked = write(agent, "semantic", SHUT, embedding=near(0.9))
    world.admin.execute(
        "UPDATE memwarden_data.job SET deadline = now() WHERE plugin = %s", (plugin,)
    )
    run_retries(world)
    assert status(agent, asked)["reason"] == "VERDICT_TIMEOUT"
    assert claim(worker, plugin) == []


def test_most_of_several_verdicts_decide(world: World, plugin: str, worker: Agent) -> None:
    """Two of three find no contradiction.

    Proves: V7
    """
    require(world, plugin, purpose="judge", quorum=3)
    agent = world.agent()
    write(agent, "semantic", OPEN, embedding=VECTOR)
    asked = write(agent, "semantic", SHUT, embedding=near(0.9))
    claimed = claim(worker, plugin)
    for job, relation in zip(claimed, ("contradicts", "unrelated", "unrelated"), strict=True):
        complete(worker, job, "accept", detail=verdict(job, relation))
    assert status(agent, asked)["outcome"] == "COMMITTED", status(agent, asked)


def test_what_is_erased_is_in_no_question(world: World, plugin: str, worker: Agent) -> None:
    """A job carries what is near the write that waits: it goes, and the question is asked anew.

    Proves: R1
    """
    desk = Desk(world)
    agent = desk.agent()
    write(agent, "semantic", OPEN, embedding=VECTOR, subject="Ana", predicate="told us")
    asked = write(agent, "semantic", SHUT, embedding=near(0.9))
    assert OPEN in str(claim(worker, plugin)[0]["payload"])
    desk.erase("Ana")
    assert jobs(world, plugin) == []
    run_retries(world)
    assert status(agent, asked)["outcome"] == "COMMITTED"
