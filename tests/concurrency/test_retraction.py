"""Retracting while others write, or retract, the same memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.errors import InsufficientPrivilege, UndefinedObject
from psycopg.rows import DictRow

from helpers import recall, write
from races import overlap, together
from replay import check_store
from scope_calls import get, remember, retract

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]

HOME = "/org/acme/user/ana"
KEY = {"subject": "Ana", "predicate": "drinks"}


@pytest.fixture
def author(world: World) -> Agent:
    """Who writes."""
    return world.agent(HOME, clearance="restricted")


@pytest.fixture
def curator(world: World) -> Agent:
    """Who retracts."""
    return world.agent(HOME, role="curator")


@pytest.mark.parametrize("rollback", [False, True], ids=["commit", "rollback"])
def test_a_writer_of_the_key_waits_and_begins_anew(
    world: World, author: Agent, curator: Agent, rollback: bool
) -> None:
    """After the retraction its value is another item; without it, the next version.

    Proves: W2, T1
    """
    item = remember(author, HOME, "tea", **KEY)
    answer = overlap(
        world.admin,
        curator,
        partial(retract, curator, item),
        author,
        lambda: write(author, "semantic", "coffee", **KEY),
        rollback=rollback,
    )
    assert (answer["outcome"], answer["item_id"] == item) == ("COMMITTED", rollback)
    assert [row["content"] for row in recall(author)] == ["coffee"]
    check_store(world.admin)


def test_what_is_retracted_is_the_version_that_was_written_meanwhile(
    world: World, author: Agent, curator: Agent
) -> None:
    """The memory is taken back, whatever it says by then.

    Proves: W2, T1
    """
    item = remember(author, HOME, "tea", **KEY)
    overlap(
        world.admin,
        author,
        lambda: write(author, "semantic", "coffee", **KEY),
        curator,
        partial(retract, curator, item),
    )
    shown = get(curator, item)
    assert (shown["status"], shown["version"], shown["content"]) == ("RETRACTED", 2, "coffee")
    assert recall(author) == []
    check_store(world.admin)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"classification": "restricted"}, UndefinedObject),
        ({"domains": ["law"]}, UndefinedObject),
        ({}, InsufficientPrivilege),
    ],
    ids=["more secret", "of a domain", "another's"],
)
def test_what_is_no_longer_the_callers_to_retract_stays(
    world: World, change: dict[str, str], error: type[Exception]
) -> None:
    """Who wrote meanwhile made it secret, or its own: asked again once the scope is held.

    Proves: A1, A3
    """
    world.admin.execute(
        'SELECT memwarden.define_role(\'tidy\', \'[{"operation": "READ"}, {"operation":'
        ' "WRITE"}, {"operation": "DELETE", "reach": "own"}]\')'
    )
    tidy = world.agent(HOME, role="tidy")
    author = world.agent(HOME, clearance="restricted", domains=["law"])
    item = remember(tidy, HOME, "tea", **KEY)
    with pytest.raises(error):
        overlap(
            world.admin,
            author,
            lambda: write(author, "semantic", "coffee", **KEY, **change),
            tidy,
            partial(retract, tidy, item),
        )
    assert get(author, item)["status"] == "ACTIVE"
    check_store(world.admin)


def test_two_retract_the_same_memory(world: World, author: Agent, curator: Agent) -> None:
    """One does; the other is told that it is not active any more.

    Proves: T2
    """
    item = remember(author, HOME, "tea")
    other = world.agent(HOME, role="orchestrator")
    with pytest.raises(UndefinedObject) as raised:
        overlap(
            world.admin,
            curator,
            partial(retract, curator, item),
            other,
            partial(retract, other, item),
        )
    assert raised.value.diag.message_detail == f"active item {item}"
    check_store(world.admin)


def test_many_write_and_retract_one_key(world: World) -> None:
    """Four writers and four who take back: each memory ends once, at most one is current.

    Proves: W2, T1
    """
    writers = [world.agent(HOME) for _ in range(4)]
    curators = [world.agent(HOME, role="curator") for _ in range(4)]

    def work(number: int) -> int:
        done = 0
        for step in range(15):
            if number < 4:
                row = write(writers[number], "semantic", f"{number} {step}", **KEY)
                assert row["outcome"] == "COMMITTED"
                continue
            for row in recall(curators[number - 4], subject="Ana"):
                try:
                    retract(curators[number - 4], UUID(str(row["item_id"])))
                    done += 1
                except UndefinedObject:
                    pass
        return done

    done = sum(together([partial(work, number) for number in range(8)]))
    heads = check_store(world.admin).values()
    statuses = [head.status for head in heads]
    assert statuses.count("RETRACTED") == done
    assert statuses.count("ACTIVE") <= 1
    assert set(statuses) <= {"RETRACTED", "ACTIVE"}
    assert sum(head.version for head in heads) == 60
