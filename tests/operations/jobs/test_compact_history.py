"""compact_history() while others work, twice at once, killed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import psycopg
import pytest

from conftest import World
from helpers import write_many
from history.versions.past import (
    Agent,
    as_of,
    check_timeline,
    contents,
    history,
    now,
    rollback,
    say,
)
from races import PATIENCE, together, wait_until_blocked
from replay import check_store

HOME = "/org/acme/user/ana"
JOB = "CALL memwarden.compact_history()"
AT_ONCE = "UPDATE memwarden_data.layer SET warm_after = '0', cold_after = '0'"


def tiers(world: World) -> dict[str, int]:
    """How many versions lie in each tier."""
    rows = world.rows("SELECT tier, count(*) AS n FROM memwarden_data.version GROUP BY tier")
    return {row["tier"]: row["n"] for row in rows}


def values(agent: Agent, items: int, versions: int) -> None:
    """Write so many values of so many facts."""
    for step in range(versions):
        rows = write_many(
            agent,
            [
                {"layer": "semantic", "content": step, "subject": f"s{n}", "predicate": "is"}
                for n in range(items)
            ],
        )
        assert {row["outcome"] for row in rows} == {"COMMITTED"}


def test_two_at_once_move_each_version_once(world: World) -> None:
    """More than one of them takes at a time.

    Proves: T7, G8 (twice at once)
    """
    agent = world.agent(HOME)
    values(agent, 400, 4)
    moment = world.value("SELECT max(recorded_at) FROM memwarden_data.log")
    before = as_of(agent, moment)
    world.admin.execute(AT_ONCE)
    jobs = [world.connect("memwarden_jobs") for _ in range(2)]
    together([partial(connection.execute, JOB) for connection in jobs])
    world.connect("memwarden_jobs").execute(JOB)
    assert tiers(world) == {"hot": 400, "cold": 1200}
    assert as_of(agent, moment) == before
    check_store(world.admin)


def test_writers_and_readers_while_it_runs(world: World) -> None:
    """Nobody is refused, nobody waits for it, and no answer is short.

    Proves: T7
    """
    agents = [world.agent(HOME, role="curator") for _ in range(4)]
    item = say(agents[0], 0)["item_id"]
    values(agents[0], 20, 10)
    then = now(world)
    expected = contents(agents[0], then)
    world.admin.execute(AT_ONCE)
    jobs = [world.connect("memwarden_jobs") for _ in range(2)]

    def write_on(number: int) -> None:
        for step in range(15):
            say(agents[number], f"{number} {step}")
            if step % 5 == 4:
                rollback(agents[number], item)

    def ask(number: int) -> None:
        for _ in range(15):
            assert contents(agents[number], then) == expected
            told = history(agents[number], item)
            assert told[-1]["operation"] == "INSERT"
            assert [r["log_seq"] for r in told] == sorted(
                (r["log_seq"] for r in told), reverse=True
            )

    def move(number: int) -> None:
        for _ in range(10):
            jobs[number].execute(JOB)

    together(
        [
            partial(each, n)
            for each, numbers in ((write_on, (0, 1)), (ask, (2, 3)), (move, (0, 1)))
            for n in numbers
        ]
    )
    assert contents(agents[0], then) == expected
    check_store(world.admin)
    check_timeline(world)


def test_what_is_killed_midway_is_done_by_the_next(world: World) -> None:
    """Every version lies in one tier.

    Proves: T7
    """
    agent = world.agent(HOME)
    values(agent, 50, 3)
    world.admin.execute(AT_ONCE)
    jobs, blocker = world.connect("memwarden_jobs"), world.connect()
    with ThreadPoolExecutor(1) as pool:
        with blocker.transaction():
            blocker.execute("LOCK TABLE memwarden_data.version_cold IN SHARE MODE")
            running = pool.submit(jobs.execute, JOB)
            wait_until_blocked(world.admin, jobs)
            world.admin.execute("SELECT pg_terminate_backend(%s)", (jobs.info.backend_pid,))
            with pytest.raises(psycopg.errors.AdminShutdown):
                running.result(PATIENCE)
        assert tiers(world) == {"hot": 150}
    world.connect("memwarden_jobs").execute(JOB)
    assert tiers(world) == {"hot": 50, "cold": 100}
    check_store(world.admin)


def test_who_changes_a_version_is_not_waited_for(world: World) -> None:
    """A row that somebody holds moves the next time.

    Proves: T7
    """
    agent = world.agent(HOME)
    values(agent, 5, 2)
    world.admin.execute(AT_ONCE)
    holder = world.connect()
    with holder.transaction():
        holder.execute(
            "SELECT FROM memwarden_data.version WHERE NOT upper_inf(recorded_during)"
            " ORDER BY version_id LIMIT 1 FOR UPDATE"
        )
        world.connect("memwarden_jobs").execute(JOB)
        assert tiers(world) == {"hot": 6, "cold": 4}
    world.connect("memwarden_jobs").execute(JOB)
    assert tiers(world) == {"hot": 5, "cold": 5}


def test_it_commits_after_every_thousand(world: World) -> None:
    """So it cannot run inside a transaction: 2D000.

    Proves: T7
    """
    values(world.agent(HOME), 1, 2)
    world.admin.execute(AT_ONCE)
    jobs = world.connect("memwarden_jobs")
    with pytest.raises(psycopg.errors.InvalidTransactionTermination), jobs.transaction():
        jobs.execute(JOB)


@pytest.mark.parametrize("group", ["memwarden_agent", "memwarden_curator", "memwarden_auditor"])
def test_it_is_the_jobs_and_the_administrators(world: World, group: str) -> None:
    """Others are refused: 42501."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.connect(world.role(group)).execute(JOB)
    world.connect(world.role("memwarden_admin")).execute(JOB)
