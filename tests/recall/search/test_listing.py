"""Listing asks the dear questions only about memories that they concern."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from psycopg import sql

from helpers import write

if TYPE_CHECKING:
    from conftest import World

CALLS = """
SELECT coalesce(sum(f.calls), 0) AS calls FROM pg_stat_xact_user_functions AS f
 WHERE f.schemaname = 'memwarden_internal' AND f.funcname = ANY (%s)"""
DEAR = ["corroboration", "is_marked", "is_stale", "has_withdrawn_consent"]


def calls(world: World, role: str, query: str, *names: str) -> tuple[int, int]:
    """How many rows a query of an agent has, and how often the server called the functions."""
    with world.connect(autocommit=False) as connection:
        connection.execute("SET LOCAL track_functions = 'all'")
        connection.execute(
            sql.SQL("SET LOCAL SESSION AUTHORIZATION {}").format(sql.Identifier(role))
        )
        rows = connection.execute(query).fetchall()
        counted = connection.execute(CALLS, (list(names),)).fetchone()
    assert counted is not None
    return len(rows), int(counted["calls"])


@pytest.mark.parametrize("condition", ["", " WHERE subject = 'tea 1'"])
def test_listing_calls_no_function_for_memories_never_said_again(
    shared_world: World, home: str, condition: str
) -> None:
    """A store of plain memories is listed without a question about any single one."""
    role = shared_world.register(home)
    agent = shared_world.connect(role)
    for number in range(5):
        write(agent, "semantic", {"n": number}, subject=f"tea {number}", predicate="is")
    query = "SELECT * FROM memwarden.items" + condition
    rows, asked = calls(shared_world, role, query, *DEAR)
    assert (rows, asked) == (1 if condition else 5, 0)


def test_listing_asks_once_about_a_memory_said_again(shared_world: World, home: str) -> None:
    """One of three was repeated by another agent: one call, and the answer tells of it.

    Proves: D3
    """
    role, other = shared_world.register(home), shared_world.agent(home)
    agent = shared_world.connect(role)
    texts = [{"text": f"The lamp in room {number} is on"} for number in range(3)]
    first, *_ = [write(agent, "semantic", text) for text in texts]
    again = write(other, "semantic", texts[0])
    assert again["item_id"] == first["item_id"]
    query = "SELECT * FROM memwarden.items"
    assert calls(shared_world, role, query, "corroboration") == (3, 1)
    seen = {row["item_id"]: row["times_seen"] for row in agent.execute(query)}
    assert sorted(seen.values()) == [0, 0, 1]
    assert seen[first["item_id"]] == 1
    got = agent.execute("SELECT times_seen FROM memwarden.get(%s)", (first["item_id"],)).fetchone()
    assert got == {"times_seen": 1}
