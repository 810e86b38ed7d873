"""as_of(): what the store held at a moment, for who may see it now."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from access import call, state
from conftest import World
from helpers import recall, write
from history.versions.past import KEY, Agent, as_of, contents, now, rolled_back, say
from scope_calls import close_scope, create_scope, get, organisation_of, remember, retract


def test_the_store_at_each_moment(shared_world: World, home: str, curator: Agent) -> None:
    """Each value while it was current, what was retracted until it was, nothing before the first.

    Proves: T3
    """
    moments = [now(shared_world)]
    for step in ("tea", "coffee", "cocoa"):
        item = say(curator, step)["item_id"]
        moments.append(now(shared_world))
    other = remember(curator, home, "water")
    moments.append(now(shared_world))
    retract(curator, item)
    moments.append(now(shared_world))
    rolled_back(curator, item)
    moments.append(now(shared_world))
    held: list[list[str]] = [
        *([], ["tea"], ["coffee"], ["cocoa"], ["cocoa", "water"], ["water"], ["cocoa", "water"]),
    ]
    assert [contents(curator, moment) for moment in moments] == held
    of_one = [contents(curator, moment, item_id=item) for moment in moments]
    assert of_one == [[each for each in step if each != "water"] for step in held]
    assert contents(curator, moments[-1], item_id=other) == ["water"]
    assert contents(curator) == held[-1]
    assert contents(curator, "infinity") == held[-1]
    assert contents(curator, "-infinity") == []
    assert as_of(curator, item_id=uuid4()) == []


def test_a_moment_is_exact(shared_world: World, curator: Agent) -> None:
    """A version stands from the microsecond it was recorded at, until that of the next.

    Proves: T3
    """
    item = say(curator, "tea")["item_id"]
    say(curator, "coffee")
    (first,) = as_of(curator, get(curator, item)["created_at"])
    assert (first["content"], first["recorded_at"]) == ("tea", get(curator, item)["created_at"])
    (second,) = as_of(curator, first["superseded_at"])
    assert (second["content"], second["recorded_at"]) == ("coffee", first["superseded_at"])
    assert second["superseded_at"] is None
    before = "SELECT %s - interval '1 microsecond'"
    assert contents(curator, shared_world.value(before, second["recorded_at"])) == ["tea"]
    assert contents(curator, shared_world.value(before, first["recorded_at"])) == []


def test_a_row_says_what_get_says(curator: Agent) -> None:
    """Every column that both have, for now; provenance too.

    Proves: T3
    """
    item = say(curator, {"city": "Lund"}, confidence=0.9, importance=0.1, ttl="1 day")["item_id"]
    (row,) = as_of(curator, item_id=item)
    shown = get(curator, item)
    shared = row.keys() & shown.keys()
    assert {"content", "text", "provenance", "expires_at", "domains", "version_id"} <= shared
    assert {name: row[name] for name in shared} == {name: shown[name] for name in shared}
    assert (row["recorded_at"], row["superseded_at"]) == (shown["updated_at"], None)
    assert [each["item_id"] for each in recall(curator)] == [row["item_id"]]


def test_every_filter(shared_world: World, home: str) -> None:
    """Layers, subject and predicate whatever the case, kind, content, confidence, words, scopes.

    Proves: T3
    """
    agent = shared_world.agent(home, descendants=True)
    task = f"{home}/task/t"
    create_scope(agent, task)
    say(agent, {"city": "Lund", "note": "a quiet green street"}, confidence=0.9)
    write(agent, "episodic", {"did": "saw a green bird in the street"}, confidence=0.2)
    remember(agent, task, {"only": "here"}, layer="working", confidence=0.55)
    then = now(shared_world)
    say(agent, {"city": "Oslo"})
    note = {"item_id": str(uuid4()), "verdict": "doubted"}
    write(agent, "episodic", note, kind="annotation")
    lund, bird, here = "Lund", "bird", "here"
    asked: list[tuple[dict[str, Any], set[str]]] = [
        ({}, {lund, bird, here}),
        ({"layers": ["episodic"]}, {bird}),
        ({"layers": ["working", "semantic"]}, {lund, here}),
        ({"layers": []}, set()),
        ({"subject": "ANA"}, {lund}),
        ({"predicate": "Lives In"}, {lund}),
        ({"predicate": "lives"}, set()),
        ({"kind": "annotation"}, set()),
        ({"filter": Jsonb({"city": "Lund"})}, {lund}),
        ({"filter": Jsonb({"city": "Oslo"})}, set()),
        ({"min_confidence": 0.55}, {lund, here}),
        ({"query": "green street"}, {lund, bird}),
        ({"query": "green -quiet"}, {bird}),
        ({"query": '"green street"'}, {lund}),
        ({"query": "quiet or bird"}, {lund, bird}),
        ({"query": "green street", "layers": ["episodic"]}, {bird}),
        ({"scope": task}, {lund, bird, here}),
        ({"scope": home}, {lund, bird}),
        ({"scopes": [task]}, {here}),
        ({"scopes": [task, home]}, {lund, bird, here}),
        ({"scopes": []}, set()),
    ]
    for arguments, expected in asked:
        told = str([row["content"] for row in as_of(agent, then, **arguments)])
        assert {each for each in (lund, bird, here) if each in told} == expected, arguments
        assert "Oslo" not in told
    for arguments in ({"kind": "annotation"}, {"filter": Jsonb({"city": "Oslo"})}):
        assert len(as_of(agent, **arguments)) == 1


def test_what_had_expired_by_then_is_not_shown(shared_world: World, curator: Agent) -> None:
    """By its time to live, whether or not a job has said so; and what was ended by hand.

    Proves: T3, G5, G2 (a hard lifetime)
    """
    short = say(curator, "brief", ttl="1 hour", subject="short")
    ended = say(curator, "over", subject="ended")
    before = now(shared_world)
    call(curator, "expire", item_id=ended["item_id"], reason="no longer needed")
    assert contents(curator, before) == ["brief", "over"]
    assert contents(curator) == ["brief"]
    assert contents(curator, now(shared_world, minutes=59)) == ["brief"]
    assert contents(curator, now(shared_world, minutes=61)) == []
    assert as_of(curator, now(shared_world, minutes=61), item_id=short["item_id"]) == []


def test_a_right_that_was_lost_covers_the_past_too(shared_world: World, home: str) -> None:
    """Clearance, scope, role: nothing of what one could see once; and all of it when it is given.

    Proves: T3, A1, A3
    """
    author = shared_world.agent(home, clearance="confidential")
    open_, secret = say(author, "open")["item_id"], say(author, "one", subject="secret")["item_id"]
    say(author, "two", subject="secret", classification="confidential")
    then = now(shared_world)
    say(author, "three", subject="secret")
    reader = shared_world.agent(home, clearance="confidential")
    name = reader.info.user

    def seen() -> tuple[list[Any], list[Any], int]:
        past = contents(reader, then), contents(reader, then, item_id=secret)
        return *past, len(call(reader, "history", item_id=secret))

    assert seen() == (["open", "two"], ["two"], 3)
    call(shared_world.admin, "change_agent", agent=name, clearance="internal")
    # Not even what it said before it was made a secret.
    assert seen() == (["open"], [], 0)
    assert contents(reader, get(reader, open_)["created_at"], item_id=secret) == []
    call(shared_world.admin, "change_agent", agent=name, clearance="confidential")
    assert seen() == (["open", "two"], ["two"], 3)
    call(shared_world.admin, "change_agent", agent=name, role="executor")
    assert seen() == ([], [], 0)
    call(shared_world.admin, "change_agent", agent=name, role="contributor")
    call(shared_world.admin, "revoke_scope", agent=name, scope=home)
    assert seen() == ([], [], 0)
    call(shared_world.admin, "grant_scope", agent=name, scope=home)
    assert seen() == (["open", "two"], ["two"], 3)


@pytest.mark.parametrize("group", ["reviewer", "auditor", "curator"])
def test_who_reads_memory_reads_its_past(shared_world: World, home: str, group: str) -> None:
    """Every group that may recall.

    Proves: T3
    """
    author = shared_world.agent(home)
    say(author, "tea")
    then = now(shared_world)
    say(author, "coffee")
    reader = shared_world.agent(home, groups=(f"memwarden_{group}",))
    assert contents(reader, then) == ["tea"]


def test_what_cannot_be_asked(shared_world: World, home: str, curator: Agent) -> None:
    """42704 for what is unknown, hidden or absent alike; 22023 out of range; 28000 for a stranger.

    Proves: T3, A3
    """
    bob = f"{organisation_of(home)}/user/bob"
    remember(shared_world.agent(bob), bob, "his own")
    assert state(curator, "as_of", layers=["no such"]) == "42704"
    assert state(curator, "as_of", min_confidence=1.5) == "22023"
    for path in (bob, f"{bob}by"):
        assert state(curator, "as_of", scope=path) == "42704"
        assert state(curator, "as_of", scopes=[home, path]) == "42704"
        assert state(curator, "as_of", scope=path, item_id=uuid4()) == "42704"
    stranger = shared_world.connect(shared_world.role("memwarden_agent"))
    assert state(stranger, "as_of") == "28000"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        as_of(shared_world.connect("memwarden_jobs"))


def test_an_item_is_asked_for_within_the_scopes_given(shared_world: World, home: str) -> None:
    """An item of another scope is no answer.

    Proves: T3
    """
    agent = shared_world.agent(home, descendants=True)
    create_scope(agent, f"{home}/task/t")
    item = remember(agent, home, "tea", **KEY)
    assert contents(agent, item_id=item, scope=f"{home}/task/t") == ["tea"]
    assert contents(agent, item_id=item, scopes=[f"{home}/task/t"]) == []
    assert contents(agent, item_id=item, subject="Bo") == []


def test_a_closed_scope_keeps_its_past(shared_world: World, home: str) -> None:
    """What was there is found at the time when it was.

    Proves: T3, A10
    """
    agent = shared_world.agent(home, role="curator", descendants=True)
    task = f"{home}/task/t"
    create_scope(agent, task)
    item = remember(agent, task, "tea", **KEY)
    then = now(shared_world)
    close_scope(agent, task)
    assert contents(agent, then) == ["tea"]
    assert contents(agent) == []
    assert contents(agent, then, item_id=item, scope=task) == ["tea"]
