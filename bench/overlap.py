#!/usr/bin/env python3
"""Measure what the overlap rule refuses: of texts that say the same, and of those that do not.

Labelled pairs (as `memwarden evaluate gates` reads them): the second text is a memory, the first
is written. Asked is what the judge of the gates finds neither more of it nor contrary to it.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import psycopg

from memwarden.evaluation.gates.corpus import Corpus, Pair, read_folder
from memwarden.evaluation.gates.rates import built_in

TELLING = re.compile(r"\b[A-Z]\w*|\S*\d\S*")
RULES = {
    "the literal rule": (1, False),
    "but for names and numbers": (1, True),
    "but for fewer than 8 words": (8, False),
    "both, as shipped": (8, True),
}


def words(connection: psycopg.Connection[tuple[list[str]]], texts: list[str]) -> list[set[str]]:
    """The different words of texts without endings, stop words left out, as the server has them."""
    rows = connection.execute(
        "SELECT tsvector_to_array(to_tsvector('english', t.text))"
        "  FROM unnest(%s::text[]) WITH ORDINALITY AS t (text, n) ORDER BY t.n",
        (texts,),
    )
    return [set(row[0]) for row in rows]


def pairs_of(corpus: Corpus) -> dict[str, list[Pair]]:
    """All pairs by set, those of facts about one thing that agree among them."""
    found = dict(corpus.pairs)
    for scene in corpus.scenes:
        facts = scene.facts
        found.setdefault("Letta, facts that agree", []).extend(
            Pair(new, old, "neutral") for n, new in enumerate(facts) for old in facts[:n]
        )
    return found


def measure(connection: psycopg.Connection[tuple[list[str]]], name: str, pairs: list[Pair]) -> None:
    """Print the lines of one set."""
    asked = [
        p for p in pairs if built_in()(p.new, p.old).relation in ("unrelated", "same", "wider")
    ]
    news, olds = (words(connection, [pair[side] for pair in asked]) for side in (0, 1))
    telling = words(connection, [" ".join(TELLING.findall(pair.new)) for pair in asked])
    for rule, (least, names) in RULES.items():
        refused = [
            pair.label
            for pair, new, old, named in zip(asked, news, olds, telling, strict=True)
            if new and len(new) >= least and 2 * len(new & old) > len(new)
            if not names or named <= old
        ]
        cells = []
        for alike in (True, False):
            total = sum((p.label in ("duplicate", "entailment")) == alike for p in pairs)
            count = sum((label in ("duplicate", "entailment")) == alike for label in refused)
            cells.append(f"{100 * count / total:.1f} % ({count} of {total})" if total else "")
        print(f"| {name} | {rule} | {cells[0]} | {cells[1]} |")
        name = ""


def main() -> None:
    """Measure each set, print the table."""
    parser = argparse.ArgumentParser(description="Measure the overlap rule on labelled pairs.")
    parser.add_argument("--dsn", required=True, help="any database: its text search is asked")
    parser.add_argument("--data", required=True, type=Path, help="folder of labelled pairs")
    arguments = parser.parse_args()
    print("| set | refuses | of what says the same | of what does not |\n|---|---|---|---|")
    with psycopg.connect(arguments.dsn) as connection:
        for name, pairs in pairs_of(read_folder(arguments.data)).items():
            measure(connection, name, pairs)


if __name__ == "__main__":
    main()
