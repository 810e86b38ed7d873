"""Whatever a superuser changes behind the log's back, verify_log() finds, and says where.

Each test changes one thing with triggers switched off, looks, and takes it back.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from conftest import World, deploy_server
from history.sealing.sealed import (
    KEY_FILE,
    findings,
    head_of,
    log_seqs,
    remember,
    seal,
    segments,
    tampering,
    unsealed,
    verify,
)

OTHER_ID = "'00000000-0000-7000-8000-000000000000'"

# Written out: a column that is not covered by what is sealed must not go unnoticed.
LOG = {
    "recorded_at": "recorded_at + interval '1 microsecond'",
    "org_id": "org_id + 1",
    "operation": "'RESTORE'",
    "item_id": OTHER_ID,
    "version_id": OTHER_ID,
    "previous_version_id": OTHER_ID,
    "scope_id": "scope_id + 1",
    "layer": "'durable'",
    "principal_id": "principal_id + 1",
    "request_id": OTHER_ID,
    "reason": "'another'",
    "snapshot_hash": "sha256('')",
}
VERSION = {
    "org_id": "org_id + 1",
    "version_id": OTHER_ID,
    "item_id": OTHER_ID,
    "version": "version + 9",
    "previous_version_id": OTHER_ID,
    "restores_version_id": OTHER_ID,
    "absorbed_version_id": OTHER_ID,
    "scope_id": "scope_id + 1",
    "layer": "'durable'",
    "kind": "'other'",
    "subject": "'Bob'",
    "predicate": "'avoids'",
    "content": "'\"else\"'",
    "content_hash": "sha256('')",
    "confidence": "0.1",
    "importance": "0.1",
    "evidence": "'[1]'",
    "principal_id": "principal_id + 1",
    "label_id": "label_id + 1",
    "request_id": OTHER_ID,
    "recorded_during": "tstzrange('2020-01-01', upper(recorded_during))",
    "valid_during": "'[2020-01-01,2021-01-01)'",
    "expires_at": "now()",
    "class": "'correction'",
    "subject_key_id": OTHER_ID,
    "sealed": "sha256('')",
}
DERIVED = {"schema_id", "exclusive", "instance", "search_text", "tier"}
"""Of a version: what follows from the rest, or is no part of what it says."""
LIFETIMES = {
    "later": "recorded_during = tstzrange(lower(recorded_during), now() + interval '1 h')",
    "open": "recorded_during = tstzrange(lower(recorded_during), NULL), status = 'ACTIVE'",
    "ended": "recorded_during = tstzrange(lower(recorded_during), now()), status = 'EXPIRED'",
}

SEGMENT = {
    "system_identifier": "system_identifier + 1",
    "from_transaction": "'1'",
    "below_transaction": "(below_transaction::text::bigint - 1)::text::xid8",
    "entry_count": "entry_count + 1",
    "total_entries": "total_entries + 1",
    "log_seqs": "log_seqs || 99::bigint",
    "leaves": "substr(leaves, 1, 31) || '\\x00'",
    "merkle_root": "sha256('')",
    "previous_head": "sha256('another')",
    "nodes": "sha256('another') || substr(nodes, 33)",
    "head_hash": "sha256('')",
    "sealed_by": "sealed_by + 1",
    "sealed_at": "sealed_at + interval '1 us'",
}
CHECKPOINT = {
    "segment_no": "1",
    "head_hash": "sha256('')",
    "taken_at": "now()",
    "head_count": "head_count - 1",
    "digest": "sha256('')",
    "signature": "sha256('')",
}


@pytest.fixture(scope="module")
def history(shared_world: World) -> World:
    """Four segments of three entries, a checkpoint after the second, and an entry not sealed yet.

    Entry 1 brings an item, 4 its second version, 7 its third, 10 retracts it; the others are new.
    """
    world = shared_world
    agent = world.agent(role="curator", groups=("memwarden_curator",))
    prefers = {"layer": "semantic", "subject": "Ana", "predicate": "prefers"}
    for n, drink in enumerate(("tea", "coffee", "water", None)):
        if drink:
            item = remember(agent, {"drink": drink}, **prefers)["item_id"]
        else:
            agent.execute("SELECT memwarden.retract(%s, 'a mistake')", (item,))
        remember(agent, f"one {n}")
        remember(agent, f"two {n}")
        seal(world)
        if n == 1:
            world.admin.execute("CALL memwarden.checkpoint()")
    remember(agent, "not sealed")
    assert segments(world) == [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]
    assert unsealed(world) == [13]
    assert verify(world) == []
    return world


def item_of(world: World, log_seq: int) -> Any:
    """The item that an entry is about."""
    return world.value("SELECT item_id FROM memwarden_data.log WHERE log_seq = %s", log_seq)


def columns(world: World, table: str) -> set[str]:
    """The columns of a table."""
    rows = world.rows(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
        " AND NOT attisdropped",
        f"memwarden_data.{table}",
    )
    return {row["attname"] for row in rows}


def test_every_column_is_tried(history: World) -> None:
    """One that comes later is to be sealed too, or to be listed here with a reason."""
    numbers = {"log_seq", "transaction_id", "system_identifier"}
    # What stands in the place of an erased reason: tests/operations/erasure/test_theft.py.
    assert columns(history, "log") == {*LOG, "reason_hash"} | numbers
    assert columns(history, "version") == {*VERSION, "status"} | DERIVED
    assert columns(history, "log_segment") == {*SEGMENT, "segment_no", "key_id", "signature"}
    assert columns(history, "checkpoint") == {*CHECKPOINT, "checkpoint_no", "key_id"}


@pytest.mark.parametrize("log_seq", [2, 4, 12])
@pytest.mark.parametrize("column", LOG)
def test_a_changed_entry_is_named(history: World, column: str, log_seq: int) -> None:
    """Whichever column, whichever segment.

    Proves: T6
    """
    with tampering(history):
        history.admin.execute(
            f"UPDATE memwarden_data.log SET {column} = {LOG[column]} WHERE log_seq = %s", (log_seq,)
        )
        (row,) = [row for row in verify(history) if row["finding"] == "CHANGED"]
        assert (row["log_seq"], row["segment_no"]) == (log_seq, (log_seq + 2) // 3)
        others = {number for finding, number in findings(history) if finding == "REMOVED"}
        assert others == set()


@pytest.mark.parametrize("log_seq", [1, 5, 12])
def test_a_removed_entry_is_named(history: World, log_seq: int) -> None:
    """By its number; what it was about is gone with it.

    Proves: T6
    """
    with tampering(history):
        history.admin.execute("DELETE FROM memwarden_data.log WHERE log_seq = %s", (log_seq,))
        assert ("REMOVED", log_seq) in findings(history)
        assert {row["finding"] for row in verify(history)} <= {
            "REMOVED",
            "OUT_OF_PLACE",
            "VERSION_UNLOGGED",
            "HEAD_UNEXPLAINED",
        }


@pytest.mark.parametrize("number", [14, -1, 5], ids=["new number", "old number", "a number twice"])
def test_an_inserted_entry_is_named(history: World, number: int) -> None:
    """A forged one among what is sealed: with a number of its own or with another's.

    Proves: T6
    """
    with tampering(history):
        history.admin.execute(
            "INSERT INTO memwarden_data.log OVERRIDING SYSTEM VALUE"
            " SELECT (jsonb_populate_record(l, jsonb_build_object('log_seq', %s::bigint,"
            "   'recorded_at', l.recorded_at + interval '1 ms', 'reason', 'forged'))).*"
            "   FROM memwarden_data.log AS l WHERE log_seq = 5",
            (number,),
        )
        # What it pretends to have done shows besides.
        besides = {"HEAD_UNEXPLAINED", "LIFETIME", "OUT_OF_PLACE"}
        found = [row for row in verify(history) if row["finding"] not in besides]
        assert [(row["finding"], row["log_seq"], row["segment_no"]) for row in found] == [
            ("INSERTED", number, 2)
        ]


@pytest.mark.parametrize(("one", "other"), [(4, 5), (1, 3), (2, 11)])
def test_entries_that_changed_places_are_named(history: World, one: int, other: int) -> None:
    """Within a segment and across segments: each is found under the other's number.

    Proves: T6
    """
    with tampering(history):
        history.admin.execute(
            "ALTER TABLE memwarden_data.log ALTER log_seq SET GENERATED BY DEFAULT"
        )
        history.admin.execute(
            "UPDATE memwarden_data.log SET log_seq = %(one)s + %(other)s - log_seq"
            " WHERE log_seq IN (%(one)s, %(other)s)",
            {"one": one, "other": other},
        )
        found = {row["log_seq"]: row for row in verify(history) if row["finding"] == "REORDERED"}
        assert found.keys() == {one, other}
        assert found[one]["detail"] == f"it stands under number {other}"
        assert found[one]["item_id"] == item_of(history, other)
        assert {f for f, _ in findings(history)} <= {"REORDERED", "HEAD_UNEXPLAINED"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("transaction_id = '9'", {("REMOVED", 8), ("INSERTED", 8)}),
        ("transaction_id = '9000000000'", {("REMOVED", 8)}),
        ("system_identifier = 5", {("REMOVED", 8)}),
    ],
)
def test_an_entry_that_left_its_segment_is_named(
    history: World, change: str, expected: set[Any]
) -> None:
    """It is there under its number, as an entry of another transaction.

    Proves: T6
    """
    with tampering(history):
        history.admin.execute(f"UPDATE memwarden_data.log SET {change} WHERE log_seq = 8")
        # Seen from the checkpoint, an entry that moved back before it is gone.
        assert {f for f in findings(history) if f[0] != "HEAD_UNEXPLAINED"} == expected
        (row,) = [row for row in verify(history) if row["finding"] == "REMOVED"]
        assert row["detail"].startswith("it is now an entry of transaction ")
        assert row["item_id"] == item_of(history, 8)


@pytest.mark.parametrize("number", [1, 3, 4])
@pytest.mark.parametrize("column", SEGMENT)
def test_a_changed_segment_is_named(history: World, column: str, number: int) -> None:
    """Whatever is stored of it.

    Proves: T6
    """
    with tampering(history):
        history.admin.execute(
            f"UPDATE memwarden_data.log_segment SET {column} = {SEGMENT[column]}"
            " WHERE segment_no = %s",
            (number,),
        )
        assert ("SEGMENT_CHANGED", number) in findings(history)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_removed_segment_is_named(history: World, number: int) -> None:
    """By its number.

    Proves: T6
    """
    with tampering(history):
        history.admin.execute(
            "DELETE FROM memwarden_data.log_segment WHERE segment_no = %s", (number,)
        )
        assert ("SEGMENT_REMOVED", number) in findings(history)


def cut_off(world: World) -> None:
    """Take the last segment away, and every trace of what it was about."""
    for statement in (
        "DELETE FROM memwarden_data.version WHERE version_id IN"
        " (SELECT version_id FROM memwarden_data.log WHERE log_seq > 10)",
        "DELETE FROM memwarden_data.item WHERE item_id IN"
        " (SELECT item_id FROM memwarden_data.log WHERE log_seq > 10)",
        "UPDATE memwarden_data.version SET status = 'ACTIVE',"
        " recorded_during = tstzrange(lower(recorded_during), NULL) WHERE status = 'RETRACTED'",
        "UPDATE memwarden_data.item SET status = 'ACTIVE' WHERE status = 'RETRACTED'",
        "DELETE FROM memwarden_data.log WHERE log_seq >= 10",
        "DELETE FROM memwarden_data.log_segment WHERE segment_no = 4",
    ):
        world.admin.execute(statement)


def test_an_end_that_was_cut_off_shows_against_an_exported_head(history: World) -> None:
    """And against nothing else: what remains is a whole log.

    Proves: T6
    """
    head = head_of(history)
    assert findings(history, head=head) == set()
    with tampering(history):
        earlier = history.value("SELECT memwarden_internal.signed_head(2)")
        cut_off(history)
        assert findings(history) == set()
        assert findings(history, head=earlier) == set()
        assert findings(history, head=head) == {("HEAD_MISMATCH", 4)}


def test_a_log_that_was_written_anew_shows_against_an_exported_head(history: World) -> None:
    """Even where the forger makes this server seal and sign it.

    Proves: T6
    """
    head = head_of(history)
    with tampering(history):
        for statement in (
            "UPDATE memwarden_data.log SET reason = 'another' WHERE log_seq = 5",
            "DELETE FROM memwarden_data.log_segment",
            "DELETE FROM memwarden_data.checkpoint",
            "DELETE FROM memwarden_data.checkpoint_head",
            "SELECT memwarden_internal.seal_next()",
        ):
            history.admin.execute(statement)
        assert findings(history) == set()
        assert findings(history, head=head) == {("HEAD_MISMATCH", 4)}
        forged = head_of(history)
    assert history.value("SELECT memwarden.verify_head(%s::jsonb)", _json(forged)) == "GENUINE"
    assert findings(history, head=forged) == {("HEAD_MISMATCH", 1)}


def test_a_head_that_this_server_never_signed_is_named(history: World) -> None:
    """Though its hash be right."""
    head = head_of(history) | {"entries": 999}
    assert findings(history, head=head) == {("HEAD_MISMATCH", 4)}
    assert history.value("SELECT memwarden.verify_head(%s::jsonb)", _json(head)) == "FORGED"


@pytest.mark.parametrize("column", ["signature = sha256('')", "total_entries = 99"])
def test_a_signature_that_does_not_hold_is_named(history: World, column: str) -> None:
    """Of whichever segment.

    Proves: T6
    """
    for number in (2, 4):
        with tampering(history):
            history.admin.execute(
                f"UPDATE memwarden_data.log_segment SET {column} WHERE segment_no = %s", (number,)
            )
            assert ("SIGNATURE", number) in findings(history)


@pytest.fixture
def other_key() -> Iterator[Path]:
    """A master key that this server has not signed with."""
    file = Path(deploy_server("shared"), f"{uuid.uuid4().hex}.key")
    file.write_text("5a" * 32)
    file.chmod(0o444)
    yield file
    file.unlink()


@pytest.fixture
def key_file(history: World) -> Iterator[Any]:
    """Changes where the server's process for the superuser's connection looks for its key."""
    admin = history.admin
    history.admin = history.connect()
    history.admin.execute(KEY_FILE)
    yield lambda path: history.admin.execute("SELECT pg_temp.key_file(%s)", (path,))
    history.admin = admin


def test_another_master_key_is_told_from_a_forgery(
    history: World, key_file: Any, other_key: Path
) -> None:
    """Until the next segment is sealed: its head stands for those before it.

    Proves: T6
    """
    head = head_of(history)
    key_file(str(other_key))
    with history.admin.transaction(force_rollback=True):
        assert findings(history, head=head) == {("OTHER_KEY", 1)}
        (row,) = verify(history)
        assert row["detail"].startswith("segments 1 to 4: signed under key ")
        query = "SELECT memwarden.verify_head(%s::jsonb)"
        assert history.value(query, _json(head)) == "OTHER_KEY"
        history.admin.execute("SELECT memwarden_internal.seal_next()")
        assert findings(history, head=head) == set()
    key_file(None)
    assert findings(history) == {("OTHER_KEY", 1)}
    assert verify(history)[0]["detail"].endswith(", while this server has none")


def test_segments_without_a_signature_are_named_where_there_was_one(
    history: World, key_file: Any
) -> None:
    """A server that lost its key seals on, unsigned, and status() says so.

    Proves: T6
    """
    with history.admin.transaction(force_rollback=True):
        key_file(None)
        history.admin.execute("SELECT memwarden_internal.seal_next()")
        (row,) = history.rows("SELECT * FROM memwarden.status() WHERE component = 'log seal'")
        assert row["detail"] == "segment 5, unsigned"
        head = head_of(history)
        assert (head["key_id"], head["signature"]) == (None, None)
        assert history.value("SELECT memwarden.verify_head(%s::jsonb)", _json(head)) == "UNSIGNED"
        assert findings(history) == {("SIGNATURE", 5), ("OTHER_KEY", 1)}


@pytest.mark.parametrize("log_seq", [1, 7, 13])
@pytest.mark.parametrize("column", VERSION)
def test_a_changed_version_is_named(history: World, column: str, log_seq: int) -> None:
    """With the entry that vouches for it: a past one, an ended one, one that is not sealed yet.

    Proves: T6, T1 (content is what was written)
    """
    with tampering(history):
        history.admin.execute(
            f"UPDATE memwarden_data.version SET {column} = {VERSION[column]} WHERE version_id ="
            " (SELECT version_id FROM memwarden_data.log WHERE log_seq = %s)",
            (log_seq,),
        )
        found = findings(history)
        assert ("SNAPSHOT", log_seq) in found
        named = {f for f, _ in found}
        assert named <= {"SNAPSHOT", "OUT_OF_PLACE", "VERSION_UNLOGGED"}


@pytest.mark.parametrize(
    ("log_seq", "change"), [(1, "later"), (1, "ended"), (7, "open"), (8, "ended"), (13, "ended")]
)
def test_a_version_that_was_current_for_another_time_is_named(
    history: World, log_seq: int, change: str
) -> None:
    """With the entry that brought it: what the store said at some moment cannot be altered either.

    Proves: T6, T3 (the past stays as it was)
    """
    with tampering(history):
        history.admin.execute(
            f"UPDATE memwarden_data.version SET {LIFETIMES[change]} WHERE version_id ="
            " (SELECT version_id FROM memwarden_data.log WHERE log_seq = %s)",
            (log_seq,),
        )
        assert findings(history) == {("LIFETIME", log_seq)}


def test_a_version_that_is_gone_is_named(history: World) -> None:
    """With every entry that vouches for it.

    Proves: T6
    """
    with tampering(history):
        history.admin.execute(
            "DELETE FROM memwarden_data.version WHERE version_id ="
            " (SELECT version_id FROM memwarden_data.log WHERE log_seq = 7)"
        )
        assert findings(history) == {("SNAPSHOT", 7), ("SNAPSHOT", 10)}


def test_a_version_that_no_entry_names_is_named(history: World) -> None:
    """Slipped in between those that the log knows.

    Proves: T6
    """
    with tampering(history):
        history.admin.execute(
            "INSERT INTO memwarden_data.version"
            " SELECT (jsonb_populate_record(v, jsonb_build_object('version_id', gen_random_uuid(),"
            "   'version', 9, 'recorded_during',"
            "   tstzrange(lower(v.recorded_during) + interval '1us', upper(v.recorded_during))))).*"
            " FROM memwarden_data.version AS v WHERE version = 2"
        )
        assert findings(history) == {("VERSION_UNLOGGED", item_of(history, 1))}


def test_a_second_copy_of_a_version_is_named(history: World) -> None:
    """The same in another tier, where no key keeps it out.

    Proves: T6, T7
    """
    with tampering(history):
        history.admin.execute(
            "INSERT INTO memwarden_data.version"
            " SELECT (jsonb_populate_record(v, jsonb_build_object('tier', 'cold'))).*"
            " FROM memwarden_data.version AS v WHERE version = 2"
        )
        assert findings(history) == {("VERSION_UNLOGGED", item_of(history, 1))}


@pytest.mark.parametrize(
    ("log_seq", "change"),
    [
        (10, {}),
        (11, {"scope_id": 0}),
        (11, {"operation": "RETRACT", "previous_version_id": str(uuid.uuid4())}),
        (11, {"operation": "RESTORE"}),
        (1, {"operation": "RETRACT"}),
    ],
    ids=["ended twice", "elsewhere", "ended in one and begun", "never ended", "long over"],
)
def test_an_entry_that_cannot_follow_is_named(
    history: World, log_seq: int, change: dict[str, Any]
) -> None:
    """Appended just now, with the right hash, it would be sealed like any other.

    Proves: T6, T2
    """
    with tampering(history):
        history.admin.execute(
            "INSERT INTO memwarden_data.log OVERRIDING SYSTEM VALUE"
            " SELECT (jsonb_populate_record(l, jsonb_build_object('log_seq', 99, 'recorded_at',"
            "  now(), 'transaction_id', pg_current_xact_id()) || %s)).*"
            " FROM memwarden_data.log AS l WHERE log_seq = %s",
            (Jsonb(change), log_seq),
        )
        assert ("OUT_OF_PLACE", 99) in findings(history)


@pytest.mark.parametrize(
    ("statement", "log_seq"),
    [
        ("UPDATE memwarden_data.item SET status = 'ACTIVE' WHERE status = 'RETRACTED'", 10),
        (
            "UPDATE memwarden_data.item SET version_id ="
            " (SELECT version_id FROM memwarden_data.log WHERE log_seq = 4)"
            " WHERE status = 'RETRACTED'",
            10,
        ),
        (
            "UPDATE memwarden_data.item SET status = 'EXPIRED' WHERE item_id ="
            " (SELECT item_id FROM memwarden_data.log WHERE log_seq = 5)",
            5,
        ),
        (
            "DELETE FROM memwarden_data.item WHERE item_id ="
            " (SELECT item_id FROM memwarden_data.log WHERE log_seq = 13)",
            13,
        ),
    ],
    ids=["brought back", "an older version", "ended before the checkpoint", "deleted"],
)
def test_a_head_that_the_log_does_not_explain_is_named(
    history: World, statement: str, log_seq: int
) -> None:
    """With the entry that explains what it should be: before the checkpoint, after it, unsealed.

    Proves: T6, T7
    """
    with tampering(history):
        history.admin.execute(statement)
        assert findings(history) == {("HEAD_UNEXPLAINED", log_seq)}


def test_an_item_that_the_log_does_not_know_is_named(history: World) -> None:
    """Slipped in without an entry.

    Proves: T6, T7
    """
    with tampering(history):
        (row,) = history.rows(
            "INSERT INTO memwarden_data.item SELECT (jsonb_populate_record(i,"
            " jsonb_build_object('item_id', gen_random_uuid()))).*"
            " FROM memwarden_data.item AS i LIMIT 1 RETURNING item_id"
        )
        assert findings(history) == {("HEAD_UNEXPLAINED", row["item_id"])}


@pytest.mark.parametrize("column", CHECKPOINT)
def test_a_changed_checkpoint_is_named(history: World, column: str) -> None:
    """Whatever is stored of it.

    Proves: T6
    """
    with tampering(history):
        history.admin.execute(
            f"UPDATE memwarden_data.checkpoint SET {column} = {CHECKPOINT[column]}"
        )
        assert "CHECKPOINT_CHANGED" in {finding for finding, _ in findings(history)}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memwarden_data.checkpoint_head SET {} WHERE log_seq = 5",
        "DELETE FROM memwarden_data.checkpoint_head WHERE log_seq = 5",
    ],
)
@pytest.mark.parametrize(
    "change",
    [
        "status = 'EXPIRED'",
        "version_id = gen_random_uuid()",
        "log_seq = 6",
        "org_id = org_id + 1",
        "item_id = gen_random_uuid()",
    ],
)
def test_a_changed_head_of_a_checkpoint_is_named(
    history: World, statement: str, change: str
) -> None:
    """And does not vouch for an item that was changed alike.

    Proves: T6
    """
    with tampering(history):
        history.admin.execute(statement.format(change))
        assert ("CHECKPOINT_CHANGED", 2) in findings(history)


def test_what_was_verified_before_need_not_be_again(history: World) -> None:
    """From a segment on; the number is that of a segment, or of the next."""
    with tampering(history):
        history.admin.execute("UPDATE memwarden_data.log SET reason = 'x' WHERE log_seq IN (2, 8)")
        assert findings(history) == {("CHANGED", 2), ("CHANGED", 8)}
        assert findings(history, since=3) == {("CHANGED", 8)}
        assert findings(history, since=5) == set()
    for since in (0, 6):
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            verify(history, since=since)


@pytest.mark.parametrize(
    "head", [1, "x", [], {}, {"segment": 1}, {"segment": "1", "head": "00"}, {"segment": -1}]
)
def test_what_is_no_head_is_refused(history: World, head: Any) -> None:
    """22023, by both functions that take one."""
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        verify(history, head=head)
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        history.admin.execute("SELECT memwarden.verify_head(%s::jsonb)", (_json(head),))


def test_nothing_was_left_behind(history: World) -> None:
    """The tests above took back what they did."""
    assert verify(history) == []
    assert log_seqs(history) == [*range(1, 14)]


def _json(value: Any) -> Any:
    return psycopg.types.json.Jsonb(value)
