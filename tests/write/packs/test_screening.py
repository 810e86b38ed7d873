"""What a pack's rules take out of a write, they take out of what was written before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import call, curator, name_of
from helpers import recall, write

if TYPE_CHECKING:
    from conftest import World

ORG = "/org/acme"
HOME = "/org/acme/user/ana"
Desk = Connection[DictRow]


@pytest.fixture
def desk(world: World) -> Desk:
    """Connect as who administers Ana's organisation."""
    world.scope(HOME)
    return curator(world, ORG)


def define(desk: Desk, action: str = "redact", name: str = "house") -> None:
    """A version of a pack that finds badges."""
    rule = {
        "rule": "badge",
        "kind": "pii.badge",
        "pattern": "BADGE-[0-9]{6}",
        "action": action,
        "tests": {"positive": ["BADGE-123456"], "negative": ["BADGE-1"]},
    }
    call(desk, "define_pack", name=name, definition=Jsonb({"redaction_rules": [rule]}))


def badge(agent: Connection[DictRow], **where: Any) -> Any:
    """A memory with a badge in it."""
    row = write(agent, "semantic", {"text": "the parcel is for BADGE-123456"}, **where)
    assert row["outcome"] == "COMMITTED", {"reason": row["reason"]}
    return row["item_id"]


def sweep(world: World) -> None:
    """Have everything looked at that is to be looked at."""
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute("CALL memwarden.sweep()")


def shows(reader: Connection[DictRow]) -> bool:
    """Whether a recall, and all that is built on it, tells the badge."""
    told = {
        "recall": "BADGE-123456" in str(recall(reader, query="parcel")),
        "context": "BADGE-123456" in str(call(reader, "compile_context", query="parcel")),
        "push": "BADGE-123456" in str(call(reader, "push", task="parcel", threshold=0)),
    }
    assert len(set(told.values())) == 1, told
    return set(told.values()) == {True}


@pytest.mark.parametrize("swept", [False, True])
def test_a_pack_that_comes_later_redacts_what_is_told(
    world: World, desk: Desk, *, swept: bool
) -> None:
    """Before the sweep has been there as after it; its next version counts, and its end.

    Proves: F4 (redaction rules), Z3
    """
    agent = world.agent(HOME)
    badge(agent)
    assert shows(agent)
    define(desk)
    call(desk, "use_pack", pack="house")
    if swept:
        sweep(world)
    (row,) = recall(agent, query="parcel")
    assert row["content"] == {"text": "the parcel is for [pii.badge]"}
    assert row["suspicious"] == ["pii.badge"]
    assert not shows(agent)
    define(desk, "block")
    call(desk, "use_pack", pack="house")
    if swept:
        sweep(world)
    (row,) = recall(agent, query="parcel")
    assert (row["content"], row["text"]) == (None, None)
    call(desk, "use_pack", pack=None)
    if swept:
        world.admin.execute("CALL memwarden.rescan_sensitivity()")
    assert shows(agent)


def test_the_pack_of_its_writer_or_of_its_scope_counts(world: World, desk: Desk) -> None:
    """As at a write: the agent's before the nearest scope's, that before the organisation's.

    Proves: F4 (redaction rules), F7
    """
    ana, bo = world.agent(HOME), world.agent("/org/acme/user/bo")
    badge(ana)
    badge(bo)
    define(desk)
    call(desk, "define_pack", name="plain", definition=Jsonb({"description": "redacts nothing"}))
    for where, who in (
        ({"scope": HOME}, (False, True)),
        ({"agent": name_of(bo)}, (True, False)),
        ({}, (False, False)),
    ):
        call(desk, "use_pack", pack="house", **where)
        assert (shows(ana), shows(bo)) == who, where
        call(desk, "use_pack", pack=None, **where)
    call(desk, "use_pack", pack="house")
    call(desk, "use_pack", pack="plain", scope=HOME)
    assert (shows(ana), shows(bo)) == (True, False)
    # What the nearer one had let pass is looked at when it is gone, though all had been looked at.
    badge(ana, subject="another")
    sweep(world)
    call(desk, "use_pack", pack=None, scope=HOME)
    assert (shows(ana), shows(bo)) == (False, False)


def test_what_moves_under_a_pack_is_told_by_its_rules(world: World, desk: Desk) -> None:
    """And the nearest of two packs is the nearest where the scope is now.

    Proves: F4 (redaction rules)
    """
    red, deep = "/org/acme/domain/red", "/org/acme/domain/blue/user/deep"
    agent = world.agent(red)
    world.scope(deep)
    define(desk)
    call(desk, "use_pack", pack="house", scope=deep)
    sweep(world)
    badge(agent)
    assert shows(agent)
    (moved,) = call(desk, "move_scope", path=red, new_parent=deep)
    assert not shows(agent)
    call(desk, "move_scope", path=moved["move_scope"], new_parent="/org/acme")
    assert shows(agent)
    call(desk, "define_pack", name="plain", definition=Jsonb({"description": "redacts nothing"}))
    call(desk, "use_pack", pack="plain", scope=red)
    call(desk, "move_scope", path=red, new_parent=deep)
    assert shows(agent)


def test_after_the_sweep_only_what_was_found_is_screened(world: World, desk: Desk) -> None:
    """Where no pack redacts, no recall asks whether one does.

    Proves: Z3
    """
    agent = world.agent(HOME)
    badge(agent)
    write(agent, "semantic", {"text": "the parcel is brown"})
    marks = "SELECT array_agg(sensitivity::text ORDER BY sensitivity) FROM memwarden_data.item"
    define(desk)
    call(desk, "use_pack", pack="house")
    due = "SELECT count(*) FROM memwarden_data.pack_use WHERE rules_since IS NOT NULL"
    assert world.value(f"{due} AND swept_at IS NULL") == 1
    sweep(world)
    assert world.value(f"{due} AND swept_at IS NULL") == 0
    assert sorted(world.value(marks)) == ["none", "suspicious"]
    # A change of the organisation's rules is one of the pack's.
    call(desk, "set_sensitivity_action", kind="pii.email", action="flag")
    assert world.value(f"{due} AND swept_at IS NULL") <= 1
    sweep(world)
    assert not shows(agent)
