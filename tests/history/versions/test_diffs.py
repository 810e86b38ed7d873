"""history(), diff(), diff_store(): what changed, who changed it, when and why."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import call, state
from conftest import World
from helpers import write
from history.versions.past import KEY, Agent, cites, head, history, now, rollback, say, year
from scope_calls import organisation_of, refused, remember, retract

FIRST = {"city": "Lund", "rooms": [1, {"a/b": "~x"}], "gone": None}
SECOND = {"city": "Oslo", "rooms": [1, {"a/b": "y"}, 3], "new": {"deep": {}}}
CHANGES = [
    ("/confidence", "changed", 0.5, 0.75),
    ("/content/city", "changed", "Lund", "Oslo"),
    ("/content/gone", "removed", None, None),
    ("/content/new/deep", "added", None, {}),
    ("/content/rooms/1/a~1b", "changed", "~x", "y"),
    ("/content/rooms/2", "added", None, 3),
    ("/evidence/0/type", "added", None, "document"),
    ("/evidence/0/uri", "added", None, "https://example.org/"),
]
STEADY = {"valid_from": year(2020)}


@pytest.fixture
def changed(author: Agent, curator: Agent) -> Any:
    """An item with two versions, by two authors."""
    say(author, FIRST, confidence=0.5, **STEADY)
    evidence = [{"type": "document", "uri": "https://example.org/"}]
    return say(curator, SECOND, confidence=0.75, evidence=evidence, **STEADY)["item_id"]


def test_two_versions_of_an_item(curator: Agent, changed: Any) -> None:
    """By path, both ways round; the same with itself has no rows.

    Proves: T3
    """

    def diff(one: int, other: int) -> list[tuple[Any, ...]]:
        rows = call(curator, "diff", item_id=changed, version_a=one, version_b=other)
        return [tuple(row.values()) for row in rows]

    # Whose evidence was empty, and is no longer.
    assert [each for each in diff(1, 2) if each[0] != "/evidence"] == CHANGES
    turned = {"added": "removed", "removed": "added", "changed": "changed"}
    back = [(path, turned[change], after, before) for path, change, before, after in CHANGES]
    assert [each for each in diff(2, 1) if each[0] != "/evidence"] == back
    assert diff(1, 1) == []


def test_periods_and_lifetimes_differ_too(curator: Agent) -> None:
    """When a value is true, and how long it is kept, is part of what a version says.

    The value that began earlier ends where the later one begins. Proves: T3, T4
    """
    item = say(curator, "Lund", valid_from=year(2020))["item_id"]
    say(curator, "Lund", valid_from=year(2019), ttl="1 day")
    rows = call(curator, "diff", item_id=item, version_a=1, version_b=2)
    assert [(row["path"], row["change"]) for row in rows] == [
        ("/expires_at", "added"),
        ("/valid_from", "changed"),
        ("/valid_to", "added"),
    ]


def test_history_tells_who_why_and_what_changed(
    shared_world: World, author: Agent, curator: Agent, changed: Any
) -> None:
    """An entry a version and an entry for its end, newest first; what came back says from where.

    Proves: T3, T5
    """
    retract(curator, changed, "an error")
    (back,) = rollback(curator, changed, reason="no error after all")
    rows = history(author, changed)
    names = author.info.user, curator.info.user
    assert [
        (row["version"], row["operation"], row["status"], row["actor"], row["reason"])
        for row in rows
    ] == [
        (3, "RESTORE", "ACTIVE", names[1], "no error after all"),
        (2, "RETRACT", "RETRACTED", names[1], "an error"),
        (2, "UPDATE", "RETRACTED", names[1], "new value for the same subject and predicate"),
        (1, "INSERT", "SUPERSEDED", names[0], "new item"),
    ]
    assert [row["restores_version"] for row in rows] == [2, None, None, None]
    assert rows[0]["version_id"] == back["version_id"]
    assert rows[0]["request_id"] == back["change_id"]
    assert rows[1]["recorded_at"] == rows[2]["superseded_at"] <= rows[0]["recorded_at"]
    assert rows[3]["superseded_at"] == rows[2]["recorded_at"]
    assert [row["log_seq"] for row in rows] == sorted((r["log_seq"] for r in rows), reverse=True)
    assert [row["changes"] is None for row in rows] == [False, True, False, True]
    assert rows[0]["changes"] == []
    told = [(each["path"], each["change"]) for each in rows[2]["changes"]]
    assert [each for each in told if each[0] != "/evidence"] == [each[:2] for each in CHANGES]
    city = next(each for each in rows[2]["changes"] if each["path"] == "/content/city")
    assert (city["before"], city["after"]) == ("Lund", "Oslo")
    assert head(shared_world, changed)["version"] == 3


def test_what_is_not_there_or_not_seen_has_no_versions(
    shared_world: World, home: str, curator: Agent, changed: Any
) -> None:
    """diff() raises the same error for both, history() has no row.

    Proves: T3, A3
    """
    chief = shared_world.agent(home, clearance="confidential")
    secret = remember(chief, home, "a", classification="confidential")
    bob = f"{organisation_of(home)}/user/bob"
    foreign = remember(shared_world.agent(bob), bob, "b")

    def diff(item: Any, *versions: int) -> list[str]:
        return refused(
            lambda: curator.execute("SELECT * FROM memwarden.diff(%s, %s, %s)", (item, *versions)),
            item,
        )

    absent = uuid4()
    answer = diff(absent, 1, 1)
    assert answer[0] == "42704"
    for item in (secret, foreign):
        assert diff(item, 1, 1) == answer
        assert history(curator, item) == []
    assert diff(changed, 1, 3)[0] == diff(changed, 0, 1)[0] == "42704"
    assert history(curator, absent) == []


def store(agent: Agent, *moments: Any, **arguments: Any) -> list[DictRow]:
    """Call ``memwarden.diff_store``."""
    named = dict(zip(("since", "until"), moments, strict=False))
    return call(agent, "diff_store", **named, **arguments)


def test_between_two_moments(shared_world: World, home: str, author: Agent, curator: Agent) -> None:
    """Added, changed, removed; the last who changed it, why and when; others are not listed.

    Proves: T3
    """
    kept = say(author, "kept", subject="kept")
    changes = say(author, {"n": 1}, subject="changes")
    ends = say(author, {"n": 2}, subject="ends")
    since = now(shared_world)
    comes = say(author, {"n": 3}, subject="comes")
    say(author, {"n": 4}, subject="changes")
    last = say(curator, {"n": 5}, subject="changes")
    retract(curator, ends["item_id"], "wrong")
    passing = say(author, {"n": 6}, subject="passing")
    retract(curator, passing["item_id"])
    until = now(shared_world)
    say(author, {"n": 7}, subject="comes")
    rows = store(author, since, until)
    names = author.info.user, curator.info.user
    told = [
        (
            *(row["item_id"], row["change"], row["version_before"], row["version_after"]),
            *(row["before"], row["after"], row["actor"], row["reason"]),
        )
        for row in rows
    ]
    assert told == [
        (comes["item_id"], "added", None, 1, None, {"n": 3}, names[0], "new item"),
        (
            *(changes["item_id"], "changed", 1, 3, {"n": 1}, {"n": 5}, names[1]),
            "new value for the same subject and predicate",
        ),
        (ends["item_id"], "removed", 1, None, {"n": 2}, None, names[1], "wrong"),
    ]
    assert [row["changed_at"] for row in rows] == sorted(row["changed_at"] for row in rows)
    assert {row["item_scope"] for row in rows} == {home}
    assert rows[1]["changed_at"] == history(author, last["item_id"])[0]["recorded_at"]
    backwards = store(author, until, now(shared_world))
    assert [(row["subject"], row["change"]) for row in backwards] == [("comes", "changed")]
    assert kept["item_id"] not in {row["item_id"] for row in rows}
    assert store(author, until, until) == []
    assert len(store(author, since)) == 3
    assert store(author, since, until, layers=["episodic"]) == []
    assert len(store(author, since, until, scope=home)) == 3


def test_what_expired_in_between(shared_world: World, author: Agent) -> None:
    """Removed by nobody, when its time was over, also where it was changed before that.

    Proves: T3
    """
    since = now(shared_world, seconds=-1)
    say(author, "a", ttl="1 hour", subject="one")
    later = now(shared_world)
    item = say(author, "b", ttl="2 hours", subject="one")
    until = now(shared_world, hours=3)
    (row,) = store(author, later, until)
    expected = (item["item_id"], "removed", "expired", None)
    assert (row["item_id"], row["change"], row["reason"], row["actor"]) == expected
    over = history(author, item["item_id"])[0]["recorded_at"]
    assert (row["changed_at"] - over).total_seconds() == 7200
    assert store(author, since, until) == []


def test_times_in_order(shared_world: World, author: Agent) -> None:
    """22023 for others; 42704 for what the caller does not see.

    Proves: T3
    """
    moment = now(shared_world)
    assert state(author, "diff_store", since=None) == "22023"
    assert state(author, "diff_store", since=now(shared_world), until=moment) == "22023"
    assert state(author, "diff_store", since=moment, scope="/org/none") == "42704"
    assert state(author, "diff_store", since=moment, layers=["none"]) == "42704"


def test_a_store_differs_for_who_sees_it(shared_world: World, home: str, author: Agent) -> None:
    """What is hidden now is in no difference, whoever could see it then.

    Proves: T3, A3
    """
    chief = shared_world.agent(home, clearance="confidential")
    since = now(shared_world)
    item = say(author, "open")["item_id"]
    assert [row["item_id"] for row in store(author, since)] == [item]
    write(chief, "semantic", "secret", **KEY, classification="confidential")
    assert store(author, since) == []
    assert [row["item_id"] for row in store(chief, since)] == [item]


def test_merged_items_tell_of_each_other(author: Agent, curator: Agent, home: str) -> None:
    """The version that absorbed names the item, who sees both; the other ends SUPERSEDED.

    Proves: T3, D4
    """
    one, other = (remember(author, home, {"n": n}, evidence=cites(uuid4())) for n in (1, 2))
    call(curator, "merge", item_id=one, absorbed=other, reason="the same")
    top = history(curator, one)[0]
    assert (top["operation"], top["absorbed_item"], top["reason"]) == ("UPDATE", other, "the same")
    last = history(curator, other)[0]
    assert (last["operation"], last["status"]) == ("SUPERSEDE", "SUPERSEDED")


def test_who_does_not_see_the_other_is_not_told(shared_world: World, home: str) -> None:
    """A reader of its own memories only: what was merged into one of them stays unnamed.

    Proves: T3, A3
    """
    organisation = home.split("/")[2]
    shared_world.scope(home)
    own = [{"operation": "READ", "reach": "own"}, {"operation": "WRITE"}]
    call(shared_world.admin, "define_role", name="own", permissions=own, org=organisation)
    mine: Connection[DictRow] = shared_world.agent(home, role="own")
    author, curator = shared_world.agent(home), shared_world.agent(home, role="curator")
    one, other = remember(mine, home, {"n": 1}), remember(author, home, {"n": 2})
    call(curator, "merge", item_id=one, absorbed=other, reason="the same")
    assert [row["absorbed_item"] for row in history(mine, one)] == [None, None]
    assert str(other) not in str(history(mine, one))
    assert str(other) not in str(call(mine, "lineage", item_id=one))
    assert history(curator, one)[0]["absorbed_item"] == other
