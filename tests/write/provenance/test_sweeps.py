"""Everything that is stored is looked at again, little by little, by a job."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from access import call, name_of
from helpers import write_many

if TYPE_CHECKING:
    from conftest import World


def sweep(world: World, batch: int, batches: int) -> None:
    """One run of the job."""
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute(f"CALL memwarden.sweep({batch}, {batches})")


def state_of(world: World, name: str) -> dict[str, Any]:
    """How far a sweep has got."""
    (row,) = world.rows("SELECT * FROM memwarden.sweeps WHERE sweep = %s", name)
    return row


def filled(world: World, count: int) -> None:
    """Memories, the first with a badge that no rule knows yet."""
    requests = [{"layer": "episodic", "content": {"text": f"note AB-1234{n}"}} for n in range(5)]
    more = [{"layer": "episodic", "content": {"text": f"plain {n}"}} for n in range(count - 5)]
    rows = write_many(world.agent(), requests + more)
    assert {row["outcome"] for row in rows} == {"COMMITTED"}


def badge_rule(world: World) -> None:
    """A rule that is newer than the memories."""
    call(
        world.admin,
        "define_sensitivity_rule",
        rule="badge",
        kind="pii.badge",
        definition=Jsonb({"pattern": r"\bAB-[0-9]{5}\b"}),
        tests=Jsonb({"positive": ["AB-12345"], "negative": ["AB-1"]}),
        level="suspicious",
        action="flag",
    )


def test_rules_that_changed_are_asked_of_everything_once(world: World) -> None:
    """In batches, going on where it was left; without a change there is nothing to do.

    Proves: Z3, L11
    """
    filled(world, 23)
    sweep(world, 1000, 100)
    assert state_of(world, "sensitivity")["faults"] == 0
    badge_rule(world)
    sweep(world, 5, 2)
    halfway = state_of(world, "sensitivity")
    assert (halfway["looked"], halfway["begun_at"] is None) == (10, False)
    sweep(world, 5, 100)
    done = state_of(world, "sensitivity")
    assert (done["looked"], done["faults"], done["begun_at"]) == (23, 5, None)
    assert world.value("SELECT count(*) FROM memwarden_data.sensitivity_scan") == 5
    sweep(world, 5, 100)
    assert state_of(world, "sensitivity") == done


def test_what_was_altered_is_found(world: World) -> None:
    """A record, and a head; the pass of a day is not repeated.

    Proves: P4
    """
    filled(world, 12)
    world.admin.execute("SET session_replication_role = replica")
    world.admin.execute(
        "UPDATE memwarden_data.provenance SET record = record || '{\"authority\": 1}'"
        " WHERE provenance_id = (SELECT min(p.provenance_id::text)::uuid"
        "                          FROM memwarden_data.provenance AS p)"
    )
    world.admin.execute(
        "UPDATE memwarden_data.item SET authority = 0.99"
        " WHERE item_id = (SELECT max(item_id::text)::uuid FROM memwarden_data.item)"
    )
    world.admin.execute("SET session_replication_role = DEFAULT")
    expected = world.rows("SELECT finding, item_id FROM memwarden.verify_provenance()")
    assert len(expected) >= 2
    sweep(world, 5, 1)
    assert state_of(world, "provenance")["looked"] == 5
    sweep(world, 5, 10)
    done = state_of(world, "provenance")
    assert (done["looked"], done["faults"], done["begun_at"]) == (12, len(expected), None)
    assert {(each["finding"], each["item_id"]) for each in done["findings"]} == {
        (row["finding"], str(row["item_id"])) for row in expected
    }
    sweep(world, 5, 10)
    assert state_of(world, "provenance") == done


def test_two_at_once_and_one_that_is_killed_lose_nothing(world: World) -> None:
    """The one goes on, the other has nothing to do; what was not committed is looked at again.

    Proves: Z3
    """
    filled(world, 60)
    badge_rule(world)
    barrier = threading.Barrier(3)

    def run() -> None:
        barrier.wait()
        sweep(world, 4, 100)

    with world.connect("memwarden_jobs", autocommit=False) as killed:
        killed.execute("SELECT memwarden_internal.sweep_next('sensitivity', 7)")
        killed.rollback()
    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    barrier.wait()
    for thread in threads:
        thread.join()
    sweep(world, 100, 100)
    for name in ("sensitivity", "provenance"):
        done = state_of(world, name)
        assert (done["looked"], done["begun_at"]) == (60, None)
    assert state_of(world, "sensitivity")["faults"] == 5


def test_agents_neither_run_nor_see_it(world: World) -> None:
    """It looks at every organisation.

    Proves: Z3
    """
    agent = world.agent()
    for statement in ("CALL memwarden.sweep()", "SELECT * FROM memwarden.sweeps"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            agent.execute(statement)
    world.grant_tables(name_of(agent))
    assert agent.execute("SELECT FROM memwarden_data.sweep").fetchall() == []
