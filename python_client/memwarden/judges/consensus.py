"""Several judges who have to agree: k of n, and every vote is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from memwarden.judges import Judge, Memory, NoVerdict, Verdict, judge_all
from memwarden.worker.attempt import pool

MOST_JUDGES = 9


class Consensus:
    """Finds what at least `agree` of its judges find; otherwise there is no verdict.

    More than half have to agree, so that no two relations can both win. `why` holds `votes`, in
    the order of the judges: judge, version, relation and score, or the error of who did not vote;
    also where there is no verdict.
    """

    name = "consensus"

    def __init__(self, judges: Sequence[Judge], agree: int | None = None) -> None:
        """`agree`: more than half of the judges by default.

        Raises:
            ValueError: there are no judges or too many, or half of them would do.
        """
        if not 1 <= len(judges) <= MOST_JUDGES:
            raise ValueError(f"a consensus has 1 to {MOST_JUDGES} judges")
        self.judges = tuple(judges)
        self.agree = len(judges) // 2 + 1 if agree is None else agree
        if not len(judges) < 2 * self.agree <= 2 * len(judges):
            raise ValueError("more than half of the judges have to agree, and no more than all")
        self.version = " ".join(f"{each.name}:{each.version}" for each in judges)

    def judge(self, new: Memory, old: Memory) -> Verdict:
        """Return what enough judges find, with the mean of their scores.

        Raises:
            NoVerdict: they disagree, or too few answered.
        """
        [found] = self.judge_many(new, [old])
        if isinstance(found, NoVerdict):
            raise found
        return found

    def judge_many(self, new: Memory, olds: Sequence[Memory]) -> list[Verdict | NoVerdict]:
        """Do so for several memories, in order; all judges are asked at the same time."""
        with pool(len(self.judges)) as threads:
            answers = list(threads.map(lambda each: judge_all(each, new, olds), self.judges))
        return [self._settled(votes) for votes in zip(*answers, strict=True)]

    def _settled(self, votes: Sequence[Verdict | NoVerdict]) -> Verdict | NoVerdict:
        given = [each for each in votes if isinstance(each, Verdict)]
        relation, count = max(
            Counter(each.relation for each in given).items(),
            key=lambda item: item[1],
            default=(None, 0),
        )
        why = {"votes": [_told(*each) for each in zip(self.judges, votes, strict=True)]}
        if relation is not None and count >= self.agree:
            score = fmean(each.score for each in given if each.relation == relation)
            return Verdict(relation, score, self.name, why)
        listed = ", ".join(map(_short, self.judges, votes))
        # Would it help if those who are silent now voted another time?
        silent = [each for each in votes if isinstance(each, NoVerdict) and not each.permanent]
        if silent and count + len(silent) >= self.agree:
            later = max(each.retry_after or 0 for each in silent) or None
            return NoVerdict(f"too few judges answer: {listed}", retry_after=later, why=why)
        return NoVerdict(f"the judges disagree: {listed}", permanent=True, why=why)


def _told(judge: Judge, vote: Verdict | NoVerdict) -> dict[str, object]:
    who: dict[str, object] = {"judge": judge.name, "version": judge.version}
    if isinstance(vote, NoVerdict):
        return who | {"error": str(vote)}
    return who | {"relation": vote.relation, "score": round(vote.score, 4)}


def _short(judge: Judge, vote: Verdict | NoVerdict) -> str:
    said = str(vote) if isinstance(vote, NoVerdict) else f"{vote.relation} {vote.score:.2f}"
    return f"{judge.name}:{judge.version} {said}"
