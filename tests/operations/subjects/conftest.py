"""What the tests of the register share: an organisation, who registers, and memories to find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from operations.erasure.conftest import Desk

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import DictRow

    from conftest import World


@dataclass
class Register(Desk):
    """A desk whose administrator also registers."""

    def add(self, subject: str, connection: Connection[DictRow] | None = None, **kinds: Any) -> Any:
        """Register identifiers; what the subject has then."""
        return self.call("register_subject", subject, kinds, connection)

    def remove(self, subject: str, **kinds: Any) -> Any:
        """Remove identifiers, or all; what is left."""
        return self.call("unregister_subject", subject, kinds or None)

    def call(
        self,
        function: str,
        subject: str | None,
        identifiers: Any,
        connection: Connection[DictRow] | None = None,
    ) -> set[tuple[str, str]]:
        """Call one of the two."""
        rows = (connection or self.world.admin).execute(
            f"SELECT kind, identifier FROM memwarden.{function}(%s, %s, %s)",
            (self.org, subject, None if identifiers is None else Jsonb(identifiers)),
        )
        return {(row["kind"], row["identifier"]) for row in rows}

    def found(self, subject: str) -> set[UUID]:
        """The memories that concern somebody."""
        rows = self.world.rows(
            "SELECT item_id FROM memwarden.find_subject(%s, %s)", self.org, subject
        )
        return {row["item_id"] for row in rows}

    def listed(self) -> dict[str, set[tuple[str, str]]]:
        """The register of the organisation."""
        found: dict[str, set[tuple[str, str]]] = {}
        query = "SELECT * FROM memwarden.registered_subjects WHERE org = %s"
        for row in self.world.rows(query, self.org):
            found.setdefault(row["subject"], set()).add((row["kind"], row["identifier"]))
        return found


@pytest.fixture
def register(shared_world: World) -> Register:
    """An organisation of the test's own in a database that tests share."""
    return Register(shared_world)
