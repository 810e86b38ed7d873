"""What the tests of collection share: an organisation, and a clock that only the owner moves."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from conftest import World
from operations.erasure.conftest import Desk, remember


class Yard(Desk):
    """An organisation whose memories are collected at any moment."""

    @property
    def org_id(self) -> int:
        """The number of the organisation."""
        number = self.world.value(
            "SELECT org_id FROM memwarden_data.organisation WHERE name = %s", self.org
        )
        assert isinstance(number, int)
        return number

    def step(self, after: timedelta = timedelta(0), *, taken: int = 10) -> bool:
        """One step of the passes of this organisation, so long from now."""
        return bool(
            self.world.value(
                "SELECT memwarden_internal.collect_step(100, %s, clock_timestamp() + %s, %s)",
                taken,
                after,
                self.org_id,
            )
        )

    def collect(self, **after: float) -> dict[str, int]:
        """Whole passes, so long from now; how many went, by reason."""
        self.world.admin.execute("SELECT memwarden_internal.list_layers_to_collect()")
        # Each layer is due, whenever it was looked at last.
        self.world.admin.execute(
            "UPDATE memwarden_data.collection SET finished_at = NULL WHERE org_id = %s",
            (self.org_id,),
        )
        while self.step(timedelta(**after)):
            pass
        done: dict[str, int] = {}
        for row in self.world.rows(
            "SELECT done FROM memwarden_data.collection WHERE org_id = %s", self.org_id
        ):
            for reason, count in row["done"].items():
                done[reason] = done.get(reason, 0) + count
        return done

    def held_back(self) -> dict[str, Any]:
        """What waits for a person, by layer."""
        rows = self.world.rows(
            "SELECT layer, held_back FROM memwarden_data.collection"
            " WHERE org_id = %s AND held_back <> '{}'",
            self.org_id,
        )
        return {row["layer"]: row["held_back"] for row in rows}

    def status(self, item: UUID) -> Any:
        """The status of an item; None when it is gone."""
        return self.world.value(
            "SELECT (SELECT status FROM memwarden_data.item WHERE item_id = %s)", item
        )

    def why(self, item: UUID) -> list[tuple[str, str]]:
        """What the log says of its end."""
        rows = self.world.rows(
            "SELECT operation, reason FROM memwarden_data.log"
            " WHERE item_id = %s AND operation IN ('EXPIRE', 'ERASE') ORDER BY log_seq",
            item,
        )
        return [(row["operation"], row["reason"]) for row in rows]

    def rule(self, applies_to: str, name: str, **terms: str) -> None:
        """A rule of retention of this organisation."""
        terms = {"afterwards": "archive"} | terms
        columns = ", ".join(terms)
        self.world.admin.execute(
            f"INSERT INTO memwarden_data.retention_rule (org_id, applies_to, name, {columns})"
            f" VALUES (%s, %s, %s, {', '.join(['%s'] * len(terms))})",
            (self.org_id, applies_to, name, *terms.values()),
        )

    def many(self, agent: Any, count: int, layer: str = "episodic", **arguments: Any) -> list[UUID]:
        """Some memories that differ."""
        return [
            remember(agent, {"n": n, "word": f"w{n * 7919}"}, layer=layer, **arguments)
            for n in range(count)
        ]


@pytest.fixture
def yard(shared_world: World) -> Yard:
    """An organisation of the test's own in a database that tests share."""
    return Yard(shared_world)
