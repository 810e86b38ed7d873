"""Pages need no state on the server: what was given before is said with the question."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write, write_many
from memwarden import Client

NAMES = ("tea", "coffee", "milk", "juice")


def text(number: int) -> str:
    """Words that many share, and one that none does."""
    return f"{' '.join(NAMES[: 1 + number % 4])} n{number}"


@pytest.fixture
def reader(world: World) -> Connection[DictRow]:
    """An agent with 95 memories."""
    agent = world.agent()
    rows = write_many(agent, [{"layer": "episodic", "content": text(n)} for n in range(95)])
    assert {row["outcome"] for row in rows} == {"COMMITTED"}
    return agent


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_pages_make_up_the_whole(reader: Connection[DictRow], fusion: str) -> None:
    """Ten pages of ten are one recall of 95, score by score.

    Proves: L6
    """
    whole = recall(reader, query="tea with milk", k=1000, fusion=fusion)
    assert len(whole) == 95
    given: list[UUID] = []
    pages: list[DictRow] = []
    for number in range(11):
        page = recall(reader, query="tea with milk", exclude=given, fusion=fusion)
        assert len(page) == (10 if number < 9 else 5 if number == 9 else 0)
        given += [row["item_id"] for row in page]
        pages += page
    assert [(r["item_id"], r["score"]) for r in pages] == [
        (r["item_id"], r["score"]) for r in whole
    ]


def test_nothing_comes_twice_whatever_is_written_meanwhile(
    world: World, reader: Connection[DictRow]
) -> None:
    """And what was there from the beginning comes once."""
    with Client.connect(f"{world.dsn} user={reader.info.user}") as memory:
        there = {item.item_id for item in memory.recall("tea", k=1000)}
        given: list[UUID] = []
        for number, page in enumerate(memory.recall_pages("tea", page_size=10)):
            given += [item.item_id for item in page]
            write(reader, "episodic", f"tea tea tea {number}")
    assert len(given) == len(set(given))
    assert there <= set(given)


def test_what_was_given_is_not_said_again_by_another(world: World) -> None:
    """A page leaves out what says the same as one to exclude, wherever it is kept.

    Proves: L6
    """
    agent = world.agent("/org/acme/user/ana", descendants=True)
    for layer in ("episodic", "semantic"):
        assert write(agent, layer, {"text": "green tea"})["outcome"] == "COMMITTED"
    (row,) = recall(agent, query="tea")
    assert len(row["same_as"]) == 1
    for item in (row["item_id"], *row["same_as"]):
        assert recall(agent, query="tea", exclude=[item]) == []


def test_what_the_caller_does_not_see_excludes_nothing(world: World) -> None:
    """Otherwise the id of a hidden memory would tell what it says."""
    hidden = write(world.agent("/org/acme/user/bo"), "episodic", {"text": "green tea"})
    agent = world.agent("/org/acme/user/ana")
    own = write(agent, "episodic", {"text": "green tea"})
    (row,) = recall(agent, query="tea", exclude=[hidden["item_id"]])
    assert row["item_id"] == own["item_id"]


@pytest.mark.parametrize("exclude", [[None], ["00000000-0000-0000-0000-000000000000"] * 10001])
def test_what_cannot_be_excluded_is_refused(
    reader: Connection[DictRow], exclude: list[Any]
) -> None:
    """Nothing that is no id, and no more than 10,000."""
    with pytest.raises(Exception, match="exclude") as raised:
        recall(reader, query="tea", exclude=exclude)
    assert getattr(raised.value, "sqlstate", None) == "22023"
