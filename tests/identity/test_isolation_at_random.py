"""What an agent of a random plan sees and writes, by every path, is what rules.py says.

Sessions serve one plan after the other under other roles, as those of a pool would: what they have
planned and loaded for one caller must tell the next one nothing. test_isolation.py has real logins.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from conftest import World
from identity.checks import check_paths
from identity.plans import RANDOM, Plan, plans
from identity.universe import Ground

WARM_LOGINS = True


# Ten plans, in halves: one test of all would take minutes.
@pytest.mark.one_version
@pytest.mark.parametrize("_half", [1, 2])
@settings(max_examples=5, **RANDOM)
@given(plan=plans)
def test_every_path_shows_what_the_rules_say_and_nothing_else(
    shared_world: World, ground: Ground, _half: int, plan: Plan
) -> None:
    """Scopes of every kind, roles, clearance, domains and policies; reads and writes.

    recall() and get() have the rule written out, tables have policies: all must equal the model.

    Proves: A1, A2, A3, A4, A9, N10, Z1
    """
    check_paths(shared_world, ground, plan)
