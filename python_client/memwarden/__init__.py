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
from memwarden._sync.client import Client
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
from memwarden.requests import WriteRequest
from memwarden.results import (
    AccessRule,
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
    Extracted,
    Feedback,
    Identity,
    IssuedToken,
    Item,
    LineageStep,
    LogFinding,
    Outcome,
    PlannedUndo,
    Policy,
    Proposal,
    Reason,
    RecalledItem,
    RequestStatus,
    ReviewEvent,
    UndoneItem,
    Version,
    WriteResult,
)

connect = Client.connect

__all__ = [
    "AccessRule",
    "AlreadyExists",
    "ApprovalRate",
    "AsyncClient",
    "CaptureResult",
    "Certificate",
    "ChangedItem",
    "ChangedSince",
    "Client",
    "ClosedItem",
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
    "Embedder",
    "Extracted",
    "Feedback",
    "Identity",
    "InvalidArgument",
    "InvalidContent",
    "IssuedToken",
    "Item",
    "LexicalEmbedder",
    "LineageStep",
    "LogFinding",
    "MemwardenError",
    "NotAllowed",
    "NotFound",
    "NotIdentified",
    "NotReady",
    "Outcome",
    "PlannedUndo",
    "Policy",
    "Proposal",
    "Reason",
    "RecalledItem",
    "RequestStatus",
    "ReviewEvent",
    "UndoneItem",
    "Version",
    "WriteRequest",
    "WriteResult",
    "WrongIsolation",
    "connect",
]
