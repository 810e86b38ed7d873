"""What the findings of judges come to: whether a write is let through, and what is told of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memwarden.judges import NoVerdict
from memwarden.judges import Verdict as Finding
from memwarden.worker.plugin import Verdict

Outcome = Finding | NoVerdict

_MOST_DETAIL = 6000  # of the 8 KiB that the server takes; the judges' names are told besides
_BEARS_OUT = ("same", "wider")


def compared(
    neighbours: Sequence[Mapping[str, Any]], findings: Sequence[Outcome], threshold: float
) -> Verdict:
    """Reject what contradicts a neighbour; the score is the share that it does not contradict.

    Raises:
        NoVerdict: it contradicts none, but may contradict one that there is no verdict on.
    """
    against = [each for each in findings if _contradicts(each, threshold)]
    if not against:
        _raise_first(each for each in findings if _may_contradict(each))
    # Those that matter first, should there be too many to tell.
    found = sorted(
        zip(neighbours, findings, strict=True), key=lambda pair: _weight(pair[1]), reverse=True
    )
    detail: dict[str, Any] = {"compared": len(found), "contradicted": len(against)}
    if against:
        # The writer is told this much; a neighbour may be one that it cannot see.
        detail["reason"] = "contradicts what is remembered"
    return Verdict(
        "reject" if against else "accept",
        1 - len(against) / max(1, len(found)),
        _fitting(detail, "neighbours", [_named(old) | _told(each) for old, each in found]),
    )


def supported(findings: Sequence[Outcome], threshold: float) -> Verdict:
    """Accept what one excerpt bears out and none contradicts; the score is that of the best.

    Raises:
        NoVerdict: none does either, but one that there is no verdict on may.
    """
    scores = [
        each.score for each in findings if isinstance(each, Finding) and each.relation in _BEARS_OUT
    ]
    is_contradicted = any(_contradicts(each, threshold) for each in findings)
    if not is_contradicted and not scores:
        _raise_first(findings)
    detail = {"supported_by": len(scores), "is_contradicted": is_contradicted}
    told = [{"place": place} | _told(each) for place, each in enumerate(findings)]
    return Verdict(
        "accept" if scores and not is_contradicted else "reject",
        0.0 if is_contradicted else max(scores, default=0.0),
        _fitting(detail, "evidence", told),
    )


def _contradicts(finding: Outcome, threshold: float) -> bool:
    return (
        isinstance(finding, Finding)
        and finding.relation == "contradicts"
        and finding.score >= threshold
    )


def _may_contradict(finding: Outcome) -> bool:
    """There is no verdict, and a judge saw a contradiction or did not say."""
    return isinstance(finding, NoVerdict) and any(
        vote.get("relation", "contradicts") == "contradicts" for vote in finding.why["votes"]
    )


def _raise_first(findings: Iterable[Outcome]) -> None:
    """Raise what is missing, where something is: first of all what will be missing for good."""
    missing = [each for each in findings if isinstance(each, NoVerdict)]
    if missing:
        raise max(missing, key=lambda each: each.permanent)


def _weight(finding: Outcome) -> tuple[bool, bool, float]:
    if isinstance(finding, NoVerdict):
        return False, True, 0.0
    return finding.relation == "contradicts", finding.relation != "unrelated", finding.score


def _named(neighbour: Mapping[str, Any]) -> dict[str, Any]:
    similarity = neighbour.get("similarity")
    return {
        "item_id": str(neighbour.get("item_id"))[:64],
        "version_id": str(neighbour.get("version_id"))[:64],
        "similarity": round(similarity, 4) if isinstance(similarity, int | float) else None,
    }


def _told(finding: Outcome) -> dict[str, Any]:
    """The relation, and each judge's vote: null for one that has none."""
    votes = [
        [vote["relation"], vote["score"]] if "relation" in vote else None
        for vote in finding.why["votes"]
    ]
    if isinstance(finding, NoVerdict):
        return {"relation": None, "votes": votes}
    return {"relation": finding.relation, "score": round(finding.score, 4), "votes": votes}


def _fitting(
    detail: Mapping[str, Any], name: str, told: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """As many as fit; `omitted` counts the rest."""
    kept = list(told)
    while True:
        whole = {**detail, name: kept, "omitted": len(told) - len(kept)}
        if not kept or len(json.dumps(whole).encode()) <= _MOST_DETAIL:
            return whole
        kept.pop()
