"""Every job beside a transaction that wrote and stays open, and one that locks as a dump does."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write
from history.versions.past import now, pass_time, say
from history.versions.past import state as stands
from operations.jobs.test_arrange_shelves import grow
from races import PATIENCE
from scope_calls import create_scope, one

HOME, OTHER = "/org/acme/user/ana", "/org/acme/user/bob"
COMMANDS = "SELECT name, command FROM memwarden_internal.wanted_jobs() ORDER BY name"

Agent = Connection[DictRow]


def go_on(writer: Agent, reader: Agent, done: Future[Any], said: str) -> None:
    """Write and recall until the job has ended, and once more; each is answered as ever."""
    n, last = 0, False
    while not last:
        last = done.done()
        row = write(writer, "episodic", f"{said} {n}")
        assert row["outcome"] == "COMMITTED", row
        assert recall(reader, query=f"{said} {n}")
        n += 1


def due(world: World, busy: Agent, free: Agent) -> list[Any]:
    """Something for each job to do, in the scope that somebody holds and in another."""
    items = []
    for agent, home in ((busy, HOME), (free, OTHER)):
        grow(agent, 25, "semantic", "grown")
        items.append(say(agent, "before", subject="s")["item_id"])
        say(agent, "after", subject="s", valid_from=now(world, hours=1))
        create_scope(agent, f"{home}/task/over")
        world.admin.execute(
            "UPDATE memwarden_data.scope SET closes_at = now() WHERE path = %s",
            (f"{home}/task/over",),
        )
        world.admin.execute("SELECT memwarden.set_scope_language(%s, 'german')", (home,))
    pass_time(world, *items)
    world.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = 20, warm_after = '0'")
    world.admin.execute("UPDATE partman.part_config SET premake = premake + 1")
    return items


@pytest.mark.one_version
def test_writers_and_readers_go_on_whatever_stays_open(world: World) -> None:
    """No job ends with an error, whatever it leaves to its next run; the rest of it is done.

    Proves: G8 (safe beside writers)
    """
    busy, free = world.agent(HOME, descendants=True), world.agent(OTHER, descendants=True)
    idle = world.connect(busy.info.user)
    writer, reader = world.agent("/org/acme/user/cy"), world.agent("/org/acme/user/cy")
    items = due(world, busy, free)
    dump, jobs = world.connect(), world.connect("memwarden_jobs")
    tables = [
        row["name"]
        for row in world.rows(
            "SELECT oid::regclass::text AS name FROM pg_class"
            " WHERE relnamespace = 'memwarden_data'::regnamespace AND relkind IN ('r', 'p')"
        )
    ]
    for connection in (writer, reader, jobs):
        connection.execute("SET statement_timeout = '100s'")
    # What nobody is to wait for: longer than any of the waits that a job allows itself.
    reader.execute("SET lock_timeout = '60s'")
    with idle.transaction(), dump.transaction(), ThreadPoolExecutor(1) as pool:
        # Of a scope whose time is over, one whose shelf is due, and one whose words are.
        assert write(idle, "semantic", "held", scope=f"{HOME}/task/over")["outcome"] == "COMMITTED"
        assert write(idle, "episodic", "held")["outcome"] == "COMMITTED"
        idle.execute("SELECT memwarden.retract(%s, 'held')", (items[0],))
        dump.execute(f"LOCK TABLE ONLY {', ONLY '.join(tables)} IN ACCESS SHARE MODE")
        for job in world.rows(COMMANDS):
            if job["name"] == "memwarden_shelves":
                # It is patient with who writes where vectors are to be moved: it would wait.
                jobs.execute("SET lock_timeout = '1s'")
            done = pool.submit(partial(jobs.execute, job["command"]))
            try:
                go_on(writer, reader, done, job["name"])
                done.result(PATIENCE)
            except Exception as error:
                if job["name"] != "memwarden_shelves":
                    raise AssertionError(job["name"]) from error
            jobs.execute("SET lock_timeout = 0")
        assert stands(world, items[1]) == ("ACTIVE", "after")
        closed = "SELECT closed_at IS NOT NULL AS closed FROM memwarden_data.scope WHERE path = %s"
        assert one(world.admin, closed, f"{OTHER}/task/over")["closed"]
        assert not one(world.admin, closed, f"{HOME}/task/over")["closed"]
        waits = "SELECT path FROM memwarden_data.scope WHERE reindexed_to IS NOT NULL"
        assert [row["path"] for row in world.rows(waits)] == [HOME]
    for job in world.rows(COMMANDS):
        jobs.execute(job["command"])
    assert one(world.admin, closed, f"{HOME}/task/over")["closed"]
    assert world.rows(waits) == []
