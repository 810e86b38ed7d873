"""What a proposal is to what stands there: one word, wherever a reviewer looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from access import call
from helpers import write
from reviewing import HOME, ORG, ask, decide, queue, reviewer
from write.judgement.test_constraint_graph import configure
from write.judgement.test_gates import VECTOR, near

if TYPE_CHECKING:
    from uuid import UUID

    from psycopg import Connection
    from psycopg.rows import DictRow

    from conftest import World


def told(person: Connection[DictRow], proposal: UUID) -> DictRow:
    """Return a proposal as the queue shows it; proposal() and the view say the same."""
    (row,) = queue(person, proposal_id=proposal)
    (one,) = call(person, "proposal", proposal_id=proposal)
    listed = person.execute(
        "SELECT contradiction_check FROM memwarden.proposals WHERE proposal_id = %s", (proposal,)
    ).fetchall()
    assert [each["contradiction_check"] for each in listed] == [
        one["proposal"]["contradiction_check"]
    ]
    assert one["proposal"]["contradiction_check"]["verdict"] == row["contradiction_check"]
    return row


def approve(world: World, person: Connection[DictRow], asked: DictRow) -> Any:
    """Agree, and check that the request keeps the verdict that the reviewer was told."""
    assert asked["outcome"] == "DEFERRED", asked
    shown = told(person, asked["request_id"])["contradiction_check"]
    done = decide(person, "approve", str(asked["request_id"]))
    assert done["outcome"] in ("COMMITTED", "MERGED"), done
    kept = "SELECT verdict FROM memwarden_data.write_request WHERE request_id = %s"
    assert world.value(kept, asked["request_id"]) == shown
    return done["item_id"]


def test_the_next_version_of_a_memory_is_named(world: World) -> None:
    """By its key, by correction, and by what the gates make of its words.

    Proves: F3, F6, H2
    """
    ask(world)
    configure(world, conflict="review", duplicate_similarity=0.95)
    agent, person = world.agent(HOME), reviewer(world)
    key = {"subject": "Customer 1", "predicate": "is on"}
    first = write(agent, "semantic", "Pro", **key)
    assert told(person, first["request_id"])["contradiction_check"] == "no_conflict"
    item = approve(world, person, first)
    second = write(agent, "semantic", "Team", **key)
    shown = told(person, second["request_id"])
    assert (shown["contradiction_check"], shown["replaces"]) == ("superseded", [item])
    assert shown["stands_beside"] == []
    assert approve(world, person, second) == item
    words = approve(world, person, write(agent, "semantic", "Customer 1 moved to the Pro plan."))
    third = write(agent, "semantic", "Customer 1 moved to the Team plan.", corrects=words)
    assert told(person, third["request_id"])["replaces"] == [words]
    assert approve(world, person, third) == words


def test_queue_and_proposal_agree_about_likeness(world: World) -> None:
    """Two memories that differ in one word: whatever the gates make of them is said everywhere.

    Proves: F3, F6, H2
    """
    ask(world)
    configure(world, conflict="review", duplicate_similarity=0.95)
    agent, person = world.agent(HOME), reviewer(world)
    item = approve(world, person, write(agent, "semantic", "Customer 1 moved to the Pro plan."))
    other = write(agent, "semantic", "Customer 2 moved to the Pro plan.")
    shown = told(person, other["request_id"])
    assert (shown["contradiction_check"] == "superseded") == (shown["replaces"] == [item])
    assert (shown["contradiction_check"] == "contradiction") == (shown["stands_beside"] == [item])
    assert (approve(world, person, other) == item) == (shown["replaces"] == [item])


def test_what_would_be_ended_and_what_it_would_stand_beside_are_told_apart(world: World) -> None:
    """By the conflict policy of the layer.

    Proves: V5, F3, F6
    """
    agent, other_agent, person = world.agent(HOME), world.agent(HOME), reviewer(world)
    texts = {"durable": "The door is {}open", "procedural": "The gate is {}open"}
    for layer, conflict, expected in (
        ("durable", "coexist", "contradiction"),
        ("procedural", "latest_wins", "superseded"),
    ):
        ask(world, layer)
        configure(world, layer, conflict=conflict)
        one = write(other_agent, layer, texts[layer].format(""), embedding=VECTOR)
        item = approve(world, person, one)
        other = write(agent, layer, texts[layer].format("not "), embedding=near(0.9))
        shown = told(person, other["request_id"])
        assert shown["contradiction_check"] == expected
        named = "stands_beside" if expected == "contradiction" else "replaces"
        assert {name: shown[name] for name in ("replaces", "stands_beside")} == {
            "replaces": [],
            "stands_beside": [],
        } | {named: [item]}
        approve(world, person, other)


def test_a_memory_that_the_reviewer_may_not_read_counts_and_is_not_listed(world: World) -> None:
    """Proves: A3, H2."""
    cleared = {"clearance": "restricted", "domains": ["law"]}
    chief, other = (world.agent(HOME, **cleared) for _ in range(2))
    configure(world, "durable", conflict="coexist")
    write(other, "durable", "The door is open", embedding=VECTOR, domains=["law"])
    ask(world, "durable")
    asked = write(chief, "durable", "The door is not open", embedding=near(0.9))
    person = reviewer(world, scope=ORG)
    shown = told(person, asked["request_id"])
    assert shown["contradiction_check"] == "contradiction"
    assert (shown["replaces"], shown["stands_beside"]) == ([], [])
    assert [each.get("hidden") for each in shown["contradictions"]] == [True]
