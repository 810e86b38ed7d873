"""A scope that was told to promotes what is important when it closes, by hand or by itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.errors import (
    InvalidAuthorizationSpecification,
    InvalidParameterValue,
    UndefinedObject,
)
from psycopg.rows import DictRow

from helpers import recall, write_many
from races import together
from replay import check_store
from scope_calls import check_tree, create_scope, get, remember, scope_row

if TYPE_CHECKING:
    from conftest import World


def close(agent: Connection[DictRow], path: str, **arguments: Any) -> dict[Any, str]:
    """Close a scope; what became of each memory."""
    named = "".join(f", {name} => %({name})s" for name in arguments)
    rows = agent.execute(
        f"SELECT * FROM memwarden.close_scope(%(path)s{named})", {"path": path} | arguments
    ).fetchall()
    return {row["item_id"]: str(row["reason"] or row["outcome"] or "released") for row in rows}


def said(agent: Connection[DictRow], home: str) -> set[tuple[Any, str]]:
    """What the home says, and in which layer."""
    found = recall(agent, scopes=[home], k=100)
    return {(row["content"]["step"], row["layer"]) for row in found}


def steps(agent: Connection[DictRow], task: str, *importances: float, **more: Any) -> list[Any]:
    """Remember a step of each importance, told apart by it."""
    return [
        remember(agent, task, {"step": each}, layer="episodic", importance=each, **more)
        for each in importances
    ]


def end_time(world: World, *paths: str) -> None:
    """Let the lifetime of these scopes be over, and have the job run as its own role."""
    for path in paths:
        world.admin.execute(
            "UPDATE memwarden_data.scope SET closes_at = now() - interval '1 hour' WHERE path = %s",
            (path,),
        )
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute("CALL memwarden.close_due_scopes()")


@pytest.mark.parametrize("how", ["by hand", "by itself", "told when it is closed"])
def test_what_is_important_goes_up(shared_world: World, home: str, how: str) -> None:
    """From 0.8 on, into the layer that was named; the rest expires.

    Proves: A10, A5
    """
    agent, task = shared_world.agent(home, descendants=True), f"{home}/task/t"
    told = {} if how == "told when it is closed" else {"promote_to": "semantic"}
    create_scope(agent, task, **told)
    low, high, top = steps(agent, task, 0.5, 0.8, 1.0)
    if how == "by itself":
        end_time(shared_world, task)
    else:
        outcomes = close(agent, task, **({} if told else {"promote_to": "semantic"}))
        assert outcomes == {low: "released", high: "COMMITTED", top: "COMMITTED"}
    assert said(agent, home) == {(0.8, "semantic"), (1.0, "semantic")}
    assert {get(agent, item)["status"] for item in (low, high, top)} == {"EXPIRED"}
    assert scope_row(shared_world, task)["closed_at"] is not None


def test_the_gates_of_the_target_judge_it(shared_world: World, home: str) -> None:
    """A duplicate and a principal that lost its right: recorded as requests, and released.

    Proves: A10, A5
    """
    agent, org = shared_world.agent(home, descendants=True), home.rsplit("/", 2)[0]
    boss = shared_world.agent(org, descendants=True)
    known, mine = f"{home}/task/known", f"{home}/task/mine"
    create_scope(boss, known, promote_to="semantic", promote_from=0.6)
    create_scope(agent, mine, promote_to="semantic")
    remember(agent, home, {"step": 0.7})
    steps(boss, known, 0.7)
    steps(agent, mine, 0.9)
    shared_world.admin.execute(
        "SELECT memwarden.grant_scope(%s, %s, false, true)", (agent.info.user, home)
    )
    end_time(shared_world, known, mine)
    reasons = shared_world.rows(
        "SELECT r.reason FROM memwarden_data.write_request AS r"
        " JOIN memwarden_data.principal AS p USING (principal_id)"
        " WHERE p.name = ANY (%s) AND r.outcome = 'REJECTED'",
        [agent.info.user, boss.info.user],
    )
    assert {row["reason"] for row in reasons} == {"EXACT_DUPLICATE", "SCOPE_READ_ONLY"}
    assert said(boss, home) == {(0.7, "semantic")}
    for path in (known, mine):
        assert scope_row(shared_world, path)["closed_at"] is not None


def test_whoever_closes_borrows_no_right(shared_world: World, home: str) -> None:
    """With a target or a layer of the closer's own choice, the closer promotes, and may not.

    Proves: A10, A5
    """
    org = home.rsplit("/", 2)[0]
    boss = shared_world.agent(org, descendants=True)
    agent = shared_world.agent(home, descendants=True)
    for name, chosen in (("a", {"target": org}), ("b", {"target": org, "promote_to": "semantic"})):
        task = f"{home}/task/{name}"
        create_scope(boss, task, promote_to="semantic")
        (item,) = steps(agent, task, 0.9)
        assert close(agent, task, **chosen) == {item: "SCOPE_READ_ONLY"}
    assert recall(boss, scopes=[org], k=10) == []


def test_many_go_in_steps_that_may_be_killed(shared_world: World, home: str) -> None:
    """A hundred a step, each memory once; a scope below has its own setting.

    Proves: A10, G8
    """
    agent, task = shared_world.agent(home, descendants=True), f"{home}/task/t"
    create_scope(agent, task, promote_to="semantic")
    create_scope(agent, f"{task}/task/sub", promote_to="episodic", promote_from=0.1)
    steps_of = [
        {"layer": "episodic", "content": {"step": n}, "scope": task, "importance": 0.9}
        for n in range(2, 103)
    ]
    assert {row["outcome"] for row in write_many(agent, steps_of)} == {"COMMITTED"}
    steps(agent, f"{task}/task/sub", 0.2)
    shared_world.admin.execute(
        "UPDATE memwarden_data.scope SET closes_at = now() - interval '1 hour' WHERE path = %s",
        (task,),
    )
    before = scope_row(shared_world, task)["scope_id"] - 1
    step = "SELECT memwarden_internal.close_next_scope(%s) AS after"
    with shared_world.admin.transaction(force_rollback=True):
        shared_world.admin.execute(step, (before,))
    assert said(agent, home) == set()
    assert shared_world.value(step, before) == before
    assert scope_row(shared_world, task)["closed_at"] is None
    assert len(said(agent, home)) == 100
    end_time(shared_world)
    promoted = shared_world.rows(
        "SELECT i.layer, count(*) AS n FROM memwarden_data.item AS i JOIN memwarden_data.scope AS s"
        " USING (scope_id) WHERE s.path = %s GROUP BY 1",
        home,
    )
    assert {row["layer"]: row["n"] for row in promoted} == {"semantic": 101, "episodic": 1}
    assert scope_row(shared_world, task)["closed_at"] is not None
    check_store(shared_world.admin)
    check_tree(shared_world.admin)


def test_two_runs_at_once_promote_each_memory_once(shared_world: World, home: str) -> None:
    """One of them does a step, the other goes past the scope or takes the next step.

    Proves: A10, G8 (twice at once)
    """
    agent, task = shared_world.agent(home, descendants=True), f"{home}/task/t"
    create_scope(agent, task, promote_to="semantic")
    lessons = steps(agent, task, 0.8, 0.85, 0.9, 0.95, 1.0)
    shared_world.admin.execute(
        "UPDATE memwarden_data.scope SET closes_at = now() - interval '1 hour' WHERE path = %s",
        (task,),
    )
    jobs = [shared_world.connect("memwarden_jobs") for _ in range(2)]
    together([partial(each.execute, "CALL memwarden.close_due_scopes()") for each in jobs])
    end_time(shared_world)
    requests = shared_world.value(
        "SELECT count(*) FROM memwarden_data.write_request AS r"
        " JOIN memwarden_data.scope AS s USING (scope_id) WHERE s.path = %s",
        home,
    )
    assert (requests, len(said(agent, home))) == (len(lessons), len(lessons))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"promote_to": "nonsense"}, UndefinedObject),
        ({"promote_to": "semantic", "promote_from": 1.1}, InvalidParameterValue),
        ({"promote_to": "semantic", "promote_from": -0.1}, InvalidParameterValue),
        ({"promote_from": 0.5}, InvalidParameterValue),
    ],
)
def test_bad_settings_are_refused(
    shared_world: World, home: str, arguments: dict[str, Any], error: type[Exception]
) -> None:
    """When the scope is created and when it is closed; an administrator needs an identity: 28000.

    Proves: A10
    """
    agent = shared_world.agent(home, descendants=True)
    with pytest.raises(error):
        create_scope(agent, f"{home}/task/t", **arguments)
    create_scope(agent, f"{home}/task/t")
    with pytest.raises(error):
        close(agent, f"{home}/task/t", **arguments)
    with pytest.raises(InvalidAuthorizationSpecification):
        create_scope(shared_world.admin, f"{home}/task/u", promote_to="semantic")
