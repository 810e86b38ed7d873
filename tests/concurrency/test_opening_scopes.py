"""Two who open the same task, and one who opens a thousand."""

from __future__ import annotations

from functools import partial

import pytest
from psycopg import Connection
from psycopg.errors import (
    InsufficientPrivilege,
)
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write, write_many
from races import overlap, together
from scope_calls import check_tree, close_scope, create_scope, scope_row


def test_two_who_open_the_same_task_at_once_do_not_share_it(shared_world: World, home: str) -> None:
    """One has it; the other is refused, as it would have been a moment later.

    Proves: A4
    """
    agents = [shared_world.agent(home) for _ in range(2)]
    for n in range(8):

        def open_it(agent: Connection[DictRow], path: str = f"{home}/task/t{n}") -> bool:
            try:
                return create_scope(agent, path) > 0
            except InsufficientPrivilege:
                return False

        assert sum(together([partial(open_it, agent) for agent in agents])) == 1
    grants = "SELECT count(*) FROM memwarden_data.scope_grant AS g JOIN memwarden_data.scope AS s"
    assert shared_world.value(f"{grants} USING (scope_id) WHERE s.path ~ %s", f"^{home}/") == 8
    check_tree(shared_world.admin)


@pytest.mark.parametrize("rollback", [False, True], ids=["commit", "rollback"])
def test_who_waits_for_another_that_opens_the_same_task(
    shared_world: World, home: str, rollback: bool
) -> None:
    """Refused when the first commits; when it is rolled back, the task is the second's.

    Proves: A4
    """
    first, second = shared_world.agent(home), shared_world.agent(home)
    task = f"{home}/task/t"
    race = partial(
        overlap,
        shared_world.admin,
        first,
        partial(create_scope, first, task),
        second,
        partial(create_scope, second, task),
        rollback=rollback,
    )
    if rollback:
        assert race() == scope_row(shared_world, task)["scope_id"]
        assert write(second, "semantic", {"x": 1}, scope=task)["outcome"] == "COMMITTED"
    else:
        with pytest.raises(InsufficientPrivilege):
            race()


def test_a_thousand_tasks_are_no_burden(world: World) -> None:
    """Opened in one statement, written in one batch, found by one recall, closed in one call.

    Proves: A4, A10
    """
    home = "/org/acme/user/ana"
    agent, colleague = world.agent(home), world.agent(home)
    opened = agent.execute(
        "SELECT memwarden.create_scope(%s || n) AS id FROM generate_series(1, 1000) AS n",
        (f"{home}/task/t",),
    ).fetchall()
    assert len({row["id"] for row in opened}) == 1000
    requests = [
        {"layer": "semantic", "content": {"task": n}, "scope": f"{home}/task/t{n}"}
        for n in range(1, 1001)
    ]
    assert {row["outcome"] for row in write_many(agent, requests)} == {"COMMITTED"}
    assert len({row["scope"] for row in recall(agent, k=1000)}) == 1000
    assert recall(colleague, k=1000) == []
    released = close_scope(world.admin, home)
    assert len(released) == 1000
    assert set(released.values()) == {"released"}
    assert sum(row["closed_at"] is not None for row in check_tree(world.admin).values()) == 1001
    assert {row["reason"] for row in write_many(agent, requests)} == {"SCOPE_CLOSED"}
