"""What an action rests on stays beneath it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import psycopg
import pytest

from helpers import recall, write
from operations.erasure.conftest import cites, remember

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import DictRow

    from operations.keeping.conftest import Office


def version_of(office: Office, item: UUID) -> UUID:
    """The current version of an item."""
    number = office.world.value(
        "SELECT version_id FROM memwarden_data.item WHERE item_id = %s", item
    )
    return UUID(str(number))


def link(agent: Connection[DictRow], action: str, *versions: Any) -> int:
    """Link an action; how many links are new."""
    row = agent.execute(
        "SELECT memwarden.link_action(%s, %s) AS n", (action, list(versions))
    ).fetchone()
    assert row is not None
    return int(row["n"])


def chain(agent: Connection[DictRow]) -> tuple[UUID, UUID, UUID]:
    """Three memories, each made of the one before."""
    first = remember(agent, "one")
    second = remember(agent, "two", evidence=cites(first))
    third = remember(agent, "three", evidence=cites(second))
    return first, second, third


def states(office: Office, *items: UUID) -> list[str]:
    """The retention states of items."""
    rows = office.world.rows(
        "SELECT item_id, state FROM memwarden.retention_states WHERE org = %s", office.org
    )
    found = {row["item_id"]: row["state"] for row in rows}
    return [found[item] for item in items]


def test_nothing_beneath_an_action_is_collected(office: Office) -> None:
    """Neither what it names nor what that was made of; what was made of it may go.

    Proves: N8 (action linkage), G5 (action linkage wins)
    """
    agent = office.agent()
    first, second, third = chain(agent)
    assert link(agent, "order 7", version_of(office, second)) == 2
    assert link(agent, "order 7", version_of(office, second)) == 0
    for item in (third, second, first):
        office.expire(agent, item)
    assert office.collect(third, second, first) == {third}
    assert office.kept(first, second) == {(first, "LINKED"), (second, "LINKED")}
    rows = agent.execute(
        "SELECT item_id, distance FROM memwarden.action_links WHERE action_id = 'order 7'"
    ).fetchall()
    assert {(row["item_id"], row["distance"]) for row in rows} == {(second, 0), (first, 1)}


def test_an_older_version_is_beneath_an_action_too(office: Office) -> None:
    """The memory was corrected since; the item stays with its history.

    Proves: N8
    """
    agent = office.agent()
    item = remember(agent, "tea", subject="Kim", predicate="likes")
    link(agent, "order 8", version_of(office, item))
    changed = write(agent, "semantic", "milk", corrects=item)
    assert changed["outcome"] == "COMMITTED"
    office.expire(agent, item)
    assert office.collect(item) == set()


def test_erasure_and_retention_go_before_an_action(office: Office) -> None:
    """And leave a tombstone that says what, when and why, without content.

    Proves: N8 (except by R1 and R5, leaving a tombstone)
    """
    agent, curator = office.agent(), office.person()
    erased = remember(agent, "zzq", subject="Lou", predicate="likes")
    retired = remember(agent, "zzq two")
    for item in (erased, retired):
        link(agent, "order 9", version_of(office, item))
    office.erase("Lou")
    assert office.collect(retired, cause="RETENTION") == {retired}
    assert states(office, erased, retired) == ["TOMBSTONED", "TOMBSTONED"]
    rows = curator.execute("SELECT * FROM memwarden.tombstones").fetchall()
    told = {row["item_id"]: (row["cause"], row["layer"], row["versions"]) for row in rows}
    assert told == {erased: ("ERASURE", "semantic", 1), retired: ("RETENTION", "semantic", 1)}
    assert all(row["signature"] == "GENUINE" and row["deleted_at"] for row in rows)
    assert "zzq" not in str(rows)
    assert len(agent.execute("SELECT * FROM memwarden.action_links").fetchall()) == 2


def test_the_four_states(office: Office) -> None:
    """In use; over, and something rests on it; over, and nothing does; gone.

    Proves: N8 (four-state retention)
    """
    agent = office.agent()
    active, linked, source, orphan, gone = (remember(agent, str(n)) for n in range(5))
    remember(agent, "made of it", evidence=cites(source))
    link(agent, "order 10", version_of(office, linked), version_of(office, active))
    for item in (linked, source, orphan, gone):
        office.expire(agent, item)
    assert office.collect(gone, linked, source, active) == {gone}
    assert states(office, active, linked, source, orphan, gone) == [
        *("ACTIVE", "REFERENCED", "REFERENCED", "ORPHANED", "TOMBSTONED")
    ]


def test_an_outcome_carries_the_action(office: Office) -> None:
    """What was used of a recall is linked by the report of what came of it.

    Proves: N8, Z4 (what the task then did)
    """
    agent = office.agent()
    used, given = remember(agent, "tea is liked"), remember(agent, "tea is hot")
    rows = recall(agent, query="tea", k=2)
    assert {row["item_id"] for row in rows} == {used, given}
    number = rows[0]["recall_id"]
    agent.execute(
        "SELECT memwarden.report_outcome(%s, %s, 'success', action_id => 'order 11')",
        (number, [used]),
    )
    [row] = agent.execute("SELECT * FROM memwarden.action_links").fetchall()
    assert (row["item_id"], row["recall_id"], row["distance"]) == (used, number, 0)
    assert office.kept(used, given) == {(used, "LINKED")}


def test_only_what_one_sees_can_be_linked(office: Office) -> None:
    """Not another organisation's, nor what is not there; and nobody sees another's actions.

    Proves: N8, A3
    """
    agent, stranger = office.agent(), type(office)(office.world).agent()
    item = remember(agent, "tea")
    version = version_of(office, item)
    for connection, versions, error in (
        (stranger, [version], psycopg.errors.UndefinedObject),
        (agent, [version, uuid4()], psycopg.errors.UndefinedObject),
        (agent, [], psycopg.errors.InvalidParameterValue),
    ):
        with pytest.raises(error):
            link(connection, "order 12", *versions)
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        link(agent, " ", version)
    link(agent, "order 12", version)
    assert stranger.execute("SELECT * FROM memwarden.action_links").fetchall() == []
    other = office.agent()
    assert other.execute("SELECT * FROM memwarden.action_links").fetchall() == []
    assert len(office.person().execute("SELECT * FROM memwarden.action_links").fetchall()) == 1


def test_a_link_and_a_deletion_do_not_cross(office: Office) -> None:
    """Who links while the deletion is open is told that the version is gone.

    Proves: N8 (under concurrency)
    """
    agent = office.agent()
    item = remember(agent, "tea")
    version = version_of(office, item)
    office.expire(agent, item)
    deleter = office.world.connect(autocommit=False)
    deleter.execute(
        "SELECT memwarden_internal.delete_for_good(%s, %s, 'old')", (office.org_id, [item])
    )
    told: list[BaseException] = []

    def act() -> None:
        """Link what is being deleted."""
        try:
            link(agent, "order 13", version)
        except psycopg.Error as error:
            told.append(error)

    thread = threading.Thread(target=act)
    thread.start()
    waits = "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND pid = %s"
    while not office.world.value(waits, agent.info.backend_pid):
        assert thread.is_alive()
    deleter.commit()
    thread.join(30)
    assert isinstance(told[0], psycopg.errors.UndefinedObject)
    assert agent.execute("SELECT * FROM memwarden.action_links").fetchall() == []
