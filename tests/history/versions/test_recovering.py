"""recover(): what expired comes back, for a while."""

from __future__ import annotations

from datetime import timedelta

import pytest

from access import call, refusal, state
from conftest import World
from helpers import recall
from history.versions.past import (
    KEY,
    Agent,
    check_timeline,
    contents,
    head,
    history,
    now,
    rolled_back,
    say,
    year,
)
from history.versions.past import state as stands
from scope_calls import get, remember, retract


def recover(agent: Agent, item: object, **arguments: object) -> object:
    """Call ``memwarden.recover``; return the version."""
    named = {"item_id": item, "reason": "needed again"} | arguments
    return call(agent, "recover", **named)[0]["version_id"]


@pytest.mark.parametrize("how", ["expire", "time"])
def test_it_is_there_again(shared_world: World, author: Agent, curator: Agent, how: str) -> None:
    """By a new version that says the same, whether or not a job had ended it; for the writers.

    Proves: G5, T5
    """
    item = say(author, "Lund", valid_from=year(2015), ttl="1 day")["item_id"]
    if how == "time":
        say(author, "Oslo", valid_from=year(2015), ttl="1 microsecond")
    else:
        say(author, "Oslo", valid_from=year(2015))
        call(curator, "expire", item_id=item, reason="over")
    assert recall(author) == []
    gone = now(shared_world)
    version = recover(author, item)
    shown = get(author, item)
    assert (shown["content"], shown["status"], shown["version_id"]) == ("Oslo", "ACTIVE", version)
    assert shown["expires_at"] is None
    assert contents(author, valid_time=year(2016)) == ["Oslo"]
    assert contents(author, gone) == []
    told = [(row["operation"], row["reason"]) for row in history(author, item)]
    expired = "over" if how == "expire" else "its time to live was over"
    assert told[:2] == [("RESTORE", "needed again"), ("EXPIRE", expired)]
    assert history(author, item)[0]["restores_version"] == 2
    check_timeline(shared_world)


def test_for_how_long(shared_world: World, home: str, author: Agent) -> None:
    """As the layer says, or as long as is asked for; 22023 beyond what the layer allows.

    Proves: G5
    """
    items = [remember(author, home, n, layer="working", ttl="1 microsecond") for n in range(2)]
    recover(author, items[0])
    recover(author, items[1], ttl="5 minutes")
    for item, minutes in zip(items, (15, 5), strict=True):
        shown = get(author, item)
        assert shown["expires_at"] - shown["updated_at"] == timedelta(minutes=minutes)
    other = remember(author, home, "x", layer="working", ttl="1 microsecond")
    for ttl in ("2 hours", "0", "-1 minute"):
        assert state(author, "recover", item_id=other, reason="r", ttl=ttl) == "22023"
    assert stands(shared_world, other)[0] == "ACTIVE"


def test_within_the_window(world: World) -> None:
    """55000 afterwards; the layer says how long.

    Proves: G5
    """
    agent = world.agent(role="curator")
    items = [say(agent, n, subject=f"s{n}")["item_id"] for n in range(2)]
    for item in items:
        call(agent, "expire", item_id=item, reason="over")
    world.admin.execute("UPDATE memwarden_data.layer SET recovery_window = '1 microsecond'")
    raised = refusal(agent, "recover", item_id=items[0], reason="r")
    assert raised.sqlstate == "55000"
    assert "recovery_window" in str(raised.diag.message_detail)
    world.admin.execute("UPDATE memwarden_data.layer SET recovery_window = '1 hour'")
    recover(agent, items[0])
    short = say(agent, "x", subject="short", ttl="1 microsecond")["item_id"]
    world.admin.execute("UPDATE memwarden_data.layer SET recovery_window = '0'")
    assert state(agent, "recover", item_id=short, reason="r") == "55000"


def test_only_what_expired(home: str, curator: Agent) -> None:
    """42704 for what stands, was retracted or became part of another.

    Proves: G5
    """
    standing, gone = remember(curator, home, 1), remember(curator, home, 2)
    absorbed = remember(curator, home, 3)
    retract(curator, gone)
    call(curator, "merge", item_id=standing, absorbed=absorbed, reason="the same")
    for item in (standing, gone, absorbed):
        raised = refusal(curator, "recover", item_id=item, reason="r")
        assert raised.sqlstate == "42704"
        assert raised.diag.message_detail == f"expired item {item}"


def test_a_key_that_another_item_bears(shared_world: World, curator: Agent) -> None:
    """42710, and nothing changes.

    Proves: G5
    """
    item = say(curator, "Lund")["item_id"]
    call(curator, "expire", item_id=item, reason="over")
    other = say(curator, "Oslo")["item_id"]
    assert state(curator, "recover", item_id=item, reason="r") == "42710"
    assert stands(shared_world, item)[0] == "EXPIRED"
    retract(curator, other)
    recover(curator, item)
    assert stands(shared_world, item) == ("ACTIVE", "Lund")


def test_beside_a_holder_that_the_caller_does_not_see(shared_world: World, home: str) -> None:
    """As an instance of its own, as a write would.

    Proves: G5, A3
    """
    shared_world.scope(home)
    chief = shared_world.agent(home, clearance="confidential", role="curator")
    low = shared_world.agent(home, role="curator")
    item = say(low, "Lund")["item_id"]
    call(low, "expire", item_id=item, reason="over")
    say(chief, "Oslo", classification="confidential")
    recover(low, item)
    assert [row["content"] for row in recall(low)] == ["Lund"]
    assert head(shared_world, item)["instance"] == 1


def test_who_may(shared_world: World, home: str, author: Agent, curator: Agent) -> None:
    """Who may write it; 42501 for others, 22023 without a reason.

    Proves: G5, A1
    """
    item = say(curator, "Lund")["item_id"]
    call(curator, "expire", item_id=item, reason="over")
    for role in ("verifier", "orchestrator"):
        caller = shared_world.agent(home, role=role)
        assert state(caller, "recover", item_id=item, reason="r") == "42501"
    assert state(author, "recover", item_id=item, reason=" ") == "22023"
    recover(author, item)


def test_it_is_undone_like_any_change(shared_world: World, curator: Agent) -> None:
    """It expires again, and can be recovered again.

    Proves: T5, G5
    """
    item = say(curator, "Lund")["item_id"]
    call(curator, "expire", item_id=item, reason="over")
    recover(curator, item)
    assert rolled_back(curator, item)["action"] == "END"
    assert stands(shared_world, item)[0] == "EXPIRED"
    recover(curator, item)
    assert [row["content"] for row in recall(curator, subject=KEY["subject"])] == ["Lund"]
