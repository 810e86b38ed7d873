"""Collection beside writers, beside recover(), twice at once, and killed in the middle."""

from __future__ import annotations

import contextlib
import threading
from typing import Any
from uuid import UUID

import psycopg
import pytest

from helpers import write
from operations.collection.conftest import Yard


def due(yard: Yard, agent: Any, count: int) -> list[UUID]:
    """Memories whose time is over by the clock of the server."""
    items = yard.many(agent, count)
    yard.world.admin.execute(
        "UPDATE memwarden_data.item SET expires_at = now() - interval '1 hour'"
        " WHERE item_id = ANY (%s)",
        (items,),
    )
    yard.world.admin.execute("UPDATE memwarden_data.collection SET finished_at = NULL")
    return items


def ends(yard: Yard, items: list[UUID]) -> list[int]:
    """How often the log says that each item expired."""
    rows = yard.world.rows(
        "SELECT u.id, (SELECT count(*) FROM memwarden_data.log AS l WHERE l.item_id = u.id"
        " AND l.operation = 'EXPIRE') AS times FROM unnest(%s) AS u (id)",
        items,
    )
    return sorted(row["times"] for row in rows)


def run(yard: Yard) -> None:
    """The job, on a connection of its own."""
    with contextlib.closing(yard.world.connect()) as connection:
        connection.execute("CALL memwarden.collect()")


@pytest.mark.every_version
def test_a_scope_in_use_is_left_and_taken_later(yard: Yard) -> None:
    """The job waits for no writer, and a writer for no job: the next pass takes what was busy.

    Proves: G3 (collection beside writers)
    """
    agent = yard.agent(validated=True)
    items = due(yard, agent, 3)
    other = yard.agent(validated=True)
    with other.transaction():
        write(other, "episodic", "somebody writes here")
        run(yard)
        assert ends(yard, items) == [0, 0, 0]
    yard.world.admin.execute("UPDATE memwarden_data.collection SET finished_at = NULL")
    run(yard)
    assert ends(yard, items) == [1, 1, 1]


def test_what_is_being_recovered_is_not_deleted(yard: Yard) -> None:
    """Who recovers first keeps it; who comes after the deletion is told that it is gone.

    Proves: G5 (recover() against phase two)
    """
    agent = yard.agent(validated=True)
    kept, gone = yard.many(agent, 2)
    for item in (kept, gone):
        agent.execute("SELECT memwarden.expire(%s, 'old')", (item,))
    reader = yard.agent(validated=True)
    yard.world.admin.execute("SELECT memwarden_internal.list_layers_to_collect()")
    with reader.transaction():
        reader.execute("SELECT memwarden.recover(%s, 'needed')", (kept,))
        assert yard.collect(days=31) == {}
    assert yard.collect(days=31).get("GRACE_OVER") == 1
    assert yard.status(gone) is None
    assert yard.status(kept) is not None
    with pytest.raises(psycopg.errors.UndefinedObject):
        agent.execute("SELECT memwarden.recover(%s, 'too late')", (gone,))
    assert yard.findings() == []


def test_two_collectors_share_the_work(yard: Yard) -> None:
    """Each memory goes once, whoever takes it, while a writer goes on.

    Proves: G3 (safe to run twice at once)
    """
    agent = yard.agent(validated=True)
    items = due(yard, agent, 60)
    writer = yard.agent(validated=True)
    threads = [threading.Thread(target=run, args=(yard,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    outcomes = {write(writer, "semantic", f"word {n}")["outcome"] for n in range(20)}
    for thread in threads:
        thread.join()
    assert outcomes == {"COMMITTED"}
    yard.world.admin.execute("UPDATE memwarden_data.collection SET finished_at = NULL")
    run(yard)
    assert ends(yard, items) == [1] * 60
    assert yard.findings() == []


def test_a_run_that_was_killed_goes_on_where_it_stopped(yard: Yard) -> None:
    """What it took stays taken, what it found is still noted, and the next run takes the rest.

    Proves: G3 (resumable cursor, killable)
    """
    agent = yard.agent(validated=True)
    items = due(yard, agent, 12)
    yard.world.admin.execute("SELECT memwarden_internal.list_layers_to_collect()")
    while not any(ends(yard, items)):
        assert yard.step(taken=2)
    with contextlib.closing(yard.world.connect()) as victim:
        victim.execute("BEGIN")
        victim.execute(
            "SELECT memwarden_internal.collect_step(100, 2, clock_timestamp(), %s)", (yard.org_id,)
        )
        yard.world.admin.execute(
            "SELECT pg_terminate_backend(%s, 5000)", (victim.info.backend_pid,)
        )
    assert ends(yard, items) == [0] * 10 + [1] * 2
    (row,) = yard.world.rows(
        "SELECT waiting, begun_at FROM memwarden.collections WHERE org = %s AND layer = 'episodic'",
        yard.org,
    )
    assert (row["waiting"], row["begun_at"] is None) == (10, False)
    run(yard)
    assert ends(yard, items) == [1] * 12
    assert yard.findings() == []
