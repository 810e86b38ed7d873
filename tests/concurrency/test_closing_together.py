"""Scopes that two close at once, or one closes and another moves."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.errors import (
    ObjectNotInPrerequisiteState,
    UndefinedObject,
)
from psycopg.rows import DictRow

from helpers import recall, write_many
from races import overlap, together
from replay import check_store
from scope_calls import check_tree, close_scope, create_scope, get, move_scope, remember

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]

HOME = "/org/acme/user/ana"
TASK = f"{HOME}/task/t"
SUB = f"{TASK}/task/sub"
DOMAIN = "/org/acme/domain/d"


@pytest.fixture
def pair(world: World) -> tuple[Agent, Agent]:
    """One agent, connected twice, with a task in a task."""
    role = world.register(HOME, descendants=True)
    first, second = world.connect(role), world.connect(role)
    create_scope(first, SUB)
    return first, second


def check(world: World) -> None:
    """The tree, and the store."""
    check_tree(world.admin)
    check_store(world.admin)


@pytest.mark.parametrize("promotes", [False, True])
@pytest.mark.parametrize("rollback", [False, True], ids=["commit", "rollback"])
def test_two_close_the_same_scope(
    world: World, pair: tuple[Agent, Agent], promotes: bool, rollback: bool
) -> None:
    """The second finds it done: nothing is released or promoted twice.

    Proves: A10
    """
    first, second = pair
    items = [remember(first, path, {"lesson": path}) for path in (TASK, SUB)]
    close = [partial(close_scope, agent, TASK, *(items if promotes else ())) for agent in pair]
    race = partial(overlap, world.admin, first, close[0], second, close[1], rollback=rollback)
    expected = dict.fromkeys(items, "COMMITTED" if promotes else "released")
    if rollback:
        assert race() == expected
    elif promotes:
        with pytest.raises(UndefinedObject) as raised:
            race()
        assert raised.value.diag.message_detail == f"active item {items[0]}"
    else:
        assert race() == {}
    assert len(recall(first, scopes=[HOME])) == 2 * promotes
    check(world)


@pytest.mark.parametrize("order", [(SUB, TASK), (TASK, SUB)], ids=["inner", "outer"])
@pytest.mark.parametrize("target", [None, TASK], ids=["home", "the outer one"])
def test_the_inner_and_the_outer_scope_close_at_once(
    world: World, pair: tuple[Agent, Agent], order: tuple[str, str], target: str | None
) -> None:
    """Whoever is first, whatever goes up: each memory ends once, and nobody waits for ever.

    Proves: A10, A5
    """
    first, second = pair
    item = remember(first, SUB, {"lesson": 1})

    def close(agent: Agent, path: str) -> dict[UUID, str]:
        try:
            if path == SUB:
                return close_scope(agent, path, item, target=target)
            return close_scope(agent, path)
        except UndefinedObject:
            return {item: "too late"}

    outcomes = overlap(
        world.admin,
        first,
        partial(close, first, order[0]),
        second,
        partial(close, second, order[1]),
    )
    if order[0] == TASK:
        assert outcomes == {item: "too late"}
    else:
        assert list(outcomes.values()) == ([] if target is None else ["released"])
    check(world)


def test_the_home_closes_while_a_task_is_promoted_into_it(
    world: World, pair: tuple[Agent, Agent]
) -> None:
    """What went up is released with the home.

    Proves: A10, A5
    """
    first, _ = pair
    item = remember(first, TASK, {"lesson": 1})
    curator = world.connect()
    released = overlap(
        world.admin,
        first,
        partial(close_scope, first, TASK, item),
        curator,
        partial(close_scope, curator, HOME),
    )
    assert list(released.values()) == ["released"]
    assert item not in released
    check(world)


def test_a_scope_moves_while_it_closes(world: World, pair: tuple[Agent, Agent]) -> None:
    """Either is first, and the other still does its own.

    Proves: A10, A4
    """
    first, _ = pair
    world.scope(DOMAIN)
    mover, curator = world.connect(), world.connect()
    item = remember(first, SUB, {"step": 1})
    closes = partial(close_scope, first, SUB)
    moves = partial(move_scope, mover, TASK, DOMAIN)
    assert overlap(world.admin, first, closes, mover, moves) == f"{DOMAIN}/task/t"
    assert recall(first) == []
    moves = partial(move_scope, mover, f"{DOMAIN}/task/t", HOME)
    closes = partial(close_scope, curator, f"{DOMAIN}/task/t")
    assert overlap(world.admin, mover, moves, curator, closes) == {}
    closed = {path for path, row in check_tree(world.admin).items() if row["closed_at"]}
    assert closed == {TASK, SUB}
    assert get(first, item)["status"] == "EXPIRED"
    check(world)


@pytest.mark.parametrize("path", [DOMAIN, "/org/acme"])
def test_a_scope_is_not_moved_into_what_closes(
    world: World, pair: tuple[Agent, Agent], path: str
) -> None:
    """It waits for the end of the place it goes to, and is refused.

    Proves: A10, A4
    """
    first, _ = pair
    world.scope(f"{DOMAIN}/task/x")
    remember(first, TASK, {"step": 1})
    closer, mover = world.connect(), world.connect()
    for parent in (DOMAIN, f"{DOMAIN}/task/x"):
        with pytest.raises(ObjectNotInPrerequisiteState, match="closed"):
            overlap(
                world.admin,
                closer,
                partial(close_scope, closer, path),
                mover,
                partial(move_scope, mover, TASK, parent),
            )
    check(world)


def test_what_moves_in_before_the_end_ends_too(world: World, pair: tuple[Agent, Agent]) -> None:
    """The closer waits for the move and takes the new scopes with it.

    Proves: A10, A4
    """
    first, _ = pair
    world.scope(f"{DOMAIN}/task/x")
    item = remember(first, SUB, {"step": 1})
    closer, mover = world.connect(), world.connect()
    released = overlap(
        world.admin,
        mover,
        partial(move_scope, mover, TASK, f"{DOMAIN}/task/x"),
        closer,
        partial(close_scope, closer, DOMAIN),
    )
    assert released == {item: "released"}
    check(world)


def test_a_task_that_moved_away_is_not_promoted_where_it_was(
    world: World, pair: tuple[Agent, Agent]
) -> None:
    """It is no longer the agent's: 42704, and it stays open.

    Proves: A10, A5
    """
    first, _ = pair
    world.scope(DOMAIN)
    item = remember(first, TASK, {"lesson": 1})
    mover = world.connect()
    with pytest.raises(UndefinedObject):
        overlap(
            world.admin,
            mover,
            partial(move_scope, mover, TASK, DOMAIN),
            first,
            partial(close_scope, first, TASK, item),
        )
    assert recall(first, scopes=[HOME]) == []
    check(world)


def test_many_write_open_and_close_at_once(world: World) -> None:
    """Eight sessions over the same eight tasks: each write is answered, nothing is left behind.

    Proves: A10, A4, W8
    """
    role = world.register(HOME, descendants=True)
    sessions = [world.connect(role) for _ in range(8)]
    tasks = [f"{HOME}/task/t{n}" for n in range(8)]
    for task in tasks:
        create_scope(sessions[0], task)

    def work(number: int) -> Counter[str]:
        chance, session = random.Random(number), sessions[number]
        seen: Counter[str] = Counter()
        for step in range(12):
            paths = sorted(chance.sample(tasks, 3))
            requests = [
                {"layer": layer, "content": {"by": number, "step": step}, "scope": path}
                for path in [HOME, *paths]
                for layer in ("episodic", "working")
            ]
            answers = write_many(session, requests)
            seen.update(str(answer["reason"] or answer["outcome"]) for answer in answers)
            if chance.random() < 0.3:
                try:
                    create_scope(session, f"{paths[0]}/task/by{number}")
                except ObjectNotInPrerequisiteState:
                    seen["closed above"] += 1
            if chance.random() < 0.2:
                mine = [a["item_id"] for a in answers[2:3] if a["outcome"] == "COMMITTED"]
                try:
                    close_scope(session, paths[0], *mine)
                except UndefinedObject:
                    seen["too late"] += 1
        return seen

    total = sum(together([partial(work, number) for number in range(8)]), Counter[str]())
    for task in tasks:
        close_scope(sessions[0], task)
    assert total.keys() <= {"COMMITTED", "SCOPE_CLOSED", "closed above", "too late"}
    assert total["SCOPE_CLOSED"] > 0
    assert {row["scope"] for row in recall(sessions[0], k=1000)} == {HOME}
    check(world)
