"""The judge of evidence: an excerpt bears out what it says, and nothing else."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memwarden_core.support.judge import BORNE_OUT, DENIED, UNCLEAR, supports

CLAIMS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data/claims.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


def support(
    content: Any,
    excerpt: str,
    subject: str | None = None,
    predicate: str | None = None,
    *,
    type: str = "document",
) -> float:
    """How far one excerpt bears out a content."""
    return supports(subject, predicate, json.dumps(content), [excerpt], [type], [""])[0]


@pytest.mark.parametrize(
    "claim", CLAIMS, ids=lambda c: f"{c['true']}-{json.dumps(c['content'])}-{c['excerpt'][:30]}"
)
def test_a_true_claim_is_borne_out_and_a_false_one_is_not(claim: dict[str, Any]) -> None:
    """What is true in other words (null) is unclear: nothing is guessed.

    Proves: V3 (source cross-reference)
    """
    found = support(
        claim["content"],
        claim["excerpt"],
        claim.get("subject"),
        claim.get("predicate"),
        type=claim.get("type", "document"),
    )
    if claim["true"] is None:
        assert found == UNCLEAR
    else:
        assert (found == BORNE_OUT) == claim["true"]


def test_pairs_of_others_that_contradict_are_not_taken_for_support(data: Path) -> None:
    """Of pairs that people called contradictions, fewer than 1 in 100 are taken for support.

    Proves: V3 (source cross-reference)
    """
    with (data / "pairs/sick_train.txt").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    pairs = [
        (r["sentence_A"], r["sentence_B"])
        for r in rows
        if r["entailment_judgment"] == "CONTRADICTION"
    ]
    with (data / "pairs/breaking_nli_dev.jsonl").open(encoding="utf-8") as file:
        more = [json.loads(line) for line in file]
    pairs += [(r["sentence1"], r["sentence2"]) for r in more if r["gold_label"] == "contradiction"]
    found = [support(claim, excerpt) for excerpt, claim in pairs]
    assert len(found) > 2500
    assert sum(s == BORNE_OUT for s in found) / len(found) < 0.01
    same = [(r["sentence1"], r["sentence2"]) for r in more if r["gold_label"] == "entailment"]
    assert not any(support(claim, excerpt) == DENIED for excerpt, claim in same)


WORDS = "server client token index table backup engine worker signal bridge garden window"
SENTENCE = st.lists(st.sampled_from(WORDS.split()), min_size=3, max_size=7, unique=True).map(
    lambda words: "The " + " ".join(words) + " works."
)


@given(claim=SENTENCE, before=SENTENCE, after=SENTENCE)
@settings(deadline=None)
def test_a_claim_in_the_words_of_the_excerpt_is_borne_out(
    claim: str, before: str, after: str
) -> None:
    """Whatever stands around it."""
    assert support(claim, f"{before} {claim} {after}") == 1


@given(
    content=st.recursive(
        st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=30),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
        ),
        max_leaves=8,
    ),
    excerpt=st.text(max_size=200),
    subject=st.none() | st.text(max_size=20),
)
@settings(deadline=None)
def test_any_text_is_judged(content: Any, excerpt: str, subject: str | None) -> None:
    """Nothing that can be written makes the judge fail, or give a number out of range."""
    found = support(content, excerpt, subject, None)
    assert found in (BORNE_OUT, UNCLEAR, DENIED)
    assert found == support(content, excerpt, subject, None)


@pytest.mark.parametrize(
    "excerpt",
    [
        "a " * 4096,
        "1" * 8192,
        "not " * 2048,
        "A.b" * 2730,
        "no, " * 2048,
        "€" * 2730,
        "\n" * 8192,
        "x not. " * 1100,
        "pool. " * 1300,
    ],
)
def test_a_hostile_excerpt_bears_out_nothing(excerpt: str) -> None:
    """Of the greatest size, of one thing alone, with the most statements that are looked at."""
    content = [f"The pool number {n} is open." for n in range(60)]
    assert support(content, excerpt) <= 0


def test_a_claim_of_too_many_statements_is_not_borne_out() -> None:
    """What is not looked at is not granted."""
    content = [f"Pool {n} is open." for n in range(100)]
    assert support(content, " ".join(content)) == 0


def test_what_is_missing_or_empty_supports_nothing() -> None:
    """No excerpt, no words, no claim."""
    assert supports(None, None, '"x"', [None, "", " . "], ["document"] * 3, [""] * 3) == [0, 0, 0]
    assert support(None, "All is well.") == 0
    assert support({}, "All is well.", "All") == 0
