"""One run: what has no decision is read, decided about, and each decision carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memwarden._sync.client import Client
from memwarden.consolidation import ACTIONS, Candidate, Consolidator, Decision, Near, NoDecision
from memwarden.errors import InvalidArgument, MemwardenError, NotFound
from memwarden.results import ConsolidationCandidate
from memwarden.worker.plugin import PluginError

NOT_OFFERED = "TARGET_NOT_OFFERED"
NO_DECISION = "NO_DECISION"
_PAGE = 1000
_BATCH = 10
_QUERY = 2_000  # characters of a memory by which it is looked for what is near it
_BUSY = "55P03"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """What one candidate came to.

    `outcome` as of `Client.consolidate`; None where nothing was sent, or the server declined it:
    `reason` says why, and another run decides about the candidate again.
    """

    item_id: UUID
    version_id: UUID
    decision: str | None
    target: UUID | None
    outcome: str | None
    reason: str | None
    request_id: UUID | None = None
    repeated: bool = False


def consolidate(
    memory: Client,
    consolidator: Consolidator,
    from_layer: str,
    to_layer: str,
    *,
    scope: str | None = None,
    settings: Mapping[str, Any] | None = None,
    near: int = 5,
    most: int = 10_000,
    progress: Callable[[Consolidated], object] | None = None,
) -> list[Consolidated]:
    """Have a consolidator decide what becomes of a layer's memories in another layer of the scope.

    In the name of `memory`'s agent, which reads, writes and deletes what its role lets it. `scope`
    is its home by default; `near`, how many memories of `to_layer` are shown with each candidate;
    `most`, about how many candidates are decided at the most. What is written meanwhile is left for
    the next run. A run that ended in the middle is just run again.

    Raises:
        NotFound: there is no such scope that the agent may see.
        ConnectionFailed: what was decided so far is stored.
    """
    scope = memory.whoami().home if scope is None else scope
    found = _found(memory, from_layer, to_layer, scope, most)
    done: list[Consolidated] = []
    for start in range(0, len(found), _BATCH):
        shown = [_shown(memory, each, to_layer, scope, near) for each in found[start:][:_BATCH]]
        decisions = _decisions(consolidator, shown, settings or {})
        for candidate, decision in zip(shown, decisions, strict=True):
            done.append(_carried_out(memory, consolidator, to_layer, candidate, decision))
            if progress is not None:
                progress(done[-1])
    return done


def _found(
    memory: Client, from_layer: str, to_layer: str, scope: str, most: int
) -> list[ConsolidationCandidate]:
    """All of them before the first decision: so the run ends, however fast others write."""
    found: list[ConsolidationCandidate] = []
    while len(found) < most:
        page = memory.consolidation_candidates(
            from_layer,
            to_layer,
            scope=scope,
            after=found[-1].version_id if found else None,
            k=min(_PAGE, most - len(found)),
        )
        if not page:
            break
        found += page
    return found


def _shown(
    memory: Client, found: ConsolidationCandidate, to_layer: str, scope: str, k: int
) -> Candidate:
    text = found.text or ""
    query, layers, scopes = text[:_QUERY], [to_layer], [scope]
    # What is nearest, however near.
    near = memory.recall(query, k=k, layers=layers, scopes=scopes, threshold=0) if query else []
    if found.subject and found.predicate:
        # A value of the very fact may share no word with it.
        near += memory.recall(
            query,
            k=1,
            layers=layers,
            scopes=scopes,
            subject=found.subject,
            predicate=found.predicate,
            threshold=0,
        )
    others = {
        each.item_id: Near(
            each.item_id,
            each.version_id,
            each.subject,
            each.predicate,
            each.content,
            each.text or "",
            each.similarity,
        )
        for each in near
    }
    return Candidate(
        found.item_id,
        found.version_id,
        found.subject,
        found.predicate,
        found.content,
        text,
        tuple(others.values()),
    )


def _decisions(
    consolidator: Consolidator, shown: Sequence[Candidate], settings: Mapping[str, Any]
) -> Sequence[Decision | NoDecision]:
    try:
        decisions = list(consolidator.decide(shown, settings))
    except PluginError as error:
        return [NoDecision(str(error))] * len(shown)
    if len(decisions) != len(shown):
        raise InvalidArgument(
            f"the consolidator {consolidator.name} does not decide about each candidate"
        )
    return decisions


def _carried_out(
    memory: Client,
    consolidator: Consolidator,
    to_layer: str,
    candidate: Candidate,
    decision: Decision | NoDecision,
) -> Consolidated:
    if isinstance(decision, NoDecision):
        return _left(candidate, None, f"{NO_DECISION}: {decision.why}")
    offered = {each.item_id: each.version_id for each in candidate.near}
    if decision.action not in ACTIONS:
        return _left(candidate, None, f"{NO_DECISION}: an action that there is not")
    if decision.target is not None and decision.target not in offered:
        return _left(candidate, decision, NOT_OFFERED)
    try:
        result = memory.consolidate(
            candidate.item_id,
            candidate.version_id,
            to_layer,
            decision.action,
            target=decision.target,
            target_version=None if decision.target is None else offered[decision.target],
            content=decision.content,
            reason=decision.reason,
            decider=f"{consolidator.name}:{consolidator.version}"[:100],
        )
    except (NotFound, InvalidArgument) as error:
        # It is gone meanwhile, or the decision does not go together.
        return _left(candidate, decision, str(error))
    except MemwardenError as error:
        if error.sqlstate != _BUSY:
            raise
        return _left(candidate, decision, str(error))
    return Consolidated(
        item_id=candidate.item_id,
        version_id=candidate.version_id,
        decision=result.decision,
        target=result.item_id or decision.target,
        outcome=result.outcome,
        reason=result.reason,
        request_id=result.request_id,
        repeated=result.repeated,
    )


def _left(candidate: Candidate, decision: Decision | None, reason: str) -> Consolidated:
    return Consolidated(
        item_id=candidate.item_id,
        version_id=candidate.version_id,
        decision=None if decision is None else decision.action,
        target=None if decision is None else decision.target,
        outcome=None,
        reason=reason,
    )
