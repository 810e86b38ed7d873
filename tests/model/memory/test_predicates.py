"""A predicate may hold one value at a time, or several, whatever its layer does."""

from __future__ import annotations

import psycopg
import pytest

from conftest import World
from helpers import write
from shipped import Shipped


def define(world: World, *arguments: str) -> None:
    """Define a predicate as an administrator."""
    admin = world.connect(world.role("memwarden_admin"))
    places = ", ".join(["%s"] * len(arguments))
    admin.execute(f"SELECT memwarden.define_predicate({places})", arguments)


def values(world: World) -> list[tuple[object, int]]:
    """What every item says, and in which version."""
    rows = world.rows(
        "SELECT v.content, i.version FROM memwarden_data.item AS i"
        "  JOIN memwarden_data.version AS v USING (org_id, version_id)"
    )
    return sorted((row["content"], row["version"]) for row in rows)


def test_a_predicate_of_several_values_accumulates(world: World) -> None:
    """In a layer that makes versions of a fact; the same value again is known. Proves: D5."""
    define(world, "speaks language", "accumulate")
    agent = world.agent()
    for language in ("French", "Portuguese"):
        answer = write(agent, "semantic", language, subject="Ana", predicate="Speaks-language")
        assert answer["outcome"] == "COMMITTED"
    again = write(agent, "semantic", "FRENCH", subject="Ana", predicate="speaks language")
    assert again["reason"] == "STRUCTURAL_DUPLICATE"
    assert values(world) == [("French", 1), ("Portuguese", 1)]


def test_a_predicate_that_ends_in_brackets_has_several_values(shipped: Shipped) -> None:
    """Without a definition; evidence bears each out, and an organisation may say otherwise.

    Proves: D5
    """
    agent = shipped.agent
    for name in ("Bob", "Carol"):
        said = [shipped.heard("Alice", f"I recommend {name}.")]
        given = {"subject": "Alice", "predicate": "recommends[]", "evidence": said}
        answer = write(agent, "semantic", name, **given)
        assert (answer["outcome"], answer["reason"]) == ("COMMITTED", None)
        standing = write(agent, "semantic", name, **given | {"predicate": "recommends"})
        assert standing["reason"] != "CONTRADICTION"
    again = write(agent, "semantic", "BOB", subject="Alice", predicate="Recommends[]")
    assert again["reason"] == "STRUCTURAL_DUPLICATE"
    define(shipped.world, "leads[]", "new_version")
    for name in ("Bob", "Carol"):
        write(agent, "semantic", name, subject="Dan", predicate="leads[]")
    held = agent.execute(
        "SELECT subject, content FROM memwarden.items WHERE predicate LIKE '%[]' ORDER BY 1, 2"
    ).fetchall()
    assert [tuple(row.values()) for row in held] == [
        *(("Alice", "Bob"), ("Alice", "Carol"), ("Dan", "Carol"))
    ]


def test_a_predicate_of_one_value_makes_versions(world: World) -> None:
    """In a layer that accumulates. Proves: D5."""
    define(world, "lives in", "new_version")
    agent = world.agent()
    for city in ("Leeds", "Lisbon"):
        write(agent, "episodic", city, subject="Ana", predicate="lives in")
        write(agent, "episodic", city, subject="Ana", predicate="visited")
    assert values(world) == [("Leeds", 1), ("Lisbon", 1), ("Lisbon", 2)]


def test_an_organisation_decides_for_itself(world: World) -> None:
    """Its definition comes before the one for all. Proves: D5."""
    agents = [world.agent("/org/acme/user/ana"), world.agent("/org/umbrella/user/bo")]
    define(world, "speaks", "accumulate")
    define(world, "speaks", "new_version", "umbrella")
    for agent in agents:
        for language in ("French", "Welsh"):
            write(agent, "semantic", language, subject="x", predicate="speaks")
    assert values(world) == [("French", 1), ("Welsh", 1), ("Welsh", 2)]


@pytest.mark.parametrize(
    ("arguments", "state"),
    [
        (("speaks", "sometimes"), "22023"),
        ((" ", "accumulate"), "22023"),
        (("speaks", "accumulate", "nobody"), "42704"),
    ],
)
def test_what_is_no_definition_is_refused(
    world: World, arguments: tuple[str, ...], state: str
) -> None:
    """With the state that the reference names."""
    with pytest.raises(psycopg.Error) as raised:
        define(world, *arguments)
    assert raised.value.sqlstate == state


def test_agents_define_nothing(world: World) -> None:
    """Proves: Z1."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.agent().execute("SELECT memwarden.define_predicate('speaks', 'accumulate')")
