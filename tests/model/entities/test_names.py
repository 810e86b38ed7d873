"""Whom a memory is about: names become entities when it is written, as far as its writer sees."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from access import call, refusal, state
from model.entities.conftest import HOME, ORG, Acme, about, attribute, register, say


@pytest.mark.parametrize("name", ["Ana", "ana", "Ana  García", "person:ana"])
def test_a_memory_belongs_to_whom_its_subject_means(acme: Acme, name: str) -> None:
    """By any of the names and by the id, however spelled; its writer is told.

    Proves: F10
    """
    register(acme.curator, "person:ana", "Ana", "Ana García")
    said = say(acme.agent, name, "likes", {"drink": "tea"})
    assert said["outcome"] == "COMMITTED"
    assert said["detail"] == {"entities": {"subject": {"entity": "person:ana"}}}
    assert about(acme.agent, "person:ana") == {said["item_id"]}


def test_a_name_nobody_bears_belongs_to_nobody(acme: Acme) -> None:
    """And says nothing of it.

    Proves: F10
    """
    register(acme.curator, "person:ana", "Ana")
    assert say(acme.agent, "Bo", "likes", {"drink": "tea"})["detail"] is None
    assert about(acme.agent, "person:ana") == set()


def test_a_name_of_two_means_neither_and_says_so(acme: Acme) -> None:
    """Proves: F10."""
    register(acme.curator, "person:ana1", "Ana")
    register(acme.curator, "person:ana2", "Ana")
    said = say(acme.agent, "Ana", "likes", {"drink": "tea"})
    assert said["outcome"] == "COMMITTED"
    assert said["detail"] == {"entities": {"subject": {"ambiguous": True}}}
    assert about(acme.agent, "person:ana1") | about(acme.agent, "person:ana2") == set()
    named = {row["entity"] for row in call(acme.agent, "resolve_entity", name="Ana")}
    assert named == {"person:ana1", "person:ana2"}


@pytest.mark.every_version
def test_a_name_that_is_taken_away_means_nobody(acme: Acme) -> None:
    """From the next write on; what was said under it stays.

    Proves: F10
    """
    register(acme.curator, "person:ana", "Ana", "Annie")
    said = say(acme.agent, "Annie", "likes", {"drink": "tea"})
    call(acme.curator, "remove_alias", entity="person:ana", alias="Annie")
    assert say(acme.agent, "Annie", "owns", {"pet": "cat"})["outcome"] == "COMMITTED"
    assert about(acme.agent, "person:ana") == {said["item_id"]}


@pytest.mark.every_version
def test_a_name_of_two_that_are_one_means_it(acme: Acme) -> None:
    """Proves: F10."""
    register(acme.curator, "person:ana1", "Ana")
    register(acme.curator, "person:ana2", "Ana")
    call(acme.curator, "merge_entities", entity="person:ana2", into_entity="person:ana1")
    said = say(acme.agent, "Ana", "likes", {"drink": "tea"})
    assert "entity" in said["detail"]["entities"]["subject"]
    assert about(acme.agent, "person:ana2") == about(acme.agent, "person:ana1") == {said["item_id"]}


HIDDEN: dict[str, Any] = {
    "an entity of another scope": {"scope": f"{ORG}/user/bo"},
    "an entity above the clearance": {"classification": "restricted"},
}


@pytest.mark.parametrize("how", HIDDEN)
def test_what_the_writer_does_not_see_changes_no_answer(acme: Acme, how: str) -> None:
    """A hidden second bearer makes no name ambiguous, and a hidden only one is nobody.

    Proves: F10
    """
    acme.world.scope(f"{ORG}/user/bo")
    register(acme.curator, "person:ana", "Ana")
    register(acme.curator, "person:spy", "Ana", "Mata", **HIDDEN[how])
    said = say(acme.agent, "Ana", "likes", {"drink": "tea"})
    assert said["detail"] == {"entities": {"subject": {"entity": "person:ana"}}}
    assert say(acme.agent, "Mata", "likes", {"drink": "gin"})["detail"] is None
    names = {row["entity"] for row in acme.agent.execute("SELECT * FROM memwarden.entities")}
    assert names == {"person:ana"}
    assert state(acme.agent, "recall_entity", entity="person:spy") == "42704"
    unknown = refusal(acme.agent, "recall_entity", entity="person:none").diag.message_primary
    assert refusal(acme.agent, "recall_entity", entity="person:spy").diag.message_primary == unknown
    assert call(acme.agent, "resolve_entity", name="Mata") == []


def test_a_hidden_alias_is_not_shown_and_means_nothing(acme: Acme) -> None:
    """Who is cleared for it uses it.

    Proves: F10
    """
    register(acme.curator, "person:ana", "Ana")
    call(
        acme.curator,
        "add_alias",
        entity="person:ana",
        alias="Nightingale",
        classification="restricted",
    )
    assert say(acme.agent, "Nightingale", "sings", {"at": "dawn"})["detail"] is None
    [shown] = acme.agent.execute("SELECT aliases FROM memwarden.entities").fetchall()
    assert shown["aliases"] == ["Ana"]
    high = acme.member(clearance="restricted")
    said = say(high, "Nightingale", "sings", {"at": "noon"}, classification="restricted")
    assert said["detail"]["entities"] == {"subject": {"entity": "person:ana"}}
    assert [each["value"] for each in said["detail"]["replaced"]] == [{"at": "dawn"}]
    assert said["item_id"] not in about(acme.agent, "person:ana")
    assert said["item_id"] in about(high, "person:ana")


def test_an_id_taken_by_what_one_does_not_see_can_be_registered(acme: Acme) -> None:
    """Refusing would tell of it. What one sees is refused.

    Proves: F10
    """
    low = acme.member(ORG, role="curator", kind="human")
    acme.world.admin.execute(f'GRANT memwarden_curator TO "{low.info.user}"')
    register(acme.curator, "person:x", classification="restricted")
    register(low, "person:x")
    assert state(low, "register_entity", entity="person:x", type="person", scope=ORG) == "42710"
    assert about(low, "person:x") == set()


def test_attributes_above_the_reader_are_not_shown(acme: Acme) -> None:
    """Whatever the entity itself is classified as; the ontology says how high they are.

    Proves: F10
    """
    call(
        acme.world.admin,
        "define_entity_type",
        type="person",
        attributes={"salary": {"classification": "restricted"}},
    )
    register(acme.curator, "person:ana")
    attribute(acme.curator, "person:ana", "salary", 85000)
    attribute(acme.curator, "person:ana", "city", "Lisbon")
    [low] = acme.agent.execute("SELECT attributes FROM memwarden.entities").fetchall()
    assert low["attributes"] == {"city": "Lisbon"}
    [high] = acme.curator.execute("SELECT attributes FROM memwarden.entities").fetchall()
    assert high["attributes"] == {"city": "Lisbon", "salary": 85000}
    assert (
        state(acme.curator, "set_entity_attribute", entity="person:ana", name="Salary", value="1")
        == "22023"
    )


@pytest.mark.parametrize(
    "content",
    [
        {"note": "earns 85000 a year"},
        {"note": 85000},
        {"85000": "a name"},
        {"deep": [["x", {"y": "85000"}]]},
        {"note": "8\u200b5000 and 85000"},
    ],
    ids=str,
)
def test_a_sensitive_attribute_is_masked_in_lower_contents(acme: Acme, content: Any) -> None:
    """In strings, names and numbers; a later gate never meets it. Higher contents keep it.

    Proves: F10, F7 (classified attributes)
    """
    register(acme.curator, "person:ana", "Ana")
    attribute(
        acme.curator, "person:ana", "salary", 85000, classification="restricted", sensitive=True
    )
    evidence = [{"uri": "chat:1", "excerpt": "85000 it is"}]
    said = say(acme.agent, "Ana", "note", content, evidence=evidence, embedding=[1.0] * 384)
    assert said["outcome"] == "COMMITTED"
    for table in ("version", "write_request", "provenance", "item", "log"):
        kept = acme.world.rows(f"SELECT t::text AS row FROM memwarden_data.{table} AS t")
        assert not [row for row in kept if "85000" in row["row"]], table
    high = acme.member(clearance="restricted")
    said = say(high, "Ana", "pay", {"is": 85000}, classification="restricted")
    [row] = call(high, "get", item_id=said["item_id"])
    assert row["content"] == {"is": 85000}


def test_masking_ends_at_the_scope_of_the_entity_and_at_longer_words(acme: Acme) -> None:
    """Proves: F10."""
    acme.world.scope(f"{ORG}/user/bo")
    register(acme.curator, "person:bo", scope=f"{ORG}/user/bo")
    attribute(acme.curator, "person:bo", "pin", "4711", classification="restricted", sensitive=True)
    said = say(acme.agent, "Bo", "note", {"n": "4711"})
    [row] = call(acme.agent, "get", item_id=said["item_id"])
    assert row["content"] == {"n": "4711"}
    bo = acme.member(f"{ORG}/user/bo")
    said = say(bo, "Bo", "note", {"n": "4711, 47112, A4711"})
    [row] = call(bo, "get", item_id=said["item_id"])
    assert row["content"] == {"n": "[masked], 47112, A4711"}


def test_memories_are_found_by_decision_and_workflow(acme: Acme) -> None:
    """Both, one, and none of another's; without any entity registered.

    Proves: F10
    """
    one = say(acme.agent, "Ana", "a", 1, origin={"decision": "d1", "workflow": "w"})["item_id"]
    two = say(acme.agent, "Ana", "b", 2, origin={"decision": "d2", "workflow": "w"})["item_id"]
    say(acme.agent, "Ana", "c", 3)

    def keyed(reader: Any, **keys: str) -> list[Any]:
        return [row["item_id"] for row in call(reader, "recall_keyed", **keys)]

    assert keyed(acme.agent, workflow="w") == [one, two]
    assert keyed(acme.agent, decision="d2") == [two]
    assert keyed(acme.agent, decision="d2", workflow="w") == [two]
    assert keyed(acme.agent, decision="d2", workflow="v") == []
    other = acme.world.agent("/org/globex/user/eve")
    assert keyed(other, workflow="w") == []
    assert keyed(acme.agent) == [one, two]
    assert state(acme.agent, "recall_keyed", max_rows=0) == "22023"
    bad = say(acme.agent, "Ana", "d", 4, origin={"decision": ""})
    assert bad["reason"] == "ORIGIN_INVALID"


def test_agents_change_no_entities(acme: Acme) -> None:
    """And a curator none of a scope that it does not write.

    Proves: F10
    """
    register(acme.curator, "person:ana")
    assert state_of(acme.agent) == "42501"
    elsewhere = acme.member(HOME, role="curator", kind="human")
    acme.world.admin.execute(f'GRANT memwarden_curator TO "{elsewhere.info.user}"')
    assert state_of(elsewhere) == "42501"


def state_of(who: Any) -> str | None:
    """What adding an alias raises."""
    with pytest.raises(psycopg.Error) as raised:
        call(who, "add_alias", entity="person:ana", alias="Annie")
    return raised.value.sqlstate
