"""What changes, ends, comes back or is erased in a grown scope stays in step with its shelf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from access import call
from helpers import recall, write
from history.versions.past import check_timeline
from operations.erasure.conftest import Desk, holding
from replay import check_store

if TYPE_CHECKING:
    from conftest import World
    from history.versions.past import Agent

FEW = 12

STRAY = """
SELECT i.item_id, e.shelf FROM memwarden_data.item AS i
  FULL JOIN memwarden_data.embedding AS e USING (org_id, item_id)
 WHERE (i.status = 'ACTIVE') IS DISTINCT FROM (e.item_id IS NOT NULL)
    OR e.shelf <> CASE WHEN i.layer = 'semantic' THEN 1 ELSE 0 END
    OR (e.words IS NOT DISTINCT FROM i.search_vector) <> (e.shelf > 0)"""


@pytest.fixture
def desk(world: World) -> Desk:
    """An organisation of a store in which twelve memories are many."""
    world.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = %s", (FEW,))
    return Desk(world)


@pytest.fixture
def agent(desk: Desk) -> Agent:
    """An agent in a scope whose semantic memories have a shelf."""
    made = desk.agent()
    for n in range(FEW):
        row = write(made, "semantic", f"value {n}", subject=f"thing {n}", predicate="is")
        assert row["outcome"] == "COMMITTED"
    write(made, "episodic", "what happened")
    desk.world.admin.execute("CALL memwarden.arrange_shelves()")
    assert desk.world.value("SELECT count(*) FROM memwarden_data.embedding WHERE shelf = 1") == FEW
    return made


def item(agent: Agent, number: int) -> Any:
    """The item of one of the things."""
    return recall(agent, subject=f"thing {number}")[0]["item_id"]


def check(world: World) -> None:
    """Vectors and words are where they belong, and of what is current."""
    assert world.rows(STRAY) == []
    check_store(world.admin)
    check_timeline(world)


def test_values_that_change_end_and_come_back(desk: Desk, agent: Agent) -> None:
    """New versions, rollback, retraction and its undoing, merging, expiring and recovering."""
    vector = [1.0] * 384
    write(agent, "semantic", "another", subject="thing 0", predicate="is", embedding=vector)
    write(agent, "semantic", "a third", subject="thing 0", predicate="is")
    check(desk.world)
    first, second, third = item(agent, 0), item(agent, 1), item(agent, 2)
    call(agent, "rollback", item_id=first, reason="x", to_version=2)
    check(desk.world)
    (found,) = recall(agent, embedding=vector, subject="thing 0")
    assert found["similarity"] == pytest.approx(1)
    call(agent, "retract", item_id=first, reason="x")
    call(agent, "merge", item_id=second, absorbed=third, reason="one")
    call(agent, "expire", item_id=second, reason="x")
    check(desk.world)
    call(agent, "recover", item_id=second, reason="x")
    call(agent, "rollback", item_id=first, reason="x")
    check(desk.world)
    assert len(recall(agent, layers=["semantic"], k=100)) == FEW - 1


def test_a_whole_run_is_undone(desk: Desk, agent: Agent) -> None:
    """And the undoing itself.

    Proves: T5 (in a scope that has grown)
    """
    other = desk.agent()
    for n in range(4):
        write(other, "semantic", "poison", subject=f"thing {n}", predicate="is")
        write(other, "semantic", f"more poison {n}")
    (undone, *_) = call(agent, "rollback_batch", reason="poisoned", agent=other.info.user)
    assert undone is not None
    check(desk.world)
    assert not [row for row in recall(agent, k=100) if "poison" in row["text"]]


def test_who_is_erased_is_on_no_shelf(desk: Desk, agent: Agent) -> None:
    """Neither words nor vector.

    Proves: R1 (in a scope that has grown)
    """
    write(agent, "semantic", "zyzzyva", subject="Petra", predicate="likes")
    desk.erase("Petra")
    assert holding(desk.world, "zyzzyva") == set()
    check(desk.world)


@pytest.mark.usefixtures("agent")
def test_projections_are_rebuilt_onto_it(desk: Desk) -> None:
    """Vectors that are lost come back where they were.

    Proves: T1 (in a scope that has grown)
    """
    admin = desk.world.admin
    before = desk.world.rows("SELECT * FROM memwarden_data.embedding ORDER BY item_id")
    admin.execute("DELETE FROM memwarden_data.embedding")
    admin.execute("SELECT * FROM memwarden.rebuild_heads()")
    assert desk.world.rows("SELECT * FROM memwarden_data.embedding ORDER BY item_id") == before
    # Heads made anew have the words of today.
    admin.execute("UPDATE memwarden_data.layer SET text_search_config = 'simple'")
    admin.execute("SELECT * FROM memwarden.rebuild_heads(true)")
    check(desk.world)
