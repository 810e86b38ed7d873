"""The same four hundred days on a server whose jobs are told the time, as only the owner can."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import curator
from conftest import World
from helpers import write_many
from operations.lifecycle.scenario import HELD, HELD_FROM, HELD_UNTIL, ORGS, ROOM, Day, Memory

# Written just now: as if it had been on another day, with the lifetimes that it was given.
MOVE = """
UPDATE memwarden_data.item AS i
   SET created_at = %(at)s, updated_at = %(at)s,
       expires_at = %(at)s + (i.expires_at - i.updated_at),
       kept_until = %(at)s + (i.kept_until - i.created_at),
       fresh_until = CASE WHEN i.fresh_until < 'infinity'
                          THEN %(at)s + (i.fresh_until - i.updated_at) ELSE i.fresh_until END
 WHERE i.item_id = %(item)s"""
READ = """
INSERT INTO memwarden_data.recall_use AS u
       (org_id, item_id, day, scope_id, layer, given, succeeded, failed, last_given_at)
SELECT i.org_id, i.item_id, %s, i.scope_id, i.layer, %s, %s, %s, %s
  FROM memwarden_data.item AS i WHERE i.item_id = %s AND i.status = 'ACTIVE'"""
DISPUTE = """
WITH pair AS (
    SELECT a, b FROM memwarden_data.item AS a, memwarden_data.item AS b
     WHERE a.status = 'ACTIVE' AND b.status = 'ACTIVE'
       AND (a.item_id, b.item_id) IN ((%(one)s, %(other)s), (%(other)s, %(one)s))
), known AS (
    INSERT INTO memwarden_data.dispute
           (org_id, scope_id, item_id, content_hash, other_item_id, other_content_hash, found_at)
    SELECT (p.a).org_id, (p.a).scope_id, (p.a).item_id, (p.a).content_hash, (p.b).item_id,
           (p.b).content_hash, %(at)s
      FROM pair AS p ON CONFLICT DO NOTHING
)
UPDATE memwarden_data.item AS i SET contradicted = true FROM pair AS p
 WHERE i.item_id = (p.a).item_id"""
SETTLE = """
SELECT memwarden_internal.settle_lifetimes(i.org_id, array_agg(i.item_id), %s)
  FROM memwarden_data.item AS i WHERE i.status = 'ACTIVE' GROUP BY i.org_id"""
COLLECT = """
DO $$
BEGIN
    PERFORM memwarden_internal.list_layers_to_collect();
    WHILE memwarden_internal.collect_step(10000, 10000, '{at}') LOOP
    END LOOP;
END $$"""
RETAIN = """
DO $$
DECLARE
    v_next record;
    v_org  bigint := -1;
    v_item uuid := '00000000-0000-0000-0000-000000000000';
BEGIN
    LOOP
        v_next := memwarden_internal.enforce_next_retention(v_org, v_item, '{at}');
        EXIT WHEN v_next.item_id IS NULL;
        v_org := v_next.org_id;
        v_item := v_next.item_id;
    END LOOP;
END $$"""
STATES = """
SELECT i.item_id, i.status = 'ACTIVE' AND (i.expires_at <= %(at)s) IS NOT TRUE AS is_given,
       coalesce(i.fresh_until, i.created_at + l.soft_ttl) <= %(at)s AS half,
       (SELECT g.reason FROM memwarden_data.log AS g
         WHERE g.org_id = i.org_id AND g.item_id = i.item_id AND g.operation = 'EXPIRE') AS reason
  FROM memwarden_data.item AS i JOIN memwarden_data.layer AS l USING (layer)"""


class Store:
    """An agent of each organisation, and the memories by key."""

    def __init__(self, world: World) -> None:
        self.world = world
        # Tomorrow: no version is recorded after the moment at which it ends, at any hour.
        today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        self.start = today + timedelta(days=1)
        self.days = 0
        self.items: dict[int, UUID] = {}
        self.hold: UUID | None = None
        self.agents: dict[str, Connection[DictRow]] = {}
        for org in ORGS:
            for place in range(4):
                world.scope(f"/org/{org}/user/u{place}")
            self.agents[org] = curator(world, f"/org/{org}")
        world.admin.execute(
            "SELECT memwarden.configure_layer('episodic', %s)", (Jsonb({"max_items": ROOM}),)
        )
        for rule in (
            "classification => 'personal', keep_at_most => '60 days', afterwards => 'delete'",
            "layer => 'episodic', keep_at_least => '100 days', afterwards => 'archive'",
        ):
            world.admin.execute(f"SELECT memwarden.set_retention({rule}, org => 'clinic')")

    def moment(self, day: float) -> datetime:
        """The moment so many days from the start."""
        return self.start + timedelta(days=day)

    def happen(self, day: Day) -> dict[int, float]:
        """Do what people and agents do; returns what the gates gave each new memory."""
        for org, agent in self.agents.items():
            self.write(agent, [memory for memory in day.written if memory.org == org])
        admin = self.world.admin
        for one, other in day.disputed:
            asked = {"one": self.items[one], "other": self.items[other], "at": self.start}
            admin.execute(DISPUTE, asked)
        moments = {key: self.moment(day.number + 0.25 + key / 86400) for key in day.reads}
        admin.cursor().executemany(
            READ,
            [(at.date(), *day.reads[key], at, self.items[key]) for key, at in moments.items()],
        )
        self.keep(day)
        rows = admin.execute(
            "SELECT r.item_id, r.initial FROM (SELECT i.org_id, array_agg(i.item_id) AS ids"
            "  FROM memwarden_data.item AS i WHERE i.item_id = ANY (%s) GROUP BY i.org_id) AS o"
            " CROSS JOIN LATERAL memwarden_internal.relevance_of(o.org_id, o.ids) AS r",
            ([self.items[memory.key] for memory in day.written],),
        ).fetchall()
        given_to = {row["item_id"]: row["initial"] for row in rows}
        return {memory.key: given_to[self.items[memory.key]] for memory in day.written}

    def write(self, agent: Connection[DictRow], memories: list[Memory]) -> None:
        """Write memories through all gates, and move them to their days."""
        asked = [
            {
                "layer": memory.layer,
                "content": memory.words,
                "scope": f"/org/{memory.org}/{memory.place}",
                "confidence": memory.confidence,
            }
            | ({"ttl": f"{memory.ttl.days} days"} if memory.ttl else {})
            | ({"classification": "confidential"} if memory.confidential else {})
            | (
                {"class": memory.write_class, "subject": f"s{memory.key}"}
                if memory.write_class
                else {}
            )
            for memory in memories
        ]
        for memory, row in zip(memories, write_many(agent, asked), strict=True):
            assert row["outcome"] == "COMMITTED", (memory, row)
            self.items[memory.key] = row["item_id"]
        moves = [
            {"at": self.moment(m.born + m.key / 86400), "item": self.items[m.key]} for m in memories
        ]
        self.world.admin.cursor().executemany(MOVE, moves)

    def keep(self, day: Day) -> None:
        """Pin, unpin, link and hold, as those who may."""
        for keys, call, which in (
            (day.pinned, "memwarden.pin(i.item_id, 'dear')", "true"),
            (day.unpinned, "memwarden.unpin(i.item_id)", "i.pinned"),
            (day.linked, "memwarden.link_action(i.item_id::text, ARRAY[i.version_id])", "true"),
        ):
            for agent in self.agents.values():
                agent.execute(
                    f"SELECT {call} FROM memwarden.items AS i"
                    f" WHERE i.item_id = ANY (%s) AND {which}",
                    ([self.items[key] for key in keys],),
                )
        if day.number == HELD_FROM:
            self.hold = self.world.value(
                "SELECT hold_id FROM memwarden.hold('a case', scope => %s, org => %s)",
                f"/org/{'/'.join(HELD)}",
                HELD[0],
            )
        elif day.number == HELD_UNTIL:
            self.world.admin.execute("SELECT memwarden.lift_hold(%s, 'closed')", (self.hold,))

    def run_jobs(self, day: Day) -> None:
        """At noon; now and then with new statistics, which a server gathers by itself."""
        at = self.moment(day.number + 0.5)
        admin = self.world.admin
        if self.days % 4 == 0:
            admin.execute("ANALYZE memwarden_data.item, memwarden_data.recall_use")
        self.days += 1
        admin.execute(SETTLE, (at,))
        admin.execute(COLLECT.format(at=at.isoformat()))
        admin.execute(RETAIN.format(at=at.isoformat()))

    def states(self, day: Day) -> dict[int, tuple[str, str | None]]:
        """What is left of each memory at noon, as recall knows it; and why it has ended."""
        with self.world.admin.cursor() as cursor:
            rows = cursor.execute(STATES, {"at": self.moment(day.number + 0.5)}).fetchall()
        found = {
            row["item_id"]: (
                "expired" if not row["is_given"] else "stale" if row["half"] else "alive",
                row["reason"],
            )
            for row in rows
        }
        return {key: found.get(item, ("gone", None)) for key, item in self.items.items()}

    def findings(self) -> list[DictRow]:
        """What verify_log() finds."""
        return self.world.rows(
            "SELECT finding, log_seq, item_id, detail FROM memwarden.verify_log()"
        )
