"""Relevance is absolute: a threshold means the same in every recall."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write

from .conftest import Remember

NEAR = [1.0] + [0.0] * 383
FAR = [-1.0] + [0.0] * 383


def test_what_says_all_that_is_asked_is_wholly_relevant(
    reader: Connection[DictRow], remember: Remember
) -> None:
    """And what says nothing of it, not at all, also where it is the best that there is.

    Proves: L6
    """
    remember("the boats left the harbour")
    (row,) = recall(reader, query="green tea", weights={"keyword": 1})
    assert (row["relevance"], row["score"]) == (0, 0)
    item = remember("green tea in the morning")
    best = recall(reader, query="green tea", weights={"keyword": 1})[0]
    assert (best["item_id"], best["relevance"]) == (item, pytest.approx(1))
    assert recall(reader, query="green elephants", weights={"keyword": 1})[0]["relevance"] < 1


def test_the_best_of_a_recall_is_no_more_relevant_for_that(
    reader: Connection[DictRow], remember: Remember
) -> None:
    """Its vector_score is 1 whatever its cosine; its relevance is the cosine, 0 for an opposite."""
    remember("one", embedding=[0.6, 0.8] + [0.0] * 382)
    remember("two", embedding=FAR)
    first, second = recall(reader, embedding=NEAR, weights={"vector": 1})
    assert first["vector_score"] == 1
    assert first["relevance"] == pytest.approx(0.6, abs=1e-3)
    assert (second["similarity"], second["relevance"]) == (pytest.approx(-1), 0)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_it_mixes_cosine_and_words_as_the_weights_do(
    reader: Connection[DictRow], remember: Remember, share: float
) -> None:
    """`hybrid` from words alone, 0, to vectors alone, 1.

    Proves: L12
    """
    remember("green tea", embedding=[0.6, 0.8] + [0.0] * 382)
    (row,) = recall(reader, query="tea", embedding=NEAR, weights={"hybrid": share})
    assert row["relevance"] == pytest.approx(share * 0.6 + (1 - share), abs=1e-3)


def test_what_has_no_vector_is_told_by_its_words(
    reader: Connection[DictRow], remember: Remember
) -> None:
    """And a question without words by its vector, so that neither is punished for it.

    Proves: L12
    """
    worded = remember("green tea")
    remember("boats", embedding=NEAR)
    found = {row["item_id"]: row for row in recall(reader, query="tea", embedding=NEAR)}
    assert (found[worded]["similarity"], found[worded]["relevance"]) == (None, pytest.approx(1))
    found = {row["text"]: row for row in recall(reader, embedding=NEAR)}
    assert found["boats"]["relevance"] == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_a_threshold_cuts_and_moves_nothing(
    reader: Connection[DictRow], remember: Remember, fusion: str
) -> None:
    """The layer's own counts where a call has none, and a call's of 0 lets everything pass.

    Proves: L6
    """
    for text in ("green tea", "green boats", "boats"):
        remember(text)
    everything = recall(reader, query="green tea", fusion=fusion)
    for threshold in (0.0, 0.3, 0.9, 1.0):
        found = recall(reader, query="green tea", fusion=fusion, threshold=threshold)
        expected = [row for row in everything if row["relevance"] >= threshold]
        assert [r["score"] for r in found] == [r["score"] for r in expected]


def test_a_layer_has_a_threshold_of_its_own(world: World) -> None:
    """Null takes it away; no layer has one unless an administrator sets it.

    Proves: L12
    """
    agent = world.agent()
    for layer in ("episodic", "semantic"):
        assert write(agent, layer, {"text": f"boats {layer}"})["outcome"] == "COMMITTED"

    def layers(**arguments: Any) -> set[str]:
        asked = {"query": "green tea", "weights": {"relevance": 1}}
        return {row["layer"] for row in recall(agent, **asked, **arguments)}

    def configure(value: str) -> None:
        world.admin.execute(
            "SELECT memwarden.configure_layer('semantic', %s)",
            (f'{{"relevance_threshold": {value}}}',),
        )

    assert layers() == {"episodic", "semantic"}
    configure("0.5")
    assert layers() == {"episodic"}
    assert layers(threshold=0) == {"episodic", "semantic"}
    configure("null")
    assert layers() == {"episodic", "semantic"}
