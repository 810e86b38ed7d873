"""Checkpoints: what every item was, so that today's heads are explained by the entries since."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.rows import DictRow

from conftest import World
from history.sealing.sealed import Agent, findings, remember, seal, tampering, verify

ITEMS = "SELECT item_id, version_id, status FROM memwarden_data.item ORDER BY item_id"


@pytest.fixture
def agent(world: World) -> Agent:
    """A curator, who may do everything that there is to do to a memory."""
    return world.agent(role="curator", groups=("memwarden_curator",))


def checkpoint(world: World) -> None:
    """Call the job."""
    world.connect("memwarden_jobs").execute("CALL memwarden.checkpoint()")


def taken(world: World) -> dict[int, tuple[int, int]]:
    """The segment and the number of heads of each checkpoint."""
    rows = world.rows("SELECT * FROM memwarden_data.checkpoint ORDER BY checkpoint_no")
    return {row["checkpoint_no"]: (row["segment_no"], row["head_count"]) for row in rows}


def heads(world: World, number: int) -> list[DictRow]:
    """What a checkpoint holds."""
    return world.rows(
        "SELECT item_id, version_id, status FROM memwarden_data.checkpoint_head"
        " WHERE checkpoint_no = %s ORDER BY item_id",
        number,
    )


def act(agent: Agent) -> list[Any]:
    """Everything that moves the head of an item; return the items."""
    prefers = {"layer": "semantic", "subject": "Ana", "predicate": "prefers"}
    about_bob = {"layer": "semantic", "subject": "Bob", "predicate": "prefers"}
    items = [remember(agent, "tea", **prefers)["item_id"]]
    remember(agent, "coffee", **prefers)
    remember(agent, "milk", valid_from="2020-01-01", valid_to="2021-01-01", **prefers)
    items += [remember(agent, what, **about_bob)["item_id"] for what in ("beer", "wine")]
    items += [remember(agent, f"event {n}")["item_id"] for n in range(4)]
    items.append(remember(agent, "soon over", ttl="1 microsecond")["item_id"])
    for call, *arguments in (
        ("rollback(%s, reason => 'back')", items[0]),
        ("rollback(%s, reason => 'and forth')", items[0]),
        ("retract(%s, 'a mistake')", items[3]),
        ("recover(%s, 'not over', '1 hour')", items[7]),
        ("merge(%s, %s, 'the same')", items[4], items[5]),
        ("reclassify(%s, 'durable', 'for ever')", items[6]),
        ("retract(%s, 'gone')", items[1]),
    ):
        agent.execute(f"SELECT memwarden.{call}", arguments)
    return items


def test_a_checkpoint_holds_what_the_items_are(world: World, agent: Agent) -> None:
    """After whatever has been done to them; and the log explains all of it.

    Proves: T6, T7 (checkpoints)
    """
    act(agent)
    assert verify(world) == []
    checkpoint(world)
    assert len(heads(world, 1)) > 6
    assert {row["status"] for row in heads(world, 1)} >= {"ACTIVE", "RETRACTED", "SUPERSEDED"}
    assert heads(world, 1) == world.rows(ITEMS)
    assert verify(world) == []
    act(world.agent("/org/acme/user/bob", role="curator", groups=("memwarden_curator",)))
    assert verify(world) == []
    checkpoint(world)
    assert heads(world, 2) == world.rows(ITEMS)
    assert verify(world) == []


def test_two_are_kept_and_none_is_taken_of_nothing(world: World, agent: Agent) -> None:
    """Each seals first, and builds on the one before."""
    checkpoint(world)
    assert taken(world) == {}
    for n in range(1, 4):
        remember(agent, f"number {n}")
        checkpoint(world)
        checkpoint(world)
        assert taken(world) == {k: (k, k) for k in (n - 1, n) if k}
    assert heads(world, 1) == []
    assert heads(world, 3) == world.rows(ITEMS)
    assert verify(world) == []


def test_an_open_transaction_is_covered_by_the_next(world: World, agent: Agent) -> None:
    """Of two writers of an item, the one with the lower transaction id may have written last.

    Proves: T6, T7 (checkpoints)
    """
    role = str(agent.info.user)
    early, held = world.connect(role), world.connect(role)
    prefers = {"layer": "semantic", "subject": "Ana", "predicate": "prefers"}
    with held.transaction():
        with early.transaction():
            world_xid(early)
            world_xid(held)
            first = remember(agent, "by the later transaction, first", **prefers)
            last = remember(early, "by the earlier transaction, last", **prefers)
        assert first["item_id"] == last["item_id"]
        # Sealed is what came before the transaction that is open: the last entry only.
        checkpoint(world)
        assert [row["version_id"] for row in heads(world, 1)] == [last["version_id"]]
        assert verify(world) == []
    checkpoint(world)
    assert heads(world, 2) == world.rows(ITEMS)
    assert verify(world) == []


def world_xid(connection: Agent) -> None:
    """Give the open transaction its id."""
    connection.execute("SELECT pg_current_xact_id()")


def test_what_was_tampered_with_is_not_passed_on(world: World, agent: Agent) -> None:
    """The next checkpoint is made of the log alone, and the item that was changed alike is named.

    Proves: T6
    """
    item = remember(agent, "tea")["item_id"]
    checkpoint(world)
    with tampering(world):
        for table in ("item", "checkpoint_head"):
            world.admin.execute(
                f"UPDATE memwarden_data.{table} SET status = 'RETRACTED' WHERE item_id = %s",
                (item,),
            )
        assert findings(world) == {("CHECKPOINT_CHANGED", 1)}
        world.admin.execute("SET LOCAL session_replication_role = origin")
        remember(agent, "coffee")
        world.admin.execute("SELECT memwarden_internal.seal_next()")
        world.admin.execute("SELECT memwarden_internal.take_checkpoint()")
        named = {row["finding"]: row["item_id"] for row in verify(world)}
        assert named == {"CHECKPOINT_CHANGED": None, "HEAD_UNEXPLAINED": item}
    assert findings(world) == set()


def test_only_the_entries_since_are_replayed(world: World, agent: Agent) -> None:
    """What is before the newest checkpoint is taken from there."""
    for n in range(3):
        remember(agent, f"before {n}")
    checkpoint(world)
    remember(agent, "after")
    seal(world)
    explained = world.rows(
        "SELECT h.log_seq FROM memwarden_internal.heads_explained(1) AS h ORDER BY 1"
    )
    assert [row["log_seq"] for row in explained] == [1, 2, 3, 4]
    with tampering(world):
        world.admin.execute("DELETE FROM memwarden_data.checkpoint_head")
        explained = world.rows("SELECT h.log_seq FROM memwarden_internal.heads_explained(1) AS h")
        assert [row["log_seq"] for row in explained] == [4]
