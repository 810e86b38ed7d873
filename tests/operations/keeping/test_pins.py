"""A curator keeps a memory from being collected."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg
import pytest

from operations.erasure.conftest import remember

if TYPE_CHECKING:
    from operations.keeping.conftest import Office


def test_a_pinned_memory_is_not_collected(office: Office) -> None:
    """Until it is unpinned; the list says who, when and why, and the log that it was done.

    Proves: G3 (pinned items never), G4 (pin, unpin)
    """
    agent, curator = office.agent(), office.person()
    pinned, other = remember(agent, "tea"), remember(agent, "coffee")
    curator.execute("SELECT memwarden.pin(%s, 'asked often')", (pinned,))
    for item in (pinned, other):
        office.expire(agent, item)
    assert office.collect(pinned, other) == {other}
    [row] = curator.execute("SELECT * FROM memwarden.pins").fetchall()
    assert (row["item_id"], row["reason"], row["login"]) == (
        pinned,
        "asked often",
        curator.info.user,
    )
    curator.execute("SELECT memwarden.unpin(%s)", (pinned,))
    assert office.collect(pinned) == {pinned}
    actions = curator.execute(
        "SELECT action FROM memwarden.access_changes WHERE action LIKE '%pin'"
    ).fetchall()
    assert sorted(row["action"] for row in actions) == ["pin", "unpin"]


def test_items_shows_what_is_pinned(office: Office) -> None:
    """In the view of memories, to whoever sees the memory.

    Proves: G4
    """
    agent, curator = office.agent(), office.person()
    pinned, other = remember(agent, "tea"), remember(agent, "coffee")
    curator.execute("SELECT memwarden.pin(%s, 'asked often')", (pinned,))
    rows = agent.execute("SELECT item_id, pinned FROM memwarden.items").fetchall()
    assert {row["item_id"]: row["pinned"] for row in rows} == {pinned: True, other: False}


def test_pinning_twice_replaces_the_reason(office: Office) -> None:
    """The last reason counts.

    Proves: G4
    """
    curator = office.person()
    item = remember(office.agent(), "tea")
    for reason in ("first", "second"):
        curator.execute("SELECT memwarden.pin(%s, %s)", (item, reason))
    [row] = curator.execute("SELECT reason FROM memwarden.pins").fetchall()
    assert row["reason"] == "second"


def test_only_who_may_write_there_pins(office: Office) -> None:
    """No agent, nobody of another organisation, nothing that is not pinned, no blank reason.

    Proves: G4
    """
    agent, curator, stranger = office.agent(), office.person(), type(office)(office.world).person()
    item = remember(agent, "tea")
    for connection, error, call, arguments in (
        (agent, psycopg.errors.InsufficientPrivilege, "pin(%s, 'x')", (item,)),
        (stranger, psycopg.errors.UndefinedObject, "pin(%s, 'x')", (item,)),
        (curator, psycopg.errors.UndefinedObject, "pin(%s, 'x')", (uuid4(),)),
        (curator, psycopg.errors.UndefinedObject, "unpin(%s)", (item,)),
        (curator, psycopg.errors.InvalidParameterValue, "pin(%s, ' ')", (item,)),
    ):
        with pytest.raises(error):
            connection.execute(f"SELECT memwarden.{call}", arguments)
    assert stranger.execute("SELECT * FROM memwarden.pins").fetchall() == []
