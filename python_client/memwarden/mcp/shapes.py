"""What tools take besides plain values, and what they answer.

An answer has the fields that apply. Every tool may answer a refusal instead: `refused` is its
code, and `what_to_do` says how to go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from typing_extensions import TypedDict

Content = Annotated[
    str,
    Field(
        description="What to remember, in one sentence; or the value of the predicate. "
        "The text of a JSON object or list is stored as that."
    ),
]
Layer = Annotated[
    str | None,
    Field(
        description="semantic (facts; taken where left out), episodic (events) or procedural "
        "(how to do things)."
    ),
]
Subject = Annotated[str | None, Field(description="Whom or what it is about, by name.")]
Predicate = Annotated[
    str | None,
    Field(
        description="Which property of the subject the content is the value of, such as "
        '"lives in". A new value replaces the old one. End it with [] where the subject has '
        'several at once, such as "recommends[]": then each value stands.'
    ),
]
Kind = Annotated[
    str | None, Field(description="Name of a schema that the layer has for such content.")
]
Scope = Annotated[
    str | None, Field(description="Path of a scope; your home where left out, as whoami says.")
]
Where = Annotated[
    str | None,
    Field(description="Path of a scope: it and those above it; all that you see where left out."),
]
Layers = Annotated[
    list[str] | None, Field(description="Only these layers, such as semantic; all where left out.")
]
Confidence = Annotated[float | None, Field(ge=0, le=1, description="How sure you are, 0 to 1.")]
Seconds = Annotated[
    float | None, Field(gt=0, le=3e9, description="Time to live; as the layer says if left out.")
]

Importance = Annotated[
    float | None, Field(ge=0, le=1, description="How much it matters later, 0 to 1.")
]
ValidFrom = Annotated[
    AwareDatetime | None, Field(description="Since when it is true, with a time zone.")
]
ValidTo = Annotated[
    AwareDatetime | None, Field(description="Until when it is true, with a time zone.")
]
Justification = Annotated[
    str | None, Field(description="Why it should be kept, for the person who reviews it.")
]
Key = Annotated[
    str | None, Field(description="A name of your own for this write: the same again counts once.")
]
MemoryId = Annotated[UUID, Field(description="An item_id, as search_memories gives it.")]
SessionId = Annotated[UUID, Field(description="The session_id that start_session gave.")]


class Evidence(BaseModel):
    """What a memory rests on."""

    model_config = ConfigDict(extra="forbid")

    uri: Annotated[
        str, Field(description="What is cited: a uri of list_sources, or memwarden:item/ITEM_ID.")
    ]
    excerpt: Annotated[
        str | None, Field(description="The words there that say it, word for word.")
    ] = None


Cited = Annotated[
    list[Evidence] | None,
    Field(
        description="What the memory rests on; list_sources lists what you may cite. For example "
        '[{"uri": "memwarden:capture/chat-app/chat/17", "excerpt": "I prefer green tea."}].'
    ),
]


class NewMemory(BaseModel):
    """One thing to be remembered."""

    model_config = ConfigDict(extra="forbid")

    content: Content
    subject: Subject = None
    predicate: Predicate = None
    layer: Layer = None
    scope: Scope = None
    evidence: Cited = None
    confidence: Confidence = None
    importance: Importance = None
    kind: Kind = None
    valid_from: ValidFrom = None
    valid_to: ValidTo = None
    ttl_seconds: Seconds = None
    justification: Justification = None
    idempotency_key: Key = None


@dataclass(frozen=True, slots=True)
class Malformed:
    """One of several that is not as its schema asks, and why."""

    why: str


def _apart(value: object, read: ValidatorFunctionWrapHandler) -> object:
    try:
        return read(value)
    except ValidationError as error:
        return Malformed(told_of(error))


def told_of(error: ValidationError) -> str:
    """Return what is wrong with which arguments, without their values."""
    told = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
    return "; ".join(told[:10])


Apart = Annotated[NewMemory, WrapValidator(_apart)]
"""A new memory; where it is malformed, that: one of a list harms no other."""


class Told(TypedDict, total=False):
    """What any tool may answer: a refusal, and what to do about it."""

    refused: str
    message: str
    what_to_do: str
    sqlstate: str
    detail: Any


class Decision(Told, total=False):
    """What became of a write. Stored, refused with reason and meaning, or waiting."""

    request_id: str
    outcome: str
    stored: bool
    item_id: str
    version_id: str
    gate: str
    reason: str
    meaning: str
    retry_after: str
    layer: str
    scope: str
    attempt: int
    submitted_at: str
    decided_at: str
    gates: Any
    proposal_id: str


class Decisions(Told, total=False):
    """What became of many writes: how many had which outcome, and each in its order."""

    outcomes: dict[str, int]
    results: list[Decision]


class Memory(Told, total=False):
    """A memory. `deleted`: it was taken back or has ended, and its words are not told."""

    item_id: str
    version_id: str
    version: int
    layer: str
    scope: str
    kind: str
    subject: str
    predicate: str
    content: Any
    text: str
    score: float
    confidence: float
    importance: float
    status: str
    deleted: bool
    hedge: str
    standing: str
    low_confidence: bool
    contradicted: bool
    contradicts: list[str]
    stale: bool
    suspicious: list[str]
    classification: str
    recall_id: str
    created_at: str
    updated_at: str
    expires_at: str
    valid_from: str
    valid_to: str
    provenance: dict[str, Any]
    domains: list[str]
    attributes: dict[str, Any]
    versions: list[dict[str, Any]]


class Found(Told, total=False):
    """What is known, best first, or `unknown`: that nothing is, and how to say so."""

    memories: list[Memory]
    unknown: dict[str, Any]
    left_out_as_instructions: int


class Listed(Told, total=False):
    """Memories, newest first; `total` is how many there are in all."""

    memories: list[Memory]
    total: int


class Forgotten(Told, total=False):
    """How many memories are meant (`count`), and what became of each once confirmed."""

    count: int
    memories: list[Memory]
    forgotten: int
    results: list[Decision]


class Sources(Told, total=False):
    """What may be cited: captures and recorded evidence, newest first, and registered sources."""

    captures: list[dict[str, Any]]
    evidence: list[dict[str, Any]]
    sources: list[dict[str, Any]]


class ContextText(Told, total=False):
    """One text to read, and the memories that it is made of."""

    text: str
    item_ids: list[str]


class WorkingMemory(Told, total=False):
    """Goal, plan, observations and constraints of a session."""

    session_id: str
    scope: str
    task: str
    turn: int
    goal: str
    plan: dict[str, Any]
    observations: list[dict[str, Any]]
    constraints: list[dict[str, Any]]
    scratchpad: str


class Observed(Decision, total=False):
    """What became of a note. `kept`: working memory has it; `masked`: what was taken out."""

    kept: bool
    masked: list[dict[str, Any]]


class Progress(Told, total=False):
    """How far a plan is."""

    done: int
    total: int
    current_step: str
    next_step: str
    outcome: str
    reason: str


class Ended(Told, total=False):
    """What became of each entry of a session."""

    session_id: str
    entries: list[dict[str, Any]]


class Identity(Told, total=False):
    """Who acts, and what it may."""

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
    anchor_nullable: list[str]
    writes: list[str]
    permissions: Any
    profile: str


class Proposals(Told, total=False):
    """What waits for a person."""

    proposals: list[dict[str, Any]]


class Explained(Told, total=False):
    """One proposal, and what has happened to it."""

    proposal: dict[str, Any]
    history: list[dict[str, Any]]


class Access(Told, total=False):
    """The rules between an agent and a memory. All must allow."""

    rules: list[dict[str, Any]]


class Disputes(Told, total=False):
    """Pairs of memories that contradict each other."""

    disputes: list[dict[str, Any]]
