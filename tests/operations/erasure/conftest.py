"""What the tests of erasure share: somebody to erase, and calls that erase."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from conftest import World
from helpers import write


@dataclass
class Desk:
    """An organisation of a test's own, an agent in it, and the administrator who erases."""

    world: World
    org: str = field(default_factory=lambda: uuid4().hex[:12])

    def __post_init__(self) -> None:
        """Create the organisation."""
        self.world.scope(self.home)

    @property
    def home(self) -> str:
        """Where the agent lives."""
        return f"/org/{self.org}/user/ana"

    def agent(self, **options: Any) -> Connection[DictRow]:
        """An agent of the organisation that may take things back."""
        return self.world.agent(self.home, **({"role": "curator"} | options))

    def erase(self, subject: str, *identifiers: str, **options: Any) -> DictRow:
        """Erase, as an administrator of the database; the certificate."""
        arguments: dict[str, Any] = {
            "subject": subject,
            "identifiers": list(identifiers),
            "reason": "asked for on 1 March",
            "org": self.org,
        }
        arguments |= options
        named = ", ".join(f"{name} => %({name})s" for name in arguments)
        (row,) = self.world.admin.execute(
            f"SELECT * FROM memwarden.erase_subject({named})", arguments
        ).fetchall()
        return row

    def findings(self) -> list[DictRow]:
        """What verify_log() finds."""
        return self.world.rows(
            "SELECT finding, log_seq, item_id, detail FROM memwarden.verify_log()"
        )

    def seal(self) -> None:
        """Seal the log, and take a checkpoint."""
        self.world.admin.execute("CALL memwarden.checkpoint()")

    def rebuild(self) -> dict[str, int]:
        """How many rows of each projection rebuild_heads() had to write."""
        rows = self.world.rows("SELECT projection, written FROM memwarden.rebuild_heads()")
        return {row["projection"]: row["written"] for row in rows}

    def export(self) -> Any:
        """The list of erasures."""
        return self.world.value("SELECT memwarden.export_erasures()")

    def apply(self, erasures: Any, **options: Any) -> list[DictRow]:
        """Erase what a list says."""
        return self.world.rows(
            "SELECT * FROM memwarden.apply_erasures(%s, trust => %s)",
            Jsonb(erasures),
            options.get("trust", False),
        )


def remember(agent: Connection[DictRow], content: Any, **arguments: Any) -> UUID:
    """Write something that is committed; its item."""
    row = write(agent, arguments.pop("layer", "semantic"), content, **arguments)
    assert row["outcome"] == "COMMITTED", row
    item_id = row["item_id"]
    assert isinstance(item_id, UUID)
    return item_id


def cites(*items: UUID) -> list[dict[str, str]]:
    """Evidence that names memories."""
    return [{"type": "memory_item", "uri": f"memwarden:item/{item}"} for item in items]


def holding(world: World, text: str) -> set[str]:
    """The tables that hold a text, wherever in a row."""
    tables = world.rows(
        "SELECT c.relname FROM pg_class AS c WHERE c.relkind = 'r'"
        " AND c.relnamespace = 'memwarden_data'::regnamespace"
    )
    return {
        table["relname"]
        for table in tables
        if world.value(
            f"SELECT count(*) FROM ONLY memwarden_data.{table['relname']} AS t"
            " WHERE strpos(lower(to_jsonb(t)::text), lower(%s)) > 0",
            text,
        )
    }


@pytest.fixture
def desk(shared_world: World) -> Desk:
    """An organisation of the test's own in a database that tests share."""
    return Desk(shared_world)
