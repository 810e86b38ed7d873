"""What a client makes of a withheld answer, and how it names memories at fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from client.conftest import SCOPE
from memwarden import Client, InvalidArgument, MemoryManager

if TYPE_CHECKING:
    from conftest import World


def withheld_task(world: World, memory: Client) -> str:
    """Opt everybody in, and find a task that is withheld."""
    world.admin.execute("SELECT memwarden.set_ablation(%s, 0.5)", (SCOPE,))
    tasks = (f"task {n}" for n in range(100))
    return next(task for task in tasks if memory.answer("tea", task=task).withheld)


def test_an_answer_says_that_it_is_withheld(world: World, memory: Client) -> None:
    """A recall gives nothing; the outcome is reported by the id that an answer has.

    Proves: Q3 (ablation)
    """
    memory.write("semantic", "Ana likes tea")
    task = withheld_task(world, memory)
    assert memory.recall("tea", task=task) == []
    answer = memory.answer("tea", task=task)
    assert (answer.items, answer.unknown) == ([], None)
    assert answer.withheld is not None
    assert memory.report_outcome(answer.withheld, outcome="success") == 1


def test_a_manager_reports_what_came_of_a_task_without_memory(world: World, memory: Client) -> None:
    """Proves: Q3 (ablation)."""
    memory.write("semantic", "Ana likes tea")
    task = withheld_task(world, memory)
    manager = MemoryManager(memory, fail_safe=False)
    manager.task_start(task)
    assert manager.search("tea", "persistent") == []
    assert manager.complete().reported >= 1
    outcomes = world.rows(
        "SELECT o.outcome FROM memwarden_data.recall_outcome AS o"
        "  JOIN memwarden_data.recall_log AS l USING (org_id, recall_id) WHERE l.withheld <> '{}'"
    )
    assert [row["outcome"] for row in outcomes] == ["success"]


def test_a_memory_at_fault_is_named(world: World, memory: Client) -> None:
    """Proves: Q3 (memory-induced errors)."""
    memory.write("semantic", "Ana likes tea")
    (found,) = memory.recall("tea", k=1)
    assert found.recall_id is not None
    with pytest.raises(InvalidArgument):
        memory.report_outcome(found.recall_id, outcome="success", at_fault=[found.item_id])
    memory.report_outcome(found.recall_id, outcome="failure", at_fault=[found.item_id])
    (row,) = world.rows("SELECT item_id FROM memwarden.memory_errors")
    assert row["item_id"] == found.item_id
