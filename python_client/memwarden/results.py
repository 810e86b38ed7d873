"""What the calls return: one frozen class for each SQL function, one field for each column."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID


class Outcome(StrEnum):
    """How a write request can end.

    Results carry plain text, so that a server newer than this client cannot break it; the
    members compare equal to that text.
    """

    COMMITTED = "COMMITTED"
    MERGED = "MERGED"
    ALREADY_COMMITTED = "ALREADY_COMMITTED"
    REJECTED = "REJECTED"
    DEFERRED = "DEFERRED"
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"


_STORED = frozenset((Outcome.COMMITTED, Outcome.MERGED, Outcome.ALREADY_COMMITTED))


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    """The decision on one write request.

    `gate` and `reason` say who refused or parked it and why; `detail` adds ids and limits.
    `ordinal` is the position in the input of `write_many`, from 0.
    """

    request_id: UUID
    outcome: str
    item_id: UUID | None
    version_id: UUID | None
    gate: str | None
    reason: str | None
    detail: Any
    retry_after: datetime | None
    ordinal: int = 0

    @property
    def committed(self) -> bool:
        """The request added a version."""
        return self.outcome == Outcome.COMMITTED

    @property
    def stored(self) -> bool:
        """Memory holds what was written, through this request or an earlier one."""
        return self.outcome in _STORED

    @property
    def rejected(self) -> bool:
        """A gate refused it; the same request will be refused again."""
        return self.outcome == Outcome.REJECTED

    @property
    def deferred(self) -> bool:
        """It waits in the pending queue; the server tries again from `retry_after`."""
        return self.outcome == Outcome.DEFERRED


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestStatus:
    """A request as the server keeps it, with the decision and microseconds of every gate."""

    request_id: UUID
    outcome: str
    item_id: UUID | None
    version_id: UUID | None
    gate: str | None
    reason: str | None
    detail: Any
    retry_after: datetime | None
    layer: str | None
    scope: str | None
    attempt: int
    submitted_at: datetime
    decided_at: datetime | None
    gates: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledItem:
    """One answer of `recall`, with every component of its score.

    The components lie in 0..1, relative to this recall; `similarity` is the plain cosine, None
    where the item has no vector of the model; `relevance` what a threshold cuts by. `stale`: a
    memory that this one was derived from has been taken back. `same_as`: other memories that say
    the same, in these or in other words; `contradicts`: current ones that contradict it.
    `recall_id` names the recall in the log, None where
    nothing could be written. `rerank_score`: what a reranker says of it, None without one.
    """

    item_id: UUID
    version_id: UUID
    layer: str
    scope: str | None
    kind: str | None
    subject: str | None
    predicate: str | None
    content: Any
    text: str | None
    score: float
    vector_score: float
    keyword_score: float
    recency_score: float
    importance_score: float
    confidence_score: float
    authority_score: float
    similarity: float | None
    confidence: float
    low_confidence: bool
    contradicted: bool
    stale: bool
    classification: str
    domains: list[str]
    provenance: dict[str, Any]
    freshness_score: float
    relevance: float
    same_as: list[UUID]
    standing: str | None
    hedge: str | None
    suspicious: list[str] | None
    origin: dict[str, Any]
    recall_id: UUID | None
    contradicts: list[UUID]
    rerank_score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """That nothing is known, and what kind of nothing.

    `near` of the ten nearest memories fell below `threshold`, the nearest at `nearest`; `coverage`
    is none where there are no memories at all. `phrase`: how to say it.
    """

    phrase: str | None
    threshold: float
    near: int
    nearest: float | None
    coverage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is known, best first; or `unknown`."""

    items: list[RecalledItem]
    unknown: Unknown | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """One memory of a compiled context, and the line that stands for it there.

    `contradicts` names those of the same context that cannot be true together with it; `score` is
    None for one that comes along with what it contradicts. `tokens` is an estimate. `scope` is None
    across a surface that keeps internals.
    """

    position: int
    item_id: UUID
    version_id: UUID
    layer: str
    scope: str | None
    kind: str | None
    subject: str | None
    predicate: str | None
    content: Any
    score: float | None
    tokens: int
    confidence: float
    low_confidence: bool
    contradicted: bool
    contradicts: list[UUID]
    stale: bool
    age: timedelta
    classification: str
    provenance: dict[str, Any]
    origin: dict[str, Any]
    line: str
    standing: str | None
    hedge: str | None
    suspicious: list[str] | None
    recall_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a model is given to read: one text, and the memories it is made of.

    Where nothing reaches the threshold the text says so, and there are none.
    """

    text: str
    items: list[ContextItem]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An item as it stands now. `stale`: what it was derived from has been taken back."""

    item_id: UUID
    version_id: UUID
    version: int
    layer: str
    scope: str
    kind: str | None
    subject: str | None
    predicate: str | None
    content: Any
    text: str | None
    confidence: float | None
    importance: float | None
    status: str
    stale: bool
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    classification: str
    domains: list[str]
    attributes: dict[str, Any]
    provenance: dict[str, Any]
    contradicts: list[UUID]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of an item, or its end. `log_seq` is its place in the store's log.

    `restores_version` is the one whose words it says again, `absorbed_item` the one merged into it.
    `changes` against the version before: dicts of `path` (RFC 6901), `change`, `before`, `after`.
    """

    version: int
    version_id: UUID
    operation: str
    status: str
    content: Any
    confidence: float | None
    recorded_at: datetime
    superseded_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    actor: str | None
    reason: str | None
    request_id: UUID | None
    log_seq: int
    restores_version: int | None
    absorbed_item: UUID | None
    changes: list[dict[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a version of an item comes from: one signed record.

    `evidence`: dicts of type, uri, version, accessed_at, authority, support, freshness and
    excerpt_hash, by authority; scores lie in 0..1. `signature` covers `record`.
    """

    version: int
    version_id: UUID
    provenance_id: UUID
    event: str
    recorded_at: datetime
    source_agent: str
    source_agent_version: str | None
    source_task: str | None
    source_session: str | None
    origin: str | None
    write_trigger: str | None
    evidence: list[dict[str, Any]]
    evidence_quality: str
    retrieval_query: str | None
    retrieval_scores: list[float] | None
    agent_confidence: float
    fact_score: float | None
    validation_score: float
    adjusted_confidence: float
    authority: float
    verified_by: list[dict[str, Any]] | None
    sensitivity: str | None
    approval_state: str
    approver: str | None
    approved_at: datetime | None
    approval_justification: str | None
    created_at: datetime
    superseded_at: datetime | None
    supersedes: UUID | None
    superseded_by: UUID | None
    content_hash: bytes
    key_id: int | None
    signature: bytes | None
    record: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenanceFinding:
    """A provenance record that is not what was signed, or is missing."""

    finding: str
    item_id: UUID
    version_id: UUID
    provenance_id: UUID | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedItem:
    """What memory held of an item at a moment.

    It held it from `recorded_at` to `superseded_at` (None: still), as true in the world from
    `valid_from` to `valid_to`.
    """

    item_id: UUID
    version_id: UUID
    version: int
    layer: str
    scope: str
    kind: str | None
    subject: str | None
    predicate: str | None
    content: Any
    text: str | None
    confidence: float | None
    importance: float | None
    recorded_at: datetime
    superseded_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None
    classification: str
    domains: list[str]
    attributes: dict[str, Any]
    provenance: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One value in which two versions differ. `change` is added, removed or changed."""

    path: str
    change: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedItem:
    """An item that became different between two moments, and who changed it last, and why.

    `change` is added, removed (taken back, expired, superseded by another item) or changed.
    """

    item_id: UUID
    change: str
    layer: str
    item_scope: str
    subject: str | None
    predicate: str | None
    version_before: int | None
    version_after: int | None
    before: Any
    after: Any
    actor: str | None
    reason: str | None
    changed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageStep:
    """What an item rests on, or what rests on it, `distance` steps away.

    `relation` is evidence or merged. `cited_by` is the version that names it or, of what rests on
    the item, the one that is named. `withdrawn`: it was taken back since. Where it is no memory,
    `evidence` is the reference and the fields of an item are None.
    """

    distance: int
    relation: str
    related_item: UUID | None
    related_version: UUID | None
    cited_by: UUID | None
    layer: str | None
    scope: str | None
    subject: str | None
    predicate: str | None
    content: Any
    status: str | None
    withdrawn: bool | None
    evidence: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneItem:
    """What a rollback did to one item.

    `action` is RESTORE (`version_id` says again what `restored_version` said), RETRACT (nothing
    stood before), END (it had ended before), WAITS (people decide about the request `change_id`
    first), or why it was left alone. `dependents` are the items that have turned stale; `change_id`
    is the rollback's own, by which it can be undone.
    """

    item_id: UUID
    action: str
    retracted_version: UUID | None
    restored_version: UUID | None
    version_id: UUID | None
    dependents: list[UUID]
    change_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedUndo:
    """What `rollback_batch` would do to one item, with so many `changes` undone.

    `action` as in `UndoneItem`. `dependents` counts the items that name it as evidence.
    """

    item_id: UUID
    action: str
    changes: int
    layer: str
    item_scope: str
    subject: str | None
    predicate: str | None
    now_says: Any
    would_say: Any
    dependents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationCandidate:
    """A memory of which nobody has decided yet what becomes of it in another layer."""

    item_id: UUID
    version_id: UUID
    kind: str | None
    subject: str | None
    predicate: str | None
    content: Any
    text: str | None
    confidence: float | None
    recorded_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationResult:
    """What came of a decision about a memory.

    `outcome` is that of the write (ADD, UPDATE), RETRACTED, NOTHING (NOOP) or REJECTED with the
    `reason`. `repeated`: it was decided before; that decision and its outcome are told.
    """

    decision: str
    outcome: str
    item_id: UUID | None
    version_id: UUID | None
    request_id: UUID | None
    gate: str | None
    reason: str | None
    detail: Any
    retry_after: datetime | None
    repeated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What was erased of a subject, or with `dry_run` would be; it names nobody.

    `status` is COMPLETED, NOTHING_FOUND or DRY_RUN. `subject_hash` is keyed, 32 bytes, the same for
    the same subject; None where the server has no master key.
    """

    erasure_id: UUID | None
    status: str
    items: int
    versions: int
    requests: int
    evidence: int
    log_entries: int
    layers: list[str]
    erased_at: datetime | None
    subject_hash: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFinding:
    """Something that does not fit what was sealed; `finding` says what kind of thing."""

    finding: str
    segment_no: int | None
    log_seq: int | None
    item_id: UUID | None
    detail: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentStatus:
    """One line of `status()`; state is ok, missing, outdated or warning."""

    component: str
    state: str
    detail: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A reason code, what it means and what the writer can do."""

    reason: str
    outcome: str
    gate: str | None
    meaning: str
    remedy: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedItem:
    """What became of one item of a scope that was closed.

    `disposition` is promoted or released. For one that was to be promoted, `request_id`, `outcome`
    and `reason` are those of the write above; refused there, the item is released.
    """

    item_id: UUID
    disposition: str
    request_id: UUID | None
    outcome: str | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What the caller is and may.

    `writes` are the paths of scopes, with `/**` where those below count too; `permissions` are
    those of the role.
    """

    agent: str
    org: str
    kind: str
    role: str
    home: str
    validated: bool
    clearance: str
    domains: list[str]
    attributes: dict[str, Any]
    anchor_required: list[str]
    anchor_nullable: list[str] | None
    writes: list[str]
    permissions: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRule:
    """One rule between an agent and an item, and what it says. All must allow.

    `decisive` marks the first that does not, or else the last.
    """

    step: int
    rule: str
    allowed: bool
    explanation: str
    decisive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """A token by which one login acts for one agent, until it expires. Its repr hides it."""

    token: str = field(repr=False)
    token_id: UUID
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionPreview:
    """The pending proposals that `decide_many` would decide, and a digest of what they are now."""

    digest: str
    proposals: int
    proposal_ids: list[UUID]
    oldest_at: datetime | None
    highest_risk: float | None
    layers: list[str] | None
    agents: list[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedProposal:
    """The answer to one of many decisions; `error` is the SQLSTATE where there was none."""

    proposal_id: UUID
    outcome: str | None
    item_id: UUID | None
    version_id: UUID | None
    gate: str | None
    reason: str | None
    detail: Any
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What a reviewer said about one write; `event` is rejected, edited or noise.

    `changes` are those of an edit: [{"path", "change", "before", "after"}].
    """

    event_id: UUID
    at: datetime
    event: str
    reason: str | None
    note: str | None
    proposal_id: UUID
    agent: str
    layer: str | None
    scope: str | None
    write_class: str | None
    kind: str | None
    subject: str | None
    predicate: str | None
    content: Any
    changes: Any
    item_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a reviewer told an agent of, `times` times; `policy` is the note, None without one."""

    policy: str | None
    layer: str
    topic: str | None
    times: int
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRate:
    """How the proposals of an agent fared, for one layer and topic.

    `approval_rate` is the share, 0 to 1, of those that a human decided; `topic` is None where the
    caller may not read the words.
    """

    org: str
    agent: str
    layer: str | None
    topic: str | None
    proposals: int
    pending: int
    auto_approved: int
    approved: int
    edited: int
    rejected: int
    expired: int
    noise: int
    approval_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A write request that waits, or waited, for a human, with what it takes to decide.

    `factors` explain the `risk` (0..1). `contradictions` and `current` (the memory that it would
    renew) hold words of memories that the reviewer may read. `contradiction_check` says what a yes
    makes of it: no_conflict, superseded (it takes the place of `replaces`) or contradiction (it
    stands beside `stands_beside`). `approvals` of `needed` have agreed;
    an answer is due at `due_at`, and none until `expires_at` is a no.
    """

    proposal_id: UUID
    layer: str
    scope: str
    agent: str
    kind: str | None
    write_class: str | None
    subject: str | None
    predicate: str | None
    content: Any
    confidence: float | None
    justification: str | None
    evidence: Any
    risk: float
    factors: Any
    tier: str
    reasons: list[str]
    contradictions: Any
    consent_check: str | None
    contradiction_check: str
    auto_promote_eligible: bool | None
    current: Any
    probes: Any
    approvals: int
    needed: int
    opened_at: datetime
    age: timedelta
    due_at: datetime
    overdue: bool
    expires_at: datetime
    escalated: int
    state: str
    replaces: list[UUID]
    stands_beside: list[UUID]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """Two memories that contradict each other as far as the gates can tell; both stand, marked.

    `item_id` is the one that changed last, `text` its words.
    """

    scope: str
    layer: str
    item_id: UUID
    text: str | None
    other_item_id: UUID
    other_text: str | None
    found_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewEvent:
    """One entry of the audit of a proposal; the engine's where `by_principal` is None."""

    event_id: UUID
    round: int
    event: str
    by_principal: str | None
    login: str | None
    reason: str | None
    note: str | None
    detail: Any
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureResult:
    """What became of one capture of `capture_many`.

    `repeated`: it was there before. `fault`: the SQLSTATE of what is wrong with it, and nothing was
    stored.
    """

    ordinal: int
    capture_id: UUID | None
    repeated: bool | None
    fault: str | None
    detail: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """A candidate that was written, or a capture without one: then `request_id` is None.

    `candidates`, `dropped`: how many of the capture were asked for, and how many were not.
    `fault`: the SQLSTATE that the extractor failed with.
    """

    capture_id: UUID
    extractor_name: str
    version: int
    candidates: int
    dropped: int
    fault: str | None
    request_id: UUID | None
    outcome: str | None
    item_id: UUID | None
    gate: str | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedCapture:
    """A capture that a plug-in has still to read, and what its extractor says about how."""

    capture: dict[str, Any]
    extractor_name: str
    extractor_version: int
    settings: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateResult:
    """The decision on the write that a candidate asked for."""

    request_id: UUID
    outcome: str
    item_id: UUID | None
    gate: str | None
    reason: str | None
    detail: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """An embedding model, and how far it is for an organisation; global: all without their own.

    `state`: active, filling, ready, retired, registered or dropped. `missing` memories of `items`
    have no vector and could have one; `waiting` are known to the worker, the oldest since
    `oldest_at`; `dead` were given up, `last_error` says why.
    """

    org: str
    model: str | None
    dimension: int
    vector_weight: float
    state: str
    embedder: str | None
    items: int
    missing: int
    waiting: int
    dead: int
    last_error: str | None
    oldest_at: datetime | None
    changed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRecall:
    """One recall of the log, with what was reported of it last.

    `item_ids`, `version_ids`, `scores`: what was given, best first, as far as the caller reads it.
    `reported`: told afterwards, since it was made on a replica. `outcome` is None where nobody said
    what came of it.
    """

    recall_id: UUID
    recalled_at: datetime
    agent: str
    login: str
    purpose: str
    task: str | None
    session_id: UUID | None
    query_digest: bytes | None
    scopes: list[str] | None
    layers: list[str] | None
    k: int | None
    threshold: float | None
    embedding_model: str | None
    surface: str | None
    given: int
    item_ids: list[UUID]
    version_ids: list[UUID]
    scores: list[float]
    reported: bool
    outcome: str | None
    used: list[UUID]
    detail: dict[str, Any] | None
    outcome_at: datetime | None
    revision: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenMemory:
    """Who was given a memory, when, in which version and place, and what came of it."""

    recall_id: UUID
    recalled_at: datetime
    agent: str
    purpose: str
    task: str | None
    session_id: UUID | None
    version_id: UUID
    place: int
    score: float | None
    outcome: str | None
    used: bool | None
    outcome_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallWrite:
    """A write request that the task of a recall made after it."""

    request_id: UUID
    submitted_at: datetime
    outcome: str
    reason: str | None
    layer: str
    scope: str | None
    item_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuality:
    """How good recall was in a layer, or in all of them (`*`); None of nothing."""

    layer: str
    recalls: int
    answered: int
    hit_ratio: float | None
    reported: int
    hits: int
    useful_ratio: float | None
    given: int
    judged: int
    used: int
    mean_precision: float | None
    on_target: bool | None
    false_positive_rate: float | None
    doubtful: int
    staleness: float | None
    median_age: timedelta | None
    probes: int | None
    golden_recall: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedOutcome:
    """The number of a report of what came of a recall."""

    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRecall:
    """A recall that was told afterwards; `recorded` is false where it was there already."""

    recall_id: UUID
    recorded: bool
