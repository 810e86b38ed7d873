"""What was erased after a backup is erased again in a restored copy, by a list of numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from conftest import World, deploy_server
from helpers import write
from history.sealing.sealed import KEY_FILE
from operations.erasure.conftest import Desk, cites, holding, remember


@pytest.fixture
def original(fresh_world: World) -> Iterator[World]:
    """A world of which copies are made: its connection is another after each."""
    yield fresh_world
    fresh_world.close()
    fresh_world.roles.clear()
    fresh_world.admin.close()


def copy_of(world: World) -> World:
    """The database as it is now, under another name: what a backup restores."""
    name, dsn = world.admin.info.dbname, world.dsn
    copy = f"{name}_{uuid4().hex[:6]}"
    world.disconnect()
    world.admin.close()
    with psycopg.connect(dsn, dbname="postgres", autocommit=True) as server:
        server.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                sql.Identifier(copy), sql.Identifier(name)
            )
        )
    world.admin = psycopg.connect(dsn, autocommit=True, row_factory=dict_row)
    return World(psycopg.connect(dsn, dbname=copy))


def drop(copy: World) -> None:
    """Drop a copy."""
    name, dsn = copy.admin.info.dbname, copy.dsn
    copy.disconnect()
    copy.admin.close()
    with psycopg.connect(dsn, dbname="postgres", autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def test_an_older_copy_is_erased_by_the_list(original: World) -> None:
    """Items, what was derived from them only there, requests that still wait; and nothing else.

    Proves: T8 (a subject erased after the backup stays erased after a restore)
    """
    world = original
    desk = Desk(world)
    role = world.register(desk.home, role="curator")
    agent = world.connect(role)
    basis = remember(agent, "zzqtea", subject="Ana", predicate="prefers")
    remember(agent, "hot drinks sell", evidence=cites(basis))
    kept = remember(agent, "the kettle is blue")
    agent.execute("SELECT memwarden.expire(%s, 'zzq wants it')", (kept,))
    with world.connect().transaction() as held:
        held.connection.execute("SELECT FROM memwarden_data.write_lock FOR UPDATE")
        agent.execute("SET lock_timeout = '1ms'")
        assert write(agent, "semantic", "zzq waits")["outcome"] == "DEFERRED"
    desk.seal()
    copy = copy_of(world)
    try:
        agent = world.connect(role)
        # Committed after the backup: the list knows its request, and the copy has that waiting.
        world.admin.execute(
            "UPDATE memwarden_data.write_request SET retry_at = now() WHERE outcome = 'DEFERRED'"
        )
        world.admin.execute("CALL memwarden.retry_deferred()")
        remember(agent, "zzqcoffee", subject="Ana", predicate="prefers")
        done = desk.erase("Ana", "zzq")
        assert (done["items"], done["versions"]) == (3, 4)
        erasures = desk.export()
        assert "zzq" not in json.dumps(erasures)
        assert "asked for" not in json.dumps(erasures)
        assert desk.findings() == []

        old = Desk(copy, desk.org)
        late = remember(copy.connect(role), "tea sells", evidence=cites(basis))
        assert holding(copy, "zzq") != set()
        (applied,) = old.apply(erasures)
        assert (applied["erasure_id"], applied["signature"]) == (done["erasure_id"], "GENUINE")
        assert applied["items"] == 3
        assert holding(copy, "zzq") == set()
        remaining = copy.rows("SELECT item_id FROM memwarden_data.item")
        assert {row["item_id"] for row in remaining} == {kept}
        assert late != kept
        assert old.findings() == []
        assert old.rebuild() == {"item": 0, "timeline": 0, "embedding": 0}
        copy.admin.execute("UPDATE memwarden_data.write_request SET retry_at = now()")
        copy.admin.execute("CALL memwarden.retry_deferred()")
        assert copy.value("SELECT count(*) FROM memwarden_data.item") == 1
        old.seal()
        assert old.findings() == []
        assert {row["items"] for row in old.apply(erasures)} == {0}
        assert old.findings() == []
        remember(copy.connect(role), "life goes on")
        old.seal()
        assert old.findings() == []
    finally:
        drop(copy)


def test_an_altered_list_is_refused(desk: Desk) -> None:
    """One entry more, one less of an item, another key; as a whole, before anything is erased.

    Proves: T8 (erasures after a restore), Z1
    """
    agent = desk.agent()
    kept = remember(agent, "the kettle is blue")
    remember(agent, "tea", subject="Ana", predicate="prefers")
    desk.erase("Ana")
    erasures = [e for e in desk.export() if e["items"]]
    forged = json.loads(json.dumps(erasures))
    forged[-1]["items"][0]["item_id"] = str(kept)
    for bad, error in (
        (forged, psycopg.errors.ObjectNotInPrerequisiteState),
        ([{**erasures[-1], "key_id": "00"}], psycopg.errors.ObjectNotInPrerequisiteState),
        (
            [{**erasures[-1], "key_id": None, "signature": None}],
            psycopg.errors.ObjectNotInPrerequisiteState,
        ),
        ([{}], psycopg.errors.InvalidParameterValue),
        ({}, psycopg.errors.InvalidParameterValue),
        (None, psycopg.errors.InvalidParameterValue),
    ):
        with pytest.raises(error):
            desk.apply(bad)
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        desk.apply(forged, trust=True)
    assert (
        desk.world.value("SELECT count(*) FROM memwarden_data.item WHERE item_id = %s", kept) == 1
    )
    assert {row["items"] for row in desk.apply(desk.export())} == {0}
    assert desk.findings() == []


def test_a_list_of_another_master_key_takes_trust(world: World) -> None:
    """It is signed anew, so that the log of this server vouches for it.

    Proves: T8 (into another cluster)
    """
    desk = Desk(world)
    remember(desk.agent(), "tea", subject="Ana", predicate="prefers")
    with world.admin.transaction(force_rollback=True):
        desk.erase("Ana")
        erasures = desk.export()
    other = Path(deploy_server("shared"), f"key-{uuid4().hex}")
    other.write_text("cd" * 32)
    other.chmod(0o644)
    world.admin.execute(KEY_FILE)
    world.admin.execute("SELECT pg_temp.key_file(%s)", (str(other),))
    try:
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
            desk.apply(erasures)
        (applied,) = desk.apply(erasures, trust=True)
        assert (applied["signature"], applied["items"]) == ("OTHER_KEY", 1)
        assert desk.findings() == []
        assert desk.apply(desk.export())[0]["signature"] == "GENUINE"
        desk.seal()
        assert desk.findings() == []
        world.admin.execute("SELECT pg_temp.key_file(NULL)")
        assert {row["finding"] for row in desk.findings()} == {"OTHER_KEY"}
    finally:
        other.unlink()


def test_since_narrows_the_list(desk: Desk) -> None:
    """To erasures from a moment on."""
    agent = desk.agent()
    remember(agent, "tea", subject="Ana")
    remember(agent, "milk", subject="Bob")
    desk.erase("Ana")
    moment = desk.world.value("SELECT clock_timestamp()")
    done = desk.erase("Bob")
    listed = desk.world.value("SELECT memwarden.export_erasures(%s)", moment)
    assert [entry["certificate"]["erasure"] for entry in listed] == [str(done["erasure_id"])]


@pytest.mark.every_version
def test_status_asks_for_the_list_after_a_restore(world: World) -> None:
    """Where cluster or timeline are others than those that are noted, until a list was applied.

    Proves: T8 (erasures after a restore)
    """
    status = "SELECT state, detail FROM memwarden.status() WHERE component = 'erasures'"
    assert world.rows(status)[0]["state"] == "ok"
    for elsewhere in ("system_identifier = system_identifier + 1", "timeline_id = timeline_id + 1"):
        world.admin.execute(f"UPDATE memwarden_data.store_origin SET {elsewhere}")
        (row,) = world.rows(status)
        assert row["state"] == "warning"
        assert "apply_erasures" in row["detail"]
        world.rows("SELECT * FROM memwarden.apply_erasures(%s)", Jsonb([]))
        assert world.rows(status)[0]["state"] == "ok"
