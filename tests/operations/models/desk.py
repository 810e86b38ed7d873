"""What tests of embedding models do over and over: register, claim, give, look."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]
Embed = Callable[[str], list[float] | None]

DIMENSION = 8
OLD = "default"


def embedded(text: str, dimension: int = DIMENSION) -> list[float]:
    """Return a vector that follows from the text alone."""
    chance = random.Random(text)
    return [round(chance.gauss(0, 1), 4) for _ in range(dimension)]


def register(world: World, name: str = "new", dimension: int = DIMENSION) -> str:
    """Register a model whose vectors the embedder `toy` makes; return its name."""
    world.admin.execute(
        "SELECT memwarden.register_embedding_model(%s, %s, embedder => 'toy', settings => %s)",
        (name, dimension, Jsonb({"dimension": dimension})),
    )
    return name


def reembed(world: World, model: str, org: str | None = None) -> None:
    """Have the worker make what is missing."""
    world.admin.execute("SELECT memwarden.reembed(%s, %s)", (model, org))


def claim(worker: Agent, *, name: str = "one", count: int = 32) -> list[DictRow]:
    """Take memories that lack a vector of a model that `toy` makes."""
    return worker.execute(
        "SELECT * FROM memwarden.claim_embeddings(%s, '{toy}', %s)", (name, count)
    ).fetchall()


def give(
    worker: Agent, jobs: Iterable[DictRow], *, name: str = "one", embed: Embed | None = None
) -> int:
    """Give the vectors of what was taken, and say which have none; return how many were stored."""
    items: list[uuid.UUID] = []
    numbers: list[float] = []
    without: list[uuid.UUID] = []
    model = ""
    for job in jobs:
        model = job["model"]
        text = job["content_text"]
        vector = embedded(text, job["dimension"]) if embed is None else embed(text)
        if vector is None:
            without.append(job["item_id"])
        else:
            items.append(job["item_id"])
            numbers += vector
    row = worker.execute(
        "SELECT memwarden.give_embeddings(%s, %s, %s, %s::real[], %s) AS stored",
        (name, model, items, numbers, without),
    ).fetchone()
    assert row is not None
    return int(row["stored"])


def fill(worker: Agent, *, name: str = "one", count: int = 32) -> int:
    """Make what is missing until nothing is; return how many vectors that were."""
    stored = 0
    while jobs := claim(worker, name=name, count=count):
        stored += give(worker, jobs, name=name)
    return stored


def switch(world: World, model: str, org: str | None = None, *, partial: bool = False) -> str:
    """Go over to a model; return the one before."""
    before: str = world.value(
        "SELECT memwarden.switch_embedding_model(%s, %s, %s)", model, org, partial
    )
    return before


def look(world: World, model: str, org: str = "global") -> DictRow:
    """Return how far a model is."""
    (row,) = world.rows(
        "SELECT * FROM memwarden.embedding_models WHERE model = %s AND org = %s", model, org
    )
    return row


def vectors(world: World, model: str) -> dict[Any, list[float]]:
    """Return the vectors of a model by item."""
    rows = world.rows(
        "SELECT e.item_id, e.embedding::real[] AS numbers FROM memwarden_data.embedding AS e"
        "  JOIN memwarden_data.embedding_model AS m USING (model_id) WHERE m.name = %s",
        model,
    )
    assert len({row["item_id"] for row in rows}) == len(rows)
    return {row["item_id"]: row["numbers"] for row in rows}


def current(world: World) -> dict[Any, str]:
    """Return the text of each current memory."""
    rows = world.rows(
        "SELECT i.item_id, v.search_text FROM memwarden_data.item AS i"
        "  JOIN memwarden_data.version AS v USING (org_id, version_id) WHERE i.status = 'ACTIVE'"
    )
    return {row["item_id"]: row["search_text"] for row in rows}


def assert_filled(world: World, model: str, dimension: int = DIMENSION) -> None:
    """Each current memory has the vector of what it says now, and nothing else has one."""
    texts = current(world)
    found = vectors(world, model)
    assert found.keys() == texts.keys()
    for item, numbers in found.items():
        expected = embedded(texts[item], dimension)
        assert max(abs(a - b) for a, b in zip(numbers, expected, strict=True)) < 0.01
    assert world.rows("SELECT FROM memwarden_data.embedding_job") == []
