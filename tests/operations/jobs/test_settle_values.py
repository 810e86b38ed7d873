"""settle_values(): what was told ahead of its time, or ended, when nobody writes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from uuid import UUID

import psycopg
import pytest

from conftest import World
from helpers import write
from history.versions.past import Agent, check_timeline, now, pass_time, say
from history.versions.past import state as stands
from races import PATIENCE, together, wait_until_blocked

HOME = "/org/acme/user/ana"
JOB = "CALL memwarden.settle_values()"


def run(world: World) -> None:
    """Run the job as its own role."""
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute(JOB)


def due(world: World, agent: Agent, *names: str) -> list[UUID]:
    """Items whose present has become another."""
    items = []
    for name in names:
        items.append(say(agent, "before", subject=name)["item_id"])
        say(agent, "after", subject=name, valid_from=now(world, hours=1))
    pass_time(world, *items)
    return items


def said(world: World, items: list[UUID]) -> list[str]:
    """What each says."""
    return [stands(world, item)[1] for item in items]


def test_two_at_once_settle_each_once(world: World) -> None:
    """Thirty items, in scopes of their own and in one.

    Proves: T4, G8 (twice at once)
    """
    agents = [world.agent(f"/org/acme/user/u{n}") for n in range(10)]
    items = [item for agent in agents for item in due(world, agent, "a", "b", "c")]
    jobs = [world.connect("memwarden_jobs") for _ in range(2)]
    together([partial(connection.execute, JOB) for connection in jobs])
    run(world)
    assert said(world, items) == ["after"] * 30
    settled = "SELECT count(*) FROM memwarden_data.log WHERE reason = 'what holds at present'"
    # Each once when it was told, so that what held then stayed, and once by the job.
    assert world.value(settled) == 60
    check_timeline(world)


def test_what_is_killed_midway_is_done_by_the_next(world: World) -> None:
    """The item before stays settled, the one at hand is whole.

    Proves: T4
    """
    agent = world.agent(HOME)
    items = due(world, agent, "a", "b", "c")
    jobs = world.connect("memwarden_jobs")
    blocker = world.connect()
    with ThreadPoolExecutor(1) as pool:
        with blocker.transaction():
            blocker.execute(
                "SELECT FROM memwarden_data.item WHERE item_id = %s FOR UPDATE", (sorted(items)[1],)
            )
            running = pool.submit(jobs.execute, JOB)
            wait_until_blocked(world.admin, jobs)
            world.admin.execute("SELECT pg_terminate_backend(%s)", (jobs.info.backend_pid,))
            with pytest.raises(psycopg.errors.AdminShutdown):
                running.result(PATIENCE)
        assert said(world, sorted(items)) == ["after", "before", "before"]
        check_timeline(world)
    run(world)
    assert said(world, items) == ["after"] * 3
    check_timeline(world)


def test_a_scope_that_somebody_writes_to_is_left_for_the_next_time(world: World) -> None:
    """It is not waited for; the others are settled.

    Proves: T4
    """
    busy, free = world.agent(HOME), world.agent("/org/acme/user/bob")
    items = due(world, busy, "a") + due(world, free, "a")
    with busy.transaction():
        write(busy, "semantic", {"at": "work"})
        run(world)
        assert said(world, items) == ["before", "after"]
    run(world)
    assert said(world, items) == ["after", "after"]


def test_writers_while_it_runs(world: World) -> None:
    """Each value finds its place, whoever comes first.

    Proves: T4
    """
    agents = [world.agent(HOME) for _ in range(4)]
    items = due(world, agents[0], *(f"s{n}" for n in range(10)))
    jobs = [world.connect("memwarden_jobs") for _ in range(2)]

    def work(number: int) -> None:
        for step in range(10):
            more = {"subject": f"s{(number + step) % 10}", "valid_to": now_there[number]}
            row = write(
                agents[number], "semantic", f"{number} {step}", predicate="lives in", **more
            )
            assert row["outcome"] == "COMMITTED"

    now_there = [now(world, hours=number + 1) for number in range(4)]

    def settle(job: Agent) -> None:
        for _ in range(5):
            job.execute(JOB)

    together([*(partial(work, n) for n in range(4)), *(partial(settle, job) for job in jobs)])
    run(world)
    check_timeline(world)
    assert all(content not in ("before", "after") for content in said(world, items))


def test_a_closed_scope_stays_as_it_is(world: World) -> None:
    """Nothing becomes of what has ended with it.

    Proves: T4, A10
    """
    agent = world.agent(HOME, role="curator", descendants=True)
    agent.execute("SELECT memwarden.create_scope(%s)", (f"{HOME}/task/t",))
    item = say(agent, "before", f"{HOME}/task/t")["item_id"]
    say(agent, "after", f"{HOME}/task/t", valid_from=now(world, hours=1))
    agent.execute("SELECT memwarden.close_scope(%s)", (f"{HOME}/task/t",))
    pass_time(world, item)
    run(world)
    assert stands(world, item) == ("EXPIRED", "before")


def test_it_commits_after_each_item(world: World) -> None:
    """So it cannot run inside a transaction: 2D000.

    Proves: T4
    """
    items = due(world, world.agent(HOME), "a")
    jobs = world.connect("memwarden_jobs")
    with pytest.raises(psycopg.errors.InvalidTransactionTermination), jobs.transaction():
        jobs.execute(JOB)
    assert said(world, items) == ["before"]


@pytest.mark.parametrize("group", ["memwarden_agent", "memwarden_curator", "memwarden_auditor"])
def test_it_is_the_jobs_and_the_administrators(world: World, group: str) -> None:
    """Others are refused: 42501."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.connect(world.role(group)).execute(JOB)
    world.connect(world.role("memwarden_admin")).execute(JOB)
