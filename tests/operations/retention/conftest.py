"""What the tests of retention share: an organisation of their own, and a clock that runs ahead."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import call, curator
from conftest import World
from operations.erasure.conftest import Desk, remember

__all__ = ["Office", "office", "remember"]

PHONE = "Reach Ana at ana.kovac@example.org about the invoice"


class Office(Desk):
    """An organisation, its data-protection officer, and memories of each classification."""

    def __post_init__(self) -> None:
        """Create the organisation and its officer."""
        super().__post_init__()
        self.officer = curator(self.world, f"/org/{self.org}")
        self.org_id = self.world.value(
            "SELECT org_id FROM memwarden_data.organisation WHERE name = %s", self.org
        )

    def writer(self) -> Connection[DictRow]:
        """An agent that may write what is confidential."""
        return self.agent(clearance="restricted")

    def consent(self, decision: str, subject: str = "Ana", **more: Any) -> None:
        """Record what a person says to being remembered for what they like."""
        call(
            self.officer,
            "record_consent",
            subject=subject,
            purpose="personalisation",
            decision=decision,
            **more,
        )

    def later(self, interval: str) -> Any:
        """The moment that is so much later."""
        return self.world.value("SELECT now() + %s::interval", interval)

    def terms(self, item: UUID, interval: str = "0") -> DictRow:
        """What the rules make of a memory, so much later."""
        (row,) = self.world.rows(
            "SELECT r.action, r.rule, (r.ends_at - i.created_at)::text AS lasts"
            "  FROM memwarden_internal.retention_of(%s, ARRAY[%s], now() + %s::interval) AS r"
            "  JOIN memwarden_data.item AS i ON i.item_id = r.item_id",
            self.org_id,
            item,
            interval,
        )
        return row

    def end(self, *items: UUID, after: str) -> tuple[int, int]:
        """End what is due so much later; how many expired, and how many were deleted."""
        (row,) = self.world.rows(
            "SELECT expired, deleted"
            "  FROM memwarden_internal.end_by_retention(%s, %s, now() + %s::interval)",
            self.org_id,
            list(items),
            after,
        )
        return row["expired"], row["deleted"]

    def state(self, item: UUID) -> tuple[str, list[str]] | None:
        """The status of a memory and the tiers of its versions; None where it is gone."""
        rows = self.world.rows(
            "SELECT i.status, array_agg(DISTINCT v.tier) AS tiers FROM memwarden_data.item AS i"
            "  JOIN memwarden_data.version AS v USING (org_id, item_id)"
            " WHERE i.item_id = %s GROUP BY i.status",
            item,
        )
        return (rows[0]["status"], rows[0]["tiers"]) if rows else None

    def explain(self, item: UUID) -> list[DictRow]:
        """Which rules apply to a memory, as the officer sees them."""
        return call(self.officer, "explain_retention", item_id=item)

    def decides(self, item: UUID) -> str:
        """The rule that decides about a memory."""
        (rule,) = [row["rule"] for row in self.explain(item) if row["decides"]]
        return str(rule)


@pytest.fixture
def office(shared_world: World) -> Office:
    """An organisation of the test's own in a database that tests share."""
    return Office(shared_world)
