"""Property: whatever SQL is sent to the tables of history, it is refused, or it is told of.

An agent's is refused always. The owner of the tables could insert what nobody wrote; then
verify_log() says so, or rebuild_heads() where only what is laid out for reading was touched. (Of
a made-up derivation nobody tells: it brings about no state and no value.)
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.errors import (
    CheckViolation,
    DataException,
    ExclusionViolation,
    InsufficientPrivilege,
    NotNullViolation,
    ObjectInUse,
    UniqueViolation,
)
from psycopg.rows import DictRow

from helpers import write
from history.versions.machine import LEGAL, OVERLAPS
from history.versions.operations import OPERATIONS, REFUSALS, Actor
from stored import RULES

if TYPE_CHECKING:
    from conftest import World

STATEMENTS = 2 * int(os.environ.get("MEMWARDEN_HISTORIES", "30"))
"""How many of each seed; more in a run of one's own."""
SCOPE = "/org/histories"
TABLES = ("version", "version", "log", "timeline", "derivation")
REFUSED = (
    ObjectInUse,
    CheckViolation,
    DataException,
    ExclusionViolation,
    NotNullViolation,
    UniqueViolation,
)
LAWS = (
    RULES["one version of an item is current at a time"],
    RULES["versions of an item follow one another"],
    OVERLAPS.replace("WHERE t.scope_id = ANY (%s)", ""),
)
A_VERSION = "(SELECT v.version_id FROM memwarden_data.version AS v ORDER BY random() LIMIT 1)"
AN_ITEM = "(SELECT i.item_id FROM memwarden_data.item AS i ORDER BY random() LIMIT 1)"
VALUES: dict[str, tuple[str, ...]] = {
    "status": tuple(f"'{status}'" for status in LEGAL),
    "operation": ("'INSERT'", "'UPDATE'", "'SUPERSEDE'", "'RETRACT'", "'EXPIRE'", "'RESTORE'"),
    "tier": ("'hot'", "'warm'", "'cold'"),
    "recorded_during": (
        "tstzrange(lower(recorded_during), now())",
        "tstzrange(lower(recorded_during), NULL)",
        "tstzrange(now(), NULL)",
        "tstzrange(lower(recorded_during) - interval '1 h', upper(recorded_during))",
        "'[2020-01-01Z,2021-01-01Z)'",
    ),
    "valid_during": ("'(,)'", "'[2014-01-01Z,2014-02-01Z)'", "'[2200-01-01Z,)'"),
    "layer": ("'durable'",),
    "version": ("version + 1", "1", "99"),
    "version_id": ("gen_random_uuid()", A_VERSION),
    "item_id": ("gen_random_uuid()", AN_ITEM),
    "log_seq": ("999999",),
    "recorded_at": ("now()", "recorded_at - interval '1 s'", "recorded_at + interval '1 us'"),
    "transaction_id": ("pg_current_xact_id()", "'3'"),
}
"""What a column is set to; others by their type."""
BY_TYPE: dict[str, tuple[str, ...]] = {
    "uuid": ("gen_random_uuid()", "NULL", A_VERSION),
    "bigint": ("{} + 1",),
    "integer": ("{} + 1",),
    "double precision": ("0.123",),
    "boolean": ("NOT {}",),
    "text": ("'else'",),
    "jsonb": ("'[{{\"n\": 1}}]'",),
    "bytea": ("sha256('else')",),
    "tstzrange": ("'(,)'",),
    "timestamptz": ("now()",),
    "timestamp with time zone": ("now()",),
}


@pytest.fixture(scope="module")
def past(shared_world: World) -> World:
    """A store in which everything has happened that can, sealed."""
    shared_world.admin.execute(
        "SELECT memwarden.define_role('keeper', '["
        '{"operation": "READ"}, {"operation": "WRITE"}, {"operation": "DELETE"}]\')'
    )
    agent = shared_world.agent(SCOPE, role="keeper")
    actor, rng = Actor(agent, SCOPE), Random(1)
    first = write(agent, "semantic", "tea", scope=SCOPE, subject="Ana", predicate="drinks")
    evidence = [{"type": "memory_item", "uri": f"memwarden:item/{first['item_id']}"}]
    write(agent, "semantic", "she is grown up", scope=SCOPE, evidence=evidence)
    for what in [*["write"] * 10, *OPERATIONS, *OPERATIONS]:
        items: dict[str, list[Any]] = {}
        for row in shared_world.rows("SELECT item_id, status, layer FROM memwarden_data.item"):
            for group in (row["status"], f"{row['status']} {row['layer']}"):
                items.setdefault(group, []).append(row["item_id"])
        try:
            OPERATIONS[what](actor, rng, items)
        except REFUSALS:
            continue
    shared_world.admin.execute("UPDATE memwarden_data.layer SET warm_after = '0', cold_after = '0'")
    shared_world.admin.execute("CALL memwarden.compact_history()")
    shared_world.admin.execute("CALL memwarden.seal_log()")
    assert shared_world.rows("SELECT * FROM memwarden.verify_log()") == []
    return shared_world


@pytest.fixture
def owner(past: World) -> Connection[DictRow]:
    """The owner of the tables."""
    connection = past.connect()
    connection.execute("SET ROLE memwarden_owner")
    return connection


def columns(past: World, table: str) -> dict[str, str]:
    """The columns of a table, with their types."""
    rows = past.rows(
        "SELECT attname, format_type(atttypid, NULL) AS type FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
        f"memwarden_data.{table}",
    )
    return {row["attname"]: row["type"] for row in rows}


def parts(past: World, table: str) -> list[str]:
    """A table, thrice, and each of its partitions."""
    rows = past.rows(
        "SELECT relid::regclass::text AS name FROM pg_partition_tree(%s)",
        f"memwarden_data.{table}",
    )
    whole = f"memwarden_data.{table}"
    return [whole, whole, *[row["name"] for row in rows], whole]


def statement(rng: Random, past: World) -> str:
    """An UPDATE, INSERT, MERGE, DELETE or TRUNCATE of some of what is there."""
    table = rng.choice(TABLES)
    known, name = columns(past, table), rng.choice(parts(past, table))
    chosen = rng.sample(sorted(known), rng.choice((1, 1, 2, 2, 3)))
    if table == "version" and rng.randrange(3):
        chosen = list({*chosen[:-1], "status", "recorded_during"})
    values = {
        column: rng.choice(VALUES.get(column) or BY_TYPE.get(known[column], ("NULL",))).format(
            column
        )
        for column in chosen
    }
    sets = ", ".join(
        f"{column} = {'DEFAULT' if column == 'log_seq' else value}"
        for column, value in values.items()
    )
    where = rng.choice(("true", "random() < 0.3", "ctid = (SELECT min(ctid) FROM {0})"))
    where = where.format(name)
    kind = rng.randrange(12)
    if kind < 5:
        return f"UPDATE {name} SET {sets} WHERE {where}"
    if kind < 10:
        made = {column: f"t.{column}" for column in known} | values
        if table == "log" and "log_seq" not in values:
            made["log_seq"] = "999999"
        # The expressions name columns of the row that is copied.
        return (
            f"INSERT INTO {name} ({', '.join(made)})"
            f"{' OVERRIDING SYSTEM VALUE' if table == 'log' else ''}"
            f" SELECT {', '.join(made.values())} FROM memwarden_data.{table} AS t"
            " ORDER BY random() LIMIT 1"
        )
    if kind == 10:
        return (
            f"MERGE INTO {name} AS t USING (VALUES (1)) AS o (n) ON true"
            f" WHEN MATCHED THEN {rng.choice(('DELETE', f'UPDATE SET {sets}'))}"
        )
    return rng.choice((f"DELETE FROM {name} WHERE {where}", f"TRUNCATE {name}"))


def statuses(connection: Connection[DictRow]) -> dict[Any, str]:
    """Every version, as it stands."""
    rows = connection.execute("SELECT version_id, status FROM memwarden_data.version").fetchall()
    return {row["version_id"]: row["status"] for row in rows}


DIGEST = """
SELECT (SELECT sum(hashtextextended((to_jsonb(v) - 'tier')::text, 0))
          FROM memwarden_data.version AS v) AS versions,
       (SELECT sum(hashtextextended(l::text, 0)) FROM memwarden_data.log AS l) AS entries,
       (SELECT sum(hashtextextended(t::text, 0)) FROM memwarden_data.timeline AS t) AS periods
"""


def told(owner: Connection[DictRow]) -> str:
    """Who tells of it: the log, or who lays the heads out anew; nothing where nobody does."""
    found = owner.execute("SELECT finding FROM memwarden.verify_log()").fetchall()
    if found:
        return str(found[0]["finding"])
    owner.execute("SET LOCAL ROLE NONE")
    try:
        owner.execute("SELECT * FROM memwarden.rebuild_heads()")
    except psycopg.errors.ObjectNotInPrerequisiteState:
        return "rebuild_heads"
    return ""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_owner_is_refused_or_told_of(
    past: World, owner: Connection[DictRow], seed: int
) -> None:
    """No random statement brings about an illegal state, or a second value, that nobody tells of.

    Proves: T1, T2, T4, T6
    """
    rng, done = Random(seed), Counter[str]()
    before, digest = statuses(owner), owner.execute(DIGEST).fetchone()
    for _ in range(STATEMENTS):
        hostile = statement(rng, past)
        with owner.transaction(force_rollback=True):
            try:
                with owner.transaction():
                    owner.execute(hostile)
            except REFUSED as refusal:
                done[type(refusal).__name__] += 1
                continue
            changed = owner.execute(DIGEST).fetchone() != digest
            after = statuses(owner)
            legal = all(after.get(version) in LEGAL[was] for version, was in before.items())
            broken = [law for law in LAWS if owner.execute(law).fetchall()]
            who = told(owner) if changed else "nothing changed"
            done[who] += 1
            assert who, hostile
            assert who != "nothing changed" or (legal and not broken), hostile
    assert done["ObjectInUse"] > 0, done
    print(done)


def test_an_agent_is_refused_whatever_it_sends(past: World) -> None:
    """Before a row is looked at.

    Proves: T1, Z1
    """
    rng = Random(4)
    agent = past.agent(SCOPE, role="keeper")
    for _ in range(STATEMENTS):
        hostile = statement(rng, past)
        with pytest.raises(InsufficientPrivilege):
            agent.execute(hostile)
