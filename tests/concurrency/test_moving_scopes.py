"""Scopes move while others move, create and write: the tree stays a tree, nothing is lost."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.errors import DuplicateObject, InvalidParameterValue, UndefinedObject
from psycopg.rows import DictRow

from helpers import write, write_many
from races import overlap, together
from replay import check_store
from scope_calls import check_tree, create_scope, get, move_scope, remember, scope_row

if TYPE_CHECKING:
    from conftest import World

HOME = "/org/acme/user/ana"
TASK = f"{HOME}/task/t"
A, B = "/org/acme/domain/a", "/org/acme/domain/b"

END = pytest.mark.parametrize("rollback", [False, True], ids=["commit", "rollback"])


def check(world: World) -> set[str]:
    """The tree and the store; return the paths."""
    check_store(world.admin)
    return set(check_tree(world.admin))


@END
def test_two_opposite_moves_make_no_circle(world: World, rollback: bool) -> None:
    """The second waits and finds the place gone, or goes ahead when the first did not happen.

    Proves: A4
    """
    world.scope(A), world.scope(B)
    first, second = world.connect(), world.connect()
    race = partial(
        overlap,
        world.admin,
        first,
        partial(move_scope, first, A, B),
        second,
        partial(move_scope, second, B, A),
        rollback=rollback,
    )
    if rollback:
        assert race() == f"{A}/domain/b"
    else:
        with pytest.raises(UndefinedObject):
            race()
    check(world)


def test_a_scope_is_moved_to_one_of_two_places(world: World) -> None:
    """Who comes second is told that there is no such scope any more.

    Proves: A4
    """
    for path in (A, B, TASK):
        world.scope(path)
    first, second = world.connect(), world.connect()
    with pytest.raises(UndefinedObject):
        overlap(
            world.admin,
            first,
            partial(move_scope, first, TASK, A),
            second,
            partial(move_scope, second, TASK, B),
        )
    assert f"{A}/task/t" in check(world)


def test_many_moves_at_once_leave_a_tree(world: World) -> None:
    """Six sessions push the same ten scopes about, under one another.

    Proves: A4
    """
    for n in range(10):
        world.scope(f"/org/acme/domain/n{n}/task/t")
    sessions = [world.connect() for _ in range(6)]

    def work(number: int) -> int:
        chance, moved = random.Random(number), 0
        for _ in range(30):
            paths = [row["path"] for row in sessions[number].execute(
                "SELECT path FROM memwarden_data.scope WHERE kind <> 'global' ORDER BY path"
            )]  # fmt: skip
            try:
                move_scope(sessions[number], chance.choice(paths), chance.choice(paths))
                moved += 1
            except (UndefinedObject, InvalidParameterValue, DuplicateObject):
                pass
        return moved

    assert sum(together([partial(work, number) for number in range(6)])) > 20
    assert len(check(world)) == 22


@END
def test_a_move_waits_for_what_is_created_below(world: World, rollback: bool) -> None:
    """And takes it along.

    Proves: A4
    """
    agent, mover = world.agent(HOME, descendants=True), world.connect()
    create_scope(agent, TASK), world.scope(A)
    moved = overlap(
        world.admin,
        agent,
        partial(create_scope, agent, f"{TASK}/task/new"),
        mover,
        partial(move_scope, mover, TASK, A),
        rollback=rollback,
    )
    assert moved == f"{A}/task/t"
    assert (f"{A}/task/t/task/new" in check(world)) == (not rollback)


@END
def test_what_is_created_below_waits_for_the_move(world: World, rollback: bool) -> None:
    """Under the old name there is nothing then: who may is given a new scope there.

    Proves: A4
    """
    agent, mover = world.agent(HOME, descendants=True), world.connect()
    before = create_scope(agent, TASK)
    world.scope(A)
    overlap(
        world.admin,
        mover,
        partial(move_scope, mover, TASK, A),
        agent,
        partial(create_scope, agent, f"{TASK}/task/new"),
        rollback=rollback,
    )
    assert f"{TASK}/task/new" in check(world)
    assert (scope_row(world, TASK)["scope_id"] == before) == rollback


@pytest.mark.parametrize("who", ["mover", "creator"])
def test_a_place_is_taken_once(world: World, who: str) -> None:
    """By the scope that moves there, or by one that is created there.

    Proves: A4
    """
    world.scope(A), world.scope(TASK)
    mover, creator = world.connect(), world.connect()
    moves = partial(move_scope, mover, TASK, A)
    creates = partial(create_scope, creator, f"{A}/task/t/task/below")
    before = scope_row(world, TASK)["scope_id"]
    if who == "mover":
        overlap(world.admin, mover, moves, creator, creates)
        assert scope_row(world, f"{A}/task/t")["scope_id"] == before
    else:
        with pytest.raises(DuplicateObject):
            overlap(world.admin, creator, creates, mover, moves)
        assert scope_row(world, TASK)["scope_id"] == before
    assert f"{A}/task/t/task/below" in check(world)


def scope_of(connection: Connection[DictRow], item: object) -> str:
    """Where an item lies."""
    return str(get(connection, UUID(str(item)))["scope"])


@pytest.mark.parametrize("is_first", [True, False], ids=["first write", "a later one"])
def test_what_is_being_written_moves_along(world: World, is_first: bool) -> None:
    """The writer has not committed; whether or not the move must wait, the memory is in its scope.

    Proves: A4
    """
    agent, mover = world.agent(TASK), world.connect()
    world.scope(A)
    if not is_first:
        remember(agent, TASK, "early")
    move = partial(move_scope, mover, TASK, A)
    if is_first:
        overlap(world.admin, agent, partial(remember, agent, TASK, "late"), mover, move)
    else:
        with agent.transaction():
            remember(agent, TASK, "late")
            move()
            # The old path is gone at once, the home is where it was put.
            gone = write(agent, "semantic", "more", scope=TASK)
            assert gone["reason"] == "UNKNOWN_SCOPE"
            assert write(agent, "semantic", "at home")["outcome"] == "COMMITTED"
    items = world.rows("SELECT item_id FROM memwarden_data.item")
    assert len(items) == (1 if is_first else 3)
    assert {scope_of(agent, row["item_id"]) for row in items} == {f"{A}/task/t"}
    check(world)


@END
def test_a_writer_waits_for_a_move(world: World, rollback: bool) -> None:
    """The scope that it found under that path is the one that it writes.

    Proves: A4
    """
    agent, mover = world.agent(TASK), world.connect()
    world.scope(A)
    answer = overlap(
        world.admin,
        mover,
        partial(move_scope, mover, TASK, A),
        agent,
        lambda: write(agent, "semantic", "late", scope=TASK),
        rollback=rollback,
    )
    assert answer["outcome"] == "COMMITTED"
    assert scope_of(agent, answer["item_id"]) == (TASK if rollback else f"{A}/task/t")
    check(world)


@END
def test_a_batch_waits_for_a_move(world: World, rollback: bool) -> None:
    """It names paths: after the move there is none of that name; the others are written.

    Proves: A4, W8
    """
    agent, mover = world.agent(HOME, descendants=True), world.connect()
    create_scope(agent, TASK), world.scope(A)
    requests = [{"layer": "semantic", "content": path, "scope": path} for path in (HOME, TASK)]
    answers = overlap(
        world.admin,
        mover,
        partial(move_scope, mover, TASK, A),
        agent,
        partial(write_many, agent, requests),
        rollback=rollback,
    )
    assert [row["reason"] for row in answers] == [None, None if rollback else "UNKNOWN_SCOPE"]
    check(world)
