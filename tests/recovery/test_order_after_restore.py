"""The same question has the same answer, in the same order, in a memory that was restored."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
from psycopg import Connection, sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb

from clusters import place_of, run
from conftest import World
from helpers import recall, write_many

Agent = Connection[DictRow]

EXACT, GROWN = "/org/acme/user/exact", "/org/acme/user/grown"
FEW, MANY = 60, 500
WORDS = [f"word{n}" for n in range(25)]
LAYERS = ("episodic", "semantic", "durable")
BY: dict[str, dict[str, Any]] = {
    "vectors": {"weights": {"vector": 1}},
    "words": {"weights": {"keyword": 1}},
    "both": {},
    "more than both": {"weights": {"vector": 1, "keyword": 1, "importance": 1, "authority": 1}},
    "ranks": {"fusion": "rrf"},
}


def vector(chance: random.Random) -> list[float]:
    """One of few directions, so that many memories are equally near."""
    towards = random.Random(chance.randrange(12))
    return [towards.gauss(0, 1) for _ in range(384)]


def remember(agent: Agent, scope: str, count: int) -> None:
    """Write memories of which many have the same words, the same vector, or both."""
    chance = random.Random(scope)
    requests = [
        {
            "layer": chance.choice(LAYERS) if scope == EXACT else "episodic",
            "scope": scope,
            "subject": f"s{n}",
            "content": {"text": " ".join(chance.sample(WORDS, 3))},
            "confidence": chance.choice([0.5, 0.6]),
            **({"embedding": vector(chance)} if n % 3 else {}),
        }
        for n in range(count)
    ]
    rows = write_many(agent, requests)
    assert {row["outcome"] for row in rows} == {"COMMITTED"}


@pytest.fixture(scope="module")
def seeded(shared_world: World) -> str:
    """An agent of a scope that is searched whole, and of one that has a shelf; its login."""
    role = shared_world.register("/org/acme", descendants=True)
    agent = shared_world.connect(role)
    for scope, count in ((EXACT, FEW), (GROWN, MANY)):
        shared_world.scope(scope)
        remember(agent, scope, count)
    for layer in LAYERS:
        shared_world.admin.execute(
            "SELECT memwarden.configure_layer(%s, %s)",
            (layer, Jsonb({"own_shelf_from": MANY // 2, "duplicate_similarity": 0.95})),
        )
    shared_world.admin.execute("CALL memwarden.arrange_shelves()")
    assert shared_world.value("SELECT count(*) FROM memwarden_data.shelf WHERE shelf > 0") == 1
    return role


@pytest.fixture(scope="module")
def restored(shared_world: World, seeded: str) -> Iterator[str]:
    """How its agent reaches a database that was restored from a dump: all its indexes are new."""
    name = f"{shared_world.admin.info.dbname}_restored"
    file = place_of(f"{name}.dump")
    again = make_conninfo(shared_world.dsn, dbname=name)
    run("pg_dump", "--format=custom", "--file", file, shared_world.dsn)
    with psycopg.connect(make_conninfo(again, dbname="postgres"), autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            run("pg_restore", "--exit-on-error", "--dbname", again, file)
            yield make_conninfo(again, user=seeded)
        finally:
            run("rm", "-f", file)
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def answers(agent: Agent, **asked: Any) -> list[list[DictRow]]:
    """What is answered to some questions: four times forty memories, most with the same score."""
    chance = random.Random(5)
    told = []
    for _ in range(4):
        question = {"query": " ".join(chance.sample(WORDS, 2)), "k": 40}
        for more in ({}, {"embedding": vector(chance)}):
            told.append(recall(agent, **question, **more, **asked))
            assert len(told[-1]) == 40
    return told


def assert_same(one: list[list[DictRow]], other: list[list[DictRow]]) -> None:
    """The same items in the same places, with the same scores."""
    for rows, others in zip(one, other, strict=True):
        for name in ("item_id", "same_as", "relevance", "similarity", "score"):
            assert [row[name] for row in rows] == [row[name] for row in others]


@pytest.fixture(scope="module")
def asked_again(restored: str) -> Iterator[list[Agent]]:
    """Connections to the restored database: its statements are planned anew, or prepared."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                psycopg.connect(
                    restored, prepare_threshold=prepare, autocommit=True, row_factory=dict_row
                )
            )
            for prepare in (None, 0)
        ]


@pytest.fixture(scope="module")
def agent(shared_world: World, seeded: str) -> Iterator[Agent]:
    """The agent in the database that was dumped."""
    # Of its own: what a shared world has lent is taken back after each test.
    with psycopg.connect(
        shared_world.dsn, user=seeded, autocommit=True, row_factory=dict_row
    ) as connection:
        yield connection


@pytest.fixture(scope="module")
def first() -> dict[tuple[str | None, str], list[list[DictRow]]]:
    """What the database that was dumped has answered: it stays as it was."""
    return {}


@pytest.fixture(scope="module")
def statistics(restored: str) -> Callable[[], None]:
    """Gathers statistics of the restored database: first of all, then of what a recall reads most.

    These have the statements of a recall planned anew, too, and there are 1,500 other tables.
    """
    tables = [""]

    def gather() -> None:
        with psycopg.connect(restored, user="postgres", autocommit=True) as admin:
            admin.execute(f"ANALYZE {tables[0]}")
        tables[0] = "memwarden_data.item, memwarden_data.version, memwarden_data.embedding"

    return gather


@pytest.mark.parametrize("by", sorted(BY))
@pytest.mark.parametrize("scope", [EXACT, GROWN, None])
# Below the others, so that nothing is analysed before all have been asked once.
@pytest.mark.parametrize("analysed", [False, True])
def test_a_restored_memory_answers_in_the_same_order(
    agent: Agent,
    asked_again: list[Agent],
    statistics: Callable[[], None],
    first: dict[tuple[str | None, str], list[list[DictRow]]],
    analysed: bool,
    scope: str | None,
    by: str,
) -> None:
    """By vectors, words or both; searched whole, or on a shelf of which every index was built anew.

    What scores the same, and much does, comes in the same order too: before the new database has
    statistics and once it has some, planned anew or prepared. New statistics have the server plan
    anew what a connection has planned before.

    Proves: L6, L7
    """
    asked = BY[by] | ({"scopes": [scope]} if scope else {})
    if (scope, by) not in first:
        first[scope, by] = answers(agent, **asked)
    expected = first[scope, by]
    assert any(len({row["score"] for row in told}) < len(told) for told in expected)
    if analysed:
        statistics()
    for again in asked_again:
        assert_same(answers(again, **asked), expected)


def test_an_index_built_anew_changes_no_order(
    shared_world: World, agent: Agent, first: dict[tuple[str | None, str], list[list[DictRow]]]
) -> None:
    """However the graph of its vectors came out.

    Proves: L6
    """
    for by, asked in BY.items():
        if (GROWN, by) not in first:
            first[GROWN, by] = answers(agent, scopes=[GROWN], **asked)
    shelf = shared_world.value("SELECT max(shelf) FROM memwarden_data.shelf")
    for _ in range(4):
        shared_world.admin.execute(f"REINDEX TABLE memwarden_data.embedding_shelf_{shelf}")
        for by, asked in BY.items():
            assert_same(answers(agent, scopes=[GROWN], **asked), first[GROWN, by])
