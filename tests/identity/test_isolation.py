"""What an agent sees and writes, by every path there is, is what rules.py says."""

from __future__ import annotations

import pytest

from conftest import World
from identity.checks import check_paths
from identity.paths import CHANGES, READERS, functions
from identity.plans import OWN_ITEMS, Plan, Rules, everybody
from identity.universe import Ground

EVERYBODY = [
    everybody(),
    everybody(Rules(0, "allow", frozenset({"READ"}), (("deny", OWN_ITEMS),))),
]


@pytest.mark.parametrize("plan", EVERYBODY, ids=["roles", "policies"])
def test_every_path_shows_everybody_what_the_rules_say(
    shared_world: World, ground: Ground, plan: Plan
) -> None:
    """One of each: scopes of every kind, roles, clearances, domains; what each may write and read.

    Proves: A1, A2, A3, A4, A9, N10, Z1
    """
    check_paths(shared_world, ground, plan)


def test_every_function_that_changes_something_is_known(shared_world: World) -> None:
    """A new one must be named in paths.py: what is not named there is called, to see what it tells.

    Proves: A9
    """
    found = functions(shared_world.admin, READERS)
    assert {each.name for each in found if each.changes} == CHANGES
    assert {each.name for each in found if not each.changes} >= {"recall", "get", "history"}
