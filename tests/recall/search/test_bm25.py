"""Words are weighed by BM25, over what is searched and nothing else."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write, write_many

from .conftest import Remember

WORDS = {"keyword": 1}
K1, B = 0.5, 0.2

# Words that no stemmer changes. Lengths, repetitions and frequencies all differ.
TEXTS = [
    "zebra",
    "zebra zebra",
    "zebra zebra zebra lion",
    "lion tiger bear wolf fox owl",
    "tiger",
    "zebra lion tiger bear wolf fox owl elk emu crab",
    "bear " * 40 + "wolf",
    "wolf fox",
    "owl owl elk",
    "crab elk emu owl fox wolf bear tiger lion zebra ant bat",
    "ant",
    "zebra " * 200 + "ant",
]
QUERIES = ["zebra", "zebra lion", "bear wolf ant", "owl elk emu crab unicorn", "tiger fox bat"]


def bm25(query: str, texts: list[str]) -> list[float]:
    """The textbook's formula; the length of a text is the number of its different words."""
    counted = [Counter(text.split()) for text in texts]
    average = sum(map(len, counted)) / len(counted)
    scores = []
    for words in counted:
        score = 0.0
        for word in query.split():
            frequency = sum(word in other for other in counted)
            rarity = math.log(1 + (len(texts) - frequency + 0.5) / (frequency + 0.5))
            n = words[word]
            score += rarity * n * (K1 + 1) / (n + K1 * (1 - B + B * len(words) / average))
        scores.append(score)
    return scores


@pytest.fixture
def zoo(remember: Remember) -> dict[UUID, str]:
    """Remember all the texts."""
    return {remember(text): text for text in TEXTS}


@pytest.mark.parametrize("query", QUERIES)
def test_the_score_of_words_is_that_of_bm25(
    reader: Connection[DictRow], zoo: dict[UUID, str], query: str
) -> None:
    """To a millionth, of every memory: repetitions, lengths, rarity.

    Proves: L6 (keyword search)
    """
    expected = dict(zip(TEXTS, bm25(query, TEXTS), strict=True))
    best = max(expected.values())
    found = recall(reader, query=query, weights=WORDS, k=100)
    assert len(found) == len(TEXTS)
    for row in found:
        score = expected[zoo[row["item_id"]]]
        assert row["keyword_score"] == pytest.approx(score / best, abs=1e-6), zoo[row["item_id"]]


def test_what_is_not_searched_does_not_count(shared_world: World, home: str) -> None:
    """Neither another scope nor what the caller cannot see changes how rare a word is."""
    one = shared_world.agent(f"{home}/user/one")
    other = shared_world.agent(f"{home}/user/other")

    def scores(agent: Connection[DictRow]) -> list[tuple[str, float]]:
        found = recall(agent, query="zebra wolf", weights=WORDS, scopes=[f"{home}/user/one"])
        return [(row["text"], row["keyword_score"]) for row in found]

    for text in TEXTS[:6]:
        write(one, "episodic", {"text": text})
    before = scores(one)
    for text in TEXTS:
        write(other, "episodic", {"text": text})
    assert scores(one) == before != []


def test_what_the_caller_may_not_read_does_not_count(shared_world: World, home: str) -> None:
    """A secret memory of the same scope changes nobody's scores but those of its readers."""
    reader = shared_world.agent(home)
    cleared = shared_world.agent(home, clearance="restricted")

    def scores(agent: Connection[DictRow]) -> dict[str, float]:
        found = recall(agent, query="zebra wolf", weights=WORDS, k=100)
        return {row["text"]: row["keyword_score"] for row in found}

    for text in TEXTS[:6]:
        write(reader, "episodic", {"text": text})
    before = scores(reader)
    for text in TEXTS[6:]:
        write(cleared, "episodic", {"text": text}, classification="restricted")
    assert scores(reader) == before != {}
    told = scores(cleared)
    assert any(told[text] != score for text, score in before.items())


@pytest.mark.parametrize(
    ("query", "text", "least", "most"),
    [
        ("the green tea", "green tea", 1, 1),
        ("green tea unicorn", "green tea", 0.4, 0.8),
        ("unicorn", "green tea", 0, 0),
    ],
)
def test_relevance_tells_how_much_of_the_question_is_there(
    reader: Connection[DictRow],
    remember: Remember,
    query: str,
    text: str,
    least: float,
    most: float,
) -> None:
    """By words alone: all of it is 1, among one memory as among many."""
    item = remember(text)
    for number in range(3):
        found = recall(reader, query=query, weights=WORDS, k=100)
        [relevance] = [row["relevance"] for row in found if row["item_id"] == item]
        assert least <= relevance <= most
        for other in range(5):
            remember(f"something else of kind {number} {other}")


def test_the_order_is_the_same_however_the_rows_lie(world: World) -> None:
    """Scores too: again, after rows have moved on disk, and where the server would use helpers."""
    agent = world.agent()
    texts = [f"zebra lion{number % 7} {'owl ' * (number % 3)}" for number in range(200)]
    for batch in (texts[100:], texts[:100]):
        write_many(agent, [{"layer": "episodic", "content": {"text": t}} for t in batch])

    def answers() -> list[list[Any]]:
        return [
            [(row["item_id"], row["score"], row["relevance"]) for row in recall(agent, **asked)]
            for asked in (
                {"query": "zebra lion3 owl", "k": 200},
                {"query": "zebra lion3 owl", "weights": WORDS, "k": 50},
                {"query": "zebra", "fusion": "rrf", "k": 200},
            )
        ]

    first = answers()
    assert answers() == first
    for table in ("item", "embedding", "version"):
        world.admin.execute(f"VACUUM FULL ANALYZE memwarden_data.{table}")
    assert answers() == first
    agent.execute("SET debug_parallel_query = on")
    agent.execute("SET parallel_setup_cost = 0")
    agent.execute("SET enable_hashjoin = off")
    assert answers() == first
