"""A judge settles what the rules in the server were not certain of: pairs of `memwarden.disputes`.

The judge says what the later memory is to the earlier one. Where the two do not contradict each
other, both hold and the mark goes. Where the later one says what has become of the same thing, it
holds, and the earlier one becomes history, which one `rollback` undoes. A contradiction stays
marked, and so does what the judge cannot tell: a person settles that.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from memwarden._sync.client import Client
from memwarden.errors import NotAllowed, NotFound
from memwarden.judges import Judge, Memory, NoVerdict
from memwarden.results import Dispute

__all__ = ["Settled", "settle"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What became of one dispute.

    `outcome`: BOTH_HOLD, LATER_HOLDS, WAITS (people decide whether the earlier one may end), LEFT
    (to a person) or NOT_ALLOWED. `relation` and `score` are the judge's, None without a verdict.
    """

    item_id: UUID
    other_item_id: UUID
    outcome: str
    relation: str | None
    score: float | None


def settle(
    memory: Client,
    judge: Judge,
    *,
    layer: str | None = None,
    threshold: float = 0.85,
    most: int = 100,
) -> list[Settled]:
    """Have a judge settle the oldest disputes that the client sees, and return what became of each.

    `threshold`, 0 to 1: how sure the judge must be.
    """
    return [_settle(memory, judge, each, threshold) for each in memory.disputes(layer, most=most)]


def _settle(memory: Client, judge: Judge, dispute: Dispute, threshold: float) -> Settled:
    relation: str | None = None
    score: float | None = None
    outcome = "LEFT"
    try:
        verdict = judge.judge(_said(dispute.text), _said(dispute.other_text))
    except NoVerdict:
        pass
    else:
        relation, score = verdict.relation, verdict.score
        if score >= threshold and relation != "contradicts":
            outcome = _carry_out(memory, judge, dispute, keeps=relation == "updates")
    return Settled(
        item_id=dispute.item_id,
        other_item_id=dispute.other_item_id,
        outcome=outcome,
        relation=relation,
        score=score,
    )


def _carry_out(memory: Client, judge: Judge, dispute: Dispute, *, keeps: bool) -> str:
    try:
        done = memory.settle_dispute(
            dispute.item_id,
            dispute.other_item_id,
            keep=dispute.item_id if keeps else None,
            reason=f"{judge.name} {judge.version}: updates"[:1000] if keeps else None,
        )
    except NotFound:
        return "LEFT"  # somebody else was faster
    except NotAllowed:
        return "NOT_ALLOWED"
    if done.deferred:
        return "WAITS"
    return "LATER_HOLDS" if keeps else "BOTH_HOLD"


def _said(text: str | None) -> Memory:
    return Memory(None, None, text, text or "")
