"""verify_log() is silent about what was lawfully erased, and tells a theft from it.

Each test changes one thing with triggers switched off, looks, and takes it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from conftest import World
from history.sealing.sealed import KEY_FILE, tampering
from operations.erasure.conftest import Desk, remember


@dataclass
class After:
    """A store after a lawful erasure, sealed, and what is left in it."""

    desk: Desk
    world: World
    erasure: UUID
    gone: UUID
    kept: UUID
    log_seq: int
    head: object

    def found(self) -> set[tuple[str, UUID | None]]:
        """Each finding, with the item that it names."""
        return {(row["finding"], row["item_id"]) for row in self.desk.findings()}


@pytest.fixture(scope="module")
def after(shared_world: World) -> Iterator[After]:
    """One item is erased, one stays; a reason of it that named the person is blank."""
    desk = Desk(shared_world)
    agent = desk.agent()
    gone = remember(agent, "tea", subject="Ana", predicate="prefers")
    remember(agent, "coffee", subject="Ana", predicate="prefers")
    kept = remember(agent, "the kettle is blue")
    agent.execute("SELECT memwarden.expire(%s, 'asked for by Ana')", (kept,))
    desk.seal()
    head = shared_world.value("SELECT memwarden.log_head()")
    erasure = desk.erase("Ana", "ana")["erasure_id"]
    desk.seal()
    log_seq = shared_world.value(
        "SELECT log_seq FROM memwarden_data.log WHERE item_id = %s AND operation = 'EXPIRE'", kept
    )
    assert desk.findings() == []
    yield After(desk, shared_world, erasure, gone, kept, log_seq, head)
    assert desk.findings() == []


def test_an_erasure_breaks_no_head_that_was_exported_before(after: After) -> None:
    """The chain is what it was: segments, entries, and a head that was kept elsewhere.

    Proves: T6 (legal erasure does not break the chain)
    """
    found = after.world.rows("SELECT * FROM memwarden.verify_log(head => %s)", Jsonb(after.head))
    assert found == []


def test_a_version_that_was_stolen_is_told(after: After) -> None:
    """Deleted with all that hangs on it, and no erasure recorded.

    Proves: T6
    """
    with tampering(after.world):
        for table in ("item", "version", "embedding", "timeline"):
            after.world.admin.execute(
                f"DELETE FROM memwarden_data.{table} WHERE item_id = %s", (after.kept,)
            )
        assert after.found() == {("SNAPSHOT", after.kept), ("HEAD_UNEXPLAINED", after.kept)}


FORGED_ITEM = (
    "INSERT INTO memwarden_data.erased_item"
    " SELECT org_id, item_id, %(erasure)s, array_agg(version_id), {signed}"
    "   FROM memwarden_data.version WHERE item_id = %(item)s GROUP BY org_id, item_id"
)
FORGED_ENTRY = (
    "INSERT INTO memwarden_data.log (recorded_at, transaction_id, system_identifier, org_id,"
    " operation, item_id, version_id, scope_id, layer, principal_id, request_id, reason,"
    " snapshot_hash) SELECT clock_timestamp(), pg_current_xact_id(), system_identifier, l.org_id,"
    " 'ERASE', l.item_id, l.version_id, scope_id, layer, principal_id, r.erasure_id, 'erased',"
    " memwarden_internal.statement_hash(memwarden_internal.erased_item_statement("
    "     r.org_id, r.item_id, r.erasure_id, r.version_ids, r.key_id))"
    "  FROM memwarden_data.log AS l JOIN memwarden_data.erased_item AS r USING (org_id, item_id)"
    " WHERE l.item_id = %(item)s ORDER BY log_seq DESC LIMIT 1"
)
FORGED_ERASURE = (
    "INSERT INTO memwarden_data.erasure SELECT (jsonb_populate_record(e, jsonb_build_object("
    "    'erasure_id', %(forged)s::text))).* FROM memwarden_data.erasure AS e"
    " WHERE erasure_id = %(erasure)s"
)
SIGNED = {
    "unsigned": "NULL, NULL",
    "signed at random": "memwarden_internal.log_key_id(), sha256('')",
    "under another key": "'0000000000000000', sha256('')",
}


@pytest.mark.parametrize("signed", SIGNED)
@pytest.mark.parametrize("entry", [False, True])
def test_a_forged_record_covers_no_theft(after: After, signed: str, entry: bool) -> None:
    """Under a real erasure, with or without the entry in the log; also what claims another key.

    Proves: T6
    """
    values = {"erasure": after.erasure, "item": after.kept}
    with tampering(after.world):
        after.world.admin.execute(FORGED_ITEM.format(signed=SIGNED[signed]), values)
        if entry:
            after.world.admin.execute(FORGED_ENTRY, values)
        for table in ("item", "version"):
            after.world.admin.execute(
                f"DELETE FROM memwarden_data.{table} WHERE item_id = %(item)s", values
            )
        found = after.found()
        assert {("SNAPSHOT", after.kept), ("ERASURE", after.kept)} <= found
        assert {item for _, item in found} == {after.kept}


def test_a_forged_erasure_is_named(after: After) -> None:
    """A copy of a real certificate under another number; a changed one; one that is gone.

    Proves: T6
    """
    values = {"erasure": after.erasure, "forged": uuid4(), "item": after.kept}
    with tampering(after.world):
        after.world.admin.execute(FORGED_ERASURE, values)
        assert after.found() == {("ERASURE", None)}
    for change in ("items = items + 1", "reason = 'another'", "subject_hash = sha256('')"):
        with tampering(after.world):
            after.world.admin.execute(
                f"UPDATE memwarden_data.erasure SET {change} WHERE erasure_id = %(erasure)s", values
            )
            assert ("ERASURE", None) in after.found()
            assert ("SNAPSHOT", after.gone) in after.found()
    with tampering(after.world):
        after.world.admin.execute("DELETE FROM memwarden_data.erasure")
        assert {("ERASURE", after.gone), ("SNAPSHOT", after.gone)} <= after.found()
    with tampering(after.world):
        after.world.admin.execute("DELETE FROM memwarden_data.erased_item")
        assert {("ERASURE", after.gone), ("SNAPSHOT", after.gone)} <= after.found()


def test_an_erased_item_with_other_versions_is_told(after: After) -> None:
    """A record does not cover a version that it did not sign for.

    Proves: T6
    """
    with tampering(after.world):
        after.world.admin.execute(
            "UPDATE memwarden_data.erased_item SET version_ids = version_ids[:1]"
            " WHERE item_id = %s",
            (after.gone,),
        )
        assert {("ERASURE", after.gone), ("SNAPSHOT", after.gone)} <= after.found()


def test_what_was_erased_and_is_there_again_is_told(after: After) -> None:
    """A row put back from a backup by hand.

    Proves: T6
    """
    with tampering(after.world):
        after.world.admin.execute(
            "INSERT INTO memwarden_data.version SELECT (jsonb_populate_record(v,"
            " jsonb_build_object('item_id', %s::text, 'version_id', l.version_id))).*"
            "  FROM memwarden_data.version AS v, memwarden_data.log AS l"
            " WHERE v.item_id = %s AND l.item_id = %s AND l.operation = 'INSERT'",
            (after.gone, after.kept, after.gone),
        )
        assert ("ERASURE", after.gone) in after.found()


def test_a_reason_that_was_taken_away_is_told(after: After) -> None:
    """By hand, of another entry; one that was lawfully blank and says something now.

    Proves: T6
    """
    blank = "reason = '', reason_hash = sha256(convert_to(reason, 'UTF8'))"
    for change, where, finding in (
        (blank, "operation = 'INSERT'", "ERASURE"),
        ("reason = ''", "operation = 'INSERT'", "CHANGED"),
        ("reason_hash = sha256('')", "operation = 'EXPIRE'", "CHANGED"),
        ("reason_hash = NULL", "operation = 'EXPIRE'", "CHANGED"),
    ):
        with tampering(after.world):
            after.world.admin.execute(
                f"UPDATE memwarden_data.log SET {change} WHERE item_id = %s AND {where}",
                (after.kept,),
            )
            assert after.found() == {(finding, after.kept)}, (change, where)
    with tampering(after.world):
        after.world.admin.execute("DELETE FROM memwarden_data.erased_reason")
        assert after.found() == {("ERASURE", after.kept)}


def test_the_owner_of_the_tables_finds_history_closed(after: After) -> None:
    """Nothing is deleted without an erasure, nor in the transaction of one what it does not name.

    Proves: T1 (append-only), T6, N8 (no hard deletion but by erasure)
    """
    with after.world.connect() as owner:
        owner.execute("SET ROLE memwarden_owner")
        for table in ("version", "timeline", "derivation", "erased_item", "erased_reason"):
            with pytest.raises(psycopg.errors.ObjectInUse):
                owner.execute(f"DELETE FROM memwarden_data.{table}")
        with pytest.raises(psycopg.errors.ObjectInUse):
            owner.execute("UPDATE memwarden_data.log SET reason = ''")
        with owner.transaction(force_rollback=True):
            owner.execute(
                "SELECT * FROM memwarden_internal.record_erasure(1, %s, now(), 'x', NULL,"
                " ROW('{}', '{}', '{}', '{}', 0, 0, '{}', '{}')"
                "::memwarden_internal.erasure_extent)",
                (uuid4(),),
            )
            stolen = "DELETE FROM memwarden_data.version WHERE item_id = %s"
            with pytest.raises(psycopg.errors.ObjectInUse):
                owner.execute(stolen, (after.kept,))
        for column in ("items = 0", "subject_hash = NULL", "reason = 'x'", "erased_at = now()"):
            with pytest.raises(psycopg.errors.ObjectInUse):
                owner.execute(f"UPDATE memwarden_data.erasure SET {column}")


def test_a_setting_opens_nothing(after: After) -> None:
    """No caller can say that it erases.

    Proves: Z1
    """
    with after.world.connect() as owner:
        owner.execute("SET ROLE memwarden_owner")
        owner.execute("SELECT set_config('memwarden.erasing', 'on', false)")
        with pytest.raises(psycopg.errors.ObjectInUse):
            owner.execute("DELETE FROM memwarden_data.version WHERE item_id = %s", (after.kept,))


def test_without_a_master_key_the_sealed_log_tells(world: World) -> None:
    """An erasure is unsigned and no finding, a theft is one; a later key changes neither.

    Proves: T6
    """
    desk = Desk(world)
    agent = desk.agent()
    gone = remember(agent, "tea", subject="Ana", predicate="likes")
    stolen = remember(agent, "the kettle is blue")
    world.admin.execute(KEY_FILE)
    (path,) = world.rows("SELECT setting AS key FROM pg_settings WHERE name = 'data_directory'")
    world.admin.execute("SELECT pg_temp.key_file(NULL)")
    done = desk.erase("Ana")
    assert done["subject_hash"] is None
    desk.seal()
    assert desk.findings() == []
    with tampering(world):
        world.admin.execute("DELETE FROM memwarden_data.version WHERE item_id = %s", (stolen,))
        assert ("SNAPSHOT", stolen) in {(r["finding"], r["item_id"]) for r in desk.findings()}
    with tampering(world):
        world.admin.execute("DELETE FROM memwarden_data.erased_item")
        assert {("SNAPSHOT", gone), ("ERASURE", gone)} <= {
            (r["finding"], r["item_id"]) for r in desk.findings()
        }
    key = path["key"].removesuffix("/data") + "/master.key"
    world.admin.execute("SELECT pg_temp.key_file(%s)", (key,))
    remember(agent, "later")
    desk.seal()
    assert desk.findings() == []
