"""What the tests of keeping share: an organisation, its curator, its counsel and its erasures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from operations.erasure.conftest import Desk

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import DictRow

    from conftest import World


@dataclass
class Office(Desk):
    """A desk whose people also hold and pin."""

    @property
    def org_id(self) -> int:
        """The number of the organisation."""
        number = self.world.value(
            "SELECT org_id FROM memwarden_data.organisation WHERE name = %s", self.org
        )
        return int(number)

    def person(self, *groups: str, **options: Any) -> Connection[DictRow]:
        """A person who answers for the whole organisation."""
        arguments = {"kind": "human", "role": "curator", "descendants": True} | options
        return self.world.agent(
            f"/org/{self.org}",
            groups=groups or ("memwarden_agent", "memwarden_curator"),
            **arguments,
        )

    def hold(self, connection: Connection[DictRow] | None = None, **arguments: Any) -> UUID:
        """Set a hold; its number."""
        named = {"reason": "case 7"} | arguments
        if connection is None:
            named["org"] = self.org
        listed = ", ".join(f"{name} => %({name})s" for name in named)
        row = (
            (connection or self.world.admin)
            .execute(f"SELECT hold_id FROM memwarden.hold({listed})", named)
            .fetchone()
        )
        assert row is not None
        return UUID(str(row["hold_id"]))

    def lift(self, hold: UUID, connection: Connection[DictRow] | None = None) -> DictRow:
        """Lift a hold; the outcome."""
        row = (
            (connection or self.world.admin)
            .execute("SELECT * FROM memwarden.lift_hold(%s, 'settled')", (hold,))
            .fetchone()
        )
        assert row is not None
        return row

    def kept(self, *items: UUID) -> set[tuple[UUID, str]]:
        """Which of the items must stay, and why."""
        rows = self.world.rows(
            "SELECT item_id, reason FROM memwarden_internal.reasons_to_keep(%s, %s)",
            self.org_id,
            list(items),
        )
        return {(row["item_id"], row["reason"]) for row in rows}

    def held(self, *items: UUID) -> set[UUID]:
        """Which of the items are held."""
        return {item for item, reason in self.kept(*items) if reason == "HELD"}

    def collect(self, *items: UUID, cause: str = "COLLECTION") -> set[UUID]:
        """Delete for good what may go; what went."""
        row = self.world.rows(
            "SELECT deleted FROM memwarden_internal.delete_for_good(%s, %s, 'old', %s)",
            self.org_id,
            list(items),
            cause,
        )[0]
        return set(row["deleted"])

    def expire(self, agent: Connection[DictRow], item: UUID) -> None:
        """Have an item be over."""
        agent.execute("SELECT memwarden.expire(%s, 'over')", (item,))

    def erasures(self) -> list[DictRow]:
        """What the list of erasures says of this organisation."""
        return self.world.rows("SELECT * FROM memwarden.erasures WHERE org = %s", self.org)

    def run_job(self) -> None:
        """Run the job that carries out what waited."""
        self.world.admin.execute("CALL memwarden.enforce_consent()")


@pytest.fixture
def office(shared_world: World) -> Office:
    """An organisation of the test's own in a database that tests share."""
    return Office(shared_world)
