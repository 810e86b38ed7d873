"""What a task has learned goes up when it is closed, through every gate there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg.errors import (
    InvalidAuthorizationSpecification,
    InvalidParameterValue,
)

from conftest import World
from helpers import recall, write
from replay import check_store
from scope_calls import (
    check_tree,
    close_scope,
    create_scope,
    get,
    organisation_of,
    refused,
    remember,
    scope_row,
)

NEVER = UUID("01890000-0000-7000-8000-000000000000")


def test_what_is_worth_keeping_is_promoted(world: World) -> None:
    """To the nearest scope that lasts, or the one that is named; the rest is released.

    Proves: A10, A5
    """
    home, organisation = "/org/acme/user/ana", "/org/acme"
    agent = world.agent(home)
    world.admin.execute(
        "SELECT memwarden.grant_scope(%s, %s, true)", (agent.info.user, organisation)
    )
    for target, expected in ((None, home), (organisation, organisation), (home, home)):
        task = f"{home}/task/{uuid4().hex}"
        sub = f"{task}/domain/d/task/sub"
        world.scope(sub)
        world.admin.execute(
            "SELECT memwarden.grant_scope(%s, %s, true, true)", (agent.info.user, task)
        )
        lessons = [remember(agent, path, {"lesson": path, "for": expected}) for path in (task, sub)]
        steps = [remember(agent, path, {"step": path}) for path in (task, sub)]
        outcomes = close_scope(agent, task, *lessons, target=target)
        assert outcomes == dict.fromkeys(lessons, "COMMITTED") | dict.fromkeys(steps, "released")
        found = recall(agent, k=1000, filter={"for": expected}, scopes=[expected])
        assert {row["content"]["lesson"] for row in found} >= {task, sub}
        assert {get(agent, item)["status"] for item in lessons + steps} == {"EXPIRED"}
    check_store(world.admin)
    check_tree(world.admin)


def test_promotion_passes_every_gate_of_the_target(shared_world: World, home: str) -> None:
    """A duplicate, a scope that is only read, a layer that the role forbids: the outcome says it.

    Proves: A10, A5
    """
    task, organisation = f"{home}/task/t", organisation_of(home)
    author = shared_world.agent(home, descendants=True)
    closer = shared_world.agent(home, descendants=True, role="orchestrator")
    shared_world.scope(task)
    known = remember(author, home, {"lesson": "known"})
    for path, target, expected in (
        (f"{task}/task/a", None, ("EXACT_DUPLICATE", "ROLE_FORBIDS", "COMMITTED")),
        (f"{task}/task/b", organisation, ("SCOPE_READ_ONLY",) * 3),
    ):
        shared_world.scope(path)
        items = [
            remember(author, path, {"lesson": "known"}, layer="episodic"),
            remember(author, path, {"lesson": "semantic"}),
            remember(author, path, {"lesson": "episodic"}, layer="episodic"),
        ]
        write(author, "episodic", {"lesson": "known"}, scope=home)
        outcomes = close_scope(closer, path, *items, target=target)
        assert [outcomes[item] for item in items] == list(expected)
        assert {get(author, item)["status"] for item in items} == {"EXPIRED"}
    assert get(author, known)["status"] == "ACTIVE"


@pytest.mark.parametrize("where", ["outside", "hidden", "another organisation", "nowhere", "null"])
def test_only_what_lies_in_the_scope_is_promoted(
    shared_world: World, home: str, where: str
) -> None:
    """42704, the same for all of them; the scope stays open, and nothing was promoted.

    Proves: A10, A5
    """
    agent, task = shared_world.agent(home), f"{home}/task/t"
    create_scope(agent, task)
    inside = remember(agent, task, {"lesson": 1})
    bob = f"{organisation_of(home)}/user/bob"
    neighbour, stranger = shared_world.agent(bob), shared_world.agent("/org/stranger/user/x")
    made: dict[str, Callable[[], Any]] = {
        "outside": lambda: remember(agent, home, {"fact": 1}),
        "hidden": lambda: remember(neighbour, bob, {"fact": 1}),
        "another organisation": lambda: remember(stranger, "/org/stranger/user/x", {"fact": home}),
        "nowhere": lambda: NEVER,
        "null": lambda: None,
    }
    item = made[where]()
    answer = refused(partial(close_scope, agent, task, inside, item), item)
    assert answer[0] == "42704"
    if item is not None:
        absent = uuid4()
        assert answer == refused(partial(close_scope, agent, task, inside, absent), absent)
    assert scope_row(shared_world, task)["closed_at"] is None
    assert get(agent, inside)["status"] == "ACTIVE"
    assert recall(agent, scopes=[home], filter={"lesson": 1}) == []


def test_an_item_of_the_scope_that_the_closer_may_not_see_is_unknown_too(
    shared_world: World, home: str
) -> None:
    """Classified above the closer; it is released with the others, and not named.

    Proves: A10, A3
    """
    task = f"{home}/task/t"
    author = shared_world.agent(task, clearance="restricted")
    closer = shared_world.agent(home, descendants=True)
    secret = remember(author, task, {"code": 1234}, classification="restricted")
    absent = uuid4()
    answer = refused(partial(close_scope, closer, task, secret), secret)
    assert answer == refused(partial(close_scope, closer, task, absent), absent)
    assert close_scope(closer, task) == {}
    assert get(author, secret)["status"] == "EXPIRED"


@pytest.mark.parametrize(
    "target", ["/global", "{home}/task/t", "{home}/task/t/task/sub", "{bob}", ""]
)
def test_a_target_lies_above_what_is_closed(shared_world: World, home: str, target: str) -> None:
    """22023: what is promoted must not end a moment later, nor leave its line.

    Proves: A10, A5
    """
    agent, task = shared_world.agent(home, descendants=True), f"{home}/task/t"
    bob = f"{organisation_of(home)}/user/bob"
    shared_world.scope(bob)
    create_scope(agent, f"{task}/task/sub")
    item = remember(agent, f"{task}/task/sub", {"lesson": 1})
    with pytest.raises(InvalidParameterValue):
        close_scope(agent, task, item, target=target.format(home=home, bob=bob))
    assert scope_row(shared_world, task)["closed_at"] is None
    assert get(agent, item)["status"] == "ACTIVE"
    # Without anything to promote, the target does not matter.
    assert close_scope(agent, task, target="/nowhere") == {item: "released"}


def test_an_administrator_without_identity_promotes_nothing(shared_world: World, home: str) -> None:
    """28000: a promotion is a write, and somebody must have made it.

    Proves: A10, A5
    """
    agent = shared_world.agent(home)
    create_scope(agent, f"{home}/task/t")
    item = remember(agent, f"{home}/task/t", {"lesson": 1})
    with pytest.raises(InvalidAuthorizationSpecification):
        close_scope(shared_world.admin, f"{home}/task/t", item)
    assert get(agent, item)["status"] == "ACTIVE"
