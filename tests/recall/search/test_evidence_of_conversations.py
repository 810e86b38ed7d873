"""Words and vectors together find more of the evidence in real conversations than either alone."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from conftest import World
from helpers import recall, write_many

np: Any = pytest.importorskip("numpy")

MODES: dict[str, dict[str, Any]] = {
    "fused": {},
    "alone": {"weights": {"relevance": 1}},
    "vector": {"weights": {"vector": 1}},
    "keyword": {"weights": {"keyword": 1}},
    "rrf": {"fusion": "rrf", "weights": {"vector": 1, "keyword": 1}},
}


@pytest.mark.one_version
def test_fusion_finds_more_evidence_than_its_parts(
    shared_world: World, data: Path, record_property: Any
) -> None:
    """Evidence recall@10 over the questions about one long conversation, all-MiniLM-L6-v2 vectors.

    The figures are printed, not asserted, but for their order and a floor that is far below them.

    Proves: L6, L7 (basic)
    """
    flat = json.loads((data / "locomo/dev_flat.json").read_text())
    vectors = np.load(data / "locomo/dev_minilm.npz")
    talk = "conv-30"
    turns = [i for i, turn in enumerate(flat["turns"]) if turn["sid"] == talk]
    agent = shared_world.agent("/org/locomo/user/ana")
    requests = [
        {
            "layer": "episodic",
            "content": {"text": flat["turns"][i]["text"]},
            "idempotency_key": flat["turns"][i]["dia"],
            "origin": {"session": flat["turns"][i]["dia"].partition(":")[0]},
            "embedding": vectors["turns"][i].astype(float).tolist(),
        }
        for i in turns
    ]
    answers = write_many(agent, requests)
    turn_of = {
        row["item_id"]: flat["turns"][i]["dia"] for i, row in zip(turns, answers, strict=True)
    }
    # A short turn may be said twice; whoever finds one of them has found the other.
    assert sum(row["outcome"] == "COMMITTED" for row in answers) > 0.95 * len(turns)

    shares: dict[str, list[float]] = {mode: [] for mode in MODES}
    for i, question in enumerate(flat["questions"]):
        evidence = set(question["ev"])
        if question["sid"] != talk or not evidence:
            continue
        vector = vectors["questions"][i].astype(float).tolist()
        for mode, how in MODES.items():
            rows = recall(agent, query=question["q"], embedding=vector, **how)
            found = {turn_of[row["item_id"]] for row in rows if row["item_id"]}
            shares[mode].append(len(found & evidence) / len(evidence))
    figures = {mode: round(mean(each), 3) for mode, each in shares.items()}
    print(f"evidence recall@10 over {len(shares['fused'])} questions: {figures}")
    record_property("evidence recall@10", figures)
    assert figures["fused"] > max(figures["vector"], figures["keyword"], figures["rrf"])
    assert figures["fused"] > figures["alone"] + 0.03 > 0.70
