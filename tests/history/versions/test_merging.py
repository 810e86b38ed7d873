"""merge(): two memories that say the same become one."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from access import call, refusal, state
from conftest import World
from helpers import recall
from history.versions.past import Agent, check_timeline, cites, contents, head, history, now, say
from history.versions.past import state as stands
from scope_calls import create_scope, get, remember

URL = {"type": "document", "uri": "https://example.org/"}


def merge(agent: Agent, item: UUID, absorbed: UUID) -> UUID:
    """Call ``memwarden.merge``."""
    version: UUID = call(agent, "merge", item_id=item, absorbed=absorbed, reason="one")[0][
        "version_id"
    ]
    return version


def test_one_keeps_its_words_and_gains_what_the_other_brings(
    shared_world: World, author: Agent, curator: Agent
) -> None:
    """Evidence of both, each once; the higher confidence and importance; the other is superseded.

    Proves: D4, T5
    """
    common, more = cites(uuid4())[0], cites(uuid4())[0]
    first = say(author, "Lund", confidence=0.4, importance=0.9, evidence=[common, URL], ttl="1 day")
    other = say(curator, "lund", confidence=0.7, subject="A.", evidence=[more, common])
    before = head(shared_world, first["item_id"])
    then = now(shared_world)
    version = merge(curator, first["item_id"], other["item_id"])
    shown = get(author, first["item_id"])
    assert (shown["content"], shown["version_id"]) == ("Lund", version)
    assert (shown["confidence"], shown["importance"]) == (0.7, 0.9)
    assert shown["provenance"]["evidence"] == [common, URL, more]
    after = head(shared_world, first["item_id"])
    assert after["absorbed_version_id"] == other["version_id"]
    for name in ("expires_at", "valid_during", "principal_id", "label_id", "fingerprint"):
        assert after[name] == before[name], name
    assert [row["item_id"] for row in recall(author)] == [first["item_id"]]
    assert stands(shared_world, other["item_id"]) == ("SUPERSEDED", "lund")
    assert contents(author, then) == ["Lund", "lund"]
    both = [history(author, row["item_id"])[0] for row in (first, other)]
    assert [row["operation"] for row in both] == ["UPDATE", "SUPERSEDE"]
    assert len({row["request_id"] for row in both}) == 1
    assert both[0]["recorded_at"] >= both[1]["recorded_at"]
    # Its key is free.
    assert say(author, "x", subject="A.")["item_id"] != other["item_id"]
    check_timeline(shared_world)


def test_more_than_two(shared_world: World, home: str, curator: Agent) -> None:
    """One after another; each can be undone in turn.

    Proves: D4, T5
    """
    items = [remember(curator, home, {"n": n}, evidence=cites(uuid4())) for n in range(4)]
    for item in items[1:]:
        merge(curator, items[0], item)
    assert len(get(curator, items[0])["provenance"]["evidence"]) == 4
    for number in (3, 2, 1):
        # The last one is undone; those before it after that, by going back.
        call(curator, "rollback", item_id=items[number], reason="no")
        assert stands(shared_world, items[number])[0] == "ACTIVE"
    assert {row["item_id"] for row in recall(curator)} == set(items)


def test_what_cannot_become_one(shared_world: World, home: str) -> None:
    """Of another scope, layer, kind, classification or domain; itself: 22023. Ended: 42704.

    Proves: D4
    """
    agent = shared_world.agent(
        home, role="curator", clearance="confidential", domains=["law"], descendants=True
    )
    create_scope(agent, f"{home}/task/t")
    item = remember(agent, home, "a")
    note = {"item_id": str(item), "verdict": "doubted"}
    others: list[UUID] = [
        remember(agent, f"{home}/task/t", "b"),
        remember(agent, home, "b", layer="durable"),
        remember(agent, home, "c", classification="confidential"),
        remember(agent, home, "d", domains=["law"]),
        remember(agent, home, note, layer="episodic", kind="annotation"),
    ]
    for other in [*others, item]:
        for pair in ((item, other), (other, item)):
            asked = {"item_id": pair[0], "absorbed": pair[1], "reason": "r"}
            assert state(agent, "merge", **asked) == "22023"
    ended = remember(agent, home, "e")
    call(agent, "expire", item_id=ended, reason="r")
    for pair in ((item, ended), (ended, item)):
        asked = {"item_id": pair[0], "absorbed": pair[1], "reason": "r"}
        assert state(agent, "merge", **asked) == "42704"
    assert all(stands(shared_world, each)[0] == "ACTIVE" for each in [item, *others])


@pytest.mark.parametrize(
    ("permissions", "allowed"),
    [
        (["READ", "WRITE", "DELETE"], True),
        (["READ", "WRITE"], False),
        (["READ", "DELETE"], False),
        (["READ"], False),
    ],
)
def test_who_may(shared_world: World, home: str, permissions: list[str], allowed: bool) -> None:
    """Who writes the one and deletes the other; 42501.

    Proves: D4, A1
    """
    shared_world.scope(home)
    listed = [{"operation": operation} for operation in permissions]
    arguments: dict[str, Any] = {"name": "joins", "permissions": listed, "org": home.split("/")[2]}
    call(shared_world.admin, "define_role", **arguments)
    author, caller = shared_world.agent(home), shared_world.agent(home, role="joins")
    one, other = remember(author, home, 1), remember(author, home, 2)
    if allowed:
        merge(caller, one, other)
        return
    raised = refusal(caller, "merge", item_id=one, absorbed=other, reason="r")
    assert raised.sqlstate == "42501"
    assert stands(shared_world, other)[0] == "ACTIVE"


@pytest.mark.parametrize("reason", [None, "", "\t", "r" * 1001])
def test_a_reason_is_given(home: str, curator: Agent, reason: str | None) -> None:
    """22023 without one.

    Proves: D4
    """
    one, other = remember(curator, home, 1), remember(curator, home, 2)
    assert state(curator, "merge", item_id=one, absorbed=other, reason=reason) == "22023"
