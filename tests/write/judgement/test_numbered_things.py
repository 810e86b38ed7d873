"""In a store as `memwarden init` leaves it: what is told of hall 4 leaves hall 0 alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from helpers import write, write_many
from shipped import Shipped

if TYPE_CHECKING:
    from conftest import World

TOLD = (
    "The pump in {} runs at {} rpm.",
    "There are {1} beds in {0}.",
    "The limit of {} is now {}.",
    "Die Pumpe in {} läuft jetzt mit {} rpm.",
    "Для {} скорость {}.",
)
THINGS = (
    ("hall 0", 3),
    ("hall 4", 31),
    ("hall A", 3),
    ("hall B", 32),
    ("srv-12", 33),
    ("srv-13", 3),
)


@pytest.fixture
def world(shipped: Shipped) -> World:
    """Return the store as `memwarden init` leaves it."""
    return shipped.world


@pytest.mark.parametrize("kept", [{}, {"subject": "plant"}])
def test_numbered_things_stand_beside_each_other(shipped: Shipped, kept: dict[str, str]) -> None:
    """None is refused, marked, ended or replaced; another figure of one thing is marked.

    Proves: D3, V4 (no false alarms)
    """
    texts = [each.format(*thing) for each in TOLD for thing in THINGS]
    asked: list[dict[str, Any]] = [
        {"layer": "semantic", "content": text, "evidence": [shipped.heard("Ana", text)]} | kept
        for text in texts
    ]
    half = len(asked) // 2
    answers = write_many(shipped.agent, asked[:half])
    answers += [write(shipped.agent, **each) for each in asked[half:]]
    assert {(a["outcome"], a["reason"]) for a in answers} == {("COMMITTED", None)}
    look = "SELECT text, status FROM memwarden.items"
    marked = f"{look} WHERE status <> 'ACTIVE' OR contradicted"
    assert shipped.agent.execute(marked).fetchall() == []
    assert len(shipped.agent.execute(look).fetchall()) == len(texts)
    another = asked[0] | {"content": TOLD[0].format("hall 0", 99)}
    assert write(shipped.agent, **another)["outcome"] == "COMMITTED"
    assert {row["text"].removeprefix("plant ") for row in shipped.agent.execute(marked)} == {
        texts[0],
        another["content"],
    }
