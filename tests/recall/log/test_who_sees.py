"""An agent sees its own recalls; overseers those of whom they oversee, and of what they read."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from access import join
from conftest import World

from .conftest import BESIDE, HOME, ORG, Office, given, report

CALLS = (
    "SELECT recall_id FROM memwarden.recalls",
    "SELECT recall_id FROM memwarden.find_recalls()",
    "SELECT recall_id FROM memwarden.find_recalls(task => 'trip')",
    "SELECT recall_id FROM memwarden.find_recalls(query => 'tea')",
)


def seen(who: Any, item: Any) -> set[Any]:
    """The recalls that one is shown, by every way there is; all agree."""
    found = [{row["recall_id"] for row in who.execute(call).fetchall()} for call in CALLS]
    found.append(
        {
            row["recall_id"]
            for row in who.execute("SELECT * FROM memwarden.recalls_of(%s)", (item,)).fetchall()
        }
    )
    assert all(each == found[0] for each in found)
    return found[0]


def test_who_sees_which_recalls(office: Office, world: World) -> None:
    """Proves: Z4, A3."""
    office.remember("Ana likes tea")
    recall_id, items = given(office.ana, task="trip")
    report(office.ana, recall_id, items)
    overseer = {"descendants": True, "writes": False}
    for who, expected in (
        (office.ana, {recall_id}),
        (office.curator, {recall_id}),
        (office.auditor, {recall_id}),
        (office.bo, set()),
        (join(world, BESIDE, "auditor", **overseer), set()),
        (join(world, "/org/beta", "auditor", **overseer), set()),
        # An agent of the whole organisation oversees nobody.
        (join(world, ORG, **overseer), set()),
    ):
        assert seen(who, items[0]) == expected


def test_a_recall_of_who_is_cleared_for_more_is_not_shown(office: Office, world: World) -> None:
    """Its task could say what the overseer may not know.

    Proves: Z4, A3
    """
    secret = world.agent(HOME, clearance="restricted", role="curator")
    written = secret.execute(
        "SELECT item_id FROM memwarden.write('semantic', '\"tea\"', classification => 'restricted')"
    ).fetchone()
    assert written is not None
    recall_id, items = given(secret)
    assert items == [written["item_id"]]
    little = join(world, ORG, "auditor", descendants=True)
    assert little.execute("SELECT * FROM memwarden.recalls").fetchall() == []
    assert [r["recall_id"] for r in office.auditor.execute("TABLE memwarden.recalls")] == [
        recall_id
    ]


def test_of_what_was_given_everybody_is_shown_what_they_read(office: Office, world: World) -> None:
    """Not even how much more there was.

    Proves: Z4, A3
    """
    office.remember("Ana likes tea")
    there = "/org/acme/domain/desk"
    desk = world.agent(there)
    desk.execute("SELECT memwarden.write('semantic', '\"tea of the desk\"')")
    world.admin.execute("SELECT memwarden.grant_scope(%s, %s)", (office.ana.info.user, there))
    _, items = given(office.ana, scopes=[HOME, there])
    assert len(items) == 2
    narrow = join(world, HOME, "auditor", writes=False)
    [row] = narrow.execute("SELECT * FROM memwarden.recalls").fetchall()
    assert (row["given"], len(row["item_ids"]), row["scopes"]) == (1, 1, [HOME])
    [row] = office.ana.execute("SELECT * FROM memwarden.recalls").fetchall()
    assert (row["given"], row["item_ids"], row["scopes"]) == (2, items, sorted([HOME, there]))


def test_no_login_touches_the_tables(office: Office) -> None:
    """Whatever a DBA grants: there is no policy for them.

    Proves: Z4 (attacks), A3
    """
    office.remember("Ana likes tea")
    recall_id, items = given(office.ana)
    report(office.ana, recall_id, items)
    office.count()
    roles = [str(c.info.user) for c in (office.ana, office.bo, office.curator, office.auditor)]
    tables = ("recall_log", "recall_outcome", "recall_use", "recall_day", "recall_consumer")
    for connection in (office.ana, office.curator):
        for table in tables:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT FROM memwarden_data.{table}")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"INSERT INTO memwarden_data.{table} DEFAULT VALUES")
    office.world.grant_tables(*roles)
    for connection in (office.ana, office.bo, office.curator, office.auditor):
        for table in tables:
            assert connection.execute(f"SELECT FROM memwarden_data.{table}").fetchall() == []
