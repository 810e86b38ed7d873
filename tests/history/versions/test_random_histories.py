"""Property: whatever is done to memory, in whatever order, log, heads, times and answers agree."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from history.versions.machine import Histories, check_second_opinions
from history.versions.operations import OPERATIONS
from replay import check_store

if TYPE_CHECKING:
    from conftest import World

EXAMPLES = int(os.environ.get("MEMWARDEN_HISTORIES", "30"))
"""How many histories; more of them in a run of one's own."""
ROLE = """
SELECT memwarden.define_role('keeper',
    '[{"operation": "READ"}, {"operation": "WRITE"}, {"operation": "DELETE"}]')
"""


@pytest.mark.one_version
def test_random_histories_are_what_a_replay_of_the_log_says(world: World) -> None:
    """At every moment recorded and about every time in the world; only legal steps lead there.

    What holds now is what an item says, one key has one value at a time, and undoing brings back
    what was. The log verifies, and heads laid out anew are the same.

    Proves: T1, T2, T3, T4, T5, T6, T7, G5
    """
    world.admin.execute(ROLE)
    # Who reads here reads what everybody wrote.
    world.admin.execute("UPDATE memwarden_data.layer SET shared = true")
    rights = {"descendants": True, "role": "keeper"}
    Histories.world = world
    Histories.logins = {
        "clerk": world.agent("/org/histories", **rights),
        "keeper": world.agent("/org/histories", clearance="restricted", **rights),
    }
    Histories.jobs = world.connect(world.role("memwarden_jobs"))
    Histories.done = Counter()
    run_state_machine_as_test(
        Histories,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=8,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    check_store(world.admin)
    check_second_opinions(world.admin)
    assert {what for what, _ in Histories.done} == set(OPERATIONS)
    print(*sorted(Histories.done.items()), sep="\n")
