"""Several judges: how many have to agree, and what is kept of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden.judges import RELATIONS, Judge, Memory, NoVerdict, Relation, Verdict, judge_all
from memwarden.judges.consensus import MOST_JUDGES, Consensus

MEMORY = Memory(None, None, None, "Ana drinks tea")


class Says:
    """A judge with one answer."""

    def __init__(self, answer: Relation | NoVerdict, score: float = 0.9, name: str = "a") -> None:
        self.name, self.version = name, "7"
        self._answer, self._score = answer, score

    def judge(self, new: Memory, old: Memory) -> Verdict:  # noqa: ARG002
        """Give it."""
        if isinstance(self._answer, NoVerdict):
            raise self._answer
        return Verdict(self._answer, self._score, "said")


BUSY = NoVerdict("busy", retry_after=30)
NEVER = NoVerdict("too long", permanent=True)


def settled(*answers: Relation | NoVerdict, agree: int | None = None) -> Verdict | NoVerdict:
    """What a consensus of them comes to."""
    [found] = Consensus([Says(each) for each in answers], agree).judge_many(MEMORY, [MEMORY])
    return found


def test_k_of_n_decide_and_every_vote_is_kept() -> None:
    """With who gave it, in which version, how sure.

    Proves: V7 (each verdict keeps its judge, version and score), V3 (a panel)
    """
    judges = [
        Says("contradicts", 0.9, "a"),
        Says("unrelated", 0.5, "b"),
        Says(NEVER, 0, "c"),
        Says("contradicts", 0.7, "d"),
    ]
    consensus = Consensus(judges, 3)
    assert isinstance(consensus, Judge)
    assert consensus.version == "a:7 b:7 c:7 d:7"
    with pytest.raises(NoVerdict) as raised:
        consensus.judge(MEMORY, MEMORY)
    votes = [
        {"judge": "a", "version": "7", "relation": "contradicts", "score": 0.9},
        {"judge": "b", "version": "7", "relation": "unrelated", "score": 0.5},
        {"judge": "c", "version": "7", "error": "too long"},
        {"judge": "d", "version": "7", "relation": "contradicts", "score": 0.7},
    ]
    assert raised.value.why == {"votes": votes}
    judges[1] = Says("contradicts", 0.5, "b")
    found = Consensus(judges, 3).judge(MEMORY, MEMORY)
    assert found.relation == "contradicts"
    assert found.score == pytest.approx(0.7)
    assert [vote.get("score") for vote in found.why["votes"]] == [0.9, 0.5, None, 0.7]


ANSWERS = st.lists(
    st.sampled_from(RELATIONS) | st.sampled_from([BUSY, NEVER]), min_size=1, max_size=MOST_JUDGES
)


@given(answers=ANSWERS, data=st.data())
def test_there_is_a_verdict_where_enough_agree_and_only_there(
    answers: list[Relation | NoVerdict], data: st.DataObject
) -> None:
    """Whoever they are.

    Proves: V7 (a consensus)
    """
    agree = data.draw(st.integers(len(answers) // 2 + 1, len(answers)))
    counts = Counter(each for each in answers if isinstance(each, str))
    winners = [relation for relation, count in counts.items() if count >= agree]
    for order in (answers, data.draw(st.permutations(answers))):
        found = settled(*order, agree=agree)
        if winners:
            assert isinstance(found, Verdict)
            assert [found.relation] == winners
        else:
            assert isinstance(found, NoVerdict)
            # Asked again only where those who were busy could turn it.
            best = max(counts.values(), default=0)
            waits = BUSY in answers and best + answers.count(BUSY) >= agree
            assert (found.permanent, found.retry_after) == (not waits, 30 if waits else None)


@pytest.mark.parametrize(
    ("number", "agree"), [(0, None), (2, 1), (4, 2), (3, 4), (1, 0), (MOST_JUDGES + 1, None)]
)
def test_more_than_half_have_to_agree(number: int, agree: int | None) -> None:
    """Else two relations could win at once.

    Proves: V7 (a consensus)
    """
    with pytest.raises(ValueError, match=r"consensus|half"):
        Consensus([Says("same")] * number, agree)


def test_the_disagreement_is_told_without_a_word_of_the_memories() -> None:
    """It is all that an administrator sees.

    Proves: V7 (a consensus)
    """
    found = settled("same", "contradicts")
    assert str(found) == "the judges disagree: a:7 same 0.90, a:7 contradicts 0.90"


def test_a_judge_that_takes_many_at_once_is_asked_once() -> None:
    """And one that does not, once for each.

    Proves: V7 (the same interface)
    """

    class Many(Says):
        def judge_many(self, new: Memory, olds: Sequence[Memory]) -> list[Verdict | NoVerdict]:
            asked.append(len(olds))
            return [self.judge(new, old) for old in olds]

    asked: list[int] = []
    assert len(judge_all(Many("same"), MEMORY, [MEMORY] * 3)) == 3
    assert judge_all(Says(BUSY), MEMORY, [MEMORY] * 2) == [BUSY, BUSY]
    assert asked == [3]


@pytest.mark.parametrize(
    ("relation", "score"),
    [("same", -0.1), ("same", 1.1), ("same", float("nan")), ("entails", 0.5), (None, 0.5)],
)
def test_what_is_no_relation_or_no_score_is_no_verdict(relation: Relation, score: float) -> None:
    """Whoever wrote the judge.

    Proves: V7 (the same interface)
    """
    with pytest.raises(NoVerdict):
        Verdict(relation, score, "guess")
