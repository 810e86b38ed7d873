"""A subject and a predicate are found in every spelling in which `write()` takes them for one."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from helpers import recall, write
from plans import calls_of
from shipped import SCOPE

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import DictRow

    from conftest import World
    from shipped import Shipped

# Case, blanks, marks, width, composition, what is invisible, and a sharp s.
SUBJECTS = [
    "José Weiß",
    "josé weiß",
    "JOSÉ WEISS",
    "  José\u00a0 Weiß ",
    "Jose\u0301 Weiß",
    "\uff2a\uff4f\uff53é Weiß",
    "José\u200b Weiß",
    "'José Weiß'",
    "José Weiß.",
]
PREDICATES = ["works at", "works_at", "Works-At", "WORKS  AT", " works at:", "\uff57orks_at"]
OTHERS = [("Josef Weiß", "works at"), ("José Weiß", "worked at"), ("José Weiß 2", "works at")]


@pytest.fixture
def world(shipped: Shipped) -> World:
    """A store as `memwarden init` leaves it."""
    return shipped.world


def items(rows: list[DictRow]) -> set[Any]:
    """The memories in an answer."""
    return {row["item_id"] for row in rows} - {None}


def found(agent: Connection[DictRow], call: str, **arguments: Any) -> set[Any]:
    """The memories that a call of the public API tells."""
    named = ", ".join(f"{name} => %({name})s" for name in arguments)
    return items(agent.execute(f"SELECT * FROM memwarden.{call}({named})", arguments).fetchall())


CALLS = ["recall", "find_items", "as_of"]


@pytest.mark.every_version
@pytest.mark.parametrize("call", CALLS)
def test_what_is_one_key_for_a_write_is_found_as_one(world: World, call: str) -> None:
    """In 54 spellings of one key, and by the subject alone; other names are not found.

    Proves: L6
    """
    agent = world.agent(SCOPE)
    spelt = list(product(SUBJECTS, PREDICATES))
    answers = [
        write(agent, "semantic", {"office": n}, subject=subject, predicate=predicate)
        for n, (subject, predicate) in enumerate(spelt[:: len(spelt) // 3])
    ]
    [key] = {row["item_id"] for row in answers}
    for subject, predicate in OTHERS:
        write(agent, "semantic", {"office": "another"}, subject=subject, predicate=predicate)
    for subject, predicate in spelt:
        assert found(agent, call, subject=subject, predicate=predicate) == {key}, (
            subject,
            predicate,
        )
    for subject in SUBJECTS:
        assert found(agent, call, subject=subject, predicate="worked_at") != {key}
        assert key in found(agent, call, subject=subject)
    if call != "find_items":
        assert found(agent, call, predicate="WORKS_AT", subject="Josef WEISS").isdisjoint({key})
        assert key in found(agent, call, predicate="Works_At")
    assert found(agent, call, subject="nobody") == set()


def test_a_filter_beside_a_question_compares_alike(world: World) -> None:
    """Words that are asked for make no difference, nor does a scope with many memories.

    Proves: L6
    """
    agent = world.agent(SCOPE)
    wanted = write(
        agent, "semantic", {"office": "Ghent"}, subject="Ana_Silva", predicate="works at"
    )
    for query in ("Ghent", "the office of Ana Silva", "a b c d e f g h i j Ghent"):
        rows = recall(agent, query=query, subject="ana_SILVA", predicate="works-at", threshold=0)
        assert items(rows) == {wanted["item_id"]}
        steps = agent.execute(
            "SELECT * FROM memwarden.explain_recall(%s, subject => %s, predicate => %s,"
            " threshold => 0)",
            (query, "ANA_silva", "Works at"),
        ).fetchall()
        told = {step["facts"].get("item_id") for step in steps if step["step"] == "answer"}
        assert told == {str(wanted["item_id"])}


@pytest.mark.parametrize("call", CALLS)
def test_synonyms_are_one_name_before_and_after_they_are_set(world: World, call: str) -> None:
    """A memory written before is found by the other name, and no longer once they are two again.

    Proves: L6
    """
    agent = world.agent(SCOPE)
    before = write(agent, "semantic", {"n": 1}, subject="Bob Smith", predicate="lives_in")
    assert found(agent, call, subject="Robert Smith") == set()
    world.admin.execute(
        "SELECT memwarden.set_synonyms('acme', %s::jsonb)",
        ('{"bob": "robert", "resides in": "lives in"}',),
    )
    after = write(agent, "semantic", {"n": 2}, subject="Robert Smith", predicate="resides in")
    assert after["item_id"] == before["item_id"]
    for subject, predicate in product(("Bob Smith", "ROBERT smith"), ("lives-in", "Resides_in")):
        assert found(agent, call, subject=subject, predicate=predicate) == {before["item_id"]}
    world.admin.execute("SELECT memwarden.set_synonyms('acme', '{}')")
    assert found(agent, call, subject="bob smith") == set()
    assert found(agent, call, subject="robert smith") == {before["item_id"]}


def test_encrypted_memories_are_found_in_every_spelling(world: World) -> None:
    """Their subject stands in clear beside the words, which only its key opens.

    Proves: L6
    """
    agent = world.agent(SCOPE)
    world.admin.execute(
        "SELECT memwarden.define_write_class('personal', encrypted => true, org => 'acme')"
    )
    named = {"subject": "José Weiß", "predicate": "prefers", "class": "personal"}
    kept = write(agent, "semantic", "prefers green tea", **named)
    assert world.value(
        "SELECT subject_key_id IS NOT NULL FROM memwarden_data.item WHERE item_id = %s",
        kept["item_id"],
    )
    for subject in SUBJECTS:
        assert items(recall(agent, query="green tea", subject=subject)) == {kept["item_id"]}


def test_what_was_held_is_found_in_every_spelling(world: World) -> None:
    """Versions that are over were spelt in their own way.

    Proves: L6
    """
    agent = world.agent(SCOPE)
    first = write(agent, "semantic", {"n": 1}, subject="Ana  SILVA", predicate="lives_in")
    then = datetime.now(UTC)
    write(agent, "semantic", {"n": 2}, subject="ana silva", predicate="lives in")
    rows = agent.execute(
        "SELECT content, subject FROM memwarden.as_of(%s, subject => 'Ana Silva.',"
        " predicate => 'Lives-In')",
        (then,),
    ).fetchall()
    assert [(row["content"], row["subject"]) for row in rows] == [({"n": 1}, "Ana  SILVA")]
    assert first["item_id"]


def test_forms_are_worked_out_once_for_a_name(world: World) -> None:
    """Not by a write without names, and not by the next version of a fact in the same spelling.

    Proves: L6
    """
    agent = world.agent(SCOPE)
    write(agent, "semantic", {"n": 1}, subject="José Weiß", predicate="works_at")
    ask = "SELECT memwarden.write(layer => 'semantic', content => {}{})"
    named = ", subject => 'José {}', predicate => 'works_at'"
    calls = [
        calls_of(world, agent.info.user, ask.format(content, names)).get("kept_name_forms", 0)
        for content, names in (
            ("'\"The oven is warm\"'", ""),
            ("'{\"n\": 2}'", named.format("Weiß")),
            ("'{\"n\": 2}'", named.format("WEISS")),
            ("'{\"n\": 2}'", named.format("Wald")),
        )
    ]
    assert calls == [0, 0, 1, 1]
