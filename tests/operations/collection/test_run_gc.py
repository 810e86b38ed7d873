"""run_gc(): the dry run says what the real run does, and most of a layer asks for a number."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import DictRow

from operations.collection.conftest import Yard
from operations.erasure.conftest import remember


def run_gc(yard: Yard, **arguments: Any) -> list[DictRow]:
    """Collect in the organisation, as an administrator of the database."""
    arguments = {"layer": "episodic", "org": yard.org} | arguments
    named = ", ".join(f"{name} => %({name})s" for name in arguments)
    rows: list[DictRow] = yard.world.admin.execute(
        f"SELECT * FROM memwarden.run_gc({named})", arguments
    ).fetchall()
    return rows


def age(yard: Yard, count: int, **arguments: Any) -> list[Any]:
    """Memories of another agent whose time is over by now."""
    agent = yard.agent(validated=True)
    items = yard.many(agent, count, **arguments)
    yard.world.admin.execute(
        "UPDATE memwarden_data.item SET expires_at = now() - interval '1 hour'"
        " WHERE item_id = ANY (%s)",
        (items,),
    )
    return items


def counts(rows: list[DictRow], column: str = "items") -> dict[tuple[str, str], int]:
    """How many, by action and reason."""
    return {(row["action"], row["reason"]): row[column] for row in rows}


def test_a_dry_run_changes_nothing_and_tells_what_a_run_does(yard: Yard) -> None:
    """The same figures, by action and reason; what is pinned is named as kept.

    Proves: G3 (dry run with a report by reason and layer), Z10 (deletion says what it removed)
    """
    items = age(yard, 3)
    yard.world.admin.execute(
        "INSERT INTO memwarden_data.pin SELECT org_id, item_id, scope_id, 'x', 0, 'x', now()"
        " FROM memwarden_data.item WHERE item_id = %s",
        (items[0],),
    )
    report = run_gc(yard)
    assert counts(report) == {("EXPIRE", "TTL_OVER"): 2, ("KEEP", "PINNED"): 1}
    assert {(row["org_name"], row["layer_name"]) for row in report} == {(yard.org, "episodic")}
    assert {yard.status(item) for item in items} == {"ACTIVE"}

    done = run_gc(yard, dry_run=False, max_items=1)
    assert (counts(done), counts(done, "done")) == (
        {("EXPIRE", "TTL_OVER"): 2},
        {("EXPIRE", "TTL_OVER"): 1},
    )
    # The rest is left to the job.
    while yard.step():
        pass
    assert sorted(yard.status(item) for item in items) == ["ACTIVE", "EXPIRED", "EXPIRED"]
    assert counts(run_gc(yard)) == {("KEEP", "PINNED"): 1}


def test_more_than_was_expected_does_not_go(yard: Yard) -> None:
    """Too many, none at all, and most of a layer without a number are refused.

    Proves: G3 (a rule that would expire everything asks for a count), Z10 (fails on no match)
    """
    items = age(yard, 12)
    yard.world.admin.execute(
        "UPDATE memwarden_data.item SET expires_at = NULL,"
        " created_at = now() - interval '300 days', updated_at = now() - interval '300 days'"
        " WHERE item_id = ANY (%s)",
        (items,),
    )
    (row,) = run_gc(yard)
    assert (row["items"], row["needs_expected"]) == (12, True)
    for expected in (None, 0, 11):
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="more memories"):
            run_gc(yard, dry_run=False, expected=expected)
    assert {yard.status(item) for item in items} == {"ACTIVE"}
    (row,) = run_gc(yard, dry_run=False, expected=12)
    assert row["done"] == 12
    with pytest.raises(psycopg.errors.UndefinedObject):
        run_gc(yard, dry_run=False, expected=1)
    assert run_gc(yard, dry_run=False) == []


def test_who_may_collect(yard: Yard) -> None:
    """Administrators of the organisation, and of a layer there; nobody else."""
    item = age(yard, 1)[0]
    agent = yard.agent(role="contributor")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        agent.execute("SELECT * FROM memwarden.run_gc('episodic')")
    other = Yard(yard.world)
    other.agent()
    admin = yard.world.agent(f"/org/{yard.org}", role="curator")
    rows = admin.execute("SELECT * FROM memwarden.run_gc()").fetchall()
    assert {row["org_name"] for row in rows} == {yard.org}
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        admin.execute("SELECT * FROM memwarden.run_gc(org => %s)", (other.org,))
    admin.execute("SELECT * FROM memwarden.run_gc('episodic', dry_run => false)")
    assert yard.status(item) == "EXPIRED"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"layer": "attic"}, psycopg.errors.UndefinedObject),
        ({"org": "no such"}, psycopg.errors.UndefinedObject),
        ({"expected": -1}, psycopg.errors.InvalidParameterValue),
        ({"max_items": 0}, psycopg.errors.InvalidParameterValue),
        ({"max_items": None}, psycopg.errors.InvalidParameterValue),
    ],
)
def test_arguments_out_of_range_are_named(
    yard: Yard, arguments: Any, error: type[Exception]
) -> None:
    """Unknown layers and organisations, and numbers that make no sense."""
    with pytest.raises(error):
        run_gc(yard, **arguments)


def test_the_view_shows_what_a_pass_did(yard: Yard) -> None:
    """How far it is, what went by which reason, and what waits."""
    agent = yard.agent(validated=True)
    remember(agent, "a short note", layer="episodic", ttl=timedelta(hours=1))
    yard.collect(hours=2)
    (row,) = yard.world.rows(
        "SELECT * FROM memwarden.collections WHERE org = %s AND layer = 'episodic'", yard.org
    )
    assert (row["begun_at"], row["looked"], row["waiting"]) == (None, 1, 0)
    assert (row["done"], row["held_back"]) == ({"TTL_OVER": 1}, {})
