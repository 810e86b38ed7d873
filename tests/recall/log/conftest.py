"""Ana and Bo beside each other, who oversees them, and calls about their recalls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import join
from conftest import World
from helpers import recall, write

ORG = "/org/acme"
HOME = f"{ORG}/user/ana"
BESIDE = f"{ORG}/user/bo"

Agent = Connection[DictRow]


@dataclass
class Office:
    """An organisation with two agents, each with a scope of its own, and their overseers."""

    world: World
    ana: Agent
    bo: Agent
    curator: Agent
    auditor: Agent

    def remember(self, *texts: str, **more: Any) -> list[UUID]:
        """Have Ana write texts; their items."""
        rows = [write(self.ana, "semantic", text, **more) for text in texts]
        assert [row["outcome"] for row in rows] == ["COMMITTED"] * len(rows), rows
        return [row["item_id"] for row in rows]

    def count(self) -> None:
        """Run the job."""
        self.world.admin.execute("CALL memwarden.count_recalls()")

    def log(self) -> list[DictRow]:
        """Every recall of the log, oldest first."""
        return self.world.rows("SELECT * FROM memwarden_data.recall_log ORDER BY recall_id")


def given(agent: Agent, query: str = "tea", **arguments: Any) -> tuple[UUID, list[UUID]]:
    """Recall; the recall's id, and what it gave."""
    rows = recall(agent, query=query, **arguments)
    assert rows
    return rows[0]["recall_id"], [row["item_id"] for row in rows]


def report(
    agent: Agent,
    recall_id: UUID,
    used: list[UUID],
    outcome: str = "success",
    detail: dict[str, Any] | None = None,
) -> int:
    """Say what came of a recall; the number of the revision."""
    row = agent.execute(
        "SELECT memwarden.report_outcome(%s, %s::uuid[], %s, %s) AS revision",
        (recall_id, used, outcome, None if detail is None else Jsonb(detail)),
    ).fetchone()
    assert row is not None
    return int(row["revision"])


@pytest.fixture
def office(world: World) -> Office:
    """An organisation of the test's own."""
    overseer = {"descendants": True, "writes": False, "clearance": "restricted"}
    return Office(
        world,
        ana=world.agent(HOME),
        bo=world.agent(BESIDE),
        curator=join(world, ORG, "curator", role="curator", **overseer),
        auditor=join(world, ORG, "auditor", **overseer),
    )
