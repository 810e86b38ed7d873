"""Whatever two memories hold, the judge answers, alike each time, and after bounded work."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_core.verdict import reading as verdict_reading
from memwarden_core.verdict.judge import Memory, judge
from memwarden_core.verdict.neighbours import judge_neighbours
from memwarden_core.verdict.words import BEGINNINGS, OPPOSED, RIVALS, SYNONYMS, WIDER

RELATIONS = {
    "same", "alike", "narrower", "wider", "contradicts", "updates", "precedes", "unrelated"
}  # fmt: skip
MIRRORED = {"narrower": "wider", "wider": "narrower", "updates": "contradicts"}
WORDS = """
    not now no longer from to instead of stopped going quit new was , has moved 12 C2 May Monday
    Ana Bo the a dog poodle cat red blue hot cold tea coffee 3 4 two 10km lives in Paris Rome works
    at is not no never and but of big large now moved was since all some every 2024-01-01 Ana's
    likes plays . , ? ; while brother 0. 7. sitting
    is are been the taken over joined left due every Mondays each ( room married priced my I hold
"""

texts = st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda child: st.lists(child, max_size=3) | st.dictionaries(st.text(max_size=5), child),
    max_leaves=8,
)
names = st.none() | st.sampled_from(["Ana", "ana", "Bo", "", "prefers"])
moments = st.none() | st.floats(allow_nan=False, allow_infinity=False)
memories = st.builds(Memory, names, names, values, texts | st.text(), moments, moments)


def told(text: str) -> Memory:
    """A memory that is a text and nothing else."""
    return Memory(None, None, text, text)


@given(memories, memories, st.none() | st.floats(-1, 1))
def test_any_two_memories_have_a_verdict(
    new: Memory, old: Memory, similarity: float | None
) -> None:
    """Proves: V7 (the built-in judge)."""
    verdict = judge(new, old, similarity)
    assert verdict.relation in RELATIONS
    assert 0 <= verdict.score <= 1
    assert judge(new, old, similarity) == verdict


@given(texts, texts)
def test_no_text_makes_the_comparison_with_neighbours_fail(new: str, old: str) -> None:
    """A fault would refuse the write. Proves: V7 (the built-in judge)."""
    near = {
        "item_id": "1", "version_id": "1", "similarity": 0.7, "confidence": 0.5, "mine": True,
        "same_key": False, "exclusive": False, "subject": None, "predicate": None,
        "content": old, "text": old, "valid_from": None, "valid_to": None,
    }  # fmt: skip
    [found] = judge_neighbours((None, None, new, new, None, None), [near])
    assert found["relation"] in RELATIONS


@given(memories)
def test_every_memory_says_the_same_as_itself(memory: Memory) -> None:
    """Proves: D1 (exact copies are found)."""
    verdict = judge(memory, memory)
    assert (verdict.relation, verdict.method) == ("same", "exact")


@given(texts, texts)
def test_it_does_not_matter_which_text_came_first(one: str, other: str) -> None:
    """But for what says more, and for what is newer. Proves: V7 (the built-in judge)."""
    there, back = judge(told(one), told(other)), judge(told(other), told(one))
    for relation, mirrored in ((there, back), (back, there)):
        if relation.relation in ("same", "narrower", "wider"):
            expected = MIRRORED.get(relation.relation, "same")
            assert mirrored.relation == expected


@given(texts)
def test_case_and_spacing_make_no_difference(text: str) -> None:
    """Proves: D1 (normalised copies are found)."""
    assert judge(told(f"  {text.upper()}  "), told(text.replace(" ", "  "))).relation == "same"


def test_the_order_of_hashes_makes_no_difference() -> None:
    """Proves: V7 (a verdict can be repeated)."""
    program = (
        "from memwarden_core.verdict.judge import Memory, judge\n"
        "texts = ['The big fast car and the large quick van', 'The huge rapid auto and a van',\n"
        "         'Ana moved to Rome', 'Ana lives or resides in Paris']\n"
        "for one in texts:\n"
        "    for other in texts:\n"
        "        print(judge(Memory(None, None, one, one), Memory(None, None, other, other)))\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": str(seed), "PYTHONPATH": ":".join(sys.path)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in range(3)
    }
    assert len(answers) == 1


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "Ana " * 50_000,
        "no not never " * 20_000,
        "1,234,567.89 " * 10_000,
        "x-y_z/" * 20_000,
        "Ana sings. " * 20_000,
        "\u0300" * 50_000,
        ". , ; : ! ? " * 20_000,
        "1" * 100_000,
        "-".join("1" * 50_000),
    ],
)
def test_of_a_long_text_a_bounded_part_is_read(text: str) -> None:
    """And then it is not found to say the same as another. Proves: V7 (the built-in judge)."""
    read = verdict_reading.read(text)
    assert len(read) <= verdict_reading.MAX_SENTENCES
    assert sum(len(s.keys) for s in read) <= verdict_reading.MAX_CHARACTERS
    other = text + " and Bo sings"
    assert judge(told(text), told(other)).relation not in ("same", "narrower", "wider")


def test_deep_contents_are_read_to_a_bounded_depth() -> None:
    """Proves: V7 (the built-in judge)."""
    deep: object = "tea"
    for _ in range(5_000):
        deep = [deep]
    memory = Memory("Ana", "prefers", deep, "Ana prefers tea")
    assert judge(memory, memory._replace(text="Ana prefers coffee")).relation in RELATIONS


def test_no_two_words_are_the_same_and_opposite() -> None:
    """Proves: V7 (the lists of words agree)."""
    for word, same in SYNONYMS.items():
        assert not same & OPPOSED.get(word, frozenset()), word
    for word, against in OPPOSED.items():
        assert word not in against
    for table in (SYNONYMS, OPPOSED, RIVALS):
        assert all(word in table[other] for word in table for other in table[word])
    assert not any(word in WIDER[word] for word in WIDER)
    assert BEGINNINGS
