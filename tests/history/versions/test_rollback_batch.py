"""rollback_batch(): a whole run is undone in one call, and looked at before that."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.rows import DictRow

from access import call, refusal, state
from conftest import World
from helpers import recall, write, write_many
from history.versions.past import (
    KEY,
    Agent,
    check_timeline,
    cites,
    contents,
    head,
    history,
    now,
    rolled_back,
    say,
    year,
)
from history.versions.past import state as stands
from scope_calls import close_scope, create_scope, organisation_of, remember, retract


def preview(caller: Agent, **arguments: Any) -> list[DictRow]:
    """Call ``memwarden.preview_rollback``."""
    return call(caller, "preview_rollback", **arguments)


def undo(caller: Agent, **arguments: Any) -> dict[UUID, DictRow]:
    """Look, then undo; what happened to each item is what was announced."""
    announced = preview(caller, **arguments)
    done = call(caller, "rollback_batch", reason="poisoned", **arguments)
    assert {(row["item_id"], row["action"]) for row in announced} == {
        (row["item_id"], row["action"]) for row in done
    }
    assert len({row["change_id"] for row in done}) <= 1
    # What changed is what was to change; of what comes back, what was shown.
    for row in announced:
        if row["action"] == "RESTORE":
            (shown,) = call(caller, "get", item_id=row["item_id"])
            assert shown["content"] == row["would_say"]
        else:
            assert row["would_say"] is None
    return {row["item_id"]: row for row in done}


def actions(done: dict[UUID, DictRow]) -> dict[UUID, str]:
    """What happened to each item."""
    return {item: row["action"] for item, row in done.items()}


@pytest.fixture
def poisoned(shared_world: World, home: str) -> Agent:
    """An agent that went wrong."""
    shared_world.scope(home)
    return shared_world.agent(home, role="curator", descendants=True)


def test_everything_an_agent_did_is_undone(
    shared_world: World, home: str, author: Agent, curator: Agent, poisoned: Agent
) -> None:
    """What it wrote, a chain of values, retracted, merged, moved, expired and brought back.

    Proves: T5
    """
    names = ("first", "chain", "taken", "ended")
    items = {n: say(author, f"good {n}", subject=n)["item_id"] for n in names}
    one, other = (remember(author, home, {"n": n}) for n in range(2))
    moved = remember(author, home, "moved")
    gone = remember(author, home, "gone")
    retract(curator, gone, "rightly")
    before = {row["item_id"]: row["content"] for row in recall(author, k=100)}
    then = now(shared_world)

    new = remember(poisoned, home, "new")
    for step in range(4):
        say(poisoned, f"bad {step}", subject="chain")
    retract(poisoned, items["taken"])
    stolen = say(poisoned, "stolen", subject="taken")["item_id"]
    call(poisoned, "expire", item_id=items["ended"], reason="over")
    call(poisoned, "merge", item_id=one, absorbed=other, reason="the same")
    copy = call(poisoned, "reclassify", item_id=moved, layer="durable", reason="x")[0]["item_id"]
    rolled_back(poisoned, gone)
    passing = remember(poisoned, home, "passing")
    retract(poisoned, passing)

    done = undo(curator, agent=poisoned.info.user)
    assert actions(done) == {
        new: "RETRACT",
        items["chain"]: "RESTORE",
        items["taken"]: "RESTORE",
        stolen: "RETRACT",
        items["ended"]: "RESTORE",
        one: "RESTORE",
        other: "RESTORE",
        copy: "RETRACT",
        moved: "RESTORE",
        gone: "END",
        passing: "NOTHING",
    }
    assert {row["item_id"]: row["content"] for row in recall(author, k=100)} == before
    assert contents(author) == contents(author, then)
    assert stands(shared_world, gone)[0] == "RETRACTED"
    chain = history(author, items["chain"])
    assert [row["operation"] for row in chain] == ["RESTORE", "RETRACT"] + ["UPDATE"] * 4 + [
        "INSERT"
    ]
    assert chain[0]["restores_version"] == 1
    assert {row["actor"] for row in chain[:2]} == {curator.info.user}
    check_timeline(shared_world)
    # Called again there is nothing to do: somebody else has changed all of it since.
    again = undo(curator, agent=poisoned.info.user)
    assert set(actions(again).values()) <= {"CHANGED_SINCE", "NOTHING"}
    assert contents(author) == contents(author, then)


def test_it_is_one_change_that_can_be_undone_itself(
    shared_world: World, home: str, author: Agent, curator: Agent, poisoned: Agent
) -> None:
    """By its change_id: everything is as the agent had left it.

    Proves: T5
    """
    item = say(author, "good")["item_id"]
    one, other = (remember(author, home, {"n": n}) for n in range(2))
    say(poisoned, "bad")
    new = remember(poisoned, home, "new")
    call(poisoned, "merge", item_id=one, absorbed=other, reason="the same")
    left = contents(author)
    done = undo(curator, agent=poisoned.info.user)
    change = done[item]["change_id"]
    back = undo(curator, requests=[change])
    assert actions(back) == {item: "RESTORE", one: "RESTORE", other: "END", new: "RESTORE"}
    assert contents(author) == left
    assert head(shared_world, one)["absorbed_version_id"] == head(shared_world, other)["version_id"]
    undo(curator, requests=[back[item]["change_id"]])
    assert stands(shared_world, item) == ("ACTIVE", "good")
    assert stands(shared_world, other)[0] == "ACTIVE"
    check_timeline(shared_world)


def test_what_others_changed_since_is_left_alone(
    shared_world: World, author: Agent, curator: Agent, poisoned: Agent
) -> None:
    """And reported: a later value stays, and so does what somebody has repaired by hand.

    Proves: T5
    """
    items = {n: say(author, f"good {n}", subject=n)["item_id"] for n in "abc"}
    for name in "abc":
        say(poisoned, f"bad {name}", subject=name)
    say(author, "better", subject="a")
    rolled_back(curator, items["b"])
    (row,) = (r for r in preview(curator, agent=poisoned.info.user) if r["item_id"] == items["a"])
    assert (row["action"], row["changes"], row["now_says"]) == ("CHANGED_SINCE", 0, "better")
    done = undo(curator, agent=poisoned.info.user)
    assert actions(done) == {
        items["a"]: "CHANGED_SINCE",
        items["b"]: "CHANGED_SINCE",
        items["c"]: "RESTORE",
    }
    assert [stands(shared_world, items[name])[1] for name in "abc"] == [
        *("better", "good b", "good c")
    ]


def test_within_a_period(shared_world: World, curator: Agent, poisoned: Agent) -> None:
    """From since until until, both included; the rest of what the agent did stays.

    Proves: T5
    """
    early = say(poisoned, "early", subject="a")["item_id"]
    since = now(shared_world)
    middle = [say(poisoned, "middle", subject=name)["item_id"] for name in ("b", "a")]
    until = now(shared_world)
    late = say(poisoned, "late", subject="c")["item_id"]
    name = poisoned.info.user
    assert preview(curator, agent=name, since=now(shared_world)) == []
    (row,) = preview(curator, agent=name, until=since)
    assert (row["item_id"], row["action"]) == (early, "CHANGED_SINCE")
    done = undo(curator, agent=name, since=since, until=until)
    assert actions(done) == {middle[0]: "RETRACT", early: "RESTORE"}
    assert stands(shared_world, early) == ("ACTIVE", "early")
    assert stands(shared_world, late) == ("ACTIVE", "late")
    exact = history(curator, late)[0]["recorded_at"]
    assert len(preview(curator, agent=name, since=exact, until=exact)) == 1


def test_by_request(home: str, curator: Agent, poisoned: Agent) -> None:
    """The writes that are named, and only these; those of others too.

    Proves: T5
    """
    rows = write_many(
        poisoned, [{"layer": "semantic", "content": n, "scope": home} for n in range(5)]
    )
    named = [row["request_id"] for row in rows[1:3]]
    other = say(curator, "his own")
    done = undo(curator, requests=[*named, other["request_id"], uuid4()])
    assert set(done) == {rows[1]["item_id"], rows[2]["item_id"], other["item_id"]}
    assert sorted(row["content"] for row in recall(curator)) == [0, 3, 4]
    assert undo(curator, requests=[]) == {}


def test_by_scope(shared_world: World, home: str) -> None:
    """A scope and those below it, whoever wrote there; together with an agent, what meets both.

    Proves: T5, A4
    """
    organisation = organisation_of(home)
    shared_world.scope(home)
    chief = shared_world.agent(organisation, role="curator", descendants=True)
    author = shared_world.agent(home, descendants=True)
    for name in ("t", "t/task/sub", "u"):
        create_scope(chief, f"{home}/task/{name}")
    places = [home, f"{home}/task/t", f"{home}/task/t/task/sub", f"{home}/task/u"]
    items = {path: remember(author, path, path) for path in places}
    mine = remember(chief, places[2], "mine")
    assert set(undo(chief, scope=places[1], agent=author.info.user)) == {
        items[places[1]],
        items[places[2]],
    }
    assert set(undo(chief, scope=places[2], since=year(2000))) == {mine, items[places[2]]}
    left = set(undo(chief, scope=organisation, agent=author.info.user))
    assert left == set(items.values())
    assert recall(author) == []
    assert stands(shared_world, mine)[0] == "RETRACTED"


def test_five_hundred_items_of_several_scopes(
    shared_world: World, home: str, poisoned: Agent
) -> None:
    """At once, each as it was before; what was there and untouched stays.

    Proves: T5
    """
    tasks = [f"{home}/task/t{n}" for n in range(4)]
    for path in tasks:
        create_scope(poisoned, path)
    chief = shared_world.agent(home, role="curator", descendants=True)
    good = [
        {"layer": "semantic", "content": n, "scope": tasks[n % 4], "subject": f"s{n}"}
        | {"predicate": "is"}
        for n in range(250)
    ]
    assert {row["outcome"] for row in write_many(chief, good)} == {"COMMITTED"}
    before = contents(chief)
    bad = [each | {"content": f"bad {n}", "subject": f"s{n}"} for n, each in enumerate(good + good)]
    assert {row["outcome"] for row in write_many(poisoned, bad)} == {"COMMITTED"}
    done = undo(chief, agent=poisoned.info.user)
    told = list(actions(done).values())
    assert (told.count("RESTORE"), told.count("RETRACT"), len(told)) == (250, 250, 500)
    assert contents(chief) == before
    check_timeline(shared_world)


def test_only_what_the_caller_may(shared_world: World, home: str, poisoned: Agent) -> None:
    """What it sees and may not undo is named, with the reason; what it does not see is not there.

    Proves: T5, A1, A3
    """
    organisation = organisation_of(home)
    chief = shared_world.agent(home, role="curator", clearance="confidential", descendants=True)
    call(shared_world.admin, "change_agent", agent=poisoned.info.user, clearance="confidential")
    author = shared_world.agent(home)
    above = shared_world.agent(organisation, role="curator", writes=False, descendants=True)
    task = f"{home}/task/t"
    create_scope(poisoned, task)
    seen = remember(poisoned, home, "open")
    secret = remember(poisoned, home, "s", classification="confidential")
    below = remember(poisoned, task, "below")
    closed = remember(poisoned, f"{task}", "closed")
    name = {"agent": poisoned.info.user}
    assert actions(undo(author, **name)) == {seen: "ROLE_FORBIDS"}
    assert set(actions(undo(above, **name)).values()) == {"SCOPE_READ_ONLY"}
    assert len(undo(above, **name)) == 3
    stranger = shared_world.agent("/org/elsewhere/user/eve", role="curator")
    assert undo(stranger, **name) == {}
    low = shared_world.agent(home, role="curator")
    assert actions(undo(low, **name)) == {seen: "RETRACT"}
    close_scope(poisoned, task)
    done = undo(chief, **name)
    assert actions(done) == {
        seen: "CHANGED_SINCE",
        secret: "RETRACT",
        below: "SCOPE_CLOSED",
        closed: "SCOPE_CLOSED",
    }
    assert stands(shared_world, secret)[0] == "RETRACTED"


def test_an_agent_that_cannot_be_known_is_none(
    shared_world: World, home: str, curator: Agent
) -> None:
    """Of another organisation, or nobody: the same empty answer.

    Proves: T5, A3
    """
    other = shared_world.agent("/org/elsewhere/user/bob")
    remember(other, "/org/elsewhere/user/bob", "his")
    for name in (other.info.user, "nobody", "memwarden", ""):
        assert preview(curator, agent=name) == []
        assert undo(curator, agent=name) == {}
    paths = [
        "/org/elsewhere/user/bob",
        "/org/elsewhere/user/none",
        f"{organisation_of(home)}/user/x",
    ]
    told = []
    for path in paths:
        raised = refusal(curator, "preview_rollback", scope=path)
        told.append((raised.sqlstate, str(raised.diag.message_detail).replace(path, "?")))
    assert set(told) == {("42704", "scope '?'")}


def test_what_rests_on_it_is_counted_as_far_as_one_sees(shared_world: World, home: str) -> None:
    """dependents: of whoever asks; after that, those which have turned stale.

    Proves: T5, A3
    """
    shared_world.scope(home)
    chief = shared_world.agent(home, role="curator", clearance="confidential")
    low = shared_world.agent(home, role="curator")
    source = say(low, "bad")["item_id"]
    open_ = remember(low, home, "o", evidence=cites(source))
    secret = remember(chief, home, "s", evidence=cites(source), classification="confidential")
    name = low.info.user
    counted = [preview(agent, agent=name, until=now(shared_world)) for agent in (low, chief)]
    told = [{row["item_id"]: row["dependents"] for row in rows}[source] for rows in counted]
    assert told == [1, 2]
    done = undo(low, requests=[history(low, source)[0]["request_id"]])
    assert done[source]["dependents"] == [open_]
    (row,) = undo(chief, requests=[done[source]["change_id"]]).values()
    assert row["dependents"] == []
    (row,) = undo(chief, requests=[row["change_id"]]).values()
    assert set(row["dependents"]) == {open_, secret}


def test_a_key_that_somebody_else_bears_now(
    shared_world: World, author: Agent, curator: Agent, poisoned: Agent
) -> None:
    """KEY_TAKEN: what stands there stays.

    Proves: T5
    """
    item = say(author, "good")["item_id"]
    retract(poisoned, item)
    other = say(author, "anew")["item_id"]
    done = undo(curator, agent=poisoned.info.user)
    assert actions(done) == {item: "KEY_TAKEN"}
    assert stands(shared_world, other) == ("ACTIVE", "anew")
    # Two that bore it one after the other: one comes back, and it is told beforehand which.
    retract(poisoned, other)
    done = undo(curator, agent=poisoned.info.user)
    assert actions(done) == {item: "RESTORE", other: "KEY_TAKEN"}
    assert [row["content"] for row in recall(curator)] == ["good"]
    check_timeline(shared_world)


def test_two_instances_of_a_key_come_back_side_by_side(
    shared_world: World, home: str, poisoned: Agent
) -> None:
    """As they stood: one of them was hidden from who wrote the other.

    Proves: T5, A3
    """
    chief = shared_world.agent(home, role="curator", clearance="confidential")
    call(shared_world.admin, "change_agent", agent=poisoned.info.user, clearance="confidential")
    secret = say(chief, "s", classification="confidential")["item_id"]
    open_ = say(shared_world.agent(home), "o")["item_id"]
    for item in (secret, open_):
        retract(poisoned, item)
    assert actions(undo(chief, agent=poisoned.info.user)) == {secret: "RESTORE", open_: "RESTORE"}
    assert sorted(row["content"] for row in recall(chief)) == ["o", "s"]


def test_what_must_be_named(shared_world: World, curator: Agent) -> None:
    """22023 without agent, scope or requests, and without a reason; 28000, 25001.

    Proves: T5
    """
    assert state(curator, "preview_rollback") == "22023"
    assert state(curator, "preview_rollback", since=now(shared_world)) == "22023"
    assert state(curator, "rollback_batch", reason="r") == "22023"
    for reason in (None, "", " ", "r" * 1001):
        assert state(curator, "rollback_batch", reason=reason, agent="x") == "22023"
    stranger = shared_world.connect(shared_world.role("memwarden_agent"))
    assert state(stranger, "rollback_batch", reason="r", agent="x") == "28000"
    curator.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
    assert state(curator, "rollback_batch", reason="r", agent="x") == "25001"
    curator.execute("ROLLBACK")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        call(shared_world.connect("memwarden_jobs"), "rollback_batch", reason="r", agent="x")


def test_looking_changes_nothing(
    shared_world: World, author: Agent, curator: Agent, poisoned: Agent
) -> None:
    """Nor does it hold anybody up.

    Proves: T5
    """
    item = say(author, "good")["item_id"]
    say(poisoned, "bad")
    count = (
        "SELECT (SELECT count(*) FROM memwarden_data.log) AS entries,"
        "       (SELECT count(*) FROM memwarden_data.version) AS versions"
    )
    before = shared_world.rows(count)
    with curator.transaction():
        (row,) = preview(curator, agent=poisoned.info.user)
        expected = (item, "RESTORE", 1, "semantic", "Ana", "lives in", "bad", "good", 0)
        names = ("item_id", "action", "changes", "layer", "subject", "predicate")
        assert tuple(row[n] for n in (*names, "now_says", "would_say", "dependents")) == expected
        assert shared_world.rows(count) == before
        author.execute("SET lock_timeout = '1ms'")
        assert write(author, "semantic", "next", **KEY)["outcome"] == "COMMITTED"
    assert [r["action"] for r in preview(curator, agent=poisoned.info.user)] == ["CHANGED_SINCE"]
