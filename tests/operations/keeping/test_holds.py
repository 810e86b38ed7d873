"""A legal hold keeps what it names: a memory, a person, a scope, what a search finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.types.range import TimestamptzRange

from helpers import write
from operations.erasure.conftest import remember

if TYPE_CHECKING:
    from operations.keeping.conftest import Office


def test_a_held_memory_survives_every_deletion(office: Office) -> None:
    """Collection and retention; once the hold is lifted it goes.

    Proves: Z5 (survives collection and retention)
    """
    agent = office.agent()
    held, other = remember(agent, "tea"), remember(agent, "coffee")
    hold = office.hold(item_id=held)
    for item in (held, other):
        office.expire(agent, item)
    assert office.collect(held, other, cause="RETENTION") == {other}
    assert office.collect(held) == set()
    office.lift(hold)
    assert office.collect(held) == {held}


def test_a_subject_is_held_by_any_name(office: Office) -> None:
    """However it is spelt, and what is written later; nobody else is.

    Proves: Z5 (a subject)
    """
    agent = office.agent()
    early = remember(agent, "tea", subject="Ana  Lopez", predicate="likes")
    office.hold(subject="ANA LOPEZ")
    late = remember(agent, "Lisbon", subject="ana lopez", predicate="lives in")
    other = remember(agent, "tea", subject="Ana Lopez Junior", predicate="likes")
    assert office.held(early, late, other) == {early, late}


def test_a_scope_is_held_with_all_beneath(office: Office) -> None:
    """Also a scope that is made later, or moved away from there.

    Proves: Z5 (a scope)
    """
    world = office.world
    agent = office.agent(descendants=True)
    team = f"/org/{office.org}/domain/team"
    world.scope(f"{team}/task/t")
    bound = world.agent(f"{team}/task/t", role="curator", descendants=True)
    inside, outside = remember(bound, "tea"), remember(agent, "coffee")
    office.hold(scope=team)
    world.scope(f"{team}/task/later")
    late = remember(world.agent(f"{team}/task/later", role="curator"), "milk")
    assert office.held(inside, outside, late) == {inside, late}
    world.scope(f"/org/{office.org}/domain/elsewhere")
    world.admin.execute(
        "SELECT memwarden.move_scope(%s, %s)",
        (f"{team}/task/t", f"/org/{office.org}/domain/elsewhere"),
    )
    assert office.held(inside, outside) == {inside}


def test_a_search_holds_what_it_finds_and_found(office: Office) -> None:
    """By words, layer and time; a correction that drops the word does not free the memory.

    Proves: Z5 (a search)
    """
    agent = office.agent()
    remember_one = remember(agent, {"note": "the Acme contract"}, layer="semantic")
    wrong_layer = remember(agent, {"note": "the ACME contract"}, layer="episodic")
    part_of_a_word = remember(agent, {"note": "the Acmeological society"}, layer="semantic")
    office.hold(texts=["acme"], layers=["semantic"])
    later = remember(agent, {"note": "acme paid"}, layer="semantic")
    everything = (remember_one, wrong_layer, part_of_a_word, later)
    assert office.held(*everything) == {remember_one, later}
    changed = write(agent, "semantic", {"note": "the contract"}, corrects=remember_one)
    assert changed["outcome"] == "COMMITTED", changed
    assert office.held(remember_one) == {remember_one}


def test_all_that_a_hold_asks_for_must_be_so(office: Office) -> None:
    """A subject and a time: neither alone.

    Proves: Z5
    """
    agent = office.agent()
    before = remember(agent, "tea", subject="Bo", predicate="likes")
    now = office.world.value("SELECT clock_timestamp()")
    after = remember(agent, "Rome", subject="Bo", predicate="lives in")
    other = remember(agent, "tea", subject="Cy", predicate="likes")
    office.hold(subject="Bo", written_during=TimestamptzRange(now, None))
    assert office.held(before, after, other) == {after}


@pytest.mark.every_version
def test_a_hold_ends_no_change(office: Office) -> None:
    """Who may retract still may; the hold keeps every version readable to whom it serves.

    Proves: Z5 (held content stays readable)
    """
    agent, counsel = office.agent(), office.person()
    item = remember(agent, "tea", subject="Di", predicate="likes")
    hold = office.hold(counsel, subject="Di")
    agent.execute("SELECT memwarden.retract(%s, 'wrong')", (item,))
    rows = counsel.execute("SELECT * FROM memwarden.held_items(%s)", (hold,)).fetchall()
    assert [(r["item_id"], r["status"], r["content"]) for r in rows] == [(item, "RETRACTED", "tea")]
    assert office.collect(item, cause="RETENTION") == set()


def test_holding_and_lifting_is_a_right_of_its_own(office: Office) -> None:
    """A role may hold and neither write nor delete, or do all but hold; others see no hold.

    Proves: Z5 (a right of its own)
    """
    world = office.world
    for role, operations in (("counsel", ["READ", "HOLD"]), ("keeper", ["READ", "WRITE", "ADMIN"])):
        world.admin.execute(
            "SELECT memwarden.define_role(%s, (SELECT jsonb_agg(jsonb_build_object('operation', o))"
            " FROM unnest(%s::text[]) AS o), org => %s)",
            (role, operations, office.org),
        )
    item = remember(office.agent(), "tea")
    counsel = office.person("memwarden_reviewer", role="counsel", writes=False)
    keeper = office.person(role="keeper")
    stranger = type(office)(world).person()
    hold = office.hold(counsel, item_id=item)
    for connection, error in (
        (keeper, psycopg.errors.InsufficientPrivilege),
        (stranger, psycopg.errors.UndefinedObject),
    ):
        with pytest.raises(error):
            office.lift(hold, connection)
        assert connection.execute("SELECT * FROM memwarden.holds").fetchall() == []
        with pytest.raises(psycopg.errors.UndefinedObject):
            connection.execute("SELECT * FROM memwarden.held_items(%s)", (hold,))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        office.hold(keeper, item_id=item)
    with pytest.raises(psycopg.errors.UndefinedObject):
        office.hold(stranger, item_id=item)
    [row] = counsel.execute("SELECT * FROM memwarden.holds").fetchall()
    assert (row["hold_id"], row["set_by"]) == (hold, counsel.info.user)
    assert office.lift(hold, counsel)["outcome"] == "COMMITTED"
    [row] = counsel.execute("SELECT * FROM memwarden.holds").fetchall()
    assert (row["lifted_by"], row["lift_reason"]) == (counsel.info.user, "settled")
    changes = world.rows(
        "SELECT action FROM memwarden.access_changes WHERE org = %s AND action LIKE '%%hold'",
        office.org,
    )
    assert sorted(change["action"] for change in changes) == ["hold", "lift_hold"]


@pytest.mark.every_version
def test_two_persons_lift_where_the_policy_says_so(office: Office) -> None:
    """The request waits for another; the one who asked cannot agree; a changed policy frees none.

    Proves: Z5 (four eyes by policy), H6
    """
    world = office.world
    world.admin.execute("SELECT memwarden.set_hold_policy(true, %s)", (office.org,))
    item = remember(office.agent(), "tea")
    counsel, second = (
        office.person(),
        office.person("memwarden_reviewer", role="reviewer", writes=False),
    )
    hold = office.hold(counsel, item_id=item)
    world.admin.execute("SELECT memwarden.set_hold_policy(false, %s)", (office.org,))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        office.lift(hold)
    asked = office.lift(hold, counsel)
    assert (asked["outcome"], asked["reason"]) == ("DEFERRED", "AWAITING_APPROVAL")
    assert office.lift(hold, counsel)["request_id"] == asked["request_id"]
    assert office.held(item) == {item}
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        counsel.execute("SELECT memwarden.approve(%s)", (asked["request_id"],))
    waiting = second.execute("SELECT * FROM memwarden.review_queue()").fetchall()
    assert asked["request_id"] in {row["proposal_id"] for row in waiting}
    second.execute("SELECT memwarden.approve(%s)", (asked["request_id"],))
    assert office.held(item) == set()
    [row] = counsel.execute("SELECT * FROM memwarden.holds").fetchall()
    assert row["lifted_by"] == counsel.info.user


def test_bad_holds_are_refused(office: Office) -> None:
    """Nothing named, something unknown, texts that would hold everything.

    Proves: Z5
    """
    bad: list[tuple[dict[str, Any], type[psycopg.Error]]] = [
        ({}, psycopg.errors.InvalidParameterValue),
        ({"item_id": uuid4()}, psycopg.errors.UndefinedObject),
        ({"scope": "/org/nowhere"}, psycopg.errors.UndefinedObject),
        ({"layers": ["nowhere"]}, psycopg.errors.UndefinedObject),
        ({"texts": ["a"]}, psycopg.errors.InvalidParameterValue),
        ({"texts": []}, psycopg.errors.InvalidParameterValue),
        ({"subject": " "}, psycopg.errors.InvalidParameterValue),
        ({"subject": "Ed", "reason": ""}, psycopg.errors.InvalidParameterValue),
    ]
    for arguments, error in bad:
        with pytest.raises(error):
            office.hold(**arguments)
    with pytest.raises(psycopg.errors.UndefinedObject):
        office.lift(uuid4())
