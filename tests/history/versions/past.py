"""Calls about the past, made as a caller would, and what must hold of the timeline after them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import DictRow

from access import call
from conftest import World
from helpers import write
from scope_calls import one

Agent = Connection[DictRow]

KEY = {"subject": "Ana", "predicate": "lives in"}
SOUND = """
SELECT t.item_id, 'two values at once' AS fault
  FROM memwarden_data.timeline AS t JOIN memwarden_data.timeline AS o
    ON o.item_id = t.item_id AND o.ctid < t.ctid
   AND o.valid_during && t.valid_during AND o.recorded_during && t.recorded_during
 UNION ALL
SELECT i.item_id, 'the head is not held true'
  FROM memwarden_data.item AS i
 WHERE i.exclusive AND i.status = 'ACTIVE' AND NOT EXISTS (
       SELECT FROM memwarden_data.timeline AS t
        WHERE t.item_id = i.item_id AND t.version_id = i.version_id
          AND upper_inf(t.recorded_during))
 UNION ALL
SELECT i.item_id, 'held true though it has ended'
  FROM memwarden_data.item AS i JOIN memwarden_data.timeline AS t USING (org_id, item_id)
 WHERE i.status <> 'ACTIVE' AND upper_inf(t.recorded_during)"""

HOUR = timedelta(hours=1)
SHIFT = """
UPDATE memwarden_data.{table} SET valid_during =
       tstzrange(lower(valid_during) - %s::interval, upper(valid_during) - %s::interval)
 WHERE item_id = %s"""


def check_timeline(world: World) -> None:
    """At no moment two values for one time; the head is held true, what has ended is not."""
    assert world.rows(SOUND) == []


def year(number: int) -> datetime:
    """The beginning of a year."""
    return datetime(number, 1, 1, tzinfo=UTC)


def now(world: World, **shift: float) -> datetime:
    """What the server's clock says, or some time from then."""
    moment: datetime = world.value("SELECT clock_timestamp()")
    return moment + timedelta(**shift)


def say(agent: Agent, content: Any, scope: Any = None, **arguments: Any) -> DictRow:
    """Write a value of the key, or of another; it must be committed."""
    where = {"scope": scope} if scope else {}
    row = write(agent, arguments.pop("layer", "semantic"), content, **where, **(KEY | arguments))
    assert row["outcome"] == "COMMITTED", row
    return row


def as_of(agent: Agent, system_time: Any = None, **arguments: Any) -> list[DictRow]:
    """Call ``memwarden.as_of``."""
    return call(agent, "as_of", system_time=system_time, **arguments)


def contents(agent: Agent, system_time: Any = None, **arguments: Any) -> list[Any]:
    """What the store held, in no order."""
    found = [row["content"] for row in as_of(agent, system_time, **arguments)]
    return sorted(found, key=str)


def history(agent: Agent, item_id: UUID) -> list[DictRow]:
    """Call ``memwarden.history``."""
    return call(agent, "history", item_id=item_id)


def rollback(agent: Agent, item_id: UUID, **arguments: Any) -> list[DictRow]:
    """Call ``memwarden.rollback``."""
    return call(agent, "rollback", **({"item_id": item_id, "reason": "it was wrong"} | arguments))


def rolled_back(agent: Agent, item_id: UUID, **arguments: Any) -> DictRow:
    """Roll back a change of one item; what became of it."""
    (row,) = rollback(agent, item_id, **arguments)
    assert row["item_id"] == item_id
    return row


def head(world: World, item_id: UUID) -> DictRow:
    """An item as it is stored, with what it says."""
    return one(
        world.admin,
        "SELECT i.*, v.content, v.restores_version_id, v.absorbed_version_id"
        "  FROM memwarden_data.item AS i"
        "  JOIN memwarden_data.version AS v USING (org_id, version_id) WHERE i.item_id = %s",
        item_id,
    )


def state(world: World, item_id: UUID) -> tuple[str, Any]:
    """The status of an item and its words."""
    row = head(world, item_id)
    return row["status"], row["content"]


def cites(*items: UUID) -> list[dict[str, str]]:
    """Evidence that names memories."""
    return [{"type": "memory_item", "uri": f"memwarden:item/{each}"} for each in items]


def pass_time(world: World, *items: UUID, by: timedelta = HOUR) -> None:
    """Let all that an item says have been said of earlier times, as if so much time had passed."""
    by += timedelta(seconds=1)
    with world.connect() as engine:
        # Past the triggers that guard history, not past the constraint.
        engine.execute("SET session_replication_role = replica")
        for item in items:
            for table in ("item", "version"):
                engine.execute(SHIFT.format(table=table), (by, by, item))
            rows = engine.execute(
                "SELECT ctid FROM memwarden_data.timeline WHERE item_id = %s"
                " ORDER BY lower(valid_during)",
                (item,),
            ).fetchall()
            for row in rows:
                query = SHIFT.format(table="timeline") + " AND ctid = %s"
                engine.execute(query, (by, by, item, row["ctid"]))
