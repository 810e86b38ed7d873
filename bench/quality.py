#!/usr/bin/env python3
"""Measure how often recall finds the turns that answer a question.

Reads conversations in LoCoMo's format, flattened, with embeddings: DIR/dev_flat.json (turns and
questions with their evidence) and DIR/dev_minilm.npz. Evidence recall@10: the share of a question's
evidence turns among the first ten.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from store import Stores, scope_path
from workload import array_literal

RECALL = """
SELECT substr(provenance -> 'evidence' -> 0 ->> 'uri', length('locomo:') + 1)
  FROM memwarden.recall(%(query)s, %(vector)s::real[], scopes => ARRAY[%(scope)s],
                        weights => %(weights)s::jsonb, fusion => %(fusion)s)"""
# What is compared: query given, vector given, weights (None: the defaults), fusion.
MODES: dict[str, tuple[bool, bool, dict[str, float] | None, str]] = {
    "cosine alone": (False, True, {"vector": 1}, "weighted"),
    "words alone": (True, True, {"keyword": 1}, "weighted"),
    "equal reciprocal ranks": (True, True, {"vector": 1, "keyword": 1}, "rrf"),
    "0.4 / 0.3 vector and keyword": (True, True, {"vector": 0.4, "keyword": 0.3}, "weighted"),
    "**default, with embeddings**": (True, True, None, "weighted"),
    "**default, without embeddings**": (True, False, None, "weighted"),
}


def remember(stores: Stores, turns: list[dict[str, str]], vectors: Any, scopes: list[str]) -> None:
    """Write every turn into the scope of its conversation."""
    rows = [
        {
            "layer": "episodic",
            "content": {"text": turn["text"]},
            "scope": scope_path(scopes.index(turn["sid"])),
            "evidence": [{"uri": f"locomo:{turn['dia']}", "excerpt": turn["text"]}],
            "idempotency_key": f"{turn['sid']} {turn['dia']}",
        }
        for turn in turns
    ]
    if vectors is not None:
        for row, vector in zip(rows, vectors.astype(float).tolist(), strict=True):
            row["embedding"] = vector
    stores.agent.execute("SELECT FROM memwarden.write_many(%s::json)", (json.dumps(rows),))


def evidence_recall(questions: list[dict[str, Any]], ask: Callable[[int], set[str]]) -> float:
    """Mean share of the evidence found, over the questions that have any."""
    shares = [
        len(set(question["ev"]) & ask(number)) / len(set(question["ev"]))
        for number, question in enumerate(questions)
        if question["ev"]
    ]
    return float(np.mean(shares))


def main() -> None:
    """Write the conversations twice, with embeddings and without, and ask every question."""
    parser = argparse.ArgumentParser(description="Measure evidence recall@10.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--data", type=Path, required=True, help="folder with dev_flat.json")
    arguments = parser.parse_args()

    flat = json.loads((arguments.data / "dev_flat.json").read_text())
    embedded = np.load(arguments.data / "dev_minilm.npz")
    scopes = sorted({turn["sid"] for turn in flat["turns"]})
    found = {}
    for with_vectors in (True, False):
        stores = Stores.create(arguments.dsn, len(scopes))
        remember(stores, flat["turns"], embedded["turns"] if with_vectors else None, scopes)
        for name, (by_words, by_vector, weights, fusion) in MODES.items():
            if by_vector != with_vectors:
                continue

            def ask(number: int) -> set[str]:
                question = flat["questions"][number]
                vector = embedded["questions"][number].astype(float).tolist()
                rows = stores.agent.execute(  # noqa: B023
                    RECALL,
                    {
                        "query": question["q"] if by_words else None,  # noqa: B023
                        "vector": array_literal(vector) if by_vector else None,  # noqa: B023
                        "scope": scope_path(scopes.index(question["sid"])),
                        "weights": json.dumps(weights) if weights else None,  # noqa: B023
                        "fusion": fusion,  # noqa: B023
                    },
                ).fetchall()
                return {uri for (uri,) in rows}

            found[name] = evidence_recall(flat["questions"], ask)

    print("| recall by | evidence recall@10 |\n|---|---|")
    for name, share in found.items():
        print(f"| {name} | {share:.3f} |")


if __name__ == "__main__":
    main()
