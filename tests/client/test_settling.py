"""A judge settles what the gates only marked; a contradiction stays for a person."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from psycopg.conninfo import make_conninfo

from client.judges.endpoint import chat, says
from client.test_history_commands import run
from memwarden import Client
from write.judgement.test_constraint_graph import HOME, configure
from write.judgement.test_gates import VECTOR, near

if TYPE_CHECKING:
    from conftest import World

LATER = "A door is not open"


@pytest.fixture
def dsn(world: World) -> str:
    """How one connects whose role may delete, in a store where contradictions stand marked."""
    configure(world, conflict="coexist")
    return make_conninfo(world.dsn, user=world.register(HOME, role="curator"))


@pytest.fixture
def memory(dsn: str) -> Iterator[Client]:
    """A client with one dispute."""
    with Client.connect(dsn) as client:
        client.write("semantic", "A door is open", embedding=VECTOR)
        client.write("semantic", LATER, embedding=near(0.9))
        assert len(client.disputes("semantic")) == 1
        yield client


@pytest.mark.parametrize(
    ("relation", "score", "outcome", "left", "standing"),
    [
        ("unrelated", 0.95, "BOTH_HOLD", 0, 2),
        ("updates", 0.95, "LATER_HOLDS", 0, 1),
        ("updates", 0.5, "LEFT", 1, 2),
        ("contradicts", 0.99, "LEFT", 1, 2),
        ("nonsense", 0.99, "LEFT", 1, 2),
    ],
)
def test_what_the_judge_is_sure_of_is_settled(
    dsn: str, memory: Client, relation: str, score: float, outcome: str, left: int, standing: int
) -> None:
    """By a language model here; what it says is no contradiction loses its mark.

    Proves: V4 (a judge of the worker settles marks)
    """
    with chat(lambda *_: says(relation, score)) as server:
        judges = {"judges": [{"judge": "llm", "url": server.url, "model": "toy"}]}
        done = run("settle", "--judges", json.dumps(judges), "--json", dsn=dsn)
    assert done.exit_code == 0, done.output
    assert [each["outcome"] for each in json.loads(done.stdout)] == [outcome]
    assert len(memory.disputes()) == left
    assert len(memory.recall("door")) == standing
    if outcome == "LATER_HOLDS":
        assert [item.text for item in memory.recall("door")] == [LATER]


def test_who_may_not_settle_is_told_so(world: World, memory: Client) -> None:
    """The dispute stays."""
    reader = make_conninfo(world.dsn, user=world.register(HOME, role="contributor"))
    with chat(lambda *_: says("unrelated", 0.95)) as server:
        judges = {"judges": [{"judge": "llm", "url": server.url, "model": "toy"}]}
        done = run("settle", "--judges", json.dumps(judges), "--json", dsn=reader)
    assert [each["outcome"] for each in json.loads(done.stdout)] == ["NOT_ALLOWED"]
    assert len(memory.disputes()) == 1


def test_settings_that_are_none_are_refused(dsn: str) -> None:
    """Before anything is asked."""
    assert run("settle", "--judges", "[1]", dsn=dsn).exit_code == 2
    assert run("settle", "--judges", '{"judges": [{"judge": "tarot"}]}', dsn=dsn).exit_code == 1
