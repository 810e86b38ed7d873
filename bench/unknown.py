"""How often "I don't know" is said, and rightly: questions of conversations and their floors.

usage: python bench/unknown.py --dsn DSN --data SHARED/locomo

The conversations of LoCoMo become a scope each. Asked are: questions whose answer is in the
conversation; those of another conversation, whose answer cannot be there; and those that the
authors made up to mislead (category 5), which name the people and things of the conversation.
Counted is for how many of each kind nothing reaches a floor, by words alone and with MiniLM.
Everything is written into a new organisation of the database that DSN names, as a superuser.
"""

from __future__ import annotations

import argparse
import json
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from psycopg.types.json import Json, Jsonb

SETTINGS = {
    **dict.fromkeys(("fact_threshold", "min_external", "min_authority"), 0),
    **dict.fromkeys(("rate_limit", "duplicate_similarity")),
    "self_reference": "allow",
    "conflict": "accumulate",
}
FLOORS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)


def vector(values: Any) -> list[float]:
    """Numbers as the driver takes them."""
    return [float(each) for each in values]


def fill(database: psycopg.Connection[Any], org: str, turns: list[Any], vectors: Any) -> None:
    """Write each conversation into a scope of its own."""
    asked = [
        {
            "layer": "episodic",
            "scope": f"/org/{org}/user/{turn['sid'].lower()}",
            "content": {"text": turn["text"]},
            "embedding": vector(values),
            "idempotency_key": f"{turn['sid']} {turn['dia']}",
        }
        for turn, values in zip(turns, vectors, strict=True)
    ]
    for start in range(0, len(asked), 200):
        rows = database.execute(
            "SELECT outcome, reason FROM memwarden.write_many(%s)",
            (Json(asked[start : start + 200]),),
        ).fetchall()
        # Turns say the same things; whatever else is refused would falsify the figures.
        other = {reason for _, reason in rows if reason and not reason.endswith("_DUPLICATE")}
        assert not other, other


def best(
    database: psycopg.Connection[Any], scope: str, question: str, embedding: list[float] | None
) -> float:
    """The relevance of what answers best."""
    row = database.execute(
        "SELECT relevance FROM memwarden.recall(%s, embedding => %s::real[], scope => %s, k => 1)",
        (question, embedding, scope),
    ).fetchone()
    return float(row[0]) if row else 0.0


def main() -> None:
    """Write, ask, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    flat = json.loads((options.data / "dev_flat.json").read_text())
    vectors = np.load(options.data / "dev_minilm.npz")
    org = uuid.uuid4().hex[:8]
    sids = sorted({turn["sid"] for turn in flat["turns"]})
    with psycopg.connect(options.dsn, autocommit=True) as database:
        login = database.execute("SELECT session_user").fetchone()
        assert login is not None
        for sid in sids:
            path = f"/org/{org}/user/{sid.lower()}"
            database.execute("SELECT memwarden.create_scope(%s)", (path,))
        database.execute(
            "SELECT memwarden.register_agent(%s, %s, descendants => true, login_role => %s)",
            (f"bench {org}", f"/org/{org}", login[0]),
        )
        database.execute(
            "SELECT memwarden.configure_layer('episodic', %s),"
            "       memwarden.set_approval_policy('episodic', approval => 'never')",
            (Jsonb(SETTINGS),),
        )
        fill(database, org, flat["turns"], vectors["turns"])
        found: dict[tuple[str, str], list[float]] = {}
        for question, values in zip(flat["questions"], vectors["questions"], strict=True):
            own = f"/org/{org}/user/{question['sid'].lower()}"
            other = sids[(sids.index(question["sid"]) + 1) % len(sids)].lower()
            where = {"answerable" if question["cat"] != 5 else "misleading": own}
            if question["cat"] != 5:
                where["of another"] = f"/org/{org}/user/{other}"
            for kind, scope in where.items():
                for how, embedding in (("words", None), ("MiniLM", vector(values))):
                    score = best(database, scope, question["q"], embedding)
                    found.setdefault((how, kind), []).append(score)
    print("| floor |", *(f"{how}, {kind} ({len(v)}) |" for (how, kind), v in found.items()))
    for floor in FLOORS:
        shares = (sum(each < floor for each in v) / len(v) for v in found.values())
        print(f"| {floor} |", *(f"{share:.3f} |" for share in shares))


if __name__ == "__main__":
    main()
