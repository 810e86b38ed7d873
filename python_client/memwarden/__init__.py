"""memwarden: governed memory for AI agents, inside PostgreSQL.

    import memwarden

    with memwarden.connect("dbname=app user=my_agent") as memory:
        memory.write("semantic", {"statement": "Ana prefers tea"}, subject="Ana")
        for item in memory.recall("what does Ana drink?"):
            print(item.score, item.text)

`AsyncClient.connect` is the same for asyncio.
"""

from __future__ import annotations

from memwarden._async.client import AsyncClient
from memwarden._async.manager import AsyncMemoryManager
from memwarden._sync.client import Client
from memwarden._sync.manager import MemoryManager
from memwarden.embedders import Embedder, LexicalEmbedder
from memwarden.errors import (
    AlreadyExists,
    ChangedSince,
    ConnectionFailed,
    InvalidArgument,
    InvalidContent,
    MemwardenError,
    NotAllowed,
    NotFound,
    NotIdentified,
    NotReady,
    WrongIsolation,
)
from memwarden.managing import (
    SEARCH_MEMORY,
    Completion,
    Found,
    Metrics,
    Prompt,
    PushedItem,
)
from memwarden.requests import WriteRequest
from memwarden.results import (
    AccessRule,
    Answer,
    ApprovalRate,
    CaptureResult,
    Certificate,
    ChangedItem,
    ClosedItem,
    ComponentStatus,
    ConsolidationCandidate,
    ConsolidationResult,
    Context,
    ContextItem,
    DatedItem,
    DecidedProposal,
    DecisionPreview,
    Difference,
    Dispute,
    EmbeddingModel,
    Extracted,
    Feedback,
    GivenMemory,
    Identity,
    IssuedToken,
    Item,
    LineageStep,
    LogFinding,
    LoggedRecall,
    Outcome,
    PlannedUndo,
    Policy,
    Proposal,
    Reason,
    RecalledItem,
    RecallQuality,
    RecallWrite,
    RequestStatus,
    ReviewEvent,
    UndoneItem,
    Unknown,
    Version,
    WriteResult,
)

connect = Client.connect

__all__ = [
    "SEARCH_MEMORY",
    "AccessRule",
    "AlreadyExists",
    "Answer",
    "ApprovalRate",
    "AsyncClient",
    "AsyncMemoryManager",
    "CaptureResult",
    "Certificate",
    "ChangedItem",
    "ChangedSince",
    "Client",
    "ClosedItem",
    "Completion",
    "ComponentStatus",
    "ConnectionFailed",
    "ConsolidationCandidate",
    "ConsolidationResult",
    "Context",
    "ContextItem",
    "DatedItem",
    "DecidedProposal",
    "DecisionPreview",
    "Difference",
    "Dispute",
    "Embedder",
    "EmbeddingModel",
    "Extracted",
    "Feedback",
    "Found",
    "GivenMemory",
    "Identity",
    "InvalidArgument",
    "InvalidContent",
    "IssuedToken",
    "Item",
    "LexicalEmbedder",
    "LineageStep",
    "LogFinding",
    "LoggedRecall",
    "MemoryManager",
    "MemwardenError",
    "Metrics",
    "NotAllowed",
    "NotFound",
    "NotIdentified",
    "NotReady",
    "Outcome",
    "PlannedUndo",
    "Policy",
    "Prompt",
    "Proposal",
    "PushedItem",
    "Reason",
    "RecallQuality",
    "RecallWrite",
    "RecalledItem",
    "RequestStatus",
    "ReviewEvent",
    "UndoneItem",
    "Unknown",
    "Version",
    "WriteRequest",
    "WriteResult",
    "WrongIsolation",
    "connect",
]
