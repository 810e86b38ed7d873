"""A refused duplicate leaves its trace at the memory that is there, and its head alone."""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from helpers import write
from races import together

if TYPE_CHECKING:
    from conftest import World

FACT = "The archive of the town is in the old mill"
HEAD = """
SELECT ctid::text, xmin::text, version, updated_at, confidence, adjusted_confidence
  FROM memwarden_data.item WHERE item_id = %s"""
SEEN = """
SELECT last_seen_at > created_at AS seen_again, times_seen, witnesses, corroborated_confidence
  FROM memwarden.get(%s)"""


def seen(reader: Connection[DictRow], item_id: Any) -> DictRow:
    """What a reader is told of who else has said a memory."""
    row = reader.execute(SEEN, (item_id,)).fetchone()
    assert row is not None
    return row


def cite(uri: str, excerpt: str = FACT) -> list[dict[str, str]]:
    """Evidence that says so."""
    return [{"uri": uri, "excerpt": excerpt}]


def register_source(world: World, pattern: str, **arguments: Any) -> None:
    """Have an administrator say that a source is a document from outside."""
    named = "".join(f", {name} => %({name})s" for name in arguments)
    world.admin.execute(
        f"SELECT memwarden.define_source(%(pattern)s, 'document'{named})",
        {"pattern": pattern} | arguments,
    )


def test_sixteen_writers_of_one_fact_make_one_memory(world: World, home: str) -> None:
    """One commits; the others say so too, and the row of the head is the one that was inserted.

    Proves: D1, D3
    """
    writers = [world.agent(home) for _ in range(16)]
    answers = together([partial(write, writer, "semantic", FACT) for writer in writers])
    assert sorted(answer["outcome"] for answer in answers) == ["COMMITTED"] + ["REJECTED"] * 15
    (item_id,) = {answer["item_id"] for answer in answers}
    told = seen(writers[0], item_id)
    assert (told["times_seen"], told["witnesses"], told["seen_again"]) == (15, 15, True)
    (row,) = world.rows(
        "SELECT i.version, i.xmin::text = v.xmin::text AS untouched, i.xmax::text AS xmax"
        "  FROM memwarden_data.item AS i JOIN memwarden_data.version AS v USING (org_id, version_id)"
        " WHERE i.item_id = %s",
        item_id,
    )
    assert row == {"version": 1, "untouched": True, "xmax": "0"}


def test_the_head_is_not_touched(world: World, home: str) -> None:
    """Neither its place nor its transaction changes, whichever tier finds the duplicate.

    Proves: D3 (without rewriting what searches read)
    """
    world.admin.execute(
        "SELECT memwarden.configure_layer('semantic', '{\"duplicate_similarity\": 0.95}')"
    )
    vector = [1.0] + [0.0] * 383
    first = write(world.agent(home), "semantic", "Ana owns a large dog", embedding=vector)
    before = world.rows(HEAD, first["item_id"])
    reasons = [
        write(world.agent(home), "semantic", text, embedding=vector)["reason"]
        for text in ("Ana owns a large dog", "ana owns a LARGE dog.", "Ana owns a big dog")
    ]
    assert reasons == ["EXACT_DUPLICATE", "STRUCTURAL_DUPLICATE", "SEMANTIC_DUPLICATE"]
    assert world.rows(HEAD, first["item_id"]) == before
    told = seen(world.agent(home), first["item_id"])
    assert (told["times_seen"], told["witnesses"]) == (3, 3)


def test_an_agent_that_repeats_itself_corroborates_nothing(world: World, home: str) -> None:
    """Whether it wrote the memory or another did.

    Proves: D3
    """
    author, other = world.agent(home), world.agent(home)
    first = write(author, "semantic", FACT, idempotency_key=str(uuid.uuid4()))
    for _ in range(3):
        write(author, "semantic", FACT, idempotency_key=str(uuid.uuid4()), evidence=cite("x:1"))
    assert (
        seen(author, first["item_id"])["times_seen"],
        seen(author, first["item_id"])["witnesses"],
    ) == (3, 0)
    for number in range(5):
        write(other, "semantic", FACT, evidence=cite(f"y:{number}"))
    told = seen(author, first["item_id"])
    assert (told["times_seen"], told["witnesses"]) == (8, 1)


def test_the_same_source_counts_once(world: World, home: str) -> None:
    """What the memory rests on already vouches for it no second time, nor does the memory itself.

    Proves: D3
    """
    author = world.agent(home)
    first = write(author, "semantic", FACT, evidence=cite("doc:guide#3"))
    item = f"memwarden:item/{first['item_id']}"
    for uri in ("doc:guide#9", item, "doc:map", "doc:map#2", "doc:map"):
        assert (
            write(world.agent(home), "semantic", FACT, evidence=cite(uri))["outcome"] == "REJECTED"
        )
    told = seen(author, first["item_id"])
    assert (told["times_seen"], told["witnesses"]) == (5, 1)
