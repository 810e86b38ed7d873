"""What is told of one thing leaves what is known of another alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from helpers import write, write_many

if TYPE_CHECKING:
    from conftest import World

NEWS = (
    "Customer {} moved to the Pro plan.",
    "Ticket {} is no longer open.",
    "The pump in hall {} is now running.",
    "Zimmer {} ist jetzt nicht mehr frei.",
)


@pytest.mark.parametrize("layer", ["semantic", "durable", "procedural"])
@pytest.mark.parametrize("news", NEWS)
def test_forty_writes_about_forty_things_leave_forty(world: World, layer: str, news: str) -> None:
    """None takes the place of another, is refused as known, or ends one. Proves: D3."""
    ask_nobody(world, layer)
    agent = world.agent("/org/acme")
    answers = write_many(
        agent, [{"layer": layer, "content": news.format(number)} for number in range(1, 41)]
    )
    assert {answer["outcome"] for answer in answers} == {"COMMITTED"}
    found = agent.execute("SELECT text, status FROM memwarden.items").fetchall()
    assert len({row["text"] for row in found}) == 40
    assert {row["status"] for row in found} == {"ACTIVE"}


def test_what_takes_the_place_of_ones_own_is_told_and_one_rollback_undoes_it(world: World) -> None:
    """Only of what is certainly one thing, and of one's own. Proves: T5."""
    ask_nobody(world, "semantic")
    agent = world.agent("/org/acme")
    item = write(agent, "semantic", "The garden door is open.")["item_id"]
    done = write(agent, "semantic", "The garden door is now closed.")
    assert done["outcome"] == "COMMITTED"
    assert done["item_id"] == item
    assert done["detail"]["updates"]["item_id"] == str(item)
    agent.execute("SELECT memwarden.rollback(%s, 'it was not')", (item,))
    found = agent.execute("SELECT text FROM memwarden.items").fetchall()
    assert [row["text"] for row in found] == ["The garden door is open."]


def ask_nobody(world: World, layer: str) -> None:
    """Have the layer compare as it is shipped, and take an agent's word without a person."""
    world.ship_layers()
    demands: Any = {"fact_threshold": 0, "min_external": 0, "min_authority": 0}
    world.admin.execute(
        "SELECT memwarden.configure_layer(%s, %s)",
        (layer, Jsonb(demands | {"self_reference": "allow"})),
    )
    world.admin.execute("SELECT memwarden.set_approval_policy(%s, approval => 'never')", (layer,))
