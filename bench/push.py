#!/usr/bin/env python3
"""Measure what a relevance threshold lets through, by questions whose answers are known.

Reads conversations in LoCoMo's format, flattened, with embeddings: DIR/dev_flat.json (turns, and
questions with their evidence) and DIR/dev_minilm.npz. Each question is a task; what is pushed for
it, at most five memories, is compared with the turns that answer it, for a range of thresholds; and
it is pushed in another conversation too, where nothing answers it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from store import Stores, scope_path
from workload import array_literal

PUSH = """
SELECT substr(provenance -> 'evidence' -> 0 ->> 'uri', length('locomo:') + 1), relevance
  FROM memwarden.push(task => %(query)s, embedding => %(vector)s::real[], scope => %(scope)s,
                      token_budget => 1000000, max_items => 5, threshold => 0,
                      blocks => '{episodes}')
 WHERE left_out IS NULL"""
BLOCKS = '{"blocks": [{"block": "episodes", "layers": ["episodic"], "tier": "on_demand"}]}'
THRESHOLDS = (0.0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.75, 0.8)


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


def main() -> None:
    """Write the conversations twice, with embeddings and without, and push for every question."""
    parser = argparse.ArgumentParser(description="Measure thresholds of what is pushed.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--data", type=Path, required=True, help="folder with dev_flat.json")
    arguments = parser.parse_args()

    flat = json.loads((arguments.data / "dev_flat.json").read_text())
    embedded = np.load(arguments.data / "dev_minilm.npz")
    scopes = sorted({turn["sid"] for turn in flat["turns"]})
    print(
        "| embeddings | threshold | pushed | nothing | of it answers | an answer is there"
        " | pushed where nothing answers |\n|---|---|---|---|---|---|---|"
    )
    for name in ("MiniLM", "none"):
        stores = Stores.create(arguments.dsn, len(scopes))
        stores.admin.execute("SELECT memwarden.set_injection_policy(%s)", (BLOCKS,))
        remember(stores, flat["turns"], embedded["turns"] if name == "MiniLM" else None, scopes)
        answers: list[list[tuple[float, bool]]] = []
        strange: list[list[tuple[float, bool]]] = []
        for number, question in enumerate(flat["questions"]):
            if not question["ev"]:
                continue
            vector = embedded["questions"][number].astype(float).tolist()
            place = scopes.index(question["sid"])
            for rows, conversation in ((answers, place), (strange, (place + 1) % len(scopes))):
                found = stores.agent.execute(
                    PUSH,
                    {
                        "query": question["q"],
                        "vector": array_literal(vector) if name == "MiniLM" else None,
                        "scope": scope_path(conversation),
                    },
                ).fetchall()
                rows.append([(relevance, uri in question["ev"]) for uri, relevance in found])
        for threshold in THRESHOLDS:
            given = [[right for found, right in rows if found >= threshold] for rows in answers]
            rights = [right for rows in given for right in rows]
            wrong = sum(found >= threshold for rows in strange for found, _ in rows)
            print(
                f"| {name} | {threshold:.2f} | {len(rights) / len(given):.1f} | "
                f"{np.mean([not rows for rows in given]):.0%} | "
                f"{np.mean(rights) if rights else 0:.0%} | "
                f"{np.mean([any(rows) for rows in given]):.0%} | "
                f"{wrong / len(strange):.1f} |"
            )


if __name__ == "__main__":
    main()
