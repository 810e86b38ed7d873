"""run_hygiene(): what pollutes the store is found, and what is surely worse is superseded."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg
import pytest

from helpers import write
from operations.collection.conftest import Yard
from operations.erasure.conftest import remember


def run_hygiene(yard: Yard, **arguments: Any) -> dict[tuple[str, str], tuple[int, int]]:
    """Found and done, by finding and action."""
    arguments = {"layer": "episodic", "org": yard.org} | arguments
    named = ", ".join(f"{name} => %({name})s" for name in arguments)
    rows = yard.world.admin.execute(
        f"SELECT * FROM memwarden.run_hygiene({named})", arguments
    ).fetchall()
    return {(row["finding"], row["action"]): (row["items"], row["done"]) for row in rows}


def say_the_same(yard: Yard, item: UUID, other: UUID) -> None:
    """Have a memory say what another says."""
    yard.world.admin.execute(
        "UPDATE memwarden_data.item AS i SET fingerprint = o.fingerprint"
        "  FROM memwarden_data.item AS o WHERE i.item_id = %s AND o.item_id = %s",
        (item, other),
    )


def dispute(yard: Yard, item: UUID, other: UUID) -> None:
    """Have a memory be contradicted by another."""
    yard.world.admin.execute(
        "INSERT INTO memwarden_data.dispute SELECT a.org_id, a.scope_id, a.item_id,"
        " a.content_hash, b.item_id, b.content_hash, now(), NULL"
        " FROM memwarden_data.item AS a, memwarden_data.item AS b"
        " WHERE a.item_id = %s AND b.item_id = %s",
        (item, other),
    )


def test_duplicates_and_contradictions_are_found_and_the_worse_goes(yard: Yard) -> None:
    """A dry run counts; the real run supersedes, and the log says so; a second finds none.

    Proves: L11 (duplicates and contradictions; dry run; each action an audit event)
    """
    agent = yard.agent(validated=True)
    one, two, sure, unsure, lone = yard.many(agent, 5)
    admin = yard.world.admin
    say_the_same(yard, two, one)
    admin.execute("UPDATE memwarden_data.item SET confidence = 0.1 WHERE item_id = %s", (unsure,))
    for a, b in ((sure, unsure), (unsure, sure)):
        dispute(yard, a, b)
    admin.execute("UPDATE memwarden_data.layer SET conflict = 'coexist' WHERE layer = 'episodic'")
    try:
        found = run_hygiene(yard)
        assert found == {
            ("DUPLICATE", "SUPERSEDE"): (1, 0),
            ("CONTRADICTION", "SUPERSEDE"): (1, 0),
            ("CONTRADICTION", "REVIEW"): (1, 0),
        }
        assert {yard.status(i) for i in (one, two, sure, unsure, lone)} == {"ACTIVE"}
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
            run_hygiene(yard, dry_run=False, expected=1)
        done = run_hygiene(yard, dry_run=False, expected=2)
        assert done[("DUPLICATE", "SUPERSEDE")] == (1, 1)
        assert run_hygiene(yard, dry_run=False) == {}
    finally:
        admin.execute(
            "UPDATE memwarden_data.layer SET conflict = 'accumulate' WHERE layer = 'episodic'"
        )
    assert [yard.status(i) for i in (one, two, sure, unsure, lone)] == [
        *("ACTIVE", "SUPERSEDED", "ACTIVE", "SUPERSEDED", "ACTIVE"),
    ]
    rows = yard.world.rows(
        "SELECT reason FROM memwarden_data.log WHERE operation = 'SUPERSEDE'"
        " AND item_id = ANY (%s)",
        [two, unsure],
    )
    assert {row["reason"] for row in rows} == {"DUPLICATE", "CONTRADICTION"}


def test_what_says_the_same_in_other_words_is_found(yard: Yard) -> None:
    """Where the layer has begun to look for it; what is only alike stays, as another dog does.

    Proves: L11 (duplicates in other words, over the whole store)
    """
    agent, admin = yard.agent(validated=True), yard.world.admin
    near, far = [1.0] + [0.0] * 383, [0.0, 1.0] + [0.0] * 382
    large, does, big, small, apart = (
        remember(agent, text, layer="episodic", embedding=vector)
        for text, vector in (
            ("Ana owns a large dog", near),
            ("Ana does own a large dog", near),
            ("Ana owns a big dog", near),
            ("Ana owns a small dog", near),
            ("Ana owns a big cat", far),
        )
    )
    assert run_hygiene(yard) == {}
    looks = "UPDATE memwarden_data.layer SET duplicate_similarity = %s WHERE layer = 'episodic'"
    admin.execute(looks, (0.95,))
    try:
        assert run_hygiene(yard) == {("DUPLICATE", "SUPERSEDE"): (1, 0)}
        assert run_hygiene(yard, dry_run=False) == {("DUPLICATE", "SUPERSEDE"): (1, 1)}
    finally:
        admin.execute(looks, (None,))
    left = [yard.status(item) for item in (large, does, big, small, apart)]
    assert left == ["ACTIVE", "SUPERSEDED", "ACTIVE", "ACTIVE", "ACTIVE"]


def test_of_two_that_are_equally_sure_none_goes(yard: Yard) -> None:
    """Even where the layer asks for no gap: each would go for the other's sake.

    Proves: L11 (contradictions)
    """
    agent, admin = yard.agent(validated=True), yard.world.admin
    one, two = yard.many(agent, 2)
    for a, b in ((one, two), (two, one)):
        dispute(yard, a, b)
    asked = (
        "UPDATE memwarden_data.layer SET conflict = %s, conflict_gap = %s WHERE layer = 'episodic'"
    )
    admin.execute(asked, ("coexist", 0))
    try:
        assert run_hygiene(yard, dry_run=False) == {("CONTRADICTION", "REVIEW"): (2, 0)}
    finally:
        admin.execute(asked, ("accumulate", 0.2))
    assert {yard.status(item) for item in (one, two)} == {"ACTIVE"}


def test_where_somebody_writes_it_is_found_and_left(yard: Yard) -> None:
    """Until the next run.

    Proves: L11 (beside writers)
    """
    agent = yard.agent(validated=True)
    one, two = yard.many(agent, 2)
    say_the_same(yard, two, one)
    with agent.transaction():
        write(agent, "episodic", "somebody writes here")
        assert run_hygiene(yard, dry_run=False) == {("DUPLICATE", "SUPERSEDE"): (1, 0)}
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
            run_hygiene(yard, dry_run=False, expected=0)
    assert run_hygiene(yard, dry_run=False) == {("DUPLICATE", "SUPERSEDE"): (1, 1)}


@pytest.mark.parametrize("change", ["better is gone", "worse is changed"])
def test_what_changed_since_it_was_found_stays(yard: Yard, change: str) -> None:
    """Looking locks nothing: of two that say the same, one is there afterwards in any case.

    Proves: L11 (beside writers)
    """
    agent = yard.agent(validated=True)
    one, two = yard.many(agent, 2)
    found = yard.world.value(
        "SELECT array_agg(('DUPLICATE', 'SUPERSEDE', i.scope_id, i.item_id, i.version_id,"
        "                  b.item_id, b.version_id)::memwarden_internal.hygiene_finding)::text"
        "  FROM memwarden_data.item AS i, memwarden_data.item AS b"
        " WHERE i.item_id = %s AND b.item_id = %s",
        two,
        one,
    )
    again = (
        "SELECT cardinality(memwarden_internal.still_found(%s, 'episodic',"
        " %s::memwarden_internal.hygiene_finding[]))"
    )
    assert yard.world.value(again, yard.org_id, found) == 1
    if change == "better is gone":
        agent.execute("SELECT memwarden.retract(%s, 'wrong')", (one,))
    else:
        write(agent, "episodic", {"n": "more"}, corrects=str(two))
    assert yard.world.value(again, yard.org_id, found) == 0


def test_a_duty_keeps_a_duplicate(yard: Yard) -> None:
    """What a rule of retention still wants kept is not superseded.

    Proves: L11, R5 (the duty to keep goes before hygiene)
    """
    agent = yard.agent(validated=True)
    one, two = yard.many(agent, 2)
    say_the_same(yard, two, one)
    yard.rule("layer", "episodic", keep_at_least="1 year")
    assert run_hygiene(yard) == {("DUPLICATE", "KEEP"): (1, 0)}
    assert run_hygiene(yard, dry_run=False) == {("DUPLICATE", "KEEP"): (1, 0)}
    assert {yard.status(item) for item in (one, two)} == {"ACTIVE"}


def test_wrong_arguments_and_callers_are_refused(yard: Yard) -> None:
    """An unknown layer, a negative number, and who administers nothing."""
    agent = yard.agent(role="contributor")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        agent.execute("SELECT * FROM memwarden.run_hygiene('episodic')")
    with pytest.raises(psycopg.errors.UndefinedObject):
        run_hygiene(yard, layer="attic")
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        run_hygiene(yard, expected=-1)
