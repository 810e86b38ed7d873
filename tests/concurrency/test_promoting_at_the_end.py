"""A scope closes and promotes while others write it, or the place where that goes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest
from psycopg.errors import UndefinedObject

from concurrency.tasks import HOME, TASK, Agent, batch, check, single
from helpers import recall, write
from races import overlap
from scope_calls import (
    close_scope,
    get,
    remember,
    retract,
    scope_row,
)
from write.gates.obedient import run_retries

if TYPE_CHECKING:
    from conftest import World

KEY = {"subject": "the lesson", "predicate": "is"}


HOW = pytest.mark.parametrize("how", [single, batch])

FIRST = pytest.mark.parametrize("is_first", [True, False], ids=["first write", "a later one"])


@HOW
@FIRST
def test_a_batch_over_the_task_and_its_target_and_a_promotion_take_turns(
    world: World, agent: Agent, closer: Agent, how: Callable[[Agent], str], is_first: bool
) -> None:
    """Both want both scopes, the closer from below: no deadlock, whoever comes first.

    Proves: A10, A5, W8
    """
    lesson = remember(agent, TASK, "learned", layer="semantic")
    if not is_first:
        remember(agent, HOME, "there", layer="semantic")
        remember(agent, HOME, "before", layer="episodic")
        remember(agent, TASK, "early", layer="episodic")
    outcomes = overlap(
        world.admin,
        agent,
        partial(how, agent),
        closer,
        partial(close_scope, closer, TASK, lesson),
        rollback=True,
    )
    assert outcomes[lesson] == "COMMITTED"
    check(world)


@pytest.mark.parametrize("is_first", [True, False], ids=["first write", "a later one"])
def test_a_batch_comes_while_a_promotion_is_under_way(
    world: World, agent: Agent, closer: Agent, is_first: bool
) -> None:
    """The closer has promoted into the home and has not committed: the batch waits, and no more.

    Proves: A10, A5, W8
    """
    lesson = remember(agent, TASK, "learned", layer="episodic")
    if not is_first:
        remember(agent, HOME, "before", layer="episodic")
    answer = overlap(
        world.admin,
        closer,
        partial(close_scope, closer, TASK, lesson),
        agent,
        partial(batch, agent),
    )
    assert answer == "SCOPE_CLOSED"
    assert get(agent, lesson)["status"] == "EXPIRED"
    check(world)


def test_what_is_promoted_is_what_was_said_last(world: World, agent: Agent, closer: Agent) -> None:
    """A new version that commits while the closer waits is the one that goes up.

    Proves: A10, A5
    """
    item = remember(agent, TASK, "first thought", **KEY)
    outcomes = overlap(
        world.admin,
        agent,
        lambda: write(agent, "semantic", "second thought", scope=TASK, **KEY),
        closer,
        partial(close_scope, closer, TASK, item),
    )
    assert outcomes == {item: "COMMITTED"}
    assert [row["content"] for row in recall(agent, scopes=[HOME])] == ["second thought"]
    check(world)


def test_an_item_that_is_retracted_meanwhile_is_not_promoted(
    world: World, agent: Agent, closer: Agent
) -> None:
    """42704, and the scope stays open; the next call knows.

    Proves: A10, A5
    """
    item = remember(agent, TASK, "a mistake", layer="episodic")
    with pytest.raises(UndefinedObject) as raised:
        overlap(
            world.admin,
            agent,
            partial(retract, agent, item),
            closer,
            partial(close_scope, closer, TASK, item),
        )
    assert raised.value.diag.message_detail == f"active item {item}"
    assert close_scope(closer, TASK) == {}
    check(world)


def test_a_promotion_that_meets_a_busy_target_is_made_later(
    world: World, agent: Agent, closer: Agent
) -> None:
    """DEFERRED: the task is closed, the lesson waits in the request, and the job commits it.

    Proves: A10, A5, W2
    """
    lesson = remember(agent, TASK, "learned")
    remember(agent, HOME, "there")
    blocker = world.connect()
    closer.execute("SET lock_timeout = '1ms'")
    with blocker.transaction():
        blocker.execute(
            "SELECT FROM memwarden_data.write_lock WHERE scope_id = %s FOR UPDATE",
            (scope_row(world, HOME)["scope_id"],),
        )
        assert close_scope(closer, TASK, lesson) == {lesson: "SCOPE_BUSY"}
    assert get(agent, lesson)["status"] == "EXPIRED"
    run_retries(world)
    contents = {row["content"] for row in recall(agent, scopes=[HOME])}
    assert contents == {"there", "learned"}
    check(world)
