"""What changes while a plain write waits for its scope holds for that write, or waits for it."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from helpers import write
from races import PATIENCE, overlap, wait_until_blocked
from write.gates.obedient import answering, create_gate_function

if TYPE_CHECKING:
    from conftest import World


def is_plain(world: World, answer: Any) -> bool:
    """Whether a write was decided at once."""
    decided: bool = world.value(
        "SELECT starts_with(gates, '=') FROM memwarden_data.write_request WHERE request_id = %s",
        answer["request_id"],
    )
    return decided


def test_a_write_that_waited_obeys_the_words_that_were_set_meanwhile(world: World) -> None:
    """It is compared by the new words: no memory stands there twice, by the old and by those."""
    agent, setter = world.agent(), world.connect()
    write(agent, "semantic", "Ana feeds the fish")
    # Their vectors are not near: nothing but the words can tell.
    kept = write(agent, "semantic", "an automobile", embedding=[1.0] + [0.0] * 383)
    assert is_plain(world, kept)
    answer = overlap(
        world.admin,
        setter,
        lambda: setter.execute(
            "SELECT memwarden.set_synonyms('acme', %s)", ('{"car": "automobile"}',)
        ),
        agent,
        lambda: write(agent, "semantic", "an car", embedding=[0.0, 1.0] + [0.0] * 382),
    )
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "STRUCTURAL_DUPLICATE")
    assert answer["item_id"] == kept["item_id"]


def test_a_write_that_waited_stands_where_its_scope_has_an_index_meanwhile(world: World) -> None:
    """Its vector is not left among those of scopes without an index, where no recall looks."""
    agent, mover = world.agent(), world.connect()
    write(agent, "semantic", "Ana feeds the fish")
    assert is_plain(world, write(agent, "semantic", "The oven is warm"))
    answer = overlap(
        world.admin,
        mover,
        lambda: mover.execute(
            "SELECT memwarden_internal.make_shelf(w.org_id, w.scope_id, w.layer, 2)"
            "  FROM memwarden_data.write_lock AS w WHERE w.layer = 'semantic'"
        ),
        agent,
        lambda: write(agent, "semantic", "Peter likes apples"),
    )
    assert answer["outcome"] == "COMMITTED"
    shelves = world.rows(
        "SELECT e.shelf > 0 AS has_index FROM memwarden_data.embedding AS e WHERE e.item_id = %s",
        answer["item_id"],
    )
    assert shelves == [{"has_index": True}]


def test_a_gate_that_is_added_waits_for_the_plain_writes_that_have_begun(world: World) -> None:
    """So no write that ends behind it has passed it by."""
    agent, holder, adder = world.agent(), world.connect(), world.connect()
    write(agent, "semantic", "Ana feeds the fish")
    assert is_plain(world, write(agent, "semantic", "The oven is warm"))
    function = create_gate_function(world)
    added: list[Future[None]] = []

    with ThreadPoolExecutor(1) as pool:

        def add() -> None:
            adder.execute("SELECT memwarden.add_gate(40, 'obedient', %s)", (function,))

        def meanwhile() -> None:
            added.append(pool.submit(add))
            wait_until_blocked(world.admin, adder)

        answer = overlap(
            world.admin,
            holder,
            lambda: holder.execute("SELECT FROM memwarden_data.write_lock FOR UPDATE"),
            agent,
            lambda: write(agent, "semantic", "Peter likes apples"),
            meanwhile=meanwhile,
        )
        added[0].result(PATIENCE)
    assert answer["outcome"] == "COMMITTED"
    assert is_plain(world, answer)
    refused = write(agent, "semantic", answering("REJECT", reason="SAID_SO"))
    assert refused["outcome"] == "REJECTED"
