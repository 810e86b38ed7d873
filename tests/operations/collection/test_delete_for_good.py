"""What is deleted for good leaves a signed tombstone and nothing else, and what must stay stays."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write
from operations.erasure.conftest import Desk, cites, holding, remember


@pytest.fixture
def desk(shared_world: World) -> Desk:
    """An organisation of the test's own in a database that tests share."""
    return Desk(shared_world)


def delete(desk: Desk, *items: UUID, **options: Any) -> DictRow:
    """Delete items for good, as the owner does."""
    arguments: dict[str, Any] = {"items": list(items), "reason": "collected", "org": desk.org}
    arguments |= {"cause": "COLLECTION", "wait": True} | options
    (row,) = (
        desk.world.admin.cursor()
        .execute(
            "SELECT * FROM memwarden_internal.delete_for_good("
            " (SELECT o.org_id FROM memwarden_data.organisation AS o WHERE o.name = %(org)s),"
            " %(items)s, %(reason)s, %(cause)s, %(wait)s)",
            arguments,
        )
        .fetchall()
    )
    return row


def left(desk: Desk, *items: UUID) -> Any:
    """The tables that hold something of items, by their numbers."""
    return desk.world.value(
        "SELECT memwarden_internal.left_of_items(ARRAY[o.org_id], %s)"
        "  FROM memwarden_data.organisation AS o WHERE o.name = %s",
        list(items),
        desk.org,
    )


def expired(agent: Any, content: Any, **arguments: Any) -> UUID:
    """A memory that has ended."""
    item = remember(agent, content, **arguments)
    agent.execute("SELECT memwarden.expire(%s, 'zzqold')", (item,))
    return item


def test_nothing_is_left_but_a_signed_tombstone(desk: Desk) -> None:
    """Words, vectors, provenance, reasons and past versions are gone; the log verifies.

    Proves: G5 (gone for good)
    """
    agent = desk.agent(validated=True)
    kept = remember(agent, {"note": "the kettle"}, subject="kettle", predicate="is")
    gone = []
    for layer in ("session", "episodic", "semantic"):
        item = remember(
            agent, {"note": f"zzqtea {layer}"}, layer=layer, subject="zzqpot", predicate="has"
        )
        agent.execute("SELECT memwarden.expire(%s, 'zzqold')", (item,))
        gone.append(item)
    for n in range(2):
        vector = [float(n + 1), *[0.5] * 383]
        item = remember(
            agent, {"at": f"zzq {n}"}, subject="zzqcup", predicate="at", embedding=vector
        )
    agent.execute("SELECT memwarden.expire(%s, 'zzqold')", (item,))
    gone.append(item)
    desk.seal()
    assert holding(desk.world, "zzq") >= {"item", "version_hot"}

    done = delete(desk, *gone)
    assert (set(done["deleted"]), done["versions"], done["kept"]) == (set(gone), 5, {})
    assert done["requests"] == 5
    assert holding(desk.world, "zzq") == set()
    assert left(desk, *gone) == []
    assert desk.findings() == []
    desk.seal()
    assert desk.findings() == []
    desk.rebuild()
    assert [row["item_id"] for row in recall(agent, query="kettle", layers=["semantic"])] == [kept]
    tombstone = desk.world.rows(
        "SELECT e.cause, e.reason, cardinality(i.version_ids) AS versions,"
        "       i.signature IS NOT NULL AND e.signature IS NOT NULL AS is_signed"
        "  FROM memwarden_data.erased_item AS i"
        "  JOIN memwarden_data.erasure AS e USING (org_id, erasure_id)"
        " WHERE i.item_id = %s",
        gone[-1],
    )
    assert [(t["cause"], t["reason"], t["versions"]) for t in tombstone] == [
        ("COLLECTION", "collected", 2)
    ]
    (row,) = desk.world.rows(
        "SELECT reason FROM memwarden_data.log WHERE item_id = %s AND operation = 'ERASE'", gone[0]
    )
    assert row["reason"] == "collected"


def test_a_collection_is_no_erasure_of_a_subject(desk: Desk) -> None:
    """The view of erasures lists what persons asked for; a restored copy is told of both.

    Proves: Z10 (counts per place)
    """
    agent = desk.agent(validated=True)
    item = expired(agent, "zzqold tea")
    done = delete(desk, item)
    assert (
        desk.world.rows("SELECT FROM memwarden.erasures WHERE erasure_id = %s", done["erasure_id"])
        == []
    )
    (certificate,) = desk.world.rows(
        "SELECT detail, items FROM memwarden_data.erasure WHERE erasure_id = %s", done["erasure_id"]
    )
    places = certificate["detail"]["places"]
    assert (places["item"], places["version"], certificate["detail"]["in_clear"]) == (1, 1, 1)
    assert places.keys() >= {"write_request", "provenance"}
    listed = [e for e in desk.export() if e["certificate"]["erasure"] == str(done["erasure_id"])]
    assert [e["certificate"]["cause"] for e in listed] == ["COLLECTION"]
    assert desk.apply(listed)[0]["items"] == 0
    assert desk.findings() == []


def test_what_is_in_use_stays(desk: Desk) -> None:
    """What is active, or something else was made of; retention takes it all the same.

    Proves: G5 (what others rest on stays)
    """
    agent = desk.agent(validated=True)
    active = remember(agent, "yyq active")
    source = remember(agent, "yyq source")
    made = remember(agent, "of it something was made", evidence=cites(source))
    agent.execute("SELECT memwarden.expire(%s, 'old')", (source,))
    done = delete(desk, active, source)
    assert (done["deleted"], done["erasure_id"]) == ([], None)
    assert done["kept"] == {"ACTIVE": [str(active)], "DERIVED": [str(source)]}

    done = delete(desk, active, source, cause="RETENTION", reason="its time is over")
    assert set(done["deleted"]) == {active, source}
    assert holding(desk.world, "yyq") == set()
    assert desk.world.value("SELECT status FROM memwarden_data.item WHERE item_id = %s", made) == (
        "ACTIVE"
    )
    assert desk.findings() == []
    # Both go together.
    agent.execute("SELECT memwarden.expire(%s, 'old')", (made,))
    assert delete(desk, made)["deleted"] == [made]


def test_a_forged_tombstone_is_told(desk: Desk) -> None:
    """A certificate whose cause was changed does not hold, nor what it took."""
    agent = desk.agent(validated=True)
    item = expired(agent, "old tea")
    done = delete(desk, item)
    with desk.world.admin.transaction(force_rollback=True):
        desk.world.admin.execute("SET LOCAL session_replication_role = replica")
        desk.world.admin.execute(
            "UPDATE memwarden_data.erasure SET cause = 'ERASURE' WHERE erasure_id = %s",
            (done["erasure_id"],),
        )
        if desk.world.value("SELECT memwarden_internal.log_key_id()") is not None:
            assert {row["finding"] for row in desk.findings()} >= {"ERASURE"}
    assert desk.findings() == []


def test_what_somebody_works_on_is_left_for_later(desk: Desk) -> None:
    """A held scope keeps nobody waiting: what is there counts as busy."""
    agent = desk.agent(validated=True)
    item = expired(agent, "old tea")
    other = desk.agent(validated=True)
    with other.transaction():
        write(other, "semantic", "new tea")
        done = delete(desk, item, wait=False)
        assert done["kept"] == {"BUSY": [str(item)]}
    assert delete(desk, item, wait=False)["deleted"] == [item]


def test_what_is_not_there_is_told(desk: Desk) -> None:
    """42704 where nothing matched; what was only kept is reported.

    Proves: Z10 (fails when nothing matched)
    """
    agent = desk.agent(validated=True)
    item = expired(agent, "old tea")
    assert delete(desk, item, uuid4())["deleted"] == [item]
    for items in ((item,), (uuid4(),), ()):
        with pytest.raises(psycopg.errors.UndefinedObject):
            delete(desk, *items)
    active = remember(agent, "new tea")
    assert delete(desk, active)["kept"] == {"ACTIVE": [str(active)]}


def test_arguments_out_of_range_are_refused(desk: Desk) -> None:
    """No reason, or no cause that there is."""
    item = expired(desk.agent(validated=True), "old tea")
    for options in ({"reason": " "}, {"reason": None}, {"cause": "AGE"}, {"cause": None}):
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            delete(desk, item, **options)
