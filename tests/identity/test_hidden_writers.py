"""Writers who do not see each other: the same work for each, and no conflict at the same moment."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import call, join
from conftest import World
from helpers import write
from identity.test_hidden_items import FACT, KEY, OTHER, about, versions
from identity.twins import HIDINGS, Side, twins
from races import together

# Not the immutable ones: the planner calls those, when it plans.
CALLS = """
SELECT s.funcname, s.calls
  FROM pg_stat_xact_user_functions AS s JOIN pg_proc AS p ON p.oid = s.funcid
 WHERE s.schemaname ~ '^memwarden' AND p.provolatile <> 'i'"""
ASKED = {"refusal", "judge_labels", "ask_policies"}
"""What is asked about an item that is there; nothing else may differ."""


@pytest.mark.parametrize("layer", ["session", "episodic", "semantic"])
@pytest.mark.parametrize("hiding", HIDINGS)
def test_a_write_does_the_same_work(shared_world: World, hiding: str, layer: str) -> None:
    """The same functions run as often, but for the question whether the writer may see it.

    Proves: A3
    """
    with twins(shared_world, hiding) as sides:
        ran = []
        for side in sides:
            shared_world.admin.execute(f"ALTER ROLE {side.writer_name} SET track_functions = 'all'")
            ran.append(functions_of_a_write(shared_world.connect(side.writer_name), side, layer))
        present, absent = ran
        names = present.keys() | absent.keys()
        differ = {name for name in names if present.get(name, 0) != absent.get(name, 0)}
        assert differ <= ASKED
        assert present["gate_commit"] == 1


def functions_of_a_write(writer: Connection[DictRow], side: Side, layer: str) -> dict[str, int]:
    """How often each function runs in a write that could meet what is hidden.

    The least of several: a statement that is planned anew, or a label that is made, asks for more.
    The first five times every statement is, and any time somebody analyses its tables.
    """
    ran: list[dict[str, int]] = []
    for number in range(10):
        key = about(KEY, number)
        side.hide(layer, FACT, **key)
        with writer.transaction():
            before = {each["funcname"]: each["calls"] for each in writer.execute(CALLS)}
            row = write(writer, layer, FACT, scope=side.task, **key)
            assert row["outcome"] == "COMMITTED"
            after = {each["funcname"]: each["calls"] for each in writer.execute(CALLS)}
        ran.append({name: calls - before.get(name, 0) for name, calls in after.items()})
    names = set().union(*ran)
    return {name: min(each.get(name, 0) for each in ran) for name in names}


@pytest.mark.parametrize("layer", ["session", "semantic"])
def test_two_who_do_not_see_each_other_write_at_once(shared_world: World, layer: str) -> None:
    """No error and no conflict over one key: each has an item of its own.

    Proves: A3, D5
    """
    with twins(shared_world, "own") as (side, _):
        other = join(shared_world, side.home, descendants=True, role="writer")
        for number in range(8):
            key = about(KEY, number) | {"scope": side.task}
            mine, its = at_once(side.writer, other, layer, key)
            assert (mine["outcome"], its["outcome"]) == ("COMMITTED", "COMMITTED")
            assert versions(shared_world, mine["item_id"]) == [FACT]
            assert versions(shared_world, its["item_id"]) == [OTHER]


@pytest.mark.parametrize("hiding", ["clearance", "domain", "policy"])
def test_who_is_cleared_and_who_is_not_write_at_once(shared_world: World, hiding: str) -> None:
    """Whoever is first with a key, both commit; what the cleared one says is as secret as it says.

    Proves: A3, D5
    """
    with twins(shared_world, hiding) as (side, _):
        for number in range(8):
            key = about(KEY, number) | {"scope": side.task}
            mine, its = at_once(side.writer, side.author, "semantic", key, side.secret)
            assert (mine["outcome"], its["outcome"]) == ("COMMITTED", "COMMITTED")
            seen = call(side.writer, "get", item_id=its["item_id"])
            assert seen == []
            if mine["item_id"] == its["item_id"]:  # the writer was first
                assert versions(shared_world, mine["item_id"]) == [FACT, OTHER]
            else:
                assert versions(shared_world, mine["item_id"]) == [FACT]
                assert versions(shared_world, its["item_id"]) == [OTHER]


def at_once(
    one: Connection[DictRow],
    two: Connection[DictRow],
    layer: str,
    key: dict[str, Any],
    secret: dict[str, Any] | None = None,
) -> list[DictRow]:
    """Let two sessions write two values of a key at the same moment."""
    return together(
        [
            lambda: write(one, layer, FACT, **key),
            lambda: write(two, layer, OTHER, **key, **(secret or {})),
        ]
    )
