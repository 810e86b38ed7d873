"""What is said again lives on, where its layer says so."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import call
from helpers import write
from races import together
from replay import check_store

if TYPE_CHECKING:
    from conftest import World

VECTOR = [1.0] + [0.0] * 383
HOUR = timedelta(hours=1)


@pytest.fixture
def extending(world: World) -> World:
    """A store whose semantic layer lets memories live on that are said again."""
    settings = {"extend_validity": True, "duplicate_similarity": 0.95, "lock_wait": "2 minutes"}
    call(world.admin, "configure_layer", layer="semantic", settings=Jsonb(settings))
    return world


def head(world: World, item_id: Any) -> DictRow:
    """How long a memory lives, and in which version."""
    (row,) = world.rows(
        "SELECT version, version_id, expires_at - updated_at AS lives, principal_id"
        "  FROM memwarden_data.item WHERE item_id = %s",
        item_id,
    )
    return row


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Ana owns a large dog", "EXACT_DUPLICATE"),
        ("ana owns a LARGE dog.", "STRUCTURAL_DUPLICATE"),
        ("Ana does own a large dog", "SEMANTIC_DUPLICATE"),
    ],
)
def test_a_repetition_makes_a_memory_live_on(
    extending: World, home: str, text: str, reason: str
) -> None:
    """As a version with the same words, author and worth; the repetition is refused as ever.

    Proves: D3 (validity extended where the layer says so)
    """
    author, other = extending.agent(home), extending.agent(home)
    first = write(author, "semantic", "Ana owns a large dog", embedding=VECTOR, ttl=HOUR)
    before = head(extending, first["item_id"])
    again = write(other, "semantic", text, embedding=VECTOR, ttl=3 * HOUR)
    assert (again["reason"], again["item_id"]) == (reason, first["item_id"])
    after = head(extending, first["item_id"])
    assert after["lives"] == 3 * HOUR
    assert (after["version"], after["version_id"]) == (2, again["version_id"])
    assert after["principal_id"] == before["principal_id"]
    versions = author.execute(
        "SELECT content, confidence, reason FROM memwarden.history(%s) ORDER BY version",
        (first["item_id"],),
    ).fetchall()
    assert [row["content"] for row in versions] == ["Ana owns a large dog"] * 2
    assert versions[0]["confidence"] == versions[1]["confidence"]
    assert versions[1]["reason"] == "said again, and lives on"
    check_store(extending.admin)


def test_a_fact_with_a_key_keeps_its_time_in_the_world(extending: World, home: str) -> None:
    """How long it is kept says nothing of since when it is so.

    Proves: D3, D5
    """
    author, other = extending.agent(home), extending.agent(home)
    fact = {"subject": "Ana", "predicate": "owns"}
    first = write(author, "semantic", "a dog", **fact, ttl=HOUR)
    (before,) = extending.rows("SELECT valid_during FROM memwarden_data.item")
    assert write(other, "semantic", "a DOG", **fact, ttl=2 * HOUR)["outcome"] == "REJECTED"
    assert head(extending, first["item_id"])["lives"] == 2 * HOUR
    assert extending.rows("SELECT valid_during FROM memwarden_data.item") == [before]
    check_store(extending.admin)


def test_what_would_add_little_touches_nothing(extending: World, home: str) -> None:
    """A memory that everybody repeats all day is not rewritten all day.

    Proves: D3
    """
    agent = extending.agent(home)
    first = write(agent, "semantic", "Ana owns a dog", ttl=HOUR)
    for ttl in (HOUR, HOUR / 2, HOUR * 1.05):
        write(agent, "semantic", "Ana owns a DOG", ttl=ttl)
    assert head(extending, first["item_id"])["version"] == 1


def test_nothing_is_extended_that_no_layer_extends(world: World, home: str) -> None:
    """The setting is off in a new store.

    Proves: D3
    """
    agent = world.agent(home)
    first = write(agent, "semantic", "Ana owns a dog", ttl=HOUR)
    write(agent, "semantic", "Ana owns a DOG", ttl=5 * HOUR)
    assert head(world, first["item_id"])["lives"] == HOUR


def test_who_may_not_change_a_memory_does_not_extend_it(extending: World, home: str) -> None:
    """In a layer where only its owner writes a memory.

    Proves: D3, A1
    """
    call(extending.admin, "configure_layer", layer="semantic", settings=Jsonb({"writers": "owner"}))
    author, other = extending.agent(home), extending.agent(home)
    first = write(author, "semantic", "Ana owns a dog", ttl=HOUR)
    write(other, "semantic", "Ana owns a DOG", ttl=5 * HOUR)
    assert head(extending, first["item_id"])["version"] == 1
    write(author, "semantic", "Ana owns a DOG", ttl=5 * HOUR)
    assert head(extending, first["item_id"])["lives"] == 5 * HOUR


def test_many_at_once_extend_it_once(extending: World, home: str) -> None:
    """The second finds that it would add little.

    Proves: D3
    """
    first = write(extending.agent(home), "semantic", "Ana owns a dog", ttl=HOUR)
    writers = [extending.agent(home) for _ in range(8)]
    answers = together(
        [partial(write, writer, "semantic", "Ana owns a DOG", ttl=9 * HOUR) for writer in writers]
    )
    assert {answer["reason"] for answer in answers} == {"STRUCTURAL_DUPLICATE"}
    assert head(extending, first["item_id"])["version"] == 2
    check_store(extending.admin)
