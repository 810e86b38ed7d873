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
LEGAL = {
    ("DRAFT", "ACTIVE"),
    ("ACTIVE", "SUPERSEDED"),
    ("ACTIVE", "RETRACTED"),
    ("ACTIVE", "EXPIRED"),
}
# Written out: that a column was forgotten here must not go unnoticed.
CHANGES = {
    "org_id": "org_id + 1",
    "version_id": "gen_random_uuid()",
    "item_id": "gen_random_uuid()",
    "version": "version + 1",
    "previous_version_id": "gen_random_uuid()",
    "scope_id": "scope_id + 1",
    "layer": "'durable'",
    "kind": "'other'",
    "schema_id": "1",
    "subject": "'Bob'",
    "predicate": "'avoids'",
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
}


@pytest.fixture(scope="module")
def owner(shared_world: World) -> Iterator[Connection[DictRow]]:
    """The owner of the tables, with rows in them."""
    agent = shared_world.agent()
    for value in ("tea", "coffee"):
        write(agent, "semantic", value, subject="Ana", predicate="prefers")
    with psycopg.connect(
        shared_world.dsn, user="postgres", autocommit=True, row_factory=dict_row
    ) as connection:
        connection.execute("SET ROLE memwarden_owner")
        yield connection


def leaves(connection: Connection[DictRow], table: str) -> list[str]:
    """The table and every one of its partitions."""
    rows = connection.execute(
        "SELECT relid::regclass::text AS name FROM pg_partition_tree(%s)", (table,)
    ).fetchall()
    return [row["name"] for row in rows] or [table]


@pytest.mark.parametrize("table", ["memwarden_data.version", "memwarden_data.log"])
@pytest.mark.parametrize(
    "statement", ["DELETE FROM {}", "TRUNCATE {}", "DELETE FROM {} WHERE false"]
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


def test_no_log_entry_is_changed(owner: Connection[DictRow]) -> None:
    """Through the table, through a partition, or by an INSERT that would meet it.

    Proves: T1
    """
    for name in leaves(owner, "memwarden_data.log"):
        for change in ("reason = 'another'", "log_seq = DEFAULT"):
            with pytest.raises(psycopg.errors.ObjectInUse):
                owner.execute(sql.SQL("UPDATE {} SET " + change).format(sql.SQL(name)))
    with pytest.raises(psycopg.errors.ObjectInUse):
        owner.execute(
            "INSERT INTO memwarden_data.log OVERRIDING SYSTEM VALUE"
            " SELECT * FROM memwarden_data.log LIMIT 1"
            " ON CONFLICT (recorded_at, log_seq) DO UPDATE SET reason = 'another'"
        )


def test_every_column_of_a_version_is_written_once(owner: Connection[DictRow]) -> None:
    """Alone or hidden beside a legal transition; the current version and those before it.

    Proves: T1
    """
    columns = owner.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = 'memwarden_data.version'::regclass"
        " AND attnum > 0 AND NOT attisdropped"
    ).fetchall()
    assert {row["attname"] for row in columns} == {*CHANGES, "status", "recorded_during"}
    end = "status = 'RETRACTED', recorded_during = tstzrange(lower(recorded_during), now())"
    for column, value in CHANGES.items():
        for beside, status in (("", "ACTIVE"), ("", "SUPERSEDED"), (f", {end}", "ACTIVE")):
            with pytest.raises(psycopg.errors.ObjectInUse):
                owner.execute(
                    f"UPDATE memwarden_data.version SET {column} = {value}{beside}"
                    f" WHERE status = '{status}'"
                )


@pytest.mark.parametrize(
    "times",
    [
        "tstzrange(lower(recorded_during) - interval '1 s', now())",
        "tstzrange(NULL, now())",
        "tstzrange(lower(recorded_during), now(), '(]')",
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
    with pytest.raises(psycopg.errors.ObjectInUse):
        owner.execute(
            "UPDATE memwarden_data.version SET recorded_during ="
            " tstzrange(lower(recorded_during), now()) WHERE status = 'SUPERSEDED'"
        )


@pytest.mark.parametrize(("before", "after"), [*product(STATES, STATES)])
def test_only_the_legal_transitions_are_possible(
    owner: Connection[DictRow], before: str, after: str
) -> None:
    """Every pair of states: the four legal ones pass, the other twenty-one are refused.

    Proves: T2
    """
    version_id = uuid.uuid4()
    with owner.transaction(force_rollback=True):
        owner.execute(
            "INSERT INTO memwarden_data.version"
            " SELECT (jsonb_populate_record(v, jsonb_build_object("
            "'version_id', %s::text, 'item_id', %s::text, 'status', %s::text))).*"
            " FROM memwarden_data.version AS v WHERE status = 'ACTIVE' LIMIT 1",
            (str(version_id), str(uuid.uuid4()), before),
        )
        change = "UPDATE memwarden_data.version SET status = %s WHERE version_id = %s"
        if (before, after) in LEGAL:
            assert owner.execute(change, (after, version_id)).rowcount == 1
        else:
            with pytest.raises(psycopg.errors.ObjectInUse), owner.transaction():
                owner.execute(change, (after, version_id))
    listed = owner.execute(
        "SELECT memwarden_internal.is_legal_transition(%s, %s) AS legal", (before, after)
    )
    assert listed.fetchall() == [{"legal": (before, after) in LEGAL}]


def test_other_states_do_not_exist(owner: Connection[DictRow]) -> None:
    """A state outside the five is no state.

    Proves: T2
    """
    with pytest.raises((psycopg.errors.CheckViolation, psycopg.errors.ObjectInUse)):
        owner.execute("UPDATE memwarden_data.version SET status = 'GONE' WHERE status = 'ACTIVE'")
    with pytest.raises(psycopg.errors.CheckViolation):
        owner.execute("UPDATE memwarden_data.item SET status = 'GONE'")


@pytest.mark.parametrize("table", ["version", "log", "item", "write_request", "idempotency"])
def test_no_application_role_changes_anything(shared_world: World, table: str) -> None:
    """Each is denied each statement, whatever the rows.

    Proves: T1, Z1
    """
    for group in ("agent", "reviewer", "curator", "auditor", "admin"):
        other = shared_world.connect(shared_world.role(f"memwarden_{group}"))
        for statement in (
            "DELETE FROM memwarden_data.{}",
            "TRUNCATE memwarden_data.{}",
            "UPDATE memwarden_data.{} SET org_id = 1",
            "INSERT INTO memwarden_data.{} DEFAULT VALUES",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                other.execute(sql.SQL(statement).format(sql.Identifier(table)))
