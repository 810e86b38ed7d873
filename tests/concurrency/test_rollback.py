"""Undoing while others write, or undo the same."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
from psycopg.errors import LockNotAvailable, SerializationFailure
from psycopg.rows import DictRow

from access import call
from helpers import recall, write
from history.versions.past import KEY, Agent, check_timeline, contents, head, rollback, say
from history.versions.past import state as stands
from races import PATIENCE, overlap, together, wait_until_blocked
from replay import check_store
from scope_calls import create_scope, remember, retract

if TYPE_CHECKING:
    from conftest import World

HOME = "/org/acme/user/ana"
REFUSALS = (
    psycopg.errors.UndefinedObject,
    psycopg.errors.DuplicateObject,
    psycopg.errors.LockNotAvailable,
    psycopg.errors.SerializationFailure,
    psycopg.errors.InvalidParameterValue,
)
"""What somebody else's change may make of a call: nobody is told of a fault or a deadlock."""

ROLES: dict[str, Any] = {"role": "curator", "descendants": True}


@pytest.fixture
def author(world: World) -> Agent:
    """Who writes."""
    return world.agent(HOME, **ROLES)


@pytest.fixture
def curator(world: World) -> Agent:
    """Who undoes."""
    return world.agent(HOME, **ROLES)


def batch(agent: Agent, of: Agent) -> list[DictRow]:
    """Undo everything that somebody did."""
    return call(agent, "rollback_batch", reason="poisoned", agent=of.info.user)


def test_a_version_that_came_meanwhile_is_not_lost(
    world: World, author: Agent, curator: Agent
) -> None:
    """Who names the bad version waits, and is told that it is another by now: 40001.

    Proves: T5
    """
    item = say(author, "good")["item_id"]
    bad = say(author, "bad")["version_id"]
    with pytest.raises(SerializationFailure):
        overlap(
            world.admin,
            author,
            lambda: say(author, "better"),
            curator,
            lambda: rollback(curator, item, version_id=bad),
        )
    assert stands(world, item) == ("ACTIVE", "better")
    check_store(world.admin)


def test_a_writer_waits_for_who_undoes(world: World, author: Agent, curator: Agent) -> None:
    """And its value follows what came back.

    Proves: T5
    """
    item = say(author, "good")["item_id"]
    say(author, "bad")
    answer = overlap(
        world.admin,
        curator,
        partial(rollback, curator, item),
        author,
        lambda: write(author, "semantic", "better", **KEY),
    )
    assert (answer["outcome"], head(world, item)["version"]) == ("COMMITTED", 4)
    assert stands(world, item) == ("ACTIVE", "better")
    check_store(world.admin)
    check_timeline(world)


def test_two_undo_the_same_change(world: World, author: Agent, curator: Agent) -> None:
    """Naming the version, one does it and the other is told; otherwise it would be redone.

    Proves: T5
    """
    item = say(author, "good")["item_id"]
    bad = say(author, "bad")["version_id"]
    others = [world.connect(curator.info.user) for _ in range(6)]

    def undone(agent: Agent) -> bool:
        try:
            rollback(agent, item, version_id=bad)
        except SerializationFailure:
            return False
        return True

    assert sorted(together([partial(undone, each) for each in others])) == [False] * 5 + [True]
    assert stands(world, item) == ("ACTIVE", "good")
    check_store(world.admin)


def test_two_undo_both_sides_of_a_merge(world: World, author: Agent, curator: Agent) -> None:
    """One after the other: undone by the first, done again by the second; never half of it.

    Proves: T5, D4
    """
    items = [remember(author, HOME, {"n": n}) for n in range(2)]
    call(author, "merge", item_id=items[0], absorbed=items[1], reason="the same")
    together(
        [
            partial(rollback, agent, item)
            for agent, item in zip((author, curator), items, strict=True)
        ]
    )
    assert [stands(world, item)[0] for item in items] == ["ACTIVE", "SUPERSEDED"]
    check_store(world.admin)


def test_two_undo_one_run(world: World, author: Agent, curator: Agent) -> None:
    """Each item is undone once; what the second finds, it leaves alone.

    Proves: T5
    """
    poisoned = world.agent(HOME, **ROLES)
    scopes = [f"{HOME}/task/t{n}" for n in range(4)]
    for path in scopes:
        create_scope(author, path)
    items = [say(author, "good", path)["item_id"] for path in scopes]
    for path in reversed(scopes):
        say(poisoned, "bad", path)
    done = together([partial(batch, agent, poisoned) for agent in (author, curator)])
    undone = [row["item_id"] for rows in done for row in rows if row["action"] == "RESTORE"]
    assert sorted(undone) == sorted(items)
    assert contents(curator) == ["good"] * 4
    check_store(world.admin)


def test_what_somebody_writes_meanwhile_stays(world: World, author: Agent, curator: Agent) -> None:
    """The batch waits for the writer, and leaves what it has changed alone.

    Proves: T5
    """
    poisoned = world.agent(HOME, **ROLES)
    items = [say(author, f"good {n}", subject=f"s{n}")["item_id"] for n in range(3)]
    for n in range(3):
        say(poisoned, f"bad {n}", subject=f"s{n}")
    rows = overlap(
        world.admin,
        author,
        lambda: say(author, "better", subject="s1"),
        curator,
        partial(batch, curator, poisoned),
    )
    assert [row["action"] for row in rows] == ["RESTORE", "CHANGED_SINCE", "RESTORE"]
    assert [stands(world, item)[1] for item in items] == ["good 0", "better", "good 2"]
    check_store(world.admin)


def test_a_run_that_goes_on(world: World, author: Agent, curator: Agent) -> None:
    """What it adds where the batch waits for it is undone with the rest; elsewhere, 55P03.

    Proves: T5
    """
    poisoned, other = world.agent(HOME, **ROLES), f"{HOME}/task/t"
    create_scope(author, other)
    say(poisoned, "bad")
    rows = overlap(
        world.admin,
        poisoned,
        lambda: say(poisoned, "worse", subject="another"),
        curator,
        partial(batch, curator, poisoned),
    )
    assert [row["action"] for row in rows] == ["RETRACT", "RETRACT"]

    def go_on() -> None:
        say(poisoned, "bad")
        say(poisoned, "bad", other)

    say(poisoned, "first", subject="third")
    with pytest.raises(LockNotAvailable) as raised:
        overlap(world.admin, poisoned, go_on, curator, partial(batch, curator, poisoned))
    assert "the run goes on" in str(raised.value.diag.message_detail)
    rows = batch(curator, poisoned)
    assert recall(curator) == []
    check_store(world.admin)


def test_what_is_killed_midway_has_not_begun(world: World, author: Agent, curator: Agent) -> None:
    """The items that had ended already are there; the next call does it all.

    Proves: T5
    """
    poisoned = world.agent(HOME, **ROLES)
    for n in range(20):
        say(author, f"good {n}", subject=f"s{n}")
        say(poisoned, f"bad {n}", subject=f"s{n}")
    before = contents(author)
    blocker = world.connect()
    with ThreadPoolExecutor(1) as pool:
        with blocker.transaction():
            # What comes back is noted here, after everything has ended.
            blocker.execute("LOCK TABLE memwarden_data.derivation IN SHARE MODE")
            running = pool.submit(batch, curator, poisoned)
            wait_until_blocked(world.admin, curator)
            world.admin.execute("SELECT pg_terminate_backend(%s)", (curator.info.backend_pid,))
            with pytest.raises(psycopg.errors.AdminShutdown):
                running.result(PATIENCE)
        assert contents(author) == before
        check_store(world.admin)
    rows = batch(author, poisoned)
    assert [row["action"] for row in rows] == ["RESTORE"] * 20
    check_store(world.admin)


def test_everybody_does_everything(world: World) -> None:
    """Eight at once write, merge, move, end, undo, and undo all: no deadlock, no fault.

    Proves: T1, T2, T4, T5
    """
    agents = [world.agent(HOME, **ROLES) for _ in range(8)]
    create_scope(agents[0], f"{HOME}/task/t")

    def act(agent: Agent, dice: random.Random) -> None:
        known: list[UUID] = [
            row["item_id"]
            for row in agent.execute(
                "SELECT item_id FROM memwarden.items ORDER BY item_id"
            ).fetchall()
        ]
        item, other = (dice.choice(known or [UUID(int=0)]) for _ in range(2))
        scope = dice.choice([HOME, f"{HOME}/task/t"])
        layer = dice.choice(["semantic", "durable"])
        acts: list[Any] = [
            partial(write, agent, layer, dice.randrange(9), scope=scope, **KEY),
            partial(write, agent, layer, {"n": dice.randrange(99)}, scope=scope),
            partial(call, agent, "merge", item_id=item, absorbed=other, reason="r"),
            partial(call, agent, "reclassify", item_id=item, layer=layer, reason="r"),
            partial(call, agent, dice.choice(["retract", "expire"]), item_id=item, reason="r"),
            partial(call, agent, "recover", item_id=item, reason="r"),
            partial(rollback, agent, item),
            partial(batch, agent, dice.choice(agents)),
        ]
        with suppress(*REFUSALS):
            dice.choices(acts, (4, 4, 3, 2, 1, 2, 4, 1))[0]()

    def work(number: int) -> None:
        dice = random.Random(number)
        for _ in range(30):
            act(agents[number], dice)

    together([partial(work, number) for number in range(8)])
    check_timeline(world)
    check_store(world.admin)


def test_retracting_and_undoing_one_memory(world: World, author: Agent, curator: Agent) -> None:
    """Turn by turn by two: it stands or it does not, and its log tells a straight story.

    Proves: T2, T5
    """
    item = say(author, "good")["item_id"]

    def take(agent: Agent) -> None:
        for _ in range(10):
            try:
                retract(agent, item)
            except psycopg.errors.UndefinedObject:
                rollback(agent, item)

    together([partial(take, agent) for agent in (author, curator)])
    assert stands(world, item)[0] in ("ACTIVE", "RETRACTED")
    check_store(world.admin)
    check_timeline(world)
