"""A decision is carried out as its agent's own write or retraction, once, and noted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from helpers import write
from intake.consolidation.conftest import Agent, candidates, decide, held, note
from races import together

if TYPE_CHECKING:
    from conftest import World

TEA = "Ana drinks green tea"


@pytest.fixture
def agent(world: World) -> Agent:
    """An agent that may also delete."""
    return world.agent(role="curator")


def noted(agent: Agent) -> list[Any]:
    """What the view says of the agent's decisions."""
    return agent.execute("SELECT * FROM memwarden.consolidations ORDER BY decided_at").fetchall()


def test_add_makes_a_memory_that_rests_on_the_note(world: World, agent: Agent) -> None:
    """Through every gate, with the note as its evidence, and the request that it was.

    Proves: N4
    """
    source = note(agent, TEA, confidence=0.7)
    done = decide(agent, source, "ADD")
    assert (done["outcome"], done["decision"], done["repeated"]) == ("COMMITTED", "ADD", False)
    [item] = held(world)
    assert (item["content"], item["confidence"]) == (TEA, pytest.approx(0.7))
    [parent] = world.rows("SELECT * FROM memwarden_data.derivation")
    assert (parent["version_id"], parent["source_version_id"]) == (
        item["version_id"],
        source["version_id"],
    )
    [row] = noted(agent)
    assert (row["decision"], row["outcome"], row["request_id"], row["decider"]) == (
        "ADD",
        "COMMITTED",
        done["request_id"],
        "test:1",
    )
    [request] = agent.execute("SELECT * FROM memwarden.requests WHERE layer = 'semantic'")
    assert request["request_id"] == done["request_id"]
    assert "65_revision" in str(request["gates"])


@pytest.mark.parametrize("key", [{}, {"subject": "Ana", "predicate": "drinks"}])
def test_update_makes_the_next_version_of_its_target(
    world: World, agent: Agent, key: dict[str, str]
) -> None:
    """Of a memory with a key and of one without; what it said before stays in its history.

    Proves: N4
    """
    old = note(agent, TEA, "semantic", **key)
    done = decide(agent, note(agent, "Ana drinks coffee now"), "UPDATE", about=old)
    assert (done["outcome"], done["item_id"]) == ("COMMITTED", old["item_id"])
    [item] = held(world)
    assert (item["content"], item["version"]) == ("Ana drinks coffee now", 2)
    assert (item["subject"], item["predicate"]) == (key.get("subject"), key.get("predicate"))
    kept = world.value(
        "SELECT content FROM memwarden_data.version WHERE version = 1 AND layer = 'semantic'"
    )
    assert kept == TEA


def test_delete_retracts_its_target_for_the_reason_given(world: World, agent: Agent) -> None:
    """Proves: N4."""
    old = note(agent, TEA, "semantic")
    done = decide(agent, note(agent, "no tea"), "DELETE", about=old, reason="she never did")
    assert (done["outcome"], done["item_id"], done["request_id"]) == (
        "RETRACTED",
        old["item_id"],
        None,
    )
    assert [item["status"] for item in held(world)] == ["RETRACTED"]
    why = "SELECT reason FROM memwarden_data.log WHERE operation = 'RETRACT'"
    assert world.value(why) == "she never did"


def test_noop_only_notes_that_nothing_was_to_be_done(world: World, agent: Agent) -> None:
    """Proves: N4."""
    source = note(agent, TEA)
    assert decide(agent, source, "NOOP")["outcome"] == "NOTHING"
    assert held(world) == []
    assert candidates(agent) == []


def test_a_decision_is_carried_out_once(world: World, agent: Agent) -> None:
    """Whatever is decided the next time: the outcome is that of the first.

    Proves: N4
    """
    source = note(agent, TEA)
    first = decide(agent, source, "ADD")
    old = {"item_id": first["item_id"], "version_id": first["version_id"]}
    for again in (
        decide(agent, source, "ADD"),
        decide(agent, source, "ADD", content="something else"),
        decide(agent, source, "DELETE", about=old, reason="no"),
        decide(agent, source, "NOOP"),
    ):
        assert (again["repeated"], again["decision"]) == (True, "ADD")
        assert again["request_id"] == first["request_id"]
    assert [item["status"] for item in held(world)] == ["ACTIVE"]
    assert len(noted(agent)) == 1


def test_of_many_at_once_one_decides(world: World) -> None:
    """Twelve sessions of one agent, with different decisions about one note.

    Proves: N4
    """
    role = world.register(role="curator")
    agents = [world.connect(role) for _ in range(12)]
    old = note(agents[0], "The door is open", "semantic")
    source = note(agents[0], TEA)
    asked: list[dict[str, Any]] = [
        {"decision": "ADD"},
        {"decision": "UPDATE", "about": old},
        {"decision": "DELETE", "about": old, "reason": "gone"},
    ]
    answers = together(
        [partial(decide, agents[n], source, **asked[n % 3]) for n in range(len(agents))]
    )
    assert sorted(each["repeated"] for each in answers) == [False] + [True] * 11
    assert len({each["decision"] for each in answers}) == 1
    changes = "SELECT count(*) FROM memwarden_data.log WHERE layer = 'semantic'"
    assert world.value(changes) == 2


def test_an_item_that_has_changed_meanwhile_is_left_alone(world: World, agent: Agent) -> None:
    """It is told, and the note is a candidate still.

    Proves: N4
    """
    old = note(agent, TEA, "semantic", subject="Ana", predicate="drinks")
    loose = note(agent, "The door is open", "semantic")
    note(agent, "coffee", "semantic", subject="Ana", predicate="drinks")
    agent.execute("SELECT memwarden.retract(%s, 'no')", (loose["item_id"],))
    source = note(agent, "Ana drinks milk")
    for decision, about in (("UPDATE", old), ("DELETE", old), ("UPDATE", loose), ("DELETE", loose)):
        done = decide(agent, source, decision, about=about, reason="so")
        assert (done["outcome"], done["reason"]) == ("REJECTED", "CHANGED_SINCE")
    assert candidates(agent) == [source["item_id"]]
    assert noted(agent) == []
    [item, _] = held(world)
    assert (item["content"], item["version"], item["status"]) == ("coffee", 2, "ACTIVE")


def test_a_note_that_has_changed_meanwhile_is_left_alone(world: World, agent: Agent) -> None:
    """Proves: N4."""
    source = note(agent, TEA, subject="Ana", predicate="drinks")
    newer = note(agent, "coffee", subject="Ana", predicate="drinks")
    done = decide(agent, source, "ADD")
    assert (done["outcome"], done["reason"]) == ("REJECTED", "CHANGED_SINCE")
    assert held(world) == []
    assert decide(agent, newer, "ADD")["outcome"] == "COMMITTED"


def test_a_gate_refuses_a_bad_decision_and_that_is_noted(world: World, agent: Agent) -> None:
    """What is known already, and what contradicts what another said.

    Proves: N4
    """
    world.admin.execute(
        "SELECT memwarden.configure_layer('semantic', %s)",
        (Jsonb({"conflict": "review", "duplicate_similarity": 0.95}),),
    )
    note(agent, TEA, "semantic")
    again = decide(agent, note(agent, "Ana drinks  GREEN tea"), "ADD")
    assert (again["outcome"], again["reason"]) == ("REJECTED", "STRUCTURAL_DUPLICATE")
    other = note(world.agent(), "The door of the hall is open", "semantic")
    contrary = decide(agent, note(agent, "The door of the hall is not open"), "UPDATE", about=other)
    assert (contrary["outcome"], contrary["reason"]) == ("REJECTED", "CONTRADICTION")
    assert [row["reason"] for row in noted(agent)] == ["STRUCTURAL_DUPLICATE", "CONTRADICTION"]
    assert candidates(agent) == []


def test_nothing_is_believed_more_than_what_it_rests_on(world: World, agent: Agent) -> None:
    """Words made of both are worth no more than the lesser, whichever that is.

    Proves: N4
    """
    world.admin.execute(
        "SELECT memwarden.define_source('chat:*', 'human_input', issuer => %s)", (agent.info.user,)
    )
    chat = [{"uri": "chat:1", "excerpt": TEA}]
    trust = {}
    for name, confidence, evidence in (("low", 0.5, []), ("high", 1.0, chat)):
        trust[name] = note(agent, f"{TEA} ({name})", confidence=confidence, evidence=evidence)
    target = note(agent, "Ana drinks tea", "semantic", confidence=0.1)
    done = decide(agent, trust["high"], "UPDATE", about=target, content=TEA, confidence=None)
    assert done["outcome"] == "COMMITTED"
    added = decide(agent, trust["low"], "ADD")
    assert added["outcome"] == "COMMITTED"

    def worth(version: Any) -> Any:
        return world.value(
            "SELECT (record ->> 'adjusted_confidence')::float8 FROM memwarden_data.whole_provenance"
            " WHERE version_id = %s",
            version,
        )

    assert worth(done["version_id"]) <= worth(target["version_id"])
    assert worth(added["version_id"]) <= worth(trust["low"]["version_id"])


def test_who_may_not_delete_does_not_delete(world: World) -> None:
    """Whatever is decided: the right is that of the agent, and that it lacks it is noted.

    Proves: N4
    """
    agent = world.agent()
    old = note(world.agent(), TEA, "semantic")
    done = decide(agent, note(agent, "delete it"), "DELETE", about=old, reason="told to")
    assert (done["outcome"], done["reason"]) == ("REJECTED", "ROLE_FORBIDS")
    assert [item["status"] for item in held(world)] == ["ACTIVE"]


def test_what_it_cannot_write_it_cannot_consolidate(world: World) -> None:
    """A reader's decision about a shared scope is refused as its write would be.

    Proves: N4
    """
    writer = world.agent("/org/acme")
    world.admin.execute("SELECT memwarden.configure_layer('session', '{\"shared\": true}')")
    source = note(writer, TEA)
    reader = world.agent("/org/acme/user/ana")
    done = decide(reader, source, "ADD")
    assert (done["outcome"], done["reason"]) == ("REJECTED", "SCOPE_READ_ONLY")
    assert held(world) == []


def test_a_hidden_note_or_target_is_as_one_that_is_not_there(world: World) -> None:
    """And nobody sees what another has decided.

    Proves: N4, A3
    """
    mine = world.agent("/org/acme/user/ana")
    other = world.agent("/org/acme/user/bob")
    source, own = note(other, TEA), note(mine, "mine")
    target = note(other, "Bob drinks milk", "semantic")
    with pytest.raises(psycopg.errors.UndefinedObject):
        decide(mine, source, "ADD")
    with pytest.raises(psycopg.errors.UndefinedObject):
        decide(mine, own, "DELETE", about=target, reason="so")
    with pytest.raises(psycopg.errors.UndefinedObject):
        candidates(mine, scope="/org/acme/user/bob")
    decide(other, source, "ADD")
    assert noted(mine) == []
    world.grant_tables(mine.info.user)
    assert mine.execute("SELECT * FROM memwarden_data.consolidation").fetchall() == []
    assert len(noted(other)) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"decision": "MERGE"},
        {"decision": "ADD", "layer": "session"},
        {"decision": "ADD", "layer": "nowhere"},
        {"decision": "UPDATE"},
        {"decision": "NOOP", "content": "words"},
        {"decision": "ADD", "decider": "an attacker\n"},
        {"decision": "DELETE", "reason": " "},
        {"decision": "NOOP", "about": "target"},
        {"decision": "UPDATE", "about": "another layer"},
    ],
)
def test_arguments_that_do_not_go_together_are_refused(agent: Agent, wrong: dict[str, Any]) -> None:
    """Proves: N4."""
    source = note(agent, TEA)
    targets = {
        "target": note(agent, "The door is open", "semantic"),
        "another layer": note(agent, "The door is open", "episodic"),
    }
    about = targets[wrong.get("about", "target")]
    if wrong["decision"] in ("UPDATE", "DELETE", "NOOP") and len(wrong) > 1:
        wrong = wrong | {"about": about if wrong.get("about") or "reason" in wrong else None}
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        decide(agent, source, **wrong)
    assert noted(agent) == []


def test_words_of_ones_own_enter_no_layer_that_is_fed_by_promotion(
    world: World, agent: Agent
) -> None:
    """What the note says does, as promote() would bring it there.

    Proves: N4, F6
    """
    world.admin.execute("UPDATE memwarden_data.layer SET direct_writes = (layer <> 'semantic')")
    made_up = decide(agent, note(agent, TEA), "ADD", content="anything")
    assert (made_up["outcome"], made_up["reason"]) == ("REJECTED", "DIRECT_WRITE_OFF")
    assert decide(agent, note(agent, "coffee"), "ADD")["outcome"] == "COMMITTED"


def test_what_waits_is_told_and_becomes_what_was_meant(world: World) -> None:
    """Deferred while another holds the scope; the next version when it is tried again.

    Proves: N4
    """
    role = world.register(role="curator")
    agent, holder = world.connect(role), world.connect(role)
    old = note(agent, TEA, "semantic")
    source = note(agent, "Ana drinks coffee")
    agent.execute("SET lock_timeout = '1ms'")
    with holder.transaction():
        write(holder, "semantic", "something")
        done = decide(agent, source, "UPDATE", about=old)
    assert (done["outcome"], done["reason"]) == ("DEFERRED", "SCOPE_BUSY")
    agent.execute("RESET lock_timeout")
    assert decide(agent, source, "NOOP")["outcome"] == "DEFERRED"
    world.admin.execute(
        "UPDATE memwarden_data.write_request SET attempt = attempt + 1 WHERE outcome = 'DEFERRED'"
    )
    [row] = noted(agent)
    assert (row["outcome"], row["item_id"]) == ("COMMITTED", old["item_id"])
    assert held(world)[0]["content"] == "Ana drinks coffee"


def test_a_note_that_rests_on_a_memory_does_not_renew_it(world: World, agent: Agent) -> None:
    """Each would bear out the other.

    Proves: N4, X3
    """
    old = note(agent, TEA, "semantic")
    uri = f"memwarden:item/{old['item_id']}"
    source = note(agent, "so Ana drinks tea", evidence=[{"type": "memory_item", "uri": uri}])
    done = decide(agent, source, "UPDATE", about=old)
    assert (done["outcome"], done["reason"]) == ("REJECTED", "PROVENANCE_CYCLE")
    assert len(held(world)) == 1


def test_candidates_are_what_is_there_and_not_decided(agent: Agent) -> None:
    """Oldest first, so many, page by page; a new version is one again.

    Proves: N4
    """
    first, second = note(agent, "one", subject="Ana", predicate="is"), note(agent, "two")
    later = note(agent, "three")
    note(agent, "elsewhere", "semantic")
    assert candidates(agent) == [each["item_id"] for each in (first, second, later)]
    assert candidates(agent, after=first["version_id"]) == [second["item_id"], later["item_id"]]
    assert candidates(agent, k=1) == [first["item_id"]]
    decide(agent, first, "NOOP")
    agent.execute("SELECT memwarden.retract(%s, 'no')", (second["item_id"],))
    assert candidates(agent) == [later["item_id"]]
    note(agent, "another", subject="Ana", predicate="is")
    assert candidates(agent) == [later["item_id"], first["item_id"]]
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        candidates(agent, k=0)


def test_a_request_that_only_claims_to_consolidate_is_a_write(world: World, agent: Agent) -> None:
    """What a caller says of the origin brings it nothing.

    Proves: N4, Z1
    """
    note(agent, TEA, "semantic")
    claimed = write(agent, "semantic", "coffee", origin={"trigger": "consolidation"})
    assert claimed["outcome"] == "COMMITTED"
    assert len(held(world)) == 2
