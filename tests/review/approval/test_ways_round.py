"""What changes memories without passing the gates is no way round the people who are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from access import join
from helpers import write
from reviewing import HOME, ORG, ask, decide, propose, reviewer

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import DictRow

    from conftest import World

FORBIDDEN = psycopg.errors.InsufficientPrivilege


def rogue(world: World) -> Connection[DictRow]:
    """Connect as an agent whose role permits everything, deciding included."""
    return join(world, HOME, role="curator")


def approved(
    world: World, agent: Connection[DictRow], content: Any, *, layer: str = "semantic", **more: Any
) -> DictRow:
    """Write something that a person approves."""
    proposal = write(agent, layer, content, **more)
    assert proposal["outcome"] == "DEFERRED"
    done = decide(reviewer(world), "approve", str(proposal["request_id"]))
    assert done["outcome"] in ("COMMITTED", "MERGED"), done
    return done


def standing(world: World, layer: str = "semantic") -> list[Any]:
    """Return what a layer holds, oldest first."""
    return [
        row["content"]
        for row in world.rows(
            "SELECT v.content FROM memwarden_data.item AS i"
            "  JOIN memwarden_data.version AS v USING (org_id, version_id)"
            " WHERE i.layer = %s AND i.status = 'ACTIVE' ORDER BY i.created_at",
            layer,
        )
    ]


def says_needs_review(raised: pytest.ExceptionInfo[psycopg.Error]) -> bool:
    """Tell whether the refusal names its reason."""
    return "NEEDS_REVIEW" in str(raised.value) + str(raised.value.diag.message_detail)


@pytest.fixture
def curator(world: World) -> Connection[DictRow]:
    """Return a person who writes, and undoes."""
    return join(world, ORG, "agent", "curator", kind="human", role="curator", descendants=True)


def test_an_agent_does_not_bring_back_what_a_person_retracted(
    world: World, curator: Connection[DictRow]
) -> None:
    """Neither by rollback, nor to a version by its number, nor in a batch. A person does.

    Proves: H6
    """
    ask(world)
    agent = rogue(world)
    item = approved(world, agent, "The sky is green")["item_id"]
    curator.execute("SELECT memwarden.retract(%s, 'it is not')", (item,))
    for statement in (
        "SELECT * FROM memwarden.rollback(%s, 'I want it back')",
        "SELECT * FROM memwarden.rollback(%s, 'I want it back', to_version => 1)",
    ):
        with pytest.raises(FORBIDDEN) as raised:
            agent.execute(statement, (item,))
        assert says_needs_review(raised)
    shown = agent.execute(
        "SELECT action FROM memwarden.preview_rollback(scope => %s)", (HOME,)
    ).fetchall()
    assert {row["action"] for row in shown} <= {"NEEDS_REVIEW", "NOTHING"}
    agent.execute("SELECT * FROM memwarden.rollback_batch('all of it', scope => %s)", (HOME,))
    assert standing(world) == []
    curator.execute("SELECT * FROM memwarden.rollback(%s, 'it was dusk')", (item,))
    assert standing(world) == ["The sky is green"]


def test_an_agent_does_not_undo_an_approved_correction(world: World) -> None:
    """What people replaced stays replaced; its own proposal to go back waits for them.

    Proves: H6
    """
    ask(world)
    agent = rogue(world)
    key = {"subject": "Ana", "predicate": "lives in"}
    item = approved(world, agent, "Paris", **key)["item_id"]
    assert approved(world, agent, "Rome", **key)["item_id"] == item
    for more in ("", ", to_version => 1", ", version_id => NULL"):
        with pytest.raises(FORBIDDEN) as raised:
            agent.execute(f"SELECT * FROM memwarden.rollback(%s, 'Paris it is'{more})", (item,))
        assert says_needs_review(raised)
    assert standing(world) == ["Rome"]
    assert write(agent, "semantic", "Paris", **key)["outcome"] == "DEFERRED"
    # It may take back what it said.
    agent.execute("SELECT memwarden.retract(%s, 'I do not know')", (item,))
    assert standing(world) == []


def test_an_agent_does_not_recover_what_ended(world: World, curator: Connection[DictRow]) -> None:
    """Proves: H6."""
    ask(world)
    agent = rogue(world)
    item = approved(world, agent, "The lift is broken")["item_id"]
    curator.execute("SELECT memwarden.expire(%s, 'repaired')", (item,))
    with pytest.raises(FORBIDDEN) as raised:
        agent.execute("SELECT memwarden.recover(%s, 'it is not')", (item,))
    assert says_needs_review(raised)
    curator.execute("SELECT memwarden.recover(%s, 'broken again')", (item,))
    assert standing(world) == ["The lift is broken"]


def test_an_agent_does_not_merge_what_people_approved(
    world: World, curator: Connection[DictRow]
) -> None:
    """A union gains evidence and confidence that nobody has looked at.

    Proves: H6
    """
    ask(world)
    agent = rogue(world)
    one = approved(world, agent, "The sky is blue", confidence=0.6)["item_id"]
    two = approved(world, agent, "The heavens are azure", confidence=0.9)["item_id"]
    with pytest.raises(FORBIDDEN) as raised:
        agent.execute("SELECT memwarden.merge(%s, %s, 'the same')", (one, two))
    assert says_needs_review(raised)
    assert standing(world) == ["The sky is blue", "The heavens are azure"]
    curator.execute("SELECT memwarden.merge(%s, %s, 'the same')", (one, two))
    assert standing(world) == ["The sky is blue"]


def test_moving_and_consolidating_wait_as_a_write_does(world: World) -> None:
    """The original stays where it is; into the layer where people are asked comes nothing.

    Proves: H6
    """
    ask(world)
    agent = rogue(world)
    seen = write(agent, "episodic", "The sky is blue")
    moved = agent.execute(
        "SELECT * FROM memwarden.reclassify(%s, 'semantic', 'always so')", (seen["item_id"],)
    ).fetchone()
    assert moved is not None
    assert (moved["outcome"], moved["gate"]) == ("DEFERRED", "80_approval")
    more = write(agent, "episodic", "The grass is green")
    added = agent.execute(
        "SELECT * FROM memwarden.consolidate(%s, %s, 'semantic', 'ADD')",
        (more["item_id"], more["version_id"]),
    ).fetchone()
    assert added is not None
    assert (added["outcome"], added["gate"]) == ("DEFERRED", "80_approval")
    item = approved(world, agent, "Snow is white")
    update = agent.execute(
        "SELECT * FROM memwarden.consolidate(%s, %s, 'semantic', 'UPDATE',"
        " target => %s, target_version => %s, content => %s)",
        (
            write(agent, "episodic", "Snow was grey")["item_id"],
            world.value("SELECT version_id FROM memwarden_data.item ORDER BY created_at DESC"),
            item["item_id"],
            item["version_id"],
            '"Snow is grey"',
        ),
    ).fetchone()
    assert update is not None
    assert update["outcome"] in ("DEFERRED", "REJECTED")
    assert standing(world) == ["Snow is white"]
    # Nor from there into a layer where nobody is asked and back.
    ask(world, "procedural")
    copied = agent.execute(
        "SELECT * FROM memwarden.reclassify(%s, 'procedural', 'a rule')", (item["item_id"],)
    ).fetchone()
    assert copied is not None
    assert copied["outcome"] == "DEFERRED"
    assert standing(world, "procedural") == []


def test_by_risk_what_risks_little_comes_back_and_what_risks_much_does_not(world: World) -> None:
    """The same sum decides as about a write.

    Proves: H1, H6
    """
    agent = rogue(world)
    item = write(agent, "semantic", "The sky is blue")["item_id"]
    agent.execute("SELECT memwarden.retract(%s, 'oh')", (item,))
    ask(world, approval="by_risk", auto_below=0.05)
    with pytest.raises(FORBIDDEN) as raised:
        agent.execute("SELECT * FROM memwarden.rollback(%s, 'yes')", (item,))
    assert says_needs_review(raised)
    ask(world, approval="by_risk", auto_below=0.95, sync_from=1)
    agent.execute("SELECT * FROM memwarden.rollback(%s, 'yes')", (item,))
    assert standing(world) == ["The sky is blue"]


def test_an_agent_of_ill_repute_brings_nothing_back(world: World) -> None:
    """Where nobody else is asked, it still is.

    Proves: X4, H6
    """
    agent = rogue(world)
    item = write(agent, "semantic", "The sky is blue")["item_id"]
    agent.execute("SELECT memwarden.retract(%s, 'oh')", (item,))
    world.admin.execute("UPDATE memwarden_data.principal SET reputation = 0.1 WHERE kind = 'agent'")
    world.admin.execute("SELECT memwarden.set_reputation_threshold(0.5, 'acme')")
    with pytest.raises(FORBIDDEN) as raised:
        agent.execute("SELECT * FROM memwarden.rollback(%s, 'yes')", (item,))
    assert says_needs_review(raised)


def test_what_waits_cannot_be_moved_merged_or_undone_into_being(world: World) -> None:
    """A proposal is no item, under its own number or any other.

    Proves: H2, H6
    """
    ask(world)
    agent = rogue(world)
    number = propose(agent)
    for statement in (
        "SELECT * FROM memwarden.rollback(%s, 'be')",
        "SELECT memwarden.recover(%s, 'be')",
        "SELECT * FROM memwarden.reclassify(%s, 'episodic', 'be')",
        "SELECT * FROM memwarden.promote(%s, '/org/acme')",
        "SELECT memwarden.merge(%s, gen_random_uuid(), 'be')",
    ):
        with pytest.raises(psycopg.errors.UndefinedObject):
            agent.execute(statement, (number,))
    undone = agent.execute(
        "SELECT * FROM memwarden.rollback_batch('be', requests => ARRAY[%s]::uuid[])", (number,)
    ).fetchall()
    assert undone == []
    assert standing(world) == []
