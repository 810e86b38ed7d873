"""Whose weights count: the call's, the layer's, or what measured best for the model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from psycopg import Connection
from psycopg.errors import Error as DatabaseError
from psycopg.rows import DictRow

from conftest import World
from helpers import ranked, recall, write

VECTOR = [1.0] + [0.0] * 383
OTHER = [0.5, 0.5] + [0.0] * 382


@pytest.fixture
def agent(world: World) -> Connection[DictRow]:
    """One memory near by its words, one by its vector, in two layers."""
    agent = world.agent()
    write(agent, "episodic", {"text": "green tea"}, embedding=OTHER)
    write(agent, "semantic", {"text": "boats"}, embedding=VECTOR)
    return agent


def configure(world: World, layer: str, **settings: Any) -> None:
    """Change a layer's settings."""
    world.admin.execute("SELECT memwarden.configure_layer(%s, %s)", (layer, json.dumps(settings)))


def scores(agent: Connection[DictRow], **arguments: Any) -> dict[str, float]:
    """Ask for tea, near the boats; return the sums by layer."""
    found = ranked(agent, query="green tea", embedding=VECTOR, **arguments)
    return {row["layer"]: row["sum"] for row in found}


def test_one_number_goes_from_words_to_vectors(agent: Connection[DictRow]) -> None:
    """`hybrid` h is {"vector": h, "keyword": 1 - h}; `relevance` multiplies both.

    Proves: L12
    """
    for share in (0.0, 0.3, 0.6, 1.0):
        same = scores(agent, weights={"vector": share, "keyword": 1 - share})
        assert scores(agent, weights={"hybrid": share}) == same
        assert scores(agent, weights={"hybrid": share, "relevance": 1}) == same
    assert scores(agent, weights={"relevance": 1}) == scores(agent)
    halves = scores(agent, weights={"relevance": 0.5, "hybrid": 0.4})
    whole = scores(agent, weights={"hybrid": 0.4})
    assert {layer: 2 * score for layer, score in halves.items()} == pytest.approx(whole)


def test_a_layer_scores_by_weights_of_its_own(world: World, agent: Connection[DictRow]) -> None:
    """Those of the call go before; what is set to null falls back to the model's.

    Proves: L12, L7
    """
    plain = scores(agent)
    four_layers = {"vector": 0.4, "keyword": 0.3, "recency": 0.2, "importance": 0.1}
    configure(world, "semantic", weights=four_layers)
    found = ranked(agent, query="green tea", embedding=VECTOR)
    row = next(row for row in found if row["layer"] == "semantic")
    expected = sum(weight * row[f"{part}_score"] for part, weight in four_layers.items())
    assert row["sum"] == pytest.approx(expected, rel=1e-12)
    assert scores(agent)["episodic"] == plain["episodic"]
    assert scores(agent, weights={"relevance": 1}) == plain
    configure(world, "semantic", weights=None)
    assert scores(agent) == plain


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_a_layer_s_recall_weight_multiplies(
    world: World, agent: Connection[DictRow], fusion: str
) -> None:
    """Whatever the call's weights are, and 0 puts the layer last without hiding it.

    Proves: L12
    """
    for weights in ({"relevance": 1}, {"keyword": 1, "recency": 1}):
        configure(world, "episodic", recall_weight=1)
        plain = scores(agent, weights=weights, fusion=fusion)
        configure(world, "episodic", recall_weight=0.25)
        found = scores(agent, weights=weights, fusion=fusion)
        assert found["episodic"] == pytest.approx(plain["episodic"] / 4, abs=1e-4)
        assert found["semantic"] == pytest.approx(plain["semantic"], abs=1e-4)
    configure(world, "episodic", recall_weight=0)
    assert list(scores(agent, fusion=fusion)) == ["semantic", "episodic"]


def test_utility_weighs_how_far_a_memory_is_to_be_believed_and_how_fresh_it_is(
    world: World,
) -> None:
    """Relevance, adjusted confidence, freshness and authority, each returned.

    Proves: P5
    """
    agent = world.agent()
    for name in ("sound", "shaky"):
        write(agent, "episodic", {"text": f"green tea {name}"}, embedding=VECTOR)
    world.admin.execute(
        "UPDATE memwarden_data.item AS i SET adjusted_confidence = 0.8, authority = 0.9"
        "  FROM memwarden_data.version AS v"
        " WHERE v.version_id = i.version_id AND v.content ->> 'text' LIKE '%sound'"
    )
    weights = {"relevance": 0.6, "confidence": 0.2, "freshness": 0.1, "authority": 0.1}
    found = ranked(agent, embedding=VECTOR, weights=weights)
    assert [row["content"]["text"] for row in found] == ["green tea sound", "green tea shaky"]
    for row in found:
        expected = (
            0.6 * (0.55 * row["vector_score"] + 0.45 * row["keyword_score"])
            + 0.2 * row["confidence_score"]
            + 0.1 * row["freshness_score"]
            + 0.1 * row["authority_score"]
        )
        assert row["sum"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("weights", [{"freshness": 1}, {"relevance": 1}])
def test_what_is_stale_is_half_as_fresh(world: World, weights: dict[str, float]) -> None:
    """What rests on a memory that was taken back; told alike whether freshness is weighed or not.

    Proves: P5
    """
    agent = world.agent(role="curator")
    basis = write(agent, "episodic", {"text": "the kettle is broken"})
    derived = write(
        agent,
        "semantic",
        {"text": "nobody can make tea"},
        evidence=[{"type": "memory_item", "uri": f"memwarden:item/{basis['item_id']}"}],
    )
    write(agent, "semantic", {"text": "somebody can make tea"})
    assert derived["outcome"] == "COMMITTED"
    agent.execute("SELECT memwarden.retract(%s, 'it was not')", (basis["item_id"],))
    found = {row["item_id"]: row for row in recall(agent, query="tea", weights=weights)}
    assert {row["stale"] for row in found.values()} == {True, False}
    for item, row in found.items():
        factor = 0.5 if item == derived["item_id"] else 1
        assert row["freshness_score"] == pytest.approx(factor * row["recency_score"], rel=1e-9)
    if "freshness" in weights:
        assert list(found)[-1] == derived["item_id"]


@pytest.mark.parametrize(
    "weights",
    [
        {"hybrid": 1.1},
        {"hybrid": 0.5, "vector": 1},
        {"relevance": 1, "keyword": 1},
        {"similarity": 1},
        {"freshness": -1},
        {"relevance": "1"},
        [1],
    ],
    ids=str,
)
def test_weights_that_mean_nothing_are_refused(world: World, weights: Any) -> None:
    """By a recall and by a layer alike."""
    agent = world.agent()
    for ask in (
        lambda: recall(agent, query="tea", weights=weights),
        lambda: configure(world, "semantic", weights=weights),
    ):
        with pytest.raises(DatabaseError) as raised:
            ask()
        assert raised.value.sqlstate == "22023"
        assert (raised.value.diag.message_detail or "").startswith("weights")
