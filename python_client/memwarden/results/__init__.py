"""What the calls return: one frozen class for each SQL function, one field for each column."""

from __future__ import annotations

from memwarden.results.governing import (
    AccessRule,
    Certificate,
    ClosedItem,
    ComponentStatus,
    Identity,
    IssuedToken,
    Policy,
)
from memwarden.results.history import (
    ChangedItem,
    Difference,
    LineageStep,
    LogFinding,
    PlannedUndo,
    UndoneItem,
)
from memwarden.results.intake import (
    CandidateResult,
    CaptureResult,
    ClaimedCapture,
    ConsolidationCandidate,
    ConsolidationResult,
    Extracted,
)
from memwarden.results.items import DatedItem, Item, Provenance, ProvenanceFinding, Version
from memwarden.results.recall_log import (
    GivenMemory,
    LoggedRecall,
    RecallQuality,
    RecallWrite,
    RecordedRecall,
    ReportedOutcome,
)
from memwarden.results.recalling import (
    Answer,
    Context,
    ContextItem,
    EmbeddingModel,
    RecalledItem,
    Unknown,
)
from memwarden.results.reviewing import (
    ApprovalRate,
    DecidedProposal,
    DecisionPreview,
    Dispute,
    Feedback,
    Proposal,
    ReviewEvent,
)
from memwarden.results.writing import Outcome, Reason, RequestStatus, WriteResult

__all__ = [
    "AccessRule",
    "Answer",
    "ApprovalRate",
    "CandidateResult",
    "CaptureResult",
    "Certificate",
    "ChangedItem",
    "ClaimedCapture",
    "ClosedItem",
    "ComponentStatus",
    "ConsolidationCandidate",
    "ConsolidationResult",
    "Context",
    "ContextItem",
    "DatedItem",
    "DecidedProposal",
    "DecisionPreview",
    "Difference",
    "Dispute",
    "EmbeddingModel",
    "Extracted",
    "Feedback",
    "GivenMemory",
    "Identity",
    "IssuedToken",
    "Item",
    "LineageStep",
    "LogFinding",
    "LoggedRecall",
    "Outcome",
    "PlannedUndo",
    "Policy",
    "Proposal",
    "Provenance",
    "ProvenanceFinding",
    "Reason",
    "RecallQuality",
    "RecallWrite",
    "RecalledItem",
    "RecordedRecall",
    "ReportedOutcome",
    "RequestStatus",
    "ReviewEvent",
    "UndoneItem",
    "Unknown",
    "Version",
    "WriteResult",
]
