"""close_due_scopes(): tasks that nobody closed end when their time is over."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import recall, write
from races import PATIENCE, overlap, together, wait_until_blocked
from replay import check_store
from scope_calls import check_tree, close_scope, create_scope, get, move_scope, one, remember

if TYPE_CHECKING:
    from conftest import World

HOME = "/org/acme/user/ana"
JOB = "CALL memwarden.close_due_scopes()"


@pytest.fixture
def agent(world: World) -> Connection[DictRow]:
    """An agent that will have tasks."""
    return world.agent(HOME, descendants=True)


def task(agent: Connection[DictRow], name: str, lifetime: str | None = None) -> UUID:
    """Open a task with one memory in it."""
    path = f"{HOME}/task/{name}"
    create_scope(agent, path, lifetime=lifetime)
    return remember(agent, path, {"step of": name})


def is_over(world: World, *names: str) -> None:
    """Let the lifetime of these tasks be over, the first one's for longest."""
    for age, name in enumerate(reversed(names), 1):
        done = world.admin.execute(
            "UPDATE memwarden_data.scope SET closes_at = now() - %s * interval '1 hour'"
            " WHERE path = %s",
            (age, f"{HOME}/task/{name}"),
        )
        assert done.rowcount == 1


def closed(world: World) -> set[str]:
    """The names of the scopes that are closed, after a look at tree and store."""
    check_store(world.admin)
    tree = check_tree(world.admin)
    return {path.rpartition("/")[2] for path, row in tree.items() if row["closed_at"]}


def run(world: World) -> None:
    """Run the job as its own role."""
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute(JOB)


def test_tasks_end_with_their_time(world: World, agent: Connection[DictRow]) -> None:
    """With everything below, whenever that would have ended; others go on; the engine did it.

    Proves: A10
    """
    over = [task(agent, "over"), task(agent, "over/task/below", lifetime="1 year")]
    task(agent, "not-yet")
    kept = remember(agent, HOME, {"kept": True})
    run(world)
    assert closed(world) == set()
    is_over(world, "over")
    run(world)
    assert closed(world) == {"over", "below"}
    assert {row["item_id"] for row in recall(agent)} & set(over) == set()
    assert get(agent, kept)["status"] == "ACTIVE"
    for item in over:
        assert get(agent, item)["status"] == "EXPIRED"
        entry = one(
            world.admin,
            "SELECT * FROM memwarden_data.log WHERE item_id = %s AND operation = 'EXPIRE'",
            item,
        )
        assert entry["reason"] == "scope closed"
        who = "SELECT name, kind FROM memwarden_data.principal WHERE principal_id = %s"
        engine = one(world.admin, who, entry["principal_id"])
        assert engine == {"name": "memwarden", "kind": "service"}
    refused = write(agent, "semantic", "late", scope=f"{HOME}/task/over")
    assert refused["reason"] == "SCOPE_CLOSED"


def test_a_lifetime_ends_by_the_servers_clock(world: World, agent: Connection[DictRow]) -> None:
    """The shortest there is has ended when the job looks.

    Proves: A10
    """
    task(agent, "short", lifetime="1 microsecond")
    run(world)
    assert closed(world) == {"short"}


def test_running_again_changes_nothing(world: World, agent: Connection[DictRow]) -> None:
    """Nor does it touch what was closed by hand.

    Proves: A10
    """
    task(agent, "by-hand"), task(agent, "over")
    close_scope(agent, f"{HOME}/task/by-hand")
    is_over(world, "by-hand", "over")
    run(world)
    before = check_tree(world.admin)
    assert closed(world) == {"by-hand", "over"}
    run(world)
    assert check_tree(world.admin) == before


def test_two_at_once_close_each_scope_once(world: World, agent: Connection[DictRow]) -> None:
    """Forty tasks, some in one another.

    Proves: A10, G8 (twice at once)
    """
    names = [f"t{n}" for n in range(20)]
    names += [f"{name}/task/below{n}" for n, name in enumerate(names)]
    for name in names:
        task(agent, name)
    is_over(world, *names)
    jobs = [world.connect("memwarden_jobs") for _ in range(2)]
    together([partial(connection.execute, JOB) for connection in jobs])
    assert closed(world) == {name.rpartition("/")[2] for name in names}
    count = "SELECT count(*) FROM memwarden_data.log WHERE operation = 'EXPIRE'"
    assert world.value(count) == len(names)


def test_what_is_killed_midway_is_done_by_the_next(
    world: World, agent: Connection[DictRow]
) -> None:
    """The scope before stays closed, the one at hand stays whole and open.

    Proves: A10
    """
    items = [task(agent, name) for name in ("first", "second", "third")]
    is_over(world, "first", "second", "third")
    jobs = world.connect("memwarden_jobs")
    with ThreadPoolExecutor(1) as pool:
        with agent.transaction():
            write(agent, "semantic", "still at work", scope=f"{HOME}/task/second")
            running = pool.submit(jobs.execute, JOB)
            wait_until_blocked(world.admin, jobs)
            world.admin.execute("SELECT pg_terminate_backend(%s)", (jobs.info.backend_pid,))
            with pytest.raises(psycopg.errors.AdminShutdown):
                running.result(PATIENCE)
        assert closed(world) == {"first"}
        assert [get(agent, item)["status"] for item in items] == ["EXPIRED", "ACTIVE", "ACTIVE"]
    run(world)
    assert closed(world) == {"first", "second", "third"}


def test_a_scope_that_somebody_holds_is_left_for_the_next_time(
    world: World, agent: Connection[DictRow]
) -> None:
    """Who creates something below it, moves or closes it is not waited for; the others end.

    Proves: A10
    """
    for name in ("held", "over"):
        task(agent, name)
    is_over(world, "held", "over")
    mover = world.connect()
    world.scope("/org/acme/domain/d")
    holds: list[Callable[[], object]] = [
        lambda: create_scope(agent, f"{HOME}/task/held/task/below"),
        lambda: close_scope(agent, f"{HOME}/task/held"),
    ]
    for hold in holds:
        with agent.transaction(force_rollback=True):
            hold()
            run(world)
            assert closed(world) == {"over"}
    with mover.transaction(force_rollback=True):
        move_scope(mover, f"{HOME}/task/held", "/org/acme/domain/d")
        run(world)
    assert closed(world) == {"over"}
    run(world)
    assert closed(world) == {"held", "over"}


def test_a_writer_waits_for_the_job(world: World, agent: Connection[DictRow]) -> None:
    """And finds the scope closed.

    Proves: A10, W2
    """
    task(agent, "over")
    is_over(world, "over")
    admin = world.connect(world.role("memwarden_admin"))
    answer = overlap(
        world.admin,
        admin,
        partial(admin.execute, "SELECT memwarden_internal.close_next_scope(NULL)"),
        agent,
        lambda: write(agent, "semantic", "late", scope=f"{HOME}/task/over"),
    )
    assert answer["reason"] == "SCOPE_CLOSED"
    assert closed(world) == {"over"}


def test_it_commits_after_each_scope(world: World) -> None:
    """So it cannot run inside a transaction: 2D000.

    Proves: A10
    """
    task(world.agent(HOME, descendants=True), "over")
    is_over(world, "over")
    jobs = world.connect("memwarden_jobs")
    with pytest.raises(psycopg.errors.InvalidTransactionTermination), jobs.transaction():
        jobs.execute(JOB)
    assert closed(world) == set()


@pytest.mark.parametrize("group", ["memwarden_agent", "memwarden_curator", "memwarden_auditor"])
def test_it_is_the_jobs_and_the_administrators(world: World, group: str) -> None:
    """Others are refused: 42501.

    Proves: A10
    """
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.connect(world.role(group)).execute(JOB)
    world.connect(world.role("memwarden_admin")).execute(JOB)
