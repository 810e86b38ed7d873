"""The store, its scopes, and who is who, as frozen classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What was erased of a subject, or with `dry_run` would be; it names nobody.

    `status` is COMPLETED, DRY_RUN or BLOCKED. `places` counts rows by table, None unless COMPLETED.
    `blocked_reason` is HELD where a legal hold keeps something. It is KEYS_UNAVAILABLE where the
    server could not read `unread` encrypted documents. The erasure then waits and is carried out by
    itself.
    `final_at` is when no copy of the store could bring it back. `subject_hash` is keyed, 32 bytes,
    the same for the same subject; None where the server has no master key.
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
    places: dict[str, int] | None
    final_at: datetime | None
    blocked_reason: str | None
    unread: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """By what a person is found: kind is name, email, phone, account or adapter."""

    kind: str
    identifier: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentStatus:
    """One line of `status()`; state is ok, missing, outdated or warning."""

    component: str
    state: str
    detail: str | None


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


PROFILES: Final = {
    "open": "writes need no evidence and no person",
    "balanced": "evidence is weighed and not demanded; a person is asked where it matters",
    "strict": "evidence is demanded, and a person approves what is to last",
    "custom": "explain_settings() in the database lists what is asked",
}
"""What each profile asks of writes, in a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What the caller is and may.

    `writes` are the paths of scopes, with `/**` where those below count too; `permissions` are
    those of the role; `profile` is what the organisation asks of writes.
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
    profile: str

    @property
    def asks(self) -> str:
        """The profile, and what it asks, in a line."""
        what = PROFILES.get(self.profile)
        return f"profile {self.profile}: {what}" if what else f"profile {self.profile}"


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
class Policy:
    """What a reviewer told an agent of, `times` times; `policy` is the note, None without one."""

    policy: str | None
    layer: str
    topic: str | None
    times: int
    last_at: datetime
