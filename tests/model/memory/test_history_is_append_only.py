"""History only grows: not even the owner of the tables changes or removes what is there."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import Connection, sql
from psycopg.rows import DictRow, dict_row

from helpers import write

if TYPE_CHECKING:
    from conftest import World

STATES = ["DRAFT", "ACTIVE", "SUPERSEDED", "RETRACTED", "EXPIRED"]
CURRENT = {"DRAFT", "ACTIVE"}
LEGAL = {
    ("DRAFT", "ACTIVE"),
    ("ACTIVE", "SUPERSEDED"),
    ("ACTIVE", "RETRACTED"),
    ("ACTIVE", "EXPIRED"),
}
HISTORY = [f"memwarden_data.{name}" for name in ("version", "log", "timeline", "derivation")]
# Written out: that a column was forgotten here must not go unnoticed.
CHANGES = {
    "org_id": "org_id + 1",
    "version_id": "gen_random_uuid()",
    "item_id": "gen_random_uuid()",
    "version": "version + 1",
    "previous_version_id": "gen_random_uuid()",
    "subject_key_id": "gen_random_uuid()",
    "sealed": r"'\x00'",
    "restores_version_id": "gen_random_uuid()",
    "absorbed_version_id": "gen_random_uuid()",
    "scope_id": "scope_id + 1",
    "layer": "'durable'",
    "kind": "'other'",
    "schema_id": "1",
    "subject": "'Bob'",
    "predicate": "'avoids'",
    "exclusive": "NOT exclusive",
    "instance": "instance + 1",
    "content": "'{}'",
    "search_text": "'nothing'",
    "content_hash": "sha256('')",
    "confidence": "0.1",
    "importance": "0.1",
    "evidence": "'[1]'",
    "principal_id": "principal_id + 1",
    "label_id": "label_id + 1",
    "request_id": "gen_random_uuid()",
    "valid_during": "'[2020-01-01,2021-01-01)'",
    "expires_at": "now()",
    "class": "'correction'",
}
ENDED = "recorded_during = tstzrange(lower(recorded_during), now())"
PERIOD = {
    "org_id": "org_id + 1",
    "scope_id": "scope_id + 1",
    "item_id": "gen_random_uuid()",
    "version_id": "gen_random_uuid()",
    "valid_during": "'[2020-01-01,2021-01-01)'",
}


@pytest.fixture(scope="module")
def owner(shared_world: World) -> Iterator[Connection[DictRow]]:
    """The owner of the tables, with rows in them: a version of each tier, and a derived one."""
    agent = shared_world.agent()
    for value in ("tea", "coffee", "water", "wine"):
        row = write(agent, "semantic", value, subject="Ana", predicate="prefers")
    evidence = [{"type": "memory_item", "uri": f"memwarden:item/{row['item_id']}"}]
    write(agent, "semantic", "she is grown up", evidence=evidence)
    with psycopg.connect(
        shared_world.dsn, user="postgres", autocommit=True, row_factory=dict_row
    ) as connection:
        connection.execute("SET ROLE memwarden_owner")
        for number, tier in ((1, "cold"), (2, "warm")):
            moved = connection.execute(
                "UPDATE memwarden_data.version SET tier = %s"
                " WHERE subject = 'Ana' AND version = %s",
                (tier, number),
            )
            assert moved.rowcount == 1
        yield connection


def leaves(connection: Connection[DictRow], table: str) -> list[str]:
    """The table and every one of its partitions."""
    rows = connection.execute(
        "SELECT relid::regclass::text AS name FROM pg_partition_tree(%s)", (table,)
    ).fetchall()
    return [row["name"] for row in rows] or [table]


def columns(connection: Connection[DictRow], table: str) -> set[str]:
    """The columns of a table."""
    rows = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass"
        " AND attnum > 0 AND NOT attisdropped",
        (table,),
    ).fetchall()
    return {row["attname"] for row in rows}


@pytest.mark.parametrize("table", HISTORY)
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM {}",
        "TRUNCATE {}",
        "DELETE FROM {} WHERE false",
        "MERGE INTO {} USING (VALUES (1)) AS v (n) ON true WHEN MATCHED THEN DELETE",
    ],
)
def test_nothing_is_removed(
    shared_world: World, owner: Connection[DictRow], table: str, statement: str
) -> None:
    """From the table as a whole or from any of its partitions, those of months to come included.

    Proves: T1
    """
    shared_world.admin.execute("UPDATE partman.part_config SET premake = premake + 1")
    shared_world.admin.execute("SELECT memwarden.maintain()")
    for name in leaves(owner, table):
        with pytest.raises(psycopg.errors.ObjectInUse) as caught:
            owner.execute(sql.SQL(statement).format(sql.SQL(name)))
        assert caught.value.diag.message_primary == "history is append-only"


@pytest.mark.parametrize(
    ("table", "changes", "key"),
    [
        ("memwarden_data.log", ("reason = 'another'", "log_seq = DEFAULT"), "recorded_at, log_seq"),
        (
            "memwarden_data.derivation",
            ("source_version_id = gen_random_uuid()", "item_id = source_item_id"),
            "org_id, version_id, source_version_id",
        ),
    ],
    ids=["log", "derivation"],
)
def test_no_entry_is_changed(
    owner: Connection[DictRow], table: str, changes: tuple[str, str], key: str
) -> None:
    """Through the table, through a partition, by a MERGE or by an INSERT that would meet it.

    Proves: T1, P6
    """
    for name, change in product(leaves(owner, table), changes):
        for statement in (
            f"UPDATE {name} SET {change}",
            f"MERGE INTO {name} USING (VALUES (1)) AS v (n) ON true"
            f" WHEN MATCHED THEN UPDATE SET {change}",
        ):
            with pytest.raises(psycopg.errors.ObjectInUse):
                owner.execute(statement)
    with pytest.raises(psycopg.errors.ObjectInUse):
        owner.execute(
            f"INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT * FROM {table} LIMIT 1"
            f" ON CONFLICT ({key}) DO UPDATE SET {changes[0]}"
        )


def test_every_column_of_a_version_is_written_once(owner: Connection[DictRow]) -> None:
    """Alone or hidden beside a legal change; the current version and those before it, of each tier.

    Proves: T1, T7
    """
    table = "memwarden_data.version"
    assert columns(owner, table) == {*CHANGES, "status", "recorded_during", "tier"}
    end = f", status = 'RETRACTED', {ENDED}"
    beside = [
        ("", "status = 'ACTIVE'"),
        (end, "status = 'ACTIVE'"),
        *[("", f"tier = '{tier}' AND status = 'SUPERSEDED'") for tier in ("hot", "warm", "cold")],
        (", tier = 'cold'", "tier = 'hot' AND status = 'SUPERSEDED'"),
        (", tier = 'hot'", "tier <> 'hot'"),
    ]
    for (column, value), (other, where) in product(CHANGES.items(), beside):
        with pytest.raises(psycopg.errors.ObjectInUse):
            owner.execute(f"UPDATE {table} SET {column} = {value}{other} WHERE {where}")


@pytest.mark.parametrize("tier", ["hot", "warm", "cold"])
def test_a_tier_named_alone_is_guarded_too(owner: Connection[DictRow], tier: str) -> None:
    """By an UPDATE, a MERGE, or an INSERT that would meet what is there.

    Proves: T1, T7
    """
    name = f"memwarden_data.version_{tier}"
    for statement in (
        f"UPDATE {name} SET content = '{{}}'",
        f"UPDATE {name} SET status = 'EXPIRED' WHERE status = 'SUPERSEDED'",
        f"MERGE INTO {name} USING (VALUES (1)) AS v (n) ON true"
        " WHEN MATCHED THEN UPDATE SET content = '{}'",
        f"INSERT INTO {name} SELECT * FROM {name} LIMIT 1"
        " ON CONFLICT (org_id, version_id, tier) DO UPDATE SET content = '{}'",
    ):
        with pytest.raises(psycopg.errors.ObjectInUse):
            owner.execute(statement)


def test_a_version_changes_its_tier_once_it_is_over(owner: Connection[DictRow]) -> None:
    """Whole, and between the three that there are; what is current stays where readers look.

    Proves: T7
    """
    table = "memwarden_data.version"
    said = f"SELECT to_jsonb(v) - 'tier' AS said FROM {table} AS v ORDER BY version_id"
    before = owner.execute(said).fetchall()
    with owner.transaction(force_rollback=True):
        for tier in ("warm", "cold", "hot", "cold"):
            owner.execute(
                f"UPDATE {table} SET tier = '{tier}'"
                f" WHERE status = 'SUPERSEDED' AND tier <> '{tier}'"
            )
            assert owner.execute(said).fetchall() == before
    for tier, where in (
        ("warm", "status = 'ACTIVE'"),
        ("cold", "status = 'ACTIVE'"),
        ("attic", "status = 'SUPERSEDED'"),
    ):
        with pytest.raises(psycopg.errors.CheckViolation):
            owner.execute(f"UPDATE {table} SET tier = '{tier}' WHERE {where}")
    with pytest.raises(psycopg.errors.ObjectInUse):
        owner.execute(
            f"UPDATE {table} SET tier = 'cold', status = 'RETRACTED', {ENDED}"
            " WHERE status = 'ACTIVE'"
        )


@pytest.mark.parametrize(
    "times",
    [
        "tstzrange(lower(recorded_during) - interval '1 s', now())",
        "tstzrange(NULL, now())",
        "tstzrange(lower(recorded_during), now(), '(]')",
        "tstzrange(lower(recorded_during), lower(recorded_during))",
    ],
)
def test_what_the_store_knew_when_is_not_rewritten(owner: Connection[DictRow], times: str) -> None:
    """A version's time in the store ends once; its beginning never moves, nor a second ending.

    Proves: T1, T4
    """
    for change in (
        f"status = 'RETRACTED', recorded_during = {times}",
        f"recorded_during = {times}",
    ):
        with pytest.raises(psycopg.errors.ObjectInUse):
            owner.execute(f"UPDATE memwarden_data.version SET {change} WHERE status = 'ACTIVE'")
    for again in (ENDED, "recorded_during = tstzrange(lower(recorded_during), NULL)"):
        with pytest.raises(psycopg.errors.ObjectInUse):
            owner.execute(f"UPDATE memwarden_data.version SET {again} WHERE status = 'SUPERSEDED'")


@pytest.mark.parametrize(("before", "after"), [*product(STATES, STATES)])
def test_only_the_legal_transitions_are_possible(
    owner: Connection[DictRow], before: str, after: str
) -> None:
    """Every pair of states: the four legal ones pass, the other twenty-one are refused.

    Whatever the time in the store is said to be beside them.

    Proves: T2
    """
    version_id = uuid.uuid4()
    over = {True: "'[2020-01-01,2021-01-01)'", False: "'[2020-01-01,)'"}
    with owner.transaction(force_rollback=True):
        owner.execute(
            "INSERT INTO memwarden_data.version"
            " SELECT (jsonb_populate_record(v, jsonb_build_object('version_id', %s::text,"
            "  'item_id', %s::text, 'status', %s::text,"
            f" 'recorded_during', {over[before not in CURRENT]}))).*"
            " FROM memwarden_data.version AS v WHERE status = 'ACTIVE' LIMIT 1",
            (str(version_id), str(uuid.uuid4()), before),
        )
        change = (
            "UPDATE memwarden_data.version SET status = %s, recorded_during = {}"
            " WHERE version_id = %s"
        )
        if (before, after) in LEGAL:
            fitting = change.format(over[after not in CURRENT])
            assert owner.execute(fitting, (after, version_id)).rowcount == 1
        else:
            for times in ("recorded_during", *over.values()):
                with pytest.raises(psycopg.errors.ObjectInUse), owner.transaction():
                    owner.execute(change.format(times), (after, version_id))
    listed = owner.execute(
        "SELECT memwarden_internal.is_legal_transition(%s, %s) AS legal", (before, after)
    )
    assert listed.fetchall() == [{"legal": (before, after) in LEGAL}]


@pytest.mark.parametrize("state", STATES)
def test_a_version_is_current_exactly_while_its_time_in_the_store_lasts(
    owner: Connection[DictRow], state: str
) -> None:
    """It does not end without a time, and has no end before; not even where it is made up.

    Proves: T2, T4
    """
    made_up = (
        "INSERT INTO memwarden_data.version SELECT (jsonb_populate_record(v, jsonb_build_object("
        "'version_id', gen_random_uuid(), 'item_id', gen_random_uuid(), 'status', %s::text,"
        " 'recorded_during', %s::text))).* FROM memwarden_data.version AS v LIMIT 1"
    )
    open_ended = "[2020-01-01,)" if state not in CURRENT else "[2020-01-01,2021-01-01)"
    with pytest.raises(psycopg.errors.CheckViolation):
        owner.execute(made_up, (state, open_ended))
    if state == "ACTIVE":
        for change in ("status = 'EXPIRED'", ENDED):
            with pytest.raises((psycopg.errors.CheckViolation, psycopg.errors.ObjectInUse)):
                owner.execute(f"UPDATE memwarden_data.version SET {change} WHERE status = 'ACTIVE'")


def test_an_item_has_one_current_version(owner: Connection[DictRow]) -> None:
    """A second one cannot be put beside it, whatever its number and times.

    Proves: T2
    """
    with pytest.raises(psycopg.errors.UniqueViolation):
        owner.execute(
            "INSERT INTO memwarden_data.version"
            " SELECT (jsonb_populate_record(v, jsonb_build_object('version_id', gen_random_uuid(),"
            "  'version', v.version + 1, 'recorded_during', '[2020-01-01,)'))).*"
            " FROM memwarden_data.version AS v WHERE status = 'ACTIVE' LIMIT 1"
        )


def test_other_states_do_not_exist(owner: Connection[DictRow]) -> None:
    """A state outside the five is no state.

    Proves: T2
    """
    with pytest.raises((psycopg.errors.CheckViolation, psycopg.errors.ObjectInUse)):
        owner.execute("UPDATE memwarden_data.version SET status = 'GONE' WHERE status = 'ACTIVE'")
    with pytest.raises(psycopg.errors.CheckViolation):
        owner.execute("UPDATE memwarden_data.item SET status = 'GONE'")


def test_what_was_held_true_when_is_not_rewritten(owner: Connection[DictRow]) -> None:
    """A row of the timeline ends once and changes in nothing else, alone or beside its end.

    Proves: T1, T4
    """
    table = "memwarden_data.timeline"
    assert columns(owner, table) == {*PERIOD, "recorded_during"}
    held, past = "upper_inf(recorded_during)", "NOT upper_inf(recorded_during)"
    changes = [f"{column} = {value}" for column, value in PERIOD.items()]
    changes += [f"{change}, {ENDED}" for change in changes]
    changes += [
        "recorded_during = tstzrange(lower(recorded_during) - interval '1 s', now())",
        "recorded_during = tstzrange(lower(recorded_during), now(), '[]')",
        "recorded_during = tstzrange(lower(recorded_during), NULL)",
        "recorded_during = 'empty'",
    ]
    for change, where in product(changes, (held, past)):
        with pytest.raises(psycopg.errors.ObjectInUse):
            owner.execute(f"UPDATE {table} SET {change} WHERE {where}")
    with pytest.raises(psycopg.errors.ObjectInUse):
        owner.execute(f"UPDATE {table} SET {ENDED} WHERE {past}")
    with owner.transaction(force_rollback=True):
        assert owner.execute(f"UPDATE {table} SET {ENDED} WHERE {held}").rowcount == 4


def test_no_second_value_is_put_beside_what_is_held_true(owner: Connection[DictRow]) -> None:
    """For no moment of the world at no moment of the store; not even of one instant.

    Proves: T4
    """
    table = "memwarden_data.timeline"
    row = "SELECT org_id, scope_id, item_id, gen_random_uuid(), {}, {} FROM " + table
    for valid, recorded in (
        ("valid_during", "recorded_during"),
        ("tstzrange(lower(valid_during), lower(valid_during), '[]')", "recorded_during"),
        ("valid_during", "tstzrange(lower(recorded_during), lower(recorded_during), '[]')"),
        ("'(,)'", "'(,)'"),
    ):
        with pytest.raises(psycopg.errors.ExclusionViolation):
            owner.execute(f"INSERT INTO {table} {row.format(valid, recorded)}")


@pytest.mark.parametrize(
    "table",
    [
        "version",
        "version_hot",
        "version_cold",
        "log",
        "timeline",
        "derivation",
        "past_embedding",
        "item",
        "write_request",
        "idempotency",
    ],
)
def test_no_application_role_changes_anything(shared_world: World, table: str) -> None:
    """Each is denied each statement, whatever the rows.

    Proves: T1, Z1
    """
    for group in ("agent", "reviewer", "curator", "auditor", "admin", "jobs"):
        other = shared_world.connect(shared_world.role(f"memwarden_{group}"))
        for statement in (
            "DELETE FROM memwarden_data.{}",
            "TRUNCATE memwarden_data.{}",
            "UPDATE memwarden_data.{} SET org_id = 1",
            "INSERT INTO memwarden_data.{} DEFAULT VALUES",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                other.execute(sql.SQL(statement).format(sql.Identifier(table)))
