"""Filters, thresholds, pages and fusions compose: what a model in Python leaves, no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write_many

HOME = "/org/composing/user/ana"
TASK = f"{HOME}/task/t1"
WORDS = ["tea", "coffee", "water", "juice", "milk", "cocoa"]
Memory = dict[str, Any]


@pytest.fixture(scope="module")
def stored(shared_world: World) -> tuple[str, list[Memory]]:
    """Eighty memories in two scopes and three layers; every fifth is said in both scopes."""
    for layer in ("episodic", "semantic"):
        shared_world.admin.execute("SELECT memwarden.define_schema(%s, 'note', '{}')", (layer,))
    shared_world.scope(TASK)
    agent = shared_world.agent(HOME, descendants=True)
    random = np.random.default_rng(11)
    memories: list[Memory] = []
    for n in range(80):
        memory: Memory = {
            "layer": ("episodic", "semantic", "working")[n % 3],
            "content": {"text": " ".join(random.choice(WORDS, 1 + n % 3)), "n": n, "odd": n % 2},
            "scope": (HOME, TASK)[n % 2],
            "confidence": round(float(random.random()), 1),
            "kind": ("note", None)[n % 2],
            "subject": ("Ana", "Bo", None)[n % 3],
        }
        if n % 4:
            memory["embedding"] = random.normal(size=384).tolist()
        memories.append(memory)
        if n % 5 == 0:
            memories.append(memory | {"scope": (HOME, TASK)[1 - n % 2]})
    rows = write_many(agent, memories)
    assert {(row["outcome"], row["reason"]) for row in rows} == {("COMMITTED", None)}
    for memory, row in zip(memories, rows, strict=True):
        memory["item_id"] = row["item_id"]
    return agent.info.user, memories


@pytest.fixture
def reader(shared_world: World, stored: tuple[str, list[Memory]]) -> Connection[DictRow]:
    """The agent that remembers them."""
    return shared_world.connect(stored[0])


FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "layers": st.lists(st.sampled_from(["episodic", "semantic", "working"]), max_size=2),
        "scopes": st.lists(st.sampled_from([HOME, TASK]), min_size=1, max_size=2),
        "subject": st.sampled_from(["ana", "Bo", "nobody"]),
        "kind": st.just("note"),
        "filter": st.sampled_from([{"odd": 1}, {"odd": 0}, {"n": 7}]),
        "min_confidence": st.sampled_from([0.0, 0.3, 0.8]),
    },
)
ASKED = st.fixed_dictionaries(
    {"fusion": st.sampled_from(["weighted", "rrf"])},
    optional={
        "query": st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join),
        "weights": st.sampled_from(
            [{"hybrid": 0.3}, {"keyword": 1}, {"vector": 1}, {"relevance": 1, "confidence": 0.5}]
        ),
    },
)


def fits(memory: Memory, asked: dict[str, Any]) -> bool:
    """Whether the filters leave a memory."""
    subject = str(memory["subject"] or "").lower()
    return (
        memory["layer"] in asked.get("layers", [memory["layer"]])
        and memory["scope"] in asked.get("scopes", [memory["scope"]])
        and subject == str(asked.get("subject", subject)).lower()
        and memory["kind"] == asked.get("kind", memory["kind"])
        and all(memory["content"][k] == v for k, v in asked.get("filter", {}).items())
        and memory["confidence"] >= asked.get("min_confidence", 0)
    )


def constant(found: list[DictRow]) -> list[tuple[Any, float, float]]:
    """What does not change as time goes by."""
    return [(row["item_id"], row["score"], row["relevance"]) for row in found]


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    filters=FILTERS,
    asked=ASKED,
    seed=st.none() | st.integers(0, 9),
    threshold=st.none() | st.sampled_from([0.0, 0.1, 0.4, 1.0]),
    given_before=st.integers(0, 12),
    k=st.integers(1, 30),
)
def test_a_recall_is_what_a_model_leaves(
    reader: Connection[DictRow],
    stored: tuple[str, list[Memory]],
    filters: dict[str, Any],
    asked: dict[str, Any],
    seed: int | None,
    threshold: float | None,
    given_before: int,
    k: int,
) -> None:
    """Filters choose what is searched; threshold, pages and k cut what came of it, unchanged.

    Proves: L6, L7, L12
    """
    arguments = asked | filters
    if seed is not None:
        arguments["embedding"] = np.random.default_rng(seed).normal(size=384).tolist()
    found = recall(reader, **arguments, k=1000, threshold=0)
    everything = [row for row in found if row["item_id"]]

    left = {m["item_id"]: m for m in stored[1] if fits(m, filters)}
    told = {row["item_id"] for row in everything}
    others = {other for row in everything for other in row["same_as"]}
    assert told | others == set(left)
    assert not told & others
    contents = [(m["content"]["n"], m["subject"]) for i, m in left.items() if i in told]
    assert len(contents) == len(set(contents))
    for row in everything:
        assert 0 <= row["relevance"] <= 1
        for other in row["same_as"]:
            assert left[other]["content"] == left[row["item_id"]]["content"]
        if seed is not None and "embedding" in left[row["item_id"]]:
            vector = np.array(left[row["item_id"]]["embedding"])
            query = np.array(arguments["embedding"])
            cosine = vector @ query / np.linalg.norm(vector) / np.linalg.norm(query)
            assert row["similarity"] == pytest.approx(cosine, abs=2e-3)

    before = [row["item_id"] for row in everything[:given_before]]
    cut = recall(reader, **arguments, k=k, exclude=before, threshold=threshold or 0)
    expected = [r for r in everything[given_before:] if r["relevance"] >= (threshold or 0)]
    # That nothing is known is a row of its own.
    unknown = [row["standing"] for row in cut if row["item_id"] is None]
    assert unknown == (["unknown"] if not expected and not before else [])
    assert constant([row for row in cut if row["item_id"]]) == constant(expected[:k])


def test_nothing_above_a_classification_is_told(world: World) -> None:
    """A name that does not exist is an error."""
    agent = world.agent()
    world.admin.execute(
        "UPDATE memwarden_data.principal AS p SET clearance = c.level"
        "  FROM memwarden_data.classification AS c WHERE c.name = 'restricted'"
    )
    names = ("public", "internal", "confidential")
    rows = write_many(
        agent,
        [{"layer": "episodic", "content": f"tea {n}", "classification": n} for n in names],
    )
    assert {(row["outcome"], row["reason"]) for row in rows} == {("COMMITTED", None)}
    for n, name in enumerate(names):
        found = recall(agent, query="tea", classification=name)
        assert {row["classification"] for row in found} == set(names[: n + 1])
    with pytest.raises(Exception, match="unknown") as raised:
        recall(agent, query="tea", classification="cosmic")
    assert getattr(raised.value, "sqlstate", None) == "42704"
