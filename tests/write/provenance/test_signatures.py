"""A record that was altered is found, and which; keys change, and what they signed stays valid."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import psycopg
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import write

TAMPERINGS = {
    "adjusted_confidence": "record = record || '{\"adjusted_confidence\": 1}'",
    "source_agent": 'record = record || \'{"source_agent": "somebody"}\'',
    "evidence": 'record = record || \'{"evidence": [{"type": "document"}]}\'',
    "approval": 'record = record || \'{"approval_state": "APPROVED"}\'',
    "a field more": "record = record || '{\"note\": 1}'",
    "a field less": "record = record - 'evidence'",
    "a column": "adjusted_confidence = 1",
    "a column less": "request_id = NULL",
    "another content": "content_hash = sha256('')",
    "digits of a number": "authority = authority * 1.0",
    "without its mark": "record = record - 'place'",
    "a place of its own": "record = record || '{\"provenance_id\": 1}'",
    "signature": "signature = sha256('')",
}
MOVES = {
    "recorded_at": "recorded_at = recorded_at + interval '1 microsecond'",
    "event": "event = 'APPROVAL'",
    "item_id": "item_id = '00000000-0000-7000-8000-000000000000'",
    "provenance_id": "provenance_id = '00000000-0000-7000-8000-000000000000'",
}


@pytest.fixture(scope="module")
def signed(shared_world: World) -> World:
    """A world with three memories."""
    agent = shared_world.agent()
    for number in range(3):
        write(agent, "episodic", f"what happened {number}")
    return shared_world


@contextmanager
def tampering(world: World) -> Iterator[None]:
    """As a superuser for whom no trigger fires; afterwards nothing has happened."""
    with world.admin.transaction(force_rollback=True):
        world.admin.execute("SET LOCAL session_replication_role = replica")
        yield


def some_record(world: World) -> DictRow:
    """One of the stored records."""
    return world.rows("SELECT * FROM memwarden_data.provenance ORDER BY provenance_id LIMIT 1")[0]


def findings(world: World) -> set[tuple[str, Any]]:
    """What verify_provenance() finds, with the version concerned."""
    rows = world.rows("SELECT * FROM memwarden.verify_provenance()")
    return {(row["finding"], row["version_id"]) for row in rows}


def test_the_signature_is_an_hmac_over_the_canonical_record(signed: World) -> None:
    """Computed here by other means: HKDF, AES-GCM and HMAC-SHA256.

    Proves: P4
    """
    row = signed.rows(
        "SELECT p.record::text AS text, p.signature, k.wrapped"
        "  FROM memwarden_data.whole_provenance AS p"
        "  JOIN memwarden_data.signing_key AS k USING (key_id) LIMIT 1"
    )[0]
    signed.admin.execute(
        "CREATE OR REPLACE FUNCTION pg_temp.key_file() RETURNS text LANGUAGE plpython3u AS $$\n"
        "import os\nreturn os.environ['MEMWARDEN_MASTER_KEY_FILE']$$"
    )
    path = str(signed.value("SELECT pg_temp.key_file()"))
    master = bytes.fromhex(str(signed.value("SELECT pg_read_file(%s)", path)).strip())
    extracted = hmac.digest(b"memwarden", master, "sha256")
    wrapping = hmac.digest(extracted, b"wrapping keys\x01", "sha256")
    key = AESGCM(wrapping).decrypt(row["wrapped"][:12], row["wrapped"][12:], None)
    document = b"provenance\x00" + row["text"].encode()
    assert hmac.digest(key, document, "sha256") == row["signature"]


def test_untouched_records_are_intact(signed: World) -> None:
    """Proves: P4."""
    assert findings(signed) == set()


@pytest.mark.parametrize("change", TAMPERINGS.values(), ids=TAMPERINGS.keys())
def test_an_altered_record_is_named(signed: World, change: str) -> None:
    """Whatever of it was altered, and no other record is accused.

    Proves: P4
    """
    target = some_record(signed)["version_id"]
    with tampering(signed):
        signed.admin.execute(
            f"UPDATE memwarden_data.provenance SET {change} WHERE version_id = %s", (target,)
        )
        found = findings(signed) - {("HEAD", target)}
    assert found == {("ALTERED", target)}


@pytest.mark.parametrize("change", MOVES.values(), ids=MOVES.keys())
def test_a_record_moved_to_another_place_is_named(signed: World, change: str) -> None:
    """The columns beside it must say what was signed.

    Proves: P4
    """
    target = some_record(signed)["version_id"]
    with tampering(signed):
        signed.admin.execute(
            f"UPDATE memwarden_data.provenance SET {change} WHERE version_id = %s", (target,)
        )
        found = findings(signed)
    assert ("MISPLACED", target) in found
    assert {version for _, version in found} == {target}


def test_records_that_changed_places_are_named(signed: World) -> None:
    """Each is validly signed, for the other version.

    Proves: P4
    """
    one, other = signed.rows("SELECT * FROM memwarden_data.provenance ORDER BY 1, 5 LIMIT 2")
    with tampering(signed):
        for row, place in ((one, other), (other, one)):
            signed.admin.execute(
                "UPDATE memwarden_data.provenance SET record = %s::jsonb, signature = %s "
                "WHERE provenance_id = %s",
                (psycopg.types.json.Jsonb(row["record"]), row["signature"], place["provenance_id"]),
            )
        found = findings(signed)
    assert found == {("MISPLACED", one["version_id"]), ("MISPLACED", other["version_id"])}


def test_a_record_that_is_gone_or_unsigned_is_named(signed: World) -> None:
    """Proves: P4."""
    target = some_record(signed)["version_id"]
    where = "WHERE version_id = %s"
    with tampering(signed):
        signed.admin.execute(f"DELETE FROM memwarden_data.provenance {where}", (target,))
        assert findings(signed) == {("MISSING", target)}
    with tampering(signed):
        signed.admin.execute(
            f"UPDATE memwarden_data.provenance SET signature = NULL, key_id = NULL {where}",
            (target,),
        )
        assert findings(signed) == {("UNSIGNED", target)}


def test_a_key_that_was_put_in_place_of_another_is_told(signed: World) -> None:
    """Records it never signed do not verify under it.

    Proves: P4
    """
    versions = {row["version_id"] for row in signed.rows("SELECT * FROM memwarden_data.provenance")}
    with tampering(signed):
        signed.admin.execute(
            "UPDATE memwarden_data.signing_key SET wrapped = memwarden_internal.new_wrapped_key()"
        )
        assert findings(signed) == {("ALTERED", version) for version in versions}
    with tampering(signed):
        signed.admin.execute("DELETE FROM memwarden_data.signing_key")
        assert findings(signed) == {("UNKNOWN_KEY", version) for version in versions}


def test_a_head_worth_more_than_its_record_is_named(signed: World) -> None:
    """Recall ranks by the item: it must say what was signed.

    Proves: P4
    """
    target = some_record(signed)["version_id"]
    with tampering(signed):
        signed.admin.execute(
            "UPDATE memwarden_data.item SET authority = 1 WHERE version_id = %s", (target,)
        )
        assert findings(signed) == {("HEAD", target)}


def test_nobody_but_a_superuser_changes_a_record(signed: World) -> None:
    """The owner of the table included.

    Proves: P1
    """
    with signed.admin.transaction(force_rollback=True):
        signed.admin.execute("SET LOCAL ROLE memwarden_owner")
        with (
            pytest.raises(psycopg.errors.ObjectInUse),
            signed.admin.transaction(),
        ):
            signed.admin.execute("UPDATE memwarden_data.provenance SET recorded_at = now()")
        with (
            pytest.raises(psycopg.errors.ObjectInUse),
            signed.admin.transaction(),
        ):
            signed.admin.execute("DELETE FROM memwarden_data.provenance")


def test_a_new_key_signs_and_old_signatures_stay_valid(world: World) -> None:
    """Proves: P4."""
    agent = world.agent()
    first = write(agent, "episodic", "under the first key")
    number = world.value("SELECT memwarden.rotate_signing_key()")
    second = write(agent, "episodic", "under the second key")
    keys = {
        row["version_id"]: row["key_id"]
        for row in world.rows("SELECT version_id, key_id FROM memwarden_data.provenance")
    }
    assert keys[second["version_id"]] == number != keys[first["version_id"]]
    assert findings(world) == set()


def test_maintenance_replaces_a_key_of_ninety_days_only(world: World) -> None:
    """Proves: P4."""
    count = "SELECT count(*) FROM memwarden_data.signing_key"
    world.admin.execute("SELECT memwarden.maintain()")
    assert world.value(count) == 1
    world.admin.execute(
        "UPDATE memwarden_data.signing_key SET created_at = created_at - interval '91 days'"
    )
    world.admin.execute("SELECT memwarden.maintain()")
    world.admin.execute("SELECT memwarden.maintain()")
    assert world.value(count) == 2
    assert world.value(f"{count} WHERE retired_at IS NULL") == 1


def test_keys_that_change_while_agents_write_leave_every_record_valid(world: World) -> None:
    """Four writers beside two who rotate; one key signs in the end.

    Proves: P4
    """
    agents = [world.agent() for _ in range(4)]
    admins = [world.connect() for _ in range(2)]
    failures: list[BaseException] = []

    def run(connection: Connection[DictRow], rotates: bool) -> None:
        # A name, and no address of memory: some of those are valid national ids.
        name = connection.info.user.translate(str.maketrans("0123456789", "ghijklmnop"))
        try:
            for number in range(15):
                if rotates:
                    connection.execute("SELECT memwarden.rotate_signing_key()")
                else:
                    row = write(connection, "episodic", f"{name} saw {number}")
                    assert row["outcome"] == "COMMITTED", row
        except BaseException as error:
            failures.append(error)

    threads = [Thread(target=run, args=(agent, False)) for agent in agents]
    threads += [Thread(target=run, args=(admin, True)) for admin in admins]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert findings(world) == set()
    assert (
        world.value("SELECT count(*) FROM memwarden_data.signing_key WHERE retired_at IS NULL") == 1
    )


def test_ordinary_roles_reach_neither_keys_nor_the_sweep(shared_world: World) -> None:
    """Proves: P4."""
    for group in ("memwarden_agent", "memwarden_reviewer", "memwarden_curator", "memwarden_worker"):
        role = shared_world.connect(shared_world.role(group))
        for call in (
            "SELECT wrapped FROM memwarden_data.signing_key",
            "SELECT memwarden.rotate_signing_key()",
            "SELECT * FROM memwarden.verify_provenance()",
            "SELECT memwarden_internal.new_wrapped_key()",
            "SELECT memwarden_internal.sign_text('', '', '')",
            "SELECT memwarden_internal.is_signed('', '', '', '')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                role.execute(call)


def test_another_master_key_is_told_from_a_forgery(signed: World) -> None:
    """Proves: P4."""
    versions = {row["version_id"] for row in signed.rows("SELECT * FROM memwarden_data.provenance")}
    with tampering(signed):
        # A key that some other master key wrapped.
        signed.admin.execute(
            "UPDATE memwarden_data.signing_key SET wrapped = decode(repeat('00', 60), 'hex')"
        )
        assert findings(signed) == {("OTHER_KEY", version) for version in versions}


def test_a_store_restored_under_another_master_key_signs_anew(world: World) -> None:
    """Writes go on under a key of this server; what came along is told apart, not accused.

    Proves: P4, T8
    """
    agent = world.agent()
    old = write(agent, "episodic", "before the move")
    # What a key looks like that some other master key wrapped.
    world.admin.execute(
        "UPDATE memwarden_data.signing_key SET wrapped = decode(repeat('00', 60), 'hex')"
    )
    new = write(agent, "episodic", "after the move")
    assert new["outcome"] == "COMMITTED"
    assert findings(world) == {("OTHER_KEY", old["version_id"])}
    assert (
        world.value("SELECT count(*) FROM memwarden_data.signing_key WHERE retired_at IS NULL") == 1
    )
