"""What several memories say in other words is told once; what only looks alike is told each."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from helpers import recall, write, write_many
from memwarden import Client

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]
LAYERS = ("episodic", "semantic", "durable")
LARGE, BIG = "Ana owns a large dog", "Ana owns a big dog"
THINGS = ("dog", "house", "garden", "table", "boat", "tree", "book", "lamp", "drum", "bell")


def towards(centre: int, chance: random.Random | None = None) -> list[float]:
    """A vector that is near those of the same centre, and of no other."""
    fixed = random.Random(centre)
    return [fixed.gauss(0, 1) + (chance.gauss(0, 0.05) if chance else 0) for _ in range(384)]


def look(world: World, least: float | None = 0.95) -> None:
    """Have the layers look for what says the same, from that likeness on."""
    for layer in LAYERS:
        world.admin.execute(
            "SELECT memwarden.configure_layer(%s, %s)",
            (layer, Jsonb({"duplicate_similarity": least})),
        )


@pytest.fixture
def agent(shared_world: World, home: str) -> Agent:
    """An agent of an organisation of its own, in a store that looks for duplicates."""
    look(shared_world)
    return shared_world.agent(home, descendants=True)


def remember(agent: Agent, layer: str, content: Any, centre: int, **arguments: Any) -> UUID:
    """Write a memory with a vector near that centre; return its item."""
    row = write(agent, layer, content, embedding=towards(centre), **arguments)
    assert row["outcome"] == "COMMITTED", row
    item: UUID = row["item_id"]
    return item


def pairs(agent: Agent, count: int) -> None:
    """Write memories of which each is in two layers, in other words."""
    chance = random.Random(count)
    requests = [
        {
            "layer": layer,
            "content": f"Ana owns a {size} {THINGS[n % 10]} in room {n}",
            "embedding": towards(n, chance),
            "importance": round(chance.random(), 3),
        }
        for n in range(count)
        for layer, size in (("episodic", "large"), ("durable", "big"))
    ]
    assert {row["outcome"] for row in write_many(agent, requests)} == {"COMMITTED"}


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
@pytest.mark.parametrize("embedding", [None, towards(1)])
def test_the_same_in_other_words_is_told_once(
    agent: Agent, fusion: str, embedding: list[float] | None
) -> None:
    """By the best of them, which names the others; by vectors and by words alike.

    Proves: L6
    """
    items = [
        remember(agent, layer, text, 1)
        for layer, text in (("semantic", LARGE), ("episodic", BIG), ("durable", LARGE))
    ]
    asked = {} if embedding is None else {"embedding": embedding}
    (row,) = recall(agent, query="big dog", fusion=fusion, **asked)
    assert {row["item_id"], *row["same_as"]} == set(items)
    assert len(row["same_as"]) == 2
    if embedding is None:
        assert row["item_id"] == items[1]


@pytest.mark.parametrize(
    "other",
    [
        "Ana owns a large cat",
        "Ben owns a large dog",
        "Ana does not own a large dog",
        "Ana owns 2 large dogs",
        "Ana owns a small dog",
        "Ana owned a large dog",
        "Ana owns a large quokka",
        "Ana owns a dog",
        "Ana owns a large dog and a lamp",
        {"says": LARGE, "age": 3},
    ],
)
def test_what_differs_in_what_it_says_is_told_each(agent: Agent, other: Any) -> None:
    """However near: a name, a number, a denial, a time, a word nobody knows; less, and more.

    Proves: L6
    """
    told = {remember(agent, "semantic", LARGE, 1), remember(agent, "durable", other, 1)}
    rows = recall(agent, query="large dog", embedding=towards(1))
    assert {row["item_id"] for row in rows} == told
    assert not any(row["same_as"] for row in rows)


@pytest.mark.parametrize("least", [None, 0.95])
def test_only_what_is_as_near_as_the_layer_says_is_looked_at(world: World, least: Any) -> None:
    """As at the gate: where nobody looks for duplicates, or not so far, both are told."""
    look(world, least)
    agent = world.agent(descendants=True)
    remember(agent, "semantic", LARGE, 1)
    remember(agent, "durable", BIG, 1 if least is None else 2)
    assert len(recall(agent, query="dog", embedding=towards(1))) == 2


def test_a_remark_about_a_memory_is_not_told_by_it(shared_world: World, agent: Agent) -> None:
    """Nor is it a duplicate of one at the gate."""
    remember(agent, "semantic", LARGE, 1)
    remark = remember(agent, "episodic", BIG, 1)
    assert len(recall(agent, query="dog")) == 1
    shared_world.admin.execute(
        "UPDATE memwarden_data.item SET kind = 'annotation' WHERE item_id = %s", (remark,)
    )
    assert len(recall(agent, query="dog")) == 2


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_there_are_as_many_answers_as_were_asked_for(agent: Agent, fusion: str) -> None:
    """What is told by others leaves room for what follows; order and scores stay.

    Proves: L6
    """
    pairs(agent, 12)
    # Where vectors are alone, both of a pair come one after the other.
    asked = {"query": "Ana owns a large thing", "fusion": fusion, "embedding": towards(3)}
    for k in range(1, 14):
        rows = recall(agent, k=k, weights={"vector": 1}, **asked)
        assert len(rows) == min(k, 12)
        assert len({row["content"].split()[-1] for row in rows}) == len(rows)
        assert [row["score"] for row in rows] == sorted((r["score"] for r in rows), reverse=True)


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
@pytest.mark.parametrize("size", [1, 3, 7])
def test_pages_make_up_the_whole(shared_world: World, agent: Agent, fusion: str, size: int) -> None:
    """What was told by a memory of one page is not told on the next.

    Proves: L6
    """
    pairs(agent, 15)
    asked: dict[str, Any] = {
        "embedding": towards(3),
        "weights": {"vector": 1, "importance": 2},
        "fusion": fusion,
    }
    whole = recall(agent, query="large", k=1000, **asked)
    assert len(whole) == 15
    assert [len(row["same_as"]) for row in whole] == [1] * 15
    with Client.connect(f"{shared_world.dsn} user={agent.info.user}") as memory:
        pages = list(memory.recall_pages("large", page_size=size, **asked))
    given = [item.item_id for page in pages for item in page]
    assert given == [row["item_id"] for row in whole]


def test_what_the_caller_does_not_see_excludes_nothing(shared_world: World, agent: Agent) -> None:
    """Otherwise the id of a hidden memory would tell what it says."""
    path = shared_world.value(
        "SELECT s.path FROM memwarden_data.principal p JOIN memwarden_data.scope s"
        " ON s.scope_id = p.home_scope_id WHERE p.name = %s",
        agent.info.user,
    )
    stranger = shared_world.agent(f"{path.rsplit('/', 1)[0]}/ben")
    hidden = remember(stranger, "semantic", BIG, 1)
    own = remember(agent, "semantic", LARGE, 1)
    seen = remember(agent, "durable", BIG, 1)
    (row,) = recall(agent, query="large dog", exclude=[hidden])
    assert {row["item_id"], *row["same_as"]} == {own, seen}
    assert recall(agent, query="large dog", exclude=[seen]) == []


def test_a_scope_that_has_grown_tells_it_once(world: World) -> None:
    """Where vectors have a shelf of their own they are compared with those elsewhere.

    Proves: L6
    """
    look(world)
    agent = world.agent(descendants=True)
    pairs(agent, 30)
    asked: dict[str, Any] = {"embedding": towards(3), "weights": {"vector": 1}, "k": 10}
    before = recall(agent, **asked)
    assert [len(row["same_as"]) for row in before] == [1] * 10
    world.admin.execute(
        "UPDATE memwarden_data.layer SET own_shelf_from = 30 WHERE layer = 'episodic'"
    )
    world.admin.execute("CALL memwarden.arrange_shelves()")
    assert world.value("SELECT count(*) FROM memwarden_data.shelf WHERE shelf > 0") == 1
    after = recall(agent, **asked)
    assert [(r["item_id"], r["same_as"]) for r in after] == [
        (r["item_id"], r["same_as"]) for r in before
    ]
