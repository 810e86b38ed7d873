"""What changes memories without passing the gates is no way round the people who are asked.

What people decided, people undo: whoever asks, somebody else agrees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from access import call, join
from access import curator as access_curator
from helpers import write
from model.entities.conftest import register
from reviewing import (
    HOME,
    ORG,
    ask,
    decide,
    events,
    let_time_pass,
    propose,
    queue,
    reviewer,
    status,
)
from write.judgement.test_constraint_graph import configure
from write.judgement.test_disputes import OPEN, SHUT
from write.judgement.test_gates import VECTOR, near

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


@pytest.fixture
def curator(world: World) -> Connection[DictRow]:
    """Return a person who writes, and undoes."""
    return join(world, ORG, "agent", "curator", kind="human", role="curator", descendants=True)


def undo(connection: Connection[DictRow], function: str, *arguments: Any) -> DictRow:
    """Call what ends, unites or brings back; return its first row."""
    marks = ", ".join("%s" for _ in arguments)
    row = connection.execute(f"SELECT * FROM memwarden.{function}({marks})", arguments).fetchone()
    assert row is not None
    return row


def waits(done: DictRow) -> str:
    """Return the number of the request that a call became."""
    assert done.get("outcome") == "DEFERRED" or done.get("action") == "WAITS", done
    return str(done.get("request_id") or done["change_id"])


def agreed(world: World, number: str) -> DictRow:
    """Have somebody else agree to a call, and see it carried out."""
    done = decide(reviewer(world), "approve", number)
    assert done["outcome"] == "COMMITTED", done
    return done


def test_an_agent_does_not_bring_back_what_a_person_retracted(
    world: World, curator: Connection[DictRow]
) -> None:
    """Neither by rollback, nor to a version by its number, nor in a batch: people are asked.

    Proves: H6
    """
    ask(world)
    agent = rogue(world)
    item = approved(world, agent, "The sky is green")["item_id"]
    agreed(world, waits(undo(curator, "retract", item, "it is not")))
    assert standing(world) == []
    for statement in (
        "SELECT * FROM memwarden.rollback(%s, 'I want it back')",
        "SELECT * FROM memwarden.rollback(%s, 'I want it back', to_version => 1)",
    ):
        row = agent.execute(statement, (item,)).fetchone()
        assert row is not None
        waits(row)
    retraction = world.value(
        "SELECT request_id FROM memwarden_data.log WHERE operation = 'RETRACT'"
    )
    for function, action in (
        ("preview_rollback(", "NEEDS_REVIEW"),
        ("rollback_batch('I want it back', ", "WAITS"),
    ):
        rows = agent.execute(
            f"SELECT action FROM memwarden.{function}requests => ARRAY[%s]::uuid[])", (retraction,)
        ).fetchall()
        assert [row["action"] for row in rows] == [action]
    assert standing(world) == []
    agreed(world, waits(undo(curator, "rollback", item, "it was dusk")))
    assert standing(world) == ["The sky is green"]


def test_an_approved_correction_is_undone_by_others(world: World) -> None:
    """What people replaced stays replaced until others agree, and so does what they let in.

    Proves: H6
    """
    ask(world)
    agent = rogue(world)
    key = {"subject": "Ana", "predicate": "lives in"}
    item = approved(world, agent, "Paris", **key)["item_id"]
    assert approved(world, agent, "Rome", **key)["item_id"] == item
    for more in ("", ", to_version => 1", ", version_id => NULL"):
        row = agent.execute(
            f"SELECT * FROM memwarden.rollback(%s, 'Paris it is'{more})", (item,)
        ).fetchone()
        assert row is not None
        waits(row)
    assert standing(world) == ["Rome"]
    assert write(agent, "semantic", "Paris", **key)["outcome"] == "DEFERRED"
    agreed(world, waits(undo(agent, "retract", item, "I do not know")))
    assert standing(world) == []


def test_what_ended_is_recovered_by_two(world: World, curator: Connection[DictRow]) -> None:
    """Proves: H6."""
    ask(world)
    agent = rogue(world)
    item = approved(world, agent, "The lift is broken")["item_id"]
    agreed(world, waits(undo(curator, "expire", item, "repaired")))
    waits(undo(agent, "recover", item, "it is not"))
    number = waits(undo(curator, "recover", item, "broken again"))
    assert standing(world) == []
    agreed(world, number)
    assert standing(world) == ["The lift is broken"]


def test_what_people_approved_is_merged_by_two(world: World, curator: Connection[DictRow]) -> None:
    """A union gains evidence and confidence that nobody has looked at.

    Proves: H6
    """
    ask(world)
    agent = rogue(world)
    one = approved(world, agent, "The sky is blue", confidence=0.6)["item_id"]
    two = approved(world, agent, "The heavens are azure", confidence=0.9)["item_id"]
    waits(undo(agent, "merge", one, two, "the same"))
    number = waits(undo(curator, "merge", one, two, "the same"))
    assert standing(world) == ["The sky is blue", "The heavens are azure"]
    agreed(world, number)
    assert standing(world) == ["The sky is blue"]


def test_an_agent_asks_before_it_unites_where_people_are_asked_about_writes(world: World) -> None:
    """Also what nobody has decided about yet: a person agrees, and it is done in its name.

    Proves: H6
    """
    agent = rogue(world)
    one, two = (write(agent, "semantic", said)["item_id"] for said in ("It rains", "Rain falls"))
    ask(world)
    number = waits(undo(agent, "merge", one, two, "the same"))
    assert standing(world) == ["It rains", "Rain falls"]
    agreed(world, number)
    assert standing(world) == ["It rains"]
    said = world.rows(
        "SELECT p.name, g.request_id::text FROM memwarden_data.log AS g"
        " JOIN memwarden_data.principal AS p USING (principal_id) ORDER BY g.log_seq DESC"
    )[0]
    assert said == {"name": agent.info.user, "request_id": number}


@pytest.mark.parametrize("act", ["retract", "expire", "rollback"])
def test_a_curator_alone_undoes_nothing_that_people_approved(
    world: World, curator: Connection[DictRow], act: str
) -> None:
    """Not its own agent's, not a stranger's, not once the policy asks nobody any more.

    Proves: H6
    """
    ask(world, "durable")
    agent = join(world, HOME, role="curator", owner=curator.info.user)
    key = {"subject": "door", "predicate": "code"}
    item = approved(world, agent, "1234", layer="durable", **key)["item_id"]
    approved(world, agent, "9999", layer="durable", **key)
    curator.execute("SELECT memwarden.set_approval_policy('durable', approval => 'never')")
    number = waits(undo(curator, act, item, "as I like it"))
    assert standing(world, "durable") == ["9999"]
    # Asked again it is the same request; neither who asked nor its agent's hand decides about it.
    assert waits(undo(curator, act, item, "as I like it")) == number
    with pytest.raises(FORBIDDEN) as raised:
        decide(curator, "approve", number)
    assert "FOUR_EYES" in (raised.value.diag.message_detail or "")
    [shown] = queue(reviewer(world))
    assert shown["content"]["act"] == act
    assert shown["current"]["item_id"] == str(item)
    assert shown["reasons"] == ["FOUR_EYES"]
    agreed(world, number)
    assert standing(world, "durable") == (["1234"] if act == "rollback" else [])
    assert events(world, number) == ["opened", "approved"]


def test_as_many_undo_it_as_let_it_in(world: World, curator: Connection[DictRow]) -> None:
    """Also where the policy of today asks for fewer.

    Proves: H6
    """
    ask(world, needed=2)
    proposal = write(rogue(world), "semantic", "The sky is blue")
    for _ in range(2):
        done = decide(reviewer(world), "approve", str(proposal["request_id"]))
    assert done["outcome"] == "COMMITTED"
    ask(world, needed=1)
    number = waits(undo(curator, "retract", done["item_id"], "no"))
    first = decide(reviewer(world), "approve", number)
    assert (first["outcome"], first["detail"]["needed"]) == ("DEFERRED", 2)
    assert standing(world) == ["The sky is blue"]
    agreed(world, number)
    assert standing(world) == []


def test_a_poisoned_run_is_one_question(world: World, curator: Connection[DictRow]) -> None:
    """What nobody decided about is undone at once; of the rest people are asked together.

    Proves: H6
    """
    ask(world)
    agent = rogue(world)
    for said in ("The sky is green", "Grass is red"):
        approved(world, agent, said)
    write(agent, "episodic", "Saw a green sky")
    rows = curator.execute(
        "SELECT * FROM memwarden.rollback_batch('poisoned', agent => %s)", (agent.info.user,)
    ).fetchall()
    assert sorted(row["action"] for row in rows) == ["RETRACT", "WAITS", "WAITS"]
    [number] = {str(row["change_id"]) for row in rows if row["action"] == "WAITS"}
    assert standing(world, "episodic") == []
    assert len(standing(world)) == 2
    agreed(world, number)
    assert standing(world) == []


def test_a_rejected_act_changes_nothing(world: World, curator: Connection[DictRow]) -> None:
    """Nor one that nobody answers, nor one whose memory has changed meanwhile.

    Proves: H6
    """
    ask(world)
    agent = rogue(world)
    item = approved(world, agent, "The sky is blue")["item_id"]
    number = waits(undo(curator, "retract", item, "no"))
    decide(reviewer(world), "reject", number, "FACTUAL_ERROR", "it is")
    assert standing(world) == ["The sky is blue"]
    number = waits(undo(curator, "retract", item, "no"))
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        decide(reviewer(world), "approve_with_edit", number, {"act": "expire"})
    let_time_pass(world, number)
    assert status(curator, number)["reason"] == "REVIEW_EXPIRED"
    one = waits(undo(curator, "retract", item, "no"))
    two = waits(undo(agent, "expire", item, "old"))
    agreed(world, two)
    late = decide(reviewer(world), "approve", one)
    assert (late["outcome"], late["reason"]) == ("REJECTED", "CHANGED_SINCE")


def test_what_the_asker_may_no_more_is_not_done(world: World, curator: Connection[DictRow]) -> None:
    """It is carried out with the rights that it has then.

    Proves: H6
    """
    ask(world)
    item = approved(world, rogue(world), "The sky is blue")["item_id"]
    number = waits(undo(curator, "retract", item, "no"))
    world.admin.execute(
        "SELECT memwarden.change_agent(%s, role => 'reviewer')", (curator.info.user,)
    )
    done = decide(reviewer(world), "approve", number)
    assert (done["outcome"], done["reason"]) == ("REJECTED", "ACT_REFUSED")
    assert standing(world) == ["The sky is blue"]


def test_nobody_acts_for_another_by_a_setting(world: World, curator: Connection[DictRow]) -> None:
    """The setting that says for whom a call is carried out is worth nothing by itself.

    Proves: H6
    """
    ask(world)
    item = approved(world, rogue(world), "The sky is blue")["item_id"]
    number = waits(undo(curator, "retract", item, "no"))
    judge = reviewer(world)
    org = world.value("SELECT org_id FROM memwarden_data.organisation WHERE name = 'acme'")
    for person in (judge, curator):
        person.execute("SELECT set_config('memwarden.acting', %s, false)", (f"{org}:{number}",))
        who = person.execute("SELECT agent FROM memwarden.whoami()").fetchone()
        assert who is not None
        assert who["agent"] == person.info.user
    waits(undo(curator, "retract", item, "now"))
    agreed(world, number)
    assert standing(world) == []


def test_a_write_that_replaces_what_people_approved_waits(
    world: World, curator: Connection[DictRow]
) -> None:
    """Also where nobody is asked about writes any more.

    Proves: H6
    """
    ask(world)
    agent = rogue(world)
    key = {"subject": "Ana", "predicate": "lives in"}
    approved(world, agent, "Paris", **key)
    ask(world, approval="never")
    renewed = write(curator, "semantic", "Rome", scope=HOME, **key)
    assert (renewed["outcome"], renewed["detail"]["reasons"]) == ("DEFERRED", ["FOUR_EYES"])
    assert write(curator, "semantic", "Grass is green", scope=HOME)["outcome"] == "COMMITTED"
    assert "Paris" in standing(world)
    decide(reviewer(world), "approve", str(renewed["request_id"]))
    assert standing(world) == ["Rome", "Grass is green"]


def test_consolidating_takes_nothing_away_that_people_approved(world: World) -> None:
    """DELETE waits like a retraction, and says so when it is asked again.

    Proves: N4 (DELETE), H6
    """
    ask(world)
    agent = rogue(world)
    target = approved(world, agent, "Snow is white")
    source = write(agent, "episodic", "Snow was grey")
    statement = (
        "SELECT * FROM memwarden.consolidate(%s, %s, 'semantic', 'DELETE',"
        " target => %s, target_version => %s, reason => 'it was grey')"
    )
    named = (source["item_id"], source["version_id"], target["item_id"], target["version_id"])
    first = agent.execute(statement, named).fetchone()
    assert first is not None
    number = waits(first)
    assert standing(world) == ["Snow is white"]
    agreed(world, number)
    assert standing(world) == []


def test_entities_of_what_people_approved_are_merged_by_two(world: World) -> None:
    """So are they parted and split: memories would be found as another's.

    Proves: F10, H6
    """
    call(world.admin, "define_entity_type", type="person")
    agent, boss = world.agent(HOME), access_curator(world, ORG)
    register(boss, "person:ana", "Ana", "Ana B")
    register(boss, "person:anna", "Anna")
    fact = {"predicate": "likes"}
    ask(world)
    approved(world, agent, "tea", subject="Ana", **fact)
    approved(world, agent, "rain", subject="Ana B", **fact)
    for function, arguments, found in (
        ("merge_entities", {"entity": "person:anna", "into_entity": "person:ana"}, "person:anna"),
        ("unmerge_entity", {"entity": "person:anna"}, "person:ana"),
        (
            "split_entity",
            {"entity": "person:ana", "new_entity": "person:anab", "aliases": ["Ana B"]},
            "person:anab",
        ),
    ):
        before = world.rows("SELECT event FROM memwarden_data.entity_event")
        [row] = call(boss, function, **arguments)
        number = waits(row)
        assert world.rows("SELECT event FROM memwarden_data.entity_event") == before
        agreed(world, number)
        assert len(world.rows("SELECT event FROM memwarden_data.entity_event")) == len(before) + 1
        assert call(boss, "recall_entity", entity=found)


def test_a_dispute_and_a_scope_end_what_people_approved_only_with_others(
    world: World, curator: Connection[DictRow]
) -> None:
    """A dispute settled against it, and its scope closed over it, wait as well.

    Proves: H6
    """
    configure(world, conflict="coexist")
    ask(world)
    agent = rogue(world)
    one = approved(world, agent, OPEN, embedding=VECTOR)["item_id"]
    ask(world, approval="never")
    two = write(agent, "semantic", SHUT, embedding=near(0.9))["item_id"]
    number = waits(undo(curator, "settle_dispute", one, two, two, "shut"))
    assert len(standing(world)) == 2
    agreed(world, number)
    assert standing(world) == [SHUT]
    ask(world)
    approved(world, agent, "The lift is broken")
    [row] = curator.execute("SELECT * FROM memwarden.close_scope(%s)", (HOME,)).fetchall()
    assert (row["disposition"], row["outcome"]) == ("waits", "DEFERRED")
    assert "The lift is broken" in standing(world)
    agreed(world, str(row["request_id"]))
    assert standing(world) == []


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
    waits(undo(agent, "rollback", item, "yes"))
    assert standing(world) == []
    ask(world, approval="by_risk", auto_below=0.95, sync_from=1)
    agent.execute("SELECT * FROM memwarden.rollback(%s, 'yes')", (item,))
    assert standing(world) == ["The sky is blue"]


@pytest.mark.every_version
def test_an_agent_of_ill_repute_brings_nothing_back(world: World) -> None:
    """Where nobody else is asked, it still is.

    Proves: X4, H6
    """
    agent = rogue(world)
    item = write(agent, "semantic", "The sky is blue")["item_id"]
    agent.execute("SELECT memwarden.retract(%s, 'oh')", (item,))
    world.admin.execute("UPDATE memwarden_data.principal SET reputation = 0.1 WHERE kind = 'agent'")
    world.admin.execute("SELECT memwarden.set_reputation_threshold(0.5, 'acme')")
    waits(undo(agent, "rollback", item, "yes"))
    assert standing(world) == []


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
