"""What tests of the life of reviews do over and over: propose, decide, listen, send."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from helpers import write

if TYPE_CHECKING:
    from conftest import World


def wait_for_humans(world: World, org: str, layer: str = "semantic") -> None:
    """Have every write of the layer wait for a human there."""
    world.admin.execute(
        "SELECT memwarden.set_approval_policy(%s, approval => 'always', org => %s)", (layer, org)
    )


def reviewer_of(world: World, scope: str, **options: Any) -> Connection[DictRow]:
    """Register a person who decides there, and connect as it."""
    options = {"kind": "human", "role": "reviewer"} | options
    return world.agent(scope, groups=("memwarden_reviewer",), **options)


def propose(agent: Connection[DictRow], content: Any, **arguments: Any) -> uuid.UUID:
    """Write something that then waits for a human; return its number."""
    asked = write(agent, arguments.pop("layer", "semantic"), content, **arguments)
    assert asked["outcome"] == "DEFERRED", asked
    assert isinstance(asked["request_id"], uuid.UUID)
    return asked["request_id"]


def decide(reviewer: Connection[DictRow], call: str, *arguments: Any) -> DictRow:
    """Call approve, approve_with_edit or reject; return the answer."""
    places = ", ".join(["%s"] * len(arguments))
    row = reviewer.execute(f"SELECT * FROM memwarden.{call}({places})", arguments).fetchone()
    assert row is not None
    return row


def approve(reviewer: Connection[DictRow], proposal: uuid.UUID, note: str | None = None) -> DictRow:
    """Approve a proposal."""
    return decide(reviewer, "approve", proposal, note)


def edit(reviewer: Connection[DictRow], proposal: uuid.UUID, content: Any) -> DictRow:
    """Approve a proposal after a change."""
    return decide(reviewer, "approve_with_edit", proposal, Jsonb(content))


def reject(
    reviewer: Connection[DictRow],
    proposal: uuid.UUID,
    reason: str = "FACTUAL_ERROR",
    note: str | None = None,
) -> DictRow:
    """Reject a proposal."""
    return decide(reviewer, "reject", proposal, reason, note)


def set_channel(world: World, org: str, name: str = "desk", **options: Any) -> None:
    """Have reviewers told."""
    options = {"kind": "webhook", "target": "https://reviews.example/"} | options
    options["settings"] = Jsonb(options.get("settings", {}))
    casts = {"events": "::text[]", "tiers": "::text[]"}
    named = ", ".join(f"{key} => %({key})s{casts.get(key, '')}" for key in options)
    world.admin.execute(
        f"SELECT memwarden.set_review_channel(%(name)s, org => %(org)s, {named})",
        options | {"name": name, "org": org},
    )


def claim(
    worker: Connection[DictRow], *kinds: str, name: str = "one", lease: str = "1 minute"
) -> list[DictRow]:
    """Take all notices that are due for channels of these kinds."""
    return worker.execute(
        "SELECT * FROM memwarden.claim_notices(%s, %s, 100, %s::interval)",
        (name, list(kinds or ("webhook",)), lease),
    ).fetchall()


def settle(
    worker: Connection[DictRow],
    notice: DictRow,
    error: str | None = None,
    *,
    name: str = "one",
    permanent: bool = False,
) -> str | None:
    """Say how it went."""
    row = worker.execute(
        "SELECT memwarden.settle_notice(%s, %s, %s, %s) AS state",
        (notice["notice_id"], name, error, permanent),
    ).fetchone()
    assert row is not None
    state: str | None = row["state"]
    return state


def notices(world: World, org: str) -> list[DictRow]:
    """Return the notices of an organisation as they are stored."""
    return world.rows(
        "SELECT n.* FROM memwarden_data.review_notice AS n"
        "  JOIN memwarden_data.organisation AS o USING (org_id)"
        " WHERE o.name = %s ORDER BY n.notice_id",
        org,
    )


def make_overdue(world: World, proposal: uuid.UUID, by: str = "1 hour") -> None:
    """Have a review been due for so long."""
    world.admin.execute(
        "UPDATE memwarden_data.review SET opened_at = clock_timestamp() - %(by)s::interval * 2,"
        "       due_at = clock_timestamp() - %(by)s::interval WHERE request_id = %(id)s",
        {"by": by, "id": proposal},
    )


def events(world: World, proposal: uuid.UUID) -> list[DictRow]:
    """Return what has become of a proposal, in order."""
    return world.rows(
        "SELECT * FROM memwarden_data.review_event WHERE request_id = %s ORDER BY event_id",
        proposal,
    )
