"""The checkpointer beside the store, and the examples that run without a model."""

from __future__ import annotations

import asyncio
import runpy
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

pytest.importorskip("langgraph.graph", reason="needs memwarden[langgraph] and langgraph")

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from checkpoints import let_in
from memwarden import InvalidArgument
from memwarden.langgraph import async_checkpointer, checkpointer, forget_old, forget_person
from memwarden_core.packed import packed_text
from shipped import Shipped

if TYPE_CHECKING:
    from conftest import World

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
ANSWERS = ["I keep that in mind.", "I may not keep that yet: INSTRUCTION_REVIEW"]


def example(name: str) -> dict[str, Any]:
    """Load an example, which is short."""
    path = EXAMPLES / f"{name}.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) < 60
    return runpy.run_path(str(path))


def test_an_agent_of_langgraph_has_memory_and_threads_that_are_forgotten(
    shared_world: World, home: str
) -> None:
    """The tables lie in a schema of their own; a person's threads go, others' stay.

    Proves: N11
    """
    login = shared_world.register(home)
    agent = make_conninfo(shared_world.dsn, user=login)
    with checkpointer(shared_world.dsn, setup=True):
        let_in(shared_world, login)
    with checkpointer(agent) as saver:
        answers = example("langgraph_agent")["run"](agent, saver)
        assert answers == [*ANSWERS, "I know: I drink green tea"]
        schemas = shared_world.rows(
            "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename = 'checkpoint_blobs'"
        )
        assert schemas == [{"schemaname": "memwarden_threads"}]
        assert saver.get_tuple({"configurable": {"thread_id": "1"}}) is not None
        assert forget_person(saver, "bo") == []
        assert forget_old(saver, timedelta(days=1)) == []
        assert forget_person(saver, "ana") == ["1"]
        assert saver.get_tuple({"configurable": {"thread_id": "1"}}) is None
        with pytest.raises(InvalidArgument):
            forget_person(saver, " ")
        with pytest.raises(InvalidArgument):
            forget_old(saver, timedelta(0))

    async def again() -> None:
        async with async_checkpointer(shared_world.dsn, setup=True) as other:
            assert await other.aget_tuple({"configurable": {"thread_id": "1"}}) is None

    asyncio.run(again())


def test_every_text_of_a_packed_state_is_read() -> None:
    """Short and long ones, of any script, in lists, maps and objects; and what is not packed.

    Proves: N11
    """
    for text in ("Ana", "Ana " + "x" * 60, "x" * 200 + " Ana", "\u0639\u0644\u064a " + "y" * 130):
        for value in (text, [text], {text: 1.5, "n": 70_000}, HumanMessage(text)):
            _, packed = JsonPlusSerializer().dumps_typed(value)
            assert text in packed_text(packed).split("\n")
    assert "Ana" in packed_text(b'{"who": "Ana"}')
    assert "Ana" in packed_text(b"\xc1 Ana \xd9")
    assert packed_text(b"") == ""


KNOWN = [*ANSWERS, "I know: I drink green tea"]
PLAIN = [each.replace(" yet", "") for each in KNOWN]


@pytest.mark.parametrize(
    ("name", "given", "answers"),
    [
        ("plain_loop", [], PLAIN),
        ("langgraph_agent", [InMemorySaver()], KNOWN),
        ("service", [], ["COMMITTED", "Ana has nine bees"]),
    ],
)
def test_an_example_remembers_in_a_new_store(
    shipped: Shipped, name: str, given: list[Any], answers: list[str]
) -> None:
    """As `memwarden init` leaves it.

    Proves: Z11, Z12
    """
    agent = make_conninfo(shipped.world.dsn, user=shipped.agent.info.user)
    assert example(name)["run"](agent, *given) == answers


def test_a_loop_that_cites_nothing_keeps_nothing_in_a_strict_store(shipped: Shipped) -> None:
    """As the example says. Proves: Z12."""
    shipped.use("strict")
    agent = make_conninfo(shipped.world.dsn, user=shipped.agent.info.user)
    answers = example("plain_loop")["run"](agent)
    refused = "I may not keep that: INSUFFICIENT_EVIDENCE"
    assert answers == [refused, refused, "I know: "]
