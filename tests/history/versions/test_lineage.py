"""lineage(): what a memory rests on, what rests on it, and what has lost its basis."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest

from access import call, state
from conftest import World
from helpers import recall, write
from history.versions.past import KEY, Agent, cites, rollback, rolled_back, say
from scope_calls import get, organisation_of, refused, remember, retract

URL = {"type": "document", "uri": "https://example.org/report"}


def lineage(agent: Agent, item: UUID, direction: str = "sources", **arguments: Any) -> list[Any]:
    """What is related, with how far and how."""
    rows = call(agent, "lineage", item_id=item, direction=direction, **arguments)
    return [(row["distance"], row["relation"], row["related_item"]) for row in rows]


def stale(agent: Agent, *items: UUID) -> list[bool]:
    """Whether each is marked, the same by every way of reading."""
    found = [get(agent, item)["stale"] for item in items]
    recalled = {row["item_id"]: row["stale"] for row in recall(agent, k=1000)}
    listed = {
        row["item_id"]: row["stale"]
        for row in agent.execute("SELECT item_id, stale FROM memwarden.items").fetchall()
    }
    for item, mark in zip(items, found, strict=True):
        assert recalled.get(item, mark) == listed[item] == mark
    return found


def chain(agent: Agent, scope: str, length: int = 4) -> list[UUID]:
    """Memories each of which rests on the one before it."""
    items = [say(agent, {"n": 0}, scope)["item_id"]]
    for number in range(1, length):
        items.append(remember(agent, scope, {"n": number}, evidence=cites(items[-1])))
    return items


def test_sources_and_what_was_derived(home: str, curator: Agent) -> None:
    """To any depth, or as far as one asks; nearest first; each version once, by whatever way.

    Proves: P6
    """
    root, left, right = (remember(curator, home, {"n": n}) for n in range(3))
    middle = remember(curator, home, "middle", evidence=[*cites(root, left), URL])
    top = remember(curator, home, "top", evidence=cites(middle, root, right))
    near = {(1, "evidence", item) for item in (middle, root, right)}
    assert set(lineage(curator, top, depth=1)) == near
    everything = lineage(curator, top)
    assert set(everything) == near | {(2, "evidence", left), (2, "evidence", None)}
    assert [each[0] for each in everything] == [1, 1, 1, 2, 2]
    assert set(lineage(curator, top, depth=2)) == set(everything)
    assert set(lineage(curator, root, "derived")) == {(1, "evidence", middle), (1, "evidence", top)}
    assert lineage(curator, left, "derived", depth=1) == [(1, "evidence", middle)]
    assert lineage(curator, left, "derived") == [(1, "evidence", middle), (2, "evidence", top)]
    assert lineage(curator, root) == lineage(curator, top, "derived") == []


def test_a_row_tells_what_it_is_and_through_whom(home: str, curator: Agent) -> None:
    """The memory as it was then, the version that names it; other evidence as it was given.

    Proves: P6
    """
    source = say(curator, "Lund")
    item = remember(curator, home, "a town", evidence=[*cites(source["item_id"]), URL])
    say(curator, "Oslo")
    rows = call(curator, "lineage", item_id=item)
    version = get(curator, item)["version_id"]
    memory, other = rows
    assert (memory["related_version"], memory["content"]) == (source["version_id"], "Lund")
    assert (memory["cited_by"], memory["layer"], memory["scope"]) == (version, "semantic", home)
    assert (memory["subject"], memory["predicate"]) == tuple(KEY.values())
    assert (memory["status"], memory["withdrawn"], memory["evidence"]) == (
        "SUPERSEDED",
        False,
        None,
    )
    assert (other["cited_by"], other["evidence"], other["related_item"]) == (version, URL, None)
    (below,) = call(curator, "lineage", item_id=source["item_id"], direction="derived")
    assert (below["related_item"], below["cited_by"]) == (item, source["version_id"])


def test_a_version_can_be_named(curator: Agent, home: str) -> None:
    """Evidence that names a version rests on that one, whatever the item says now.

    Proves: P6
    """
    old, new = say(curator, "Lund"), say(curator, "Oslo")
    named = [cites(old["item_id"])[0] | {"version_id": str(old["version_id"])}]
    item = remember(curator, home, "a town", evidence=named)
    (row,) = call(curator, "lineage", item_id=item)
    assert (row["related_version"], row["content"]) == (old["version_id"], "Lund")
    assert row["related_version"] != new["version_id"]


def test_promoted_and_merged_memories_have_their_sources(shared_world: World, home: str) -> None:
    """A copy rests on its original; a merged one on the item it absorbed.

    Proves: P6, D4
    """
    organisation = organisation_of(home)
    shared_world.scope(home)
    agent = shared_world.agent(organisation, role="curator", descendants=True)
    item = remember(agent, home, "a fact")
    copy = call(agent, "promote", item_id=item)[0]["item_id"]
    assert lineage(agent, copy) == [(1, "evidence", item)]
    other = remember(agent, home, "the same fact")
    call(agent, "merge", item_id=item, absorbed=other, reason="the same")
    assert lineage(agent, item) == [(1, "merged", other)]
    assert lineage(agent, other, "derived") == [(1, "merged", item), (2, "evidence", copy)]
    assert set(lineage(agent, item, "derived")) == {(1, "evidence", copy)}


def test_what_is_hidden_is_left_out_and_what_only_it_leads_to(
    shared_world: World, home: str
) -> None:
    """Sources and derived memories of which the caller may not know.

    Proves: P6, A3
    """
    shared_world.scope(home)
    chief = shared_world.agent(home, clearance="confidential")
    low = shared_world.agent(home)
    base = remember(chief, home, "base")
    secret = remember(chief, home, "b", evidence=cites(base))
    top = remember(chief, home, "top", evidence=cites(secret))
    # What cites a secret is one; what was cited may become one.
    hidden = remember(
        chief, home, "c", evidence=cites(base), classification="confidential", corrects=secret
    )
    assert lineage(chief, top) == [(1, "evidence", secret), (2, "evidence", base)]
    assert lineage(low, top) == lineage(low, base, "derived") == []
    derived = {(1, "evidence", secret), (1, "evidence", hidden), (2, "evidence", top)}
    assert set(lineage(chief, base, "derived")) == derived
    over = remember(chief, home, "over", evidence=cites(top))
    assert lineage(low, over) == [(1, "evidence", top)]


def test_evidence_that_the_writer_cannot_read_is_a_text(shared_world: World, home: str) -> None:
    """It makes no link, so nobody learns from it that something is there, or that it was withdrawn.

    Proves: P6, A3
    """
    shared_world.scope(home)
    chief = shared_world.agent(home, clearance="confidential", role="curator")
    low = shared_world.agent(home)
    secret = remember(chief, home, "b", classification="confidential")
    guess = remember(low, home, "guess", evidence=cites(secret))
    nothing = remember(low, home, "nothing", evidence=cites(uuid4()))
    for agent in (chief, low):
        assert lineage(agent, guess) == lineage(agent, nothing) == []
    assert lineage(chief, secret, "derived") == []
    retract(chief, secret)
    assert stale(low, guess, nothing) == [False, False]


def test_of_another_scope_and_of_what_is_common(shared_world: World, home: str) -> None:
    """Links lead over scopes that the caller reads, and no others.

    Proves: P6, A4
    """
    organisation = organisation_of(home)
    shared_world.scope(home)
    chief = shared_world.agent(organisation, descendants=True)
    bob, ana = shared_world.agent(f"{organisation}/user/bob"), shared_world.agent(home)
    rule = remember(chief, organisation, "a rule")
    hers = remember(ana, home, "hers", evidence=cites(rule))
    his = remember(bob, f"{organisation}/user/bob", "his", evidence=cites(rule, hers))
    assert lineage(bob, his) == [(1, "evidence", rule)]
    assert lineage(ana, rule, "derived") == [(1, "evidence", hers)]
    assert lineage(bob, rule, "derived") == [(1, "evidence", his)]
    assert {each[2] for each in lineage(chief, rule, "derived")} == {hers, his}


@pytest.mark.parametrize("how", ["retract", "rollback", "batch"])
def test_what_was_derived_turns_stale_and_fresh_again(home: str, curator: Agent, how: str) -> None:
    """Directly or not; undoing the withdrawal clears the mark.

    Proves: T5, P6
    """
    items = chain(curator, home)
    assert stale(curator, *items) == [False] * 4
    if how == "retract":
        retract(curator, items[0])
    elif how == "rollback":
        row = rolled_back(curator, items[0])
        assert (row["action"], row["dependents"]) == ("RETRACT", items[1:])
    else:
        request = call(curator, "history", item_id=items[0])[0]["request_id"]
        call(curator, "rollback_batch", reason="wrong", requests=[request])
    assert stale(curator, *items[1:]) == [True] * 3
    told = call(curator, "lineage", item_id=items[3])
    assert [row["withdrawn"] for row in told] == [False, False, True]
    row = rolled_back(curator, items[0])
    assert (row["action"], row["dependents"]) == ("RESTORE", [])
    assert stale(curator, *items) == [False] * 4


def test_undoing_asks_only_what_was_derived_whether_it_is_stale(
    shared_world: World, home: str, curator: Agent
) -> None:
    """However many memories the organisation has.

    Proves: T5, P6
    """
    items, asked = chain(curator, home), []
    admin = shared_world.admin
    calls = (
        "SELECT coalesce(pg_stat_get_xact_function_calls("
        "'memwarden_internal.is_stale(bigint, uuid)'::regprocedure), 0)"
    )
    for more in (0, 20):
        for number in range(more):
            remember(curator, home, {"more": number})
        with admin.transaction(force_rollback=True):
            admin.execute("SET LOCAL track_functions = 'all'")
            before = shared_world.value(calls)
            admin.execute(f"SET LOCAL SESSION AUTHORIZATION {curator.info.user}")
            row = rolled_back(admin, items[0])
            admin.execute("RESET SESSION AUTHORIZATION")
            asked.append(shared_world.value(calls) - before)
        assert row["dependents"] == items[1:]
    assert asked == [3, 3]


def test_a_value_that_was_replaced_is_not_withdrawn(home: str, curator: Agent) -> None:
    """It was true when it was said; only what was taken back is not.

    Proves: T5
    """
    items = chain(curator, home, 3)
    say(curator, {"n": "new"})
    assert stale(curator, *items[1:]) == [False, False]
    # The new value was the mistake: what rested on the old one stands.
    rolled_back(curator, items[0])
    assert stale(curator, *items[1:]) == [False, False]
    # The memory as a whole is taken back.
    retract(curator, items[0])
    assert stale(curator, *items[1:]) == [True, True]


def test_every_version_that_was_undone_is_withdrawn(home: str, curator: Agent) -> None:
    """Also those in the middle of a chain that one rollback undid; and they come back with it.

    Proves: T5
    """
    items, resting = [], []
    for step in range(5):
        items.append(say(curator, {"step": step})["item_id"])
        resting.append(remember(curator, home, f"rests on {step}", evidence=cites(items[0])))
    row = rolled_back(curator, items[0], to_version=2)
    assert row["dependents"] == resting[2:]
    assert stale(curator, *resting) == [False, False, True, True, True]
    rolled_back(curator, items[0])
    assert stale(curator, *resting) == [False] * 5
    rolled_back(curator, items[0], to_version=4)
    assert stale(curator, *resting) == [False, False, False, False, True]
    rolled_back(curator, items[0], to_version=1)
    assert stale(curator, *resting) == [False, True, True, True, True]
    rolled_back(curator, items[0])
    assert stale(curator, *resting) == [False, False, False, False, True]


def test_what_is_written_anew_from_other_sources_is_fresh(home: str, curator: Agent) -> None:
    """The mark is the current version's: a new version rests on what it names.

    Proves: T5
    """
    source, other = remember(curator, home, {"n": 1}), remember(curator, home, {"n": 2})
    item = say(curator, "so", evidence=cites(source))["item_id"]
    retract(curator, source)
    assert stale(curator, item) == [True]
    say(curator, "still so", evidence=cites(other))
    assert stale(curator, item) == [False]
    assert lineage(curator, item) == [(1, "evidence", other)]
    rollback(curator, item)
    assert stale(curator, item) == [True]
    assert lineage(curator, item) == [(1, "evidence", source)]


def test_what_cannot_be_asked(shared_world: World, home: str, curator: Agent) -> None:
    """22023 for a direction or depth that is none; hidden and absent items alike 42704.

    Proves: P6, A3
    """
    item = remember(curator, home, "a")
    assert state(curator, "lineage", item_id=item, direction="up") == "22023"
    assert state(curator, "lineage", item_id=item, depth=0) == "22023"
    assert state(curator, "lineage", item_id=item, direction=None) == "22023"
    chief = shared_world.agent(home, clearance="confidential")
    secret, absent = remember(chief, home, "b", classification="confidential"), uuid4()
    told = [
        refused(partial(curator.execute, "SELECT * FROM memwarden.lineage(%s)", (each,)), each)
        for each in (secret, absent)
    ]
    assert told[0] == told[1]
    assert told[0][0] == "42704"
    stranger = shared_world.connect(shared_world.role("memwarden_agent"))
    assert state(stranger, "lineage", item_id=item) == "28000"


def test_what_has_ended_keeps_its_lineage(home: str, curator: Agent) -> None:
    """Also asked of a memory that was taken back.

    Proves: P6
    """
    items = chain(curator, home, 3)
    retract(curator, items[2])
    assert [each[2] for each in lineage(curator, items[2])] == [items[1], items[0]]
    (near, far) = call(curator, "lineage", item_id=items[0], direction="derived")
    assert [near["withdrawn"], far["withdrawn"]] == [False, True]
    assert write(curator, "semantic", {"n": 2}, evidence=cites(items[1]))["outcome"] == "COMMITTED"
