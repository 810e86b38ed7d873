"""Many at once do everything to the same few memories: nobody meets an error, the log holds."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from random import Random
from threading import Event
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.errors import LockNotAvailable
from psycopg.rows import DictRow

from history.versions.machine import LEGAL, check_answers, check_one_value, check_second_opinions
from history.versions.operations import OPERATIONS, REFUSALS, Actor
from races import together
from replay import check_store, read

if TYPE_CHECKING:
    from conftest import World

STEPS = 25 * max(1, int(os.environ.get("MEMWARDEN_HISTORIES", "30")) // 30)
"""How much each does; more in a run of one's own."""
SCOPE = "/org/histories/task/crowded"
ROLE = """
SELECT memwarden.define_role('keeper',
    '[{"operation": "READ"}, {"operation": "WRITE"}, {"operation": "DELETE"}]')
"""
ITEMS = """
SELECT i.item_id, i.status, i.layer FROM memwarden_data.item AS i
  JOIN memwarden_data.scope AS s USING (scope_id) WHERE s.path = %s ORDER BY i.created_at
"""
FEW = 8
"""Of each kind, so many are there to choose from: they meet."""


def act(actor: Actor, observer: Connection[DictRow], seed: int) -> Counter[str]:
    """Do one thing after another; count what became of each."""
    rng = Random(seed)
    done: Counter[str] = Counter()
    for _ in range(STEPS):
        items: dict[str, list[UUID]] = {}
        for row in observer.execute(ITEMS, (actor.scope,)).fetchall():
            for group in (row["status"], f"{row['status']} {row['layer']}"):
                items.setdefault(group, []).append(row["item_id"])
        few = {group: known[-FEW:] for group, known in items.items()}
        what = rng.choice([*OPERATIONS, *["write"] * 4])
        try:
            result = OPERATIONS[what](actor, rng, few)
        except (*REFUSALS, LockNotAvailable) as refusal:
            done[f"{what}: {type(refusal).__name__}"] += 1
        else:
            done[f"{what}: {result if isinstance(result, str) else 'done'}"] += 1
    return done


def tidy(jobs: Connection[DictRow], over: Event) -> Counter[str]:
    """Let the jobs run until all have done what they do."""
    while not over.is_set():
        jobs.execute("CALL memwarden.settle_values()")
        jobs.execute("CALL memwarden.compact_history()")
    return Counter()


def watch(observer: Connection[DictRow], over: Event) -> Counter[str]:
    """No version is ever seen in a state that does not follow from the one it was seen in."""
    seen: dict[UUID, str] = {}
    while not over.is_set():
        rows = observer.execute(
            "SELECT version_id, item_id, status FROM memwarden_data.version"
        ).fetchall()
        now = {row["version_id"]: row["status"] for row in rows}
        assert seen.keys() <= now.keys()
        assert all(now[version] in LEGAL[status] for version, status in seen.items())
        current = [row["item_id"] for row in rows if row["status"] == "ACTIVE"]
        assert len(current) == len(set(current))
        seen = now
    return Counter()


@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_many_do_at_once_is_what_a_replay_of_the_log_says(world: World, seed: int) -> None:
    """Writing, correcting, merging, ending, bringing back and undoing, while jobs settle and move.

    Nobody waits for ever or is told of a fault; no step is illegal; no key has two values at once;
    and every moment of it is answered as the log has it.

    Proves: T1, T2, T3, T4, T5, T6
    """
    world.admin.execute(ROLE)
    # Who reads here reads what everybody wrote.
    world.admin.execute("UPDATE memwarden_data.layer SET shared = true")
    world.admin.execute("UPDATE memwarden_data.layer SET warm_after = '0 s', cold_after = '1 s'")
    rights: dict[str, Any] = {"descendants": True, "role": "keeper"}
    keeper = world.register("/org/histories", clearance="restricted", **rights)
    clerk = world.register("/org/histories", **rights)
    world.scope(SCOPE)
    actors = [Actor(world.connect(keeper), SCOPE, "restricted") for _ in range(3)]
    actors += [Actor(world.connect(clerk), SCOPE) for _ in range(3)]
    over, left = Event(), [None] * len(actors)

    def run(actor: Actor, number: int) -> Counter[str]:
        try:
            return act(actor, world.connect(), 100 * seed + number)
        finally:
            left.pop()
            if not left:
                over.set()

    done: Counter[str] = Counter()
    for counted in together(
        [partial(run, actor, number) for number, actor in enumerate(actors)]
        + [
            partial(tidy, world.connect(world.role("memwarden_jobs")), over),
            partial(watch, world.connect(), over),
        ]
    ):
        done += counted
    assert not [what for what in done if "FAULT" in what], done
    check_store(world.admin)
    check_second_opinions(world.admin)
    scope_id = world.value("SELECT scope_id FROM memwarden_data.scope WHERE path = %s", SCOPE)
    check_one_value(world.admin, [scope_id])
    check_answers(read(world.admin, [scope_id]), actors[0].connection, SCOPE, set(), share=8)
    print(*sorted(done.items()), sep="\n")
