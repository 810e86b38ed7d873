"""A scope with a shelf of its own answers as before: by indexes, and no filter loses a row."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from conftest import Filled, filled
from helpers import recall, write, write_many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import World

Agent = Connection[DictRow]

HOME = "/org/acme/user/ana"
MANY = 400
WORDS = [f"word{n}" for n in range(60)]
ASKED: list[dict[str, Any]] = [
    {},
    {"k": 1},
    {"k": 50},
    {"k": MANY},
    {"k": 1000},
    {"layers": ["episodic"]},
    {"layers": ["semantic"]},
    {"layers": ["durable"]},
    {"scopes": [HOME]},
    {"scope": HOME},
    {"subject": "Ana"},
    {"kind": "annotation"},
    {"filter": {"n": 7}},
    {"filter": {"even": True}},
    {"filter": {"even": True}, "weights": {"vector": 1}},
    {"predicate": "Likes", "k": 50},
    {"min_confidence": 0.5, "valid_at": "2050-01-01Z", "kind": "remark"},
    {"min_confidence": 0.9},
    {"valid_at": "2050-01-01Z"},
    {"fusion": "rrf"},
    {"weights": {"vector": 1}},
    {"weights": {"keyword": 1}},
    {"weights": {"keyword": 1}, "k": MANY},
    {"weights": {"vector": 1, "importance": 1, "confidence": 1, "authority": 1}},
    {"weights": {"authority": 1}},
]


def vector(chance: random.Random, centre: int) -> list[float]:
    """A vector near one of ten."""
    towards = random.Random(centre)
    return [round(towards.gauss(0, 1) + 0.5 * chance.gauss(0, 1), 4) for _ in range(384)]


def memories(chance: random.Random, count: int, layer: str = "episodic") -> list[dict[str, Any]]:
    """Requests with texts of some words, and vectors in clusters."""
    return [
        {
            "layer": layer,
            "content": {"text": " ".join(chance.sample(WORDS, 5)), "n": n, "even": n % 2 == 0},
            "embedding": vector(chance, n % 10),
            "confidence": round(chance.random(), 2),
            "importance": round(chance.random(), 2),
            "subject": "Ana" if n % 40 == 0 else None,
            "origin": {"session": f"talk {n // 12}"} if n % 3 else None,
        }
        for n in range(count)
    ]


def remember(agent: Agent, requests: list[dict[str, Any]]) -> list[Any]:
    """Write them; return the items."""
    rows = write_many(agent, requests)
    assert {row["outcome"] for row in rows} == {"COMMITTED"}
    return [row["item_id"] for row in rows]


def arrange(world: World, few: int = MANY) -> None:
    """Give a shelf to what has so many vectors."""
    world.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = %s", (few,))
    world.admin.execute("CALL memwarden.arrange_shelves()")
    assert world.value("SELECT count(*) FROM memwarden_data.shelf WHERE shelf > 0") > 0


def age(world: World, over: int) -> None:
    """Let the soft lifetime of so many of 256 memories be over."""
    world.admin.execute(
        "UPDATE memwarden_data.item SET created_at = created_at - interval '90 days',"
        "       updated_at = updated_at - interval '90 days'"
        " WHERE get_byte(fingerprint, 1) < %s",
        (over,),
    )


def answers(agent: Agent) -> list[list[tuple[Any, ...]]]:
    """What is answered to many questions: items, order and scores."""
    chance = random.Random(5)
    found = []
    for arguments in ASKED:
        for n in range(3):
            query = " ".join(chance.sample(WORDS, 3))
            for how in ({"embedding": vector(chance, n)}, {}):
                rows = recall(agent, query=query, **{"threshold": 0, **how, **arguments})
                found.append(
                    [(row["item_id"], round(row["score"], 5)) for row in rows if row["item_id"]]
                )
    return found


def best_ten(agent: Agent) -> list[set[Any]]:
    """Which items answer best."""
    return [{item for item, _ in found[:10]} for found in answers(agent)]


@pytest.fixture(scope="module")
def full(server: Any) -> Iterator[Filled]:
    """An agent with many episodes, and a few memories of other layers, here and above."""
    with filled(server) as made:
        agent = made.world.agent(HOME, role="curator", clearance="restricted")
        chance = random.Random(1)
        remember(agent, memories(chance, MANY))
        remember(agent, memories(chance, 30, "semantic"))
        write(agent, "durable", "word1 word2, and nothing else")
        made.leave(agent)
        yield made


@pytest.fixture
def world(full: Filled) -> Iterator[World]:
    """A database in which the agent has memories."""
    with full.copied() as made:
        yield made


@pytest.fixture
def agent(full: Filled, world: World) -> Agent:
    """The agent that has them."""
    return world.connect(full.role)


def test_answers_are_the_same_before_and_after(world: World, agent: Agent) -> None:
    """Of every kind of recall: items, order and scores; with a model's vectors and with words.

    Proves: D1 (a scope that has grown finds what is near)
    """
    before = answers(agent)
    arrange(world)
    assert answers(agent) == before
    # Before the planner knows of it, and once prepared.
    world.admin.execute("ANALYZE")
    agent.prepare_threshold = 0
    assert answers(agent) == before


def test_what_is_fresh_is_found_among_what_counts_half(world: World, agent: Agent) -> None:
    """Where the soft lifetime of nearly all is over, the best of the rest are found.

    Proves: L6
    """
    remember(agent, memories(random.Random(8), 3 * MANY))
    age(world, 250)
    before = best_ten(agent)
    arrange(world)
    found = sum(len(now & then) for now, then in zip(best_ten(agent), before, strict=True))
    assert found >= 0.99 * sum(map(len, before))


def test_indexes_answer(world: World, agent: Agent) -> None:
    """One of each model's vectors, one of the words; a gate uses the first as well."""
    arrange(world)
    recall(agent, query="word1", embedding=vector(random.Random(2), 3))
    recall(agent, query="word1")
    agent.close()
    used: set[str] = set()
    # What a session has done is counted some moment after it ends.
    for _ in range(100):
        rows = world.rows(
            "SELECT replace(indexrelname, 'embedding_shelf_1_', '') AS name"
            "  FROM pg_stat_user_indexes WHERE relname = 'embedding_shelf_1' AND idx_scan > 0"
        )
        used = {row["name"] for row in rows}
        if {"nearest_2", "words"} <= used:
            break
        time.sleep(0.1)
    assert {"nearest_2", "words"} <= used


def test_a_rare_label_loses_nothing(world: World, agent: Agent) -> None:
    """Who reads five of many finds these five, though hundreds that it does not see are nearer.

    Proves: A3 (also in a scope that has grown)
    """
    chance = random.Random(3)
    target = vector(chance, 3)
    hidden = memories(chance, MANY)
    for request in hidden:
        request |= {"embedding": target, "classification": "restricted"}
        request["content"]["text"] += " hidden"
    seen = remember(world.agent(HOME), memories(chance, 5, "procedural"))
    reader = world.agent(HOME, clearance="internal")
    world.admin.execute(
        "DELETE FROM memwarden_data.item WHERE layer = 'episodic'"
    )  # So that nothing but what is hidden is on the shelf.
    world.admin.execute(
        "DELETE FROM memwarden_data.embedding AS e WHERE NOT EXISTS"
        " (SELECT FROM memwarden_data.item AS i WHERE i.item_id = e.item_id)"
    )
    remember(agent, hidden)
    few = remember(reader, memories(chance, 5))
    arrange(world)
    for query in (None, "hidden word1"):
        found = recall(reader, query=query, embedding=target, layers=["episodic"])
        assert {row["item_id"] for row in found} == set(few)
    found = recall(reader, embedding=target, layers=["episodic", "procedural"])
    assert {row["item_id"] for row in found} == {*few, *seen}


def test_what_has_expired_is_passed_over(world: World, agent: Agent) -> None:
    """Also where it is nearer than all that has not."""
    chance = random.Random(4)
    target = vector(chance, 4)
    arrange(world)
    gone = [request | {"embedding": target} for request in memories(chance, 100)]
    items = remember(agent, gone)
    world.admin.execute(
        "UPDATE memwarden_data.item SET expires_at = now() WHERE item_id = ANY (%s)", (items,)
    )
    found = recall(agent, embedding=target, k=20)
    assert len(found) == 20
    assert not {row["item_id"] for row in found} & set(items)


def test_the_gates_look_around_in_it(world: World, agent: Agent) -> None:
    """The same in other words is refused, what says more makes a memory grow, as before.

    Proves: D1, D3 (in a scope that has grown)
    """
    arrange(world)
    settings = Jsonb({"duplicate_similarity": 0.95})
    world.admin.execute("SELECT memwarden.configure_layer('episodic', %s)", (settings,))
    near = vector(random.Random(9), 20)
    first = write(agent, "episodic", "Ana owns a large dog", embedding=near)
    again = write(agent, "episodic", "Ana does own a large dog", embedding=near)
    assert (again["reason"], again["item_id"]) == ("SEMANTIC_DUPLICATE", first["item_id"])
    far = write(
        agent, "episodic", "Ana does own a large dog", embedding=vector(random.Random(9), 21)
    )
    assert far["outcome"] == "COMMITTED"


def test_what_others_may_not_read_is_not_compared_with(world: World, agent: Agent) -> None:
    """The writer is told nothing of it.

    Proves: A3 (also in a scope that has grown)
    """
    arrange(world)
    settings = Jsonb({"duplicate_similarity": 0.95})
    world.admin.execute("SELECT memwarden.configure_layer('episodic', %s)", (settings,))
    near = vector(random.Random(9), 20)
    text = "Ana owns a large dog"
    write(agent, "episodic", text, embedding=near, classification="restricted")
    other = world.agent(HOME, clearance="internal")
    row = write(other, "episodic", "Ana does own a large dog", embedding=near)
    assert row["outcome"] == "COMMITTED"


def test_what_is_hidden_pushes_nothing_aside(world: World, agent: Agent) -> None:
    """A hundred hidden memories are nearer; the one that the writer reads is compared with.

    Proves: A3 (also in a scope that has grown)
    """
    arrange(world)
    near = vector(random.Random(9), 20)
    other = world.agent(HOME, clearance="internal")
    first = write(other, "episodic", "Ana owns a large dog", embedding=[x + 0.01 for x in near])
    hidden = [r | {"embedding": near} for r in memories(random.Random(8), 100)]
    remember(agent, [r | {"classification": "restricted"} for r in hidden])
    settings = Jsonb({"duplicate_similarity": 0.95})
    world.admin.execute("SELECT memwarden.configure_layer('episodic', %s)", (settings,))
    again = write(other, "episodic", "Ana does own a large dog", embedding=near)
    assert (again["reason"], again["item_id"]) == ("SEMANTIC_DUPLICATE", first["item_id"])


def test_several_grown_scopes_are_searched_as_one(fresh_world: World) -> None:
    """An agent that sees them all is answered as before: scores are of one scale."""
    world = fresh_world
    agent = world.agent("/org/acme", descendants=True)
    chance = random.Random(6)
    for name in ("ana", "bob", "eve"):
        world.scope(f"/org/acme/user/{name}")
        requests = memories(chance, 200 if name != "eve" else 20)
        remember(agent, [r | {"scope": f"/org/acme/user/{name}"} for r in requests])
    before = answers(agent)
    arrange(world, 200)
    assert world.value("SELECT count(*) FROM memwarden_data.shelf WHERE shelf > 0") == 2
    assert answers(agent) == before


def test_words_are_searched_by_the_configuration_of_today(world: World, agent: Agent) -> None:
    """Another text search configuration indexes the shelf anew as well."""
    arrange(world)
    write(agent, "episodic", {"text": "the running horses"})
    assert recall(agent, query="run", weights={"keyword": 1}, k=1)[0]["keyword_score"] == 1
    settings = Jsonb({"text_search_config": "simple"})
    world.admin.execute("SELECT memwarden.configure_layer('episodic', %s)", (settings,))
    assert recall(agent, query="run", weights={"keyword": 1}, k=1)[0]["keyword_score"] == 0
    assert recall(agent, query="running", weights={"keyword": 1}, k=1)[0]["keyword_score"] == 1
