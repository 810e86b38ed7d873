"""The score is made of the components that are returned, by the formula that was asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import ranked, recall, write_many

PARTS = ("vector", "keyword", "recency", "importance", "confidence", "authority")
WORDS = ["tea", "coffee", "water", "juice", "milk", "cocoa", "lemonade", "cider", "broth", "soda"]
HOME = "/org/fusion/user/ana"


@pytest.fixture
def reader(shared_world: World, role: str) -> Connection[DictRow]:
    """The agent that remembers them."""
    return shared_world.connect(role)


@pytest.fixture(scope="module")
def role(shared_world: World) -> str:
    """Sixty memories of which many tie in one component or another; some have no vector."""
    agent = shared_world.agent(HOME)
    random = np.random.default_rng(7)
    requests = []
    for n in range(60):
        words = random.choice(WORDS, size=1 + n % 4)
        requests.append(
            {
                "layer": ("episodic", "semantic")[n % 2],
                "content": {"text": f"{' '.join(words)} {n if n % 3 else ''}", "n": n},
                "importance": round(float(random.random()), 1),
            }
            | ({"embedding": random.normal(size=384).tolist()} if n % 5 else {})
        )
    assert {row["outcome"] for row in write_many(agent, requests)} == {"COMMITTED"}
    # An hour between neighbours, with pairs that are equally old; some better founded than others.
    shared_world.admin.execute(
        "WITH aged AS (SELECT i.item_id, (row_number() OVER (ORDER BY i.item_id) / 2) AS hours"
        "                FROM memwarden_data.item AS i"
        "                JOIN memwarden_data.scope AS s USING (scope_id) WHERE s.path = %s)"
        " UPDATE memwarden_data.item AS i SET"
        "     updated_at = date_trunc('hour', now()) - a.hours * interval '1 hour',"
        "     adjusted_confidence = (a.hours %% 4) / 4.0, authority = (a.hours %% 3) / 2.0"
        "   FROM aged AS a WHERE a.item_id = i.item_id",
        (HOME,),
    )
    return agent.info.user


def in_order(found: list[DictRow], times: dict[Any, Any]) -> bool:
    """Best first; of equals the better founded, then the younger, then the lower item id."""
    keys = [
        (
            -row["sum"],
            -row["confidence_score"],
            -row["authority_score"],
            -times[row["item_id"]].timestamp(),
            row["item_id"],
        )
        for row in found
    ]
    return keys == sorted(keys)


def ages(world: World) -> dict[Any, Any]:
    """Return when each item was last changed."""
    rows = world.rows("SELECT item_id, updated_at FROM memwarden_data.item")
    return {row["item_id"]: row["updated_at"] for row in rows}


def timeless(found: list[DictRow]) -> list[DictRow]:
    """Leave out what changes as time goes by, and the number of the recall."""
    changing = {"recency_score", "freshness_score", "recall_id"}
    return [{name: value for name, value in row.items() if name not in changing} for row in found]


WEIGHT = st.one_of(st.just(0.0), st.floats(0.01, 10), st.integers(0, 1000))
WEIGHTS = st.fixed_dictionaries({}, optional=dict.fromkeys(PARTS, WEIGHT))
QUERY = st.lists(st.sampled_from([*WORDS, "nothing"]), max_size=4).map(" ".join)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(weights=WEIGHTS, query=QUERY, seed=st.none() | st.integers(0, 99))
def test_a_weighted_score_is_the_weighted_sum(
    shared_world: World,
    reader: Connection[DictRow],
    weights: dict[str, float],
    query: str,
    seed: int | None,
) -> None:
    """Over every row; each component lies between 0 and 1; order is total.

    Proves: L6, L7 (basic)
    """
    arguments: dict[str, Any] = {"query": query, "weights": weights, "k": 1000}
    if seed is not None:
        arguments["embedding"] = np.random.default_rng(seed).normal(size=384).tolist()
    found = ranked(reader, **arguments)
    assert len(found) == 60
    for row in found:
        score = 0.0
        for part in PARTS:
            component = row[f"{part}_score"]
            assert 0 <= component <= 1
            score += float(weights.get(part, 0)) * component
        assert row["sum"] == pytest.approx(score, rel=1e-12, abs=0)
    assert in_order(found, ages(shared_world))


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(weights=WEIGHTS, query=QUERY, seed=st.integers(0, 99))
def test_reciprocal_ranks_are_computed_from_the_components(
    shared_world: World,
    reader: Connection[DictRow],
    weights: dict[str, float],
    query: str,
    seed: int,
) -> None:
    """Weight / (60 + rank), equals sharing a rank; a component of 0 is in no list.

    Proves: L6 (fusion)
    """
    embedding = np.random.default_rng(seed).normal(size=384).tolist()
    found = ranked(reader, query=query, embedding=embedding, weights=weights, fusion="rrf", k=1000)
    assert len(found) == 60
    for row in found:
        score = 0.0
        for part in PARTS:
            component = row[f"{part}_score"]
            rank = 1 + sum(other[f"{part}_score"] > component for other in found)
            score += float(weights.get(part, 0)) / (60 + rank) if component > 0 else 0
        assert row["sum"] == pytest.approx(score, rel=1e-12, abs=0)
    assert in_order(found, ages(shared_world))


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_the_best_k_are_the_beginning_of_all(reader: Connection[DictRow], fusion: str) -> None:
    """The limit cuts, and changes no score."""
    everything = timeless(recall(reader, query="tea with milk", fusion=fusion, k=1000))
    for k in (1, 2, 7, 59, 60, 61):
        best = recall(reader, query="tea with milk", fusion=fusion, k=k)
        assert timeless(best) == everything[:k]


@pytest.mark.parametrize(
    ("arguments", "weight"),
    [
        ({}, 0.2),
        ({"embedding": [1.0] * 384}, 0.55),
        ({"embedding": [1.0] * 384, "embedding_model": "lexical"}, 0.2),
    ],
    ids=["lexical", "default", "lexical vector given"],
)
def test_the_weights_that_measured_best_are_the_model_s(
    reader: Connection[DictRow], arguments: dict[str, Any], weight: float
) -> None:
    """Without weights of the caller: the model's for its vectors, the rest for the words."""
    for row in ranked(reader, query="cocoa", **arguments):
        expected = weight * row["vector_score"] + (1 - weight) * row["keyword_score"]
        assert row["sum"] == pytest.approx(expected, rel=1e-15)


PLANS = [
    "plan_cache_mode = force_generic_plan",
    "plan_cache_mode = force_custom_plan",
    "enable_hashjoin = off",
    "enable_mergejoin = off",
    "enable_hashagg = off",
    "enable_sort = off",
    "enable_seqscan = off",
    "enable_indexscan = off",
    "enable_bitmapscan = off",
    "enable_material = off",
    "work_mem = '64kB'",
    "debug_parallel_query = on",
    "jit = on",
]


def test_the_answer_is_the_same_every_time_and_under_every_plan(
    shared_world: World, reader: Connection[DictRow]
) -> None:
    """Scores, to the last bit, and the order of equals; before and after ANALYZE, other sessions.

    Proves: L6 (deterministic)
    """
    query = " ".join(WORDS)
    modes: list[dict[str, Any]] = [
        {"query": query},
        {"query": query, "embedding": [0.5] * 384},
        {"query": query, "fusion": "rrf"},
        {"weights": {"importance": 1}},
        {},
    ]

    def answers(connection: Connection[DictRow]) -> list[list[DictRow]]:
        return [timeless(recall(connection, k=50, **mode)) for mode in modes]

    first = answers(reader)
    assert all(len(answer) == 50 for answer in first)
    for _ in range(20):
        assert timeless(recall(reader, k=50, query=query)) == first[0]
    for plan in PLANS:
        session = shared_world.connect(reader.info.user)
        session.execute(f"SET {plan}")
        assert answers(session) == first, plan
        session.close()
    shared_world.admin.execute("ANALYZE")
    assert answers(shared_world.connect(reader.info.user)) == first


def test_of_equally_similar_memories_the_better_founded_comes_first(world: World) -> None:
    """Without any weight at equal score; with weights also against a little similarity.

    Proves: P5
    """
    agent = world.agent()
    vector = [1.0] + [0.0] * 383
    near = [1.0, 0.1] + [0.0] * 382
    rows = {
        name: write_many(
            agent,
            [{"layer": "episodic", "content": name, "embedding": embedding, "confidence": sure}],
        )[0]
        for name, embedding, sure in (
            ("weak", vector, 0.2),
            ("strong", vector, 0.9),
            ("near", near, 1.0),
        )
    }

    def ranked(**weights: float) -> list[Any]:
        return [row["content"] for row in recall(agent, embedding=vector, weights=weights)]

    assert {row["outcome"] for row in rows.values()} == {"COMMITTED"}
    assert ranked(vector=1) == ["strong", "weak", "near"]
    assert ranked(vector=1, confidence=100) == ["near", "strong", "weak"]
    world.admin.execute(
        "UPDATE memwarden_data.item SET authority = 1 WHERE item_id = %s",
        (rows["weak"]["item_id"],),
    )
    assert ranked(vector=1, authority=1)[0] == "weak"
    (best,) = recall(agent, embedding=vector, weights={"vector": 1, "authority": 1}, k=1)
    assert (best["authority_score"], best["provenance"]["authority"]) == (1, 1)


def test_recency_halves_with_the_half_life_of_the_layer(world: World) -> None:
    """0.5 after one half-life, 0.25 after two; what lies in the future counts as new.

    Proves: L7 (basic)
    """
    agent = world.agent()
    halves = {"0": 1.0, "15": 0.5**0.5, "30": 0.5, "60": 0.25, "-5": 1.0}
    write_many(agent, [{"layer": "episodic", "content": {"days": days}} for days in halves])
    world.admin.execute(
        "UPDATE memwarden_data.item AS i SET"
        "     updated_at = now() - make_interval(days => (v.content ->> 'days')::int)"
        "  FROM memwarden_data.version AS v WHERE v.version_id = i.version_id"
    )
    found = recall(agent, weights={"recency": 1})
    assert {row["content"]["days"]: row["recency_score"] for row in found} == pytest.approx(
        halves, abs=1e-4
    )
    world.admin.execute("UPDATE memwarden_data.layer SET recency_half_life = '15 days'")
    found = recall(agent, weights={"recency": 1})
    scores = {row["content"]["days"]: row["recency_score"] for row in found}
    assert scores["30"] == pytest.approx(0.25, abs=1e-4)
