"""setup() while others write: no writer meets an error, and nothing acknowledged is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from catalog_snapshot import catalog_snapshot, differences
from helpers import write, write_many
from races import PATIENCE, wait_until_blocked
from replay import check_store

if TYPE_CHECKING:
    from concurrency.tasks import Agent
    from conftest import World

ROUNDS = 6
# What somebody takes away, and setup() brings back: each is something that writers use.
DAMAGES = [
    "DROP POLICY application ON memwarden_data.item",
    "DROP TRIGGER guard_version ON memwarden_data.version",
    "DROP TRIGGER gate_15_deadline ON memwarden_data.write_request",
    "CREATE OR REPLACE VIEW memwarden_data.layer_terms WITH (security_invoker = false) AS {terms}",
    "ALTER TABLE memwarden_data.log DISABLE ROW LEVEL SECURITY",
    "DROP TRIGGER append_only ON memwarden_data.provenance; DROP VIEW memwarden.pipeline",
]


def keep_writing(agent: Agent, name: str, in_batches: bool, stop: Event) -> list[str]:
    """Write until told to stop; return what was acknowledged."""
    done: list[str] = []
    number = 0
    while not stop.is_set() or number == 0:
        texts = [f"{name} saw lamp {number + n}" for n in range(5 if in_batches else 1)]
        number += len(texts)
        if in_batches:
            answers = write_many(agent, [{"layer": "episodic", "content": t} for t in texts])
        else:
            answers = [write(agent, "episodic", texts[0])]
        for text, answer in zip(texts, answers, strict=True):
            assert answer["outcome"] == "COMMITTED", answer
            done.append(text)
    return done


@pytest.mark.parametrize("differs", [False, True], ids=["nothing differs", "something differs"])
def test_writers_do_not_notice(world: World, differs: bool) -> None:
    """Two write one by one and two in batches, two of them to one scope; setup() runs and runs."""
    world.admin.execute("UPDATE memwarden_data.layer SET lock_wait = '1 minute'")
    homes = ["/org/acme/user/ana"] * 2 + ["/org/acme/user/bob", "/org/acme/user/carol"]
    agents = [world.agent(home) for home in homes]
    terms = world.value("SELECT pg_get_viewdef('memwarden_data.layer_terms'::regclass)")
    before = catalog_snapshot(world.admin)
    deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    deadlocks_before = world.value(deadlocks)
    stop = Event()
    with ThreadPoolExecutor(len(agents)) as pool:
        futures = [
            pool.submit(keep_writing, agent, f"w{n}", n % 2 == 1, stop)
            for n, agent in enumerate(agents)
        ]
        try:
            for n in range(ROUNDS):
                if differs:
                    damage = sql.SQL(DAMAGES[n % len(DAMAGES)].replace("{terms}", terms))
                    # By hand, it would be this statement that meets writers the wrong way round.
                    with world.admin.transaction():
                        world.admin.execute("LOCK TABLE memwarden_data.storage")
                        world.admin.execute(damage)
                world.admin.execute("SELECT FROM memwarden.setup()")
                assert differences(before, catalog_snapshot(world.admin)) == {}
        finally:
            stop.set()
        done = [text for future in futures for text in future.result(PATIENCE)]
    kept = world.rows("SELECT content FROM memwarden_data.version WHERE status = 'ACTIVE'")
    assert sorted(row["content"] for row in kept) == sorted(done)
    assert world.value(deadlocks) == deadlocks_before
    check_store(world.admin)


def test_setup_lets_go_of_what_it_has_where_it_would_wait(world: World) -> None:
    """Somebody holds a table: setup() gives up each attempt whole, so a writer gets through.

    Then it finds the table free and goes on.
    """
    agent, holder, caller = world.agent(), world.connect(), world.connect()
    world.admin.execute("DROP POLICY application ON memwarden_data.review")
    with ThreadPoolExecutor(1) as pool, holder.transaction():
        holder.execute("LOCK TABLE memwarden_data.review IN ACCESS SHARE MODE")
        setup = pool.submit(caller.execute, "SELECT FROM memwarden.setup()")
        wait_until_blocked(world.admin, caller)
        for n in range(3):
            assert write(agent, "episodic", f"walk {n}")["outcome"] == "COMMITTED"
        holder.execute("COMMIT AND CHAIN")
        setup.result(PATIENCE)
    policies = "SELECT count(*) FROM pg_policy WHERE polrelid = 'memwarden_data.review'::regclass"
    assert world.value(policies) == 2


def test_a_transaction_that_wrote_is_waited_for(world: World) -> None:
    """It goes on writing while setup() waits at the door, and setup() follows when it ends."""
    agent, caller = world.agent(), world.connect()
    world.admin.execute("DROP POLICY application ON memwarden_data.item")
    with ThreadPoolExecutor(1) as pool:
        with agent.transaction():
            assert write(agent, "episodic", "walk 1")["outcome"] == "COMMITTED"
            setup = pool.submit(caller.execute, "SELECT FROM memwarden.setup()")
            wait_until_blocked(world.admin, caller)
            assert write(agent, "episodic", "walk 2")["outcome"] == "COMMITTED"
        setup.result(PATIENCE)
    policies = "SELECT count(*) FROM pg_policy WHERE polrelid = 'memwarden_data.item'::regclass"
    assert world.value(policies) == 2


@pytest.mark.parametrize("call", ["write", "write_many"])
def test_a_table_that_stays_locked_is_a_documented_error(world: World, call: str) -> None:
    """Somebody changes a table by hand, and the caller waits for no lock: 55P03 with a hint."""
    agent, holder = world.agent(), world.connect()
    calls: dict[str, Any] = {
        "write": lambda: write(agent, "episodic", "a walk"),
        "write_many": lambda: write_many(agent, [{"layer": "episodic", "content": "a walk"}]),
    }
    agent.execute("SET lock_timeout = '10 ms'")
    for table in ("write_request", "item", "storage"):
        with holder.transaction():
            holder.execute(f"LOCK TABLE memwarden_data.{table} IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(psycopg.errors.LockNotAvailable) as refused:
                calls[call]()
        assert "the tables are being changed or locked" in str(refused.value)
        assert refused.value.diag.message_hint == "Nothing was done. Try again."
    assert agent.execute("SHOW lock_timeout").fetchall() == [{"lock_timeout": "10ms"}]
    calls[call]()
    assert len(check_store(world.admin)) == 1
