"""What the tests of metrics share: a history with something in it for every metric."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from conftest import World
from helpers import recall, set_up_now, write, write_many

SECRET = "The key is AKIAIOSFODNN7EXAMPLE and nobody may know"


@dataclass
class History:
    """An organisation that has written, recalled, reviewed and erased."""

    world: World
    org: str
    org_id: int

    def measure(self) -> None:
        """Count and measure, as the job does."""
        self.world.admin.execute("CALL memwarden.count_recalls()")
        self.world.admin.execute("CALL memwarden.take_metrics()")

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Every row of this organisation in a table."""
        return self.world.rows(
            f"SELECT * FROM memwarden_data.{table} WHERE org_id = %s", self.org_id
        )

    def points(self, metric: str) -> dict[str, float | None]:
        """The latest values of a metric by part."""
        rows = self.world.rows(
            "SELECT part, value FROM memwarden.metrics WHERE metric = %s AND org = %s",
            metric,
            self.org,
        )
        return {row["part"]: row["value"] for row in rows}


def found(world: World) -> History:
    """An organisation of its own, still empty."""
    set_up_now(world.admin)
    org = uuid4().hex[:12]
    world.scope(f"/org/{org}/user/ana")
    number = world.value("SELECT org_id FROM memwarden_data.organisation WHERE name = %s", org)
    return History(world, org, number)


def acme(world: World) -> History:
    """The organisation that `memwarden init` makes."""
    set_up_now(world.admin)
    number = world.value("SELECT org_id FROM memwarden_data.organisation WHERE name = 'acme'")
    return History(world, "acme", number)


def plant(history: History) -> None:
    """Let an agent do what every metric counts; what takes days or other people is put there."""
    world, home = history.world, f"/org/{history.org}/user/ana"
    agent, other = world.agent(home), world.agent(home)
    now = datetime.now(UTC)
    for layer, count in (("semantic", 6), ("procedural", 3), ("episodic", 5)):
        for n in range(count):
            write(agent, layer, f"{layer} lamp {n} hangs in room {n * 7}")
    same = [{"layer": "semantic", "content": "semantic lamp 1 hangs in room 7"}] * 3
    write_many(other, [*same, {"layer": "semantic", "content": "dim", "confidence": 7}])
    write(agent, "semantic", "too late", deadline=now - timedelta(minutes=1))
    write(agent, "no such layer", "where to?")
    for _ in range(2):
        write(other, "episodic", SECRET)
    for used in (1, 0, 2):
        rows = recall(agent, query="lamp room", k=4)
        agent.execute(
            "SELECT memwarden.report_outcome(%s, %s, 'success')",
            (rows[0]["recall_id"], [row["item_id"] for row in rows[:used]]),
        )
    recall(agent, query="zebra", threshold=0.99)
    plant_by_hand(history, now)


def plant_by_hand(history: History, now: datetime) -> None:
    """What nobody does within a test."""
    world = history.world
    items = [
        row
        for row in sorted(history.rows("item"), key=lambda row: str(row["item_id"]))
        if row["status"] == "ACTIVE"
    ]
    pair = (items[0], items[1])
    for one, two in (pair, pair[::-1]):
        world.admin.execute(
            "INSERT INTO memwarden_data.dispute VALUES (%s, %s, %s, %s, %s, %s, %s)",
            (
                history.org_id,
                one["scope_id"],
                one["item_id"],
                one["content_hash"],
                two["item_id"],
                two["content_hash"],
                now,
            ),
        )
    for n, verdict in enumerate(("right", "right", "right", "wrong")):
        world.admin.execute(
            "INSERT INTO memwarden_data.audit_sample (org_id, request_id, item_id, version_id,"
            " scope_id, label_id, principal_id, pack, pack_version, class, verdict, sampled_at,"
            " decided_at, decided_by, login) SELECT org_id, %s, item_id, version_id, scope_id,"
            " label_id, principal_id, 'p', 1, '*', %s, now(), now(), principal_id, 'x'"
            "  FROM memwarden_data.item WHERE item_id = %s",
            (uuid4(), verdict, items[n]["item_id"]),
        )
    world.admin.execute(
        "INSERT INTO memwarden_data.sensitivity_scan"
        " (org_id, item_id, version_id, sensitivity, findings, scanned_at)"
        " SELECT org_id, item_id, version_id, 'high', '[]', now() FROM memwarden_data.item"
        "  WHERE item_id = %s",
        (items[2]["item_id"],),
    )

    chosen = {"org": history.org_id, "one": items[0]["item_id"], "two": items[1]["item_id"]}
    for statement in BY_OTHERS:
        world.admin.execute(statement, chosen)


# Probes of which one fails now; decisions of two people; corrections of which one is built upon; an
# erasure that waits.
BY_OTHERS = (
    "INSERT INTO memwarden_data.probe (org_id, scope_id, name, query, k, principal_id, defined_at)"
    " SELECT i.org_id, i.scope_id, n, 'q', 3, i.principal_id, now()"
    "  FROM memwarden_data.item AS i, unnest('{a,b,c}'::text[]) AS n WHERE i.item_id = %(one)s",
    "INSERT INTO memwarden_data.probe_run SELECT p.org_id, gen_random_uuid(), p.probe_id,"
    " now() - g * interval '1 hour', (p.name <> 'c') = (g = 0), '[]'"
    "  FROM memwarden_data.probe AS p, generate_series(0, 1) AS g WHERE p.org_id = %(org)s",
    "INSERT INTO memwarden_data.review_event (org_id, event_id, request_id, event, principal_id,"
    " at) SELECT i.org_id, gen_random_uuid(), gen_random_uuid(), 'approved',"
    "  i.principal_id + g %% 2, now() - (g / 6) * interval '1 day'"
    "  FROM memwarden_data.item AS i, generate_series(0, 11) AS g WHERE i.item_id = %(one)s",
    "INSERT INTO memwarden_data.signal SELECT i.org_id, gen_random_uuid(), 'c', i.scope_id,"
    " i.layer, i.label_id, i.item_id, i.version_id, i.principal_id, i.item_id, i.version_id,"
    " i.principal_id,"
    " now() FROM memwarden_data.item AS i WHERE i.item_id IN (%(one)s, %(two)s)",
    "INSERT INTO memwarden_data.derivation"
    " SELECT o.org_id, o.scope_id, o.item_id, o.version_id, i.org_id, i.item_id, i.version_id"
    "  FROM memwarden_data.item AS i, memwarden_data.item AS o"
    " WHERE i.item_id = %(one)s AND o.item_id = %(two)s",
    "INSERT INTO memwarden_data.blocked_erasure (org_id, erasure_id, subject, identifiers, reason,"
    " items, hold_ids, login, asked_at, looked_at) VALUES (%(org)s, gen_random_uuid(), 'x', '{x}',"
    " 'asked', 1, '{}', 'x', now() - interval '5 hours', now())",
)


@pytest.fixture
def history(world: World) -> History:
    """An organisation of its own, still empty."""
    return found(world)


@pytest.fixture(scope="module")
def planted(shared_world: World) -> History:
    """An organisation with a history, measured."""
    made = found(shared_world)
    plant(made)
    made.measure()
    return made
