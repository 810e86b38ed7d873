"""A scope closes while others write, open and move there: nothing is left behind in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest
from psycopg.errors import ObjectNotInPrerequisiteState, UndefinedObject

from concurrency.tasks import TASK, Agent, batch, check, of_a_kind, single
from helpers import write
from races import overlap
from scope_calls import (
    check_tree,
    close_scope,
    create_scope,
    get,
    remember,
    retract,
    scope_row,
)
from write.gates.obedient import run_retries, status

if TYPE_CHECKING:
    from conftest import World

HOW = pytest.mark.parametrize("how", [single, batch])

FIRST = pytest.mark.parametrize("is_first", [True, False], ids=["first write", "a later one"])

END = pytest.mark.parametrize("rollback", [False, True], ids=["commit", "rollback"])


@pytest.mark.parametrize(
    ("how", "is_first", "stop"),
    [
        # The scope is looked at, then the kind of the content, then the scope is locked.
        (of_a_kind, True, "LOCK TABLE memwarden_data.content_schema IN ACCESS EXCLUSIVE MODE"),
        (of_a_kind, False, "LOCK TABLE memwarden_data.content_schema IN ACCESS EXCLUSIVE MODE"),
        # Who makes the row that is locked asks the organisation first.
        (single, True, "SELECT FROM memwarden_data.organisation FOR UPDATE"),
        (batch, True, "SELECT FROM memwarden_data.organisation FOR UPDATE"),
    ],
)
def test_a_writer_that_found_the_scope_open_and_has_not_locked_it(
    world: World,
    agent: Agent,
    closer: Agent,
    how: Callable[[Agent], str],
    is_first: bool,
    stop: str,
) -> None:
    """It is stopped between the two, the scope closes, it goes on: SCOPE_CLOSED.

    Proves: A10, W2
    """
    write(agent, "episodic", "late")
    if not is_first:
        remember(agent, TASK, "early", layer="episodic")
    stopper = world.connect()
    answer = overlap(
        world.admin,
        stopper,
        partial(stopper.execute, stop),
        agent,
        partial(how, agent),
        meanwhile=lambda: close_scope(closer, TASK),
    )
    assert answer == "SCOPE_CLOSED"
    check(world)


@HOW
@FIRST
@END
def test_closing_waits_for_who_writes(
    world: World,
    agent: Agent,
    closer: Agent,
    how: Callable[[Agent], str],
    is_first: bool,
    rollback: bool,
) -> None:
    """What commits is released with the rest; what is rolled back was never there.

    Proves: A10, W2
    """
    early = [] if is_first else [remember(agent, TASK, "early", layer="episodic")]
    released = overlap(
        world.admin,
        agent,
        partial(how, agent),
        closer,
        partial(close_scope, closer, TASK),
        rollback=rollback,
    )
    assert len(released) == len(early) + (not rollback)
    check(world)


@HOW
@FIRST
@END
def test_a_writer_waits_for_who_closes(
    world: World,
    agent: Agent,
    closer: Agent,
    how: Callable[[Agent], str],
    is_first: bool,
    rollback: bool,
) -> None:
    """And is told that the scope is closed, or writes it where it is not.

    Proves: A10, W2
    """
    if not is_first:
        remember(agent, TASK, "early", layer="episodic")
    answer = overlap(
        world.admin,
        closer,
        partial(close_scope, closer, TASK),
        agent,
        partial(how, agent),
        rollback=rollback,
    )
    assert answer == ("COMMITTED" if rollback else "SCOPE_CLOSED")
    check(world)


def test_a_writer_that_cannot_wait_is_rejected_when_it_is_retried(
    world: World, agent: Agent, closer: Agent
) -> None:
    """SCOPE_BUSY while the scope is being closed, and SCOPE_CLOSED from the job.

    Proves: A10, W2
    """
    remember(agent, TASK, "early")
    agent.execute("SET lock_timeout = '1ms'")
    with closer.transaction():
        close_scope(closer, TASK)
        waits = write(agent, "semantic", "late", scope=TASK)
        assert (waits["outcome"], waits["reason"]) == ("DEFERRED", "SCOPE_BUSY")
    run_retries(world)
    assert status(world, waits)["reason"] == "SCOPE_CLOSED"
    check(world)


def test_retracting_waits_for_who_closes(world: World, agent: Agent, closer: Agent) -> None:
    """And finds that it has expired: 42704, not a scope that stays busy for ever.

    Proves: A10
    """
    item = remember(agent, TASK, "a mistake", layer="episodic")
    with pytest.raises(UndefinedObject):
        overlap(
            world.admin,
            closer,
            partial(close_scope, closer, TASK),
            agent,
            partial(retract, agent, item),
        )
    assert get(agent, item)["status"] == "EXPIRED"
    check(world)


@END
def test_closing_waits_for_a_scope_that_is_created_below(
    world: World, agent: Agent, closer: Agent, rollback: bool
) -> None:
    """It closes too, with what was written there in the same transaction.

    Proves: A10, A4
    """

    def create_and_write() -> None:
        create_scope(agent, f"{TASK}/task/sub/task/subsub")
        remember(agent, f"{TASK}/task/sub/task/subsub", "deep down", layer="episodic")

    released = overlap(
        world.admin,
        agent,
        create_and_write,
        closer,
        partial(close_scope, closer, TASK),
        rollback=rollback,
    )
    assert len(released) == (not rollback)
    closed = {path for path, row in check_tree(world.admin).items() if row["closed_at"]}
    assert len(closed) == (1 if rollback else 3)
    check(world)


@END
@pytest.mark.parametrize("below", [TASK, f"{TASK}/task/sub"])
def test_creating_waits_for_who_closes(
    world: World, agent: Agent, closer: Agent, below: str, rollback: bool
) -> None:
    """55000 when it is closed, also further down; otherwise the scope is made.

    Proves: A10, A4
    """
    create_scope(agent, f"{TASK}/task/sub")
    race = partial(
        overlap,
        world.admin,
        closer,
        partial(close_scope, closer, TASK),
        agent,
        partial(create_scope, agent, f"{below}/task/new"),
        rollback=rollback,
    )
    if rollback:
        assert race() == scope_row(world, f"{below}/task/new")["scope_id"]
    else:
        with pytest.raises(ObjectNotInPrerequisiteState, match="closed"):
            race()
    check(world)
