"""What a write is to the memories that are there: a duplicate, more, a contradiction, news."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import call
from helpers import write
from races import together

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]
VECTOR = [1.0] + [0.0] * 383


def near(similarity: float) -> list[float]:
    """A unit vector whose cosine to VECTOR is that."""
    return [similarity, (1 - similarity**2) ** 0.5] + [0.0] * 382


def configure(world: World, layer: str = "semantic", **settings: Any) -> None:
    """Change settings of a layer."""
    world.admin.execute("SELECT memwarden.configure_layer(%s, %s)", (layer, Jsonb(settings)))


@pytest.fixture
def agent(world: World) -> Agent:
    """An agent of a store in which the semantic layer looks for duplicates and conflicts."""
    configure(world, duplicate_similarity=0.95, conflict="review")
    return world.agent()


def versions(world: World, item_id: Any) -> list[DictRow]:
    """The versions of an item, oldest first."""
    return world.rows(
        "SELECT * FROM memwarden_data.version WHERE item_id = %s ORDER BY version", item_id
    )


def test_the_same_in_other_words_is_rejected_and_named(agent: Agent) -> None:
    """Proves: D1, D3."""
    first = write(agent, "semantic", "Ana owns a large dog", embedding=VECTOR)
    again = write(agent, "semantic", "Ana does own a large dog", embedding=near(0.97))
    assert (again["outcome"], again["reason"]) == ("REJECTED", "SEMANTIC_DUPLICATE")
    assert again["item_id"] == first["item_id"]
    assert again["detail"]["similar"]["relation"] == "same"
    assert again["detail"]["similar"]["similarity"] == pytest.approx(0.97, abs=0.01)


@pytest.mark.parametrize(
    ("known", "text"),
    [
        ("Ana owns a large dog", "Ana owns a big dog"),
        ("Ana swims in the lake on Monday", "On Monday Ana swims in the lake"),
        ("The report was written by Ana", "Ana wrote the report"),
    ],
)
def test_what_is_probably_the_same_is_stored_and_marked_so(
    agent: Agent, known: str, text: str
) -> None:
    """The answer, the record and recall name the earlier one; the text of neither is lost.

    Proves: D1 (nothing is merged that may say something else)
    """
    first = write(agent, "semantic", known, embedding=VECTOR)
    again = write(agent, "semantic", text, embedding=near(0.97))
    assert (again["outcome"], again["reason"]) == ("COMMITTED", None)
    assert again["detail"]["same_as"]["item_id"] == str(first["item_id"])
    (record,) = call(agent, "provenance", item_id=again["item_id"])
    assert record["record"]["same_as"] == again["detail"]["same_as"]
    assert "marked" not in again["detail"]
    (row,) = agent.execute(
        "SELECT item_id, same_as FROM memwarden.recall(query => %s, embedding => %s::real[])",
        (text, VECTOR),
    )
    assert {row["item_id"], *row["same_as"]} == {first["item_id"], again["item_id"]}
    shown = agent.execute("SELECT content FROM memwarden.items WHERE NOT contradicted").fetchall()
    assert sorted(each["content"] for each in shown) == sorted([known, text])


def test_likeness_alone_merges_nothing(agent: Agent) -> None:
    """Almost the same vector, and one word that nobody knows: both stay.

    Proves: D1
    """
    write(agent, "semantic", "Ana owns a large dog", embedding=VECTOR)
    other = write(agent, "semantic", "Ana owns a large quokka", embedding=near(0.999))
    assert other["outcome"] == "COMMITTED"


def test_less_alike_than_the_layer_says_is_not_looked_at(agent: Agent) -> None:
    """Proves: D1."""
    write(agent, "semantic", "Ana owns a large dog", embedding=VECTOR)
    assert write(agent, "semantic", "Ana owns a big dog", embedding=near(0.9))["outcome"] == (
        "COMMITTED"
    )


def test_what_says_more_makes_the_memory_grow(world: World, agent: Agent) -> None:
    """Evidence of both, the greater confidence, one item with two versions.

    Proves: D3, D4
    """
    one = [{"uri": "https://example.org/1", "excerpt": "Ana owns a dog"}]
    two = [{"uri": "https://example.org/2", "excerpt": "Ana owns a large dog"}]
    first = write(
        agent, "semantic", "Ana owns a dog", embedding=VECTOR, evidence=one, confidence=0.9
    )
    more = write(
        agent,
        "semantic",
        "Ana owns a large dog",
        embedding=near(0.97),
        evidence=two,
        confidence=0.4,
    )
    assert (more["outcome"], more["item_id"]) == ("MERGED", first["item_id"])
    old, new = versions(world, first["item_id"])
    assert (old["status"], new["status"]) == ("SUPERSEDED", "ACTIVE")
    assert new["previous_version_id"] == old["version_id"]
    assert new["confidence"] == pytest.approx(0.9)
    assert {e["uri"] for e in new["evidence"]} == {one[0]["uri"], two[0]["uri"]}
    assert new["content"] == "Ana owns a large dog"
    again = write(
        agent,
        "semantic",
        "Ana owns a large dog",
        embedding=near(0.97),
        request_id=str(more["request_id"]),
    )
    assert again["outcome"] == "ALREADY_COMMITTED"


def test_the_writer_of_an_equal_claim_is_refused_under_review(world: World, agent: Agent) -> None:
    """What another agent said: not more confident: refused, with a report; more: a human decides.

    Proves: V4, V5
    """
    first = write(world.agent(), "semantic", "The door is open", embedding=VECTOR, confidence=0.6)
    less = write(agent, "semantic", "The door is not open", embedding=near(0.9), confidence=0.6)
    assert (less["outcome"], less["reason"]) == ("REJECTED", "CONTRADICTION")
    report = less["detail"]["contradicts"][0]
    assert report["item_id"] == str(first["item_id"])
    assert report["similarity"] == pytest.approx(0.9, abs=0.01)
    assert report["score"] > 0.85
    more = write(agent, "semantic", "The door is not open", embedding=near(0.9), confidence=0.8)
    assert (more["outcome"], more["reason"]) == ("DEFERRED", "CONTRADICTION_REVIEW")
    assert more["detail"]["proposal"] == {"action": "supersede", "items": [str(first["item_id"])]}


@pytest.mark.parametrize(
    ("policy", "confidence", "outcome", "statuses"),
    [
        ("accumulate", 0.9, "COMMITTED", ("ACTIVE", "ACTIVE")),
        ("auto_resolve", 0.8, "COMMITTED", ("SUPERSEDED", "ACTIVE")),
        ("auto_resolve", 0.7, "DEFERRED", ("ACTIVE",)),
        ("auto_resolve", 0.6, "REJECTED", ("ACTIVE",)),
        ("latest_wins", 0.1, "COMMITTED", ("SUPERSEDED", "ACTIVE")),
        ("coexist", 0.6, "COMMITTED", ("ACTIVE", "ACTIVE")),
        ("coexist", 0.8, "COMMITTED", ("SUPERSEDED", "ACTIVE")),
    ],
)
def test_the_policy_of_the_layer_decides(
    world: World, agent: Agent, policy: str, confidence: float, outcome: str, statuses: Any
) -> None:
    """Of what another agent said.

    Proves: V5, C4 (last writer, confidence, human)
    """
    configure(world, conflict=policy)
    write(world.agent(), "semantic", "The door is open", embedding=VECTOR, confidence=0.6)
    answer = write(
        agent, "semantic", "The door is not open", embedding=near(0.9), confidence=confidence
    )
    assert answer["outcome"] == outcome
    items = world.rows("SELECT status, contradicted FROM memwarden_data.item ORDER BY created_at")
    assert tuple(i["status"] for i in items) == statuses
    marked = policy == "coexist" and confidence < 0.8
    assert all(i["contradicted"] == marked for i in items)


def test_of_another_topic_nothing_contradicts(agent: Agent) -> None:
    """Proves: V4."""
    write(agent, "semantic", "The door is open", embedding=VECTOR)
    far = write(agent, "semantic", "The door is not open", embedding=near(0.4))
    assert far["outcome"] == "COMMITTED"


def test_a_newer_value_of_the_same_thing_is_a_version(world: World, agent: Agent) -> None:
    """Who said it says it anew: no conflict.

    Proves: V10, D5
    """
    first = write(agent, "semantic", "Paris", subject="ana", predicate="lives in")
    second = write(agent, "semantic", "London", subject="ana", predicate="lives in")
    assert (second["outcome"], second["item_id"]) == ("COMMITTED", first["item_id"])
    assert len(versions(world, first["item_id"])) == 2


def test_of_many_contradicting_writers_one_wins(world: World) -> None:
    """32 at once: one value is there, the others are refused as the policy says.

    Proves: V5
    """
    configure(world, duplicate_similarity=0.95, conflict="review")
    home = "/org/acme/user/ana"
    agents = [world.agent(home) for _ in range(32)]
    for agent in agents:
        agent.execute("SET lock_timeout = '2min'")

    def say(number: int) -> DictRow:
        return write(
            agents[number],
            "semantic",
            f"City{number}",
            scope=home,
            subject="ana",
            predicate="lives in",
            embedding=near(0.9),
        )

    answers = together([partial(say, n) for n in range(32)])
    outcomes = sorted((a["outcome"], a["reason"] or "") for a in answers)
    assert outcomes == [("COMMITTED", "")] + [("REJECTED", "CONTRADICTION")] * 31
    active = world.value("SELECT count(*) FROM memwarden_data.item WHERE status = 'ACTIVE'")
    assert active == 1


@pytest.mark.parametrize("text", ["The door is not open", "The door is open", "The door is opened"])
def test_what_the_writer_may_not_read_is_not_told(world: World, text: str) -> None:
    """A hidden memory makes neither a duplicate nor a conflict that would tell of it.

    Proves: V5, A3
    """
    configure(world, duplicate_similarity=0.95, conflict="review")
    home = "/org/acme/user/ana"
    chief = world.agent(home, clearance="restricted")
    clerk = world.agent(home, clearance="internal")
    write(chief, "semantic", "The door is open", classification="restricted", embedding=VECTOR)
    assert write(clerk, "semantic", text, embedding=near(0.97))["outcome"] == "COMMITTED"


def test_a_fact_of_a_key_of_its_own_takes_nothing_over(world: World, agent: Agent) -> None:
    """It says more than a memory without a key, and is a version of its own fact all the same.

    Proves: D4, D5
    """
    loose = write(agent, "semantic", "Ana owns a dog", embedding=near(0.97))
    key = {"subject": "Ana", "predicate": "says"}
    first = write(agent, "semantic", "The door is open", embedding=near(0.1), **key)
    second = write(agent, "semantic", "Ana owns a large dog", embedding=VECTOR, **key)
    assert (second["outcome"], second["item_id"]) == ("COMMITTED", first["item_id"])
    assert len(versions(world, loose["item_id"])) == 1


def test_undoing_brings_back_what_was_there_before(world: World) -> None:
    """What a memory said before it grew, and what a write took the place of.

    Proves: T5, D4
    """
    configure(world, conflict="latest_wins", duplicate_similarity=0.95)
    agent = world.agent(role="curator")
    before = write(agent, "semantic", "The door is open", embedding=VECTOR)
    write(agent, "semantic", "The green door is open", embedding=near(0.97))
    other = world.agent(role="curator")
    after = write(other, "semantic", "The green door is not open", embedding=near(0.9))
    [grown] = versions(world, before["item_id"])[1:]
    assert (after["outcome"], grown["status"]) == ("COMMITTED", "SUPERSEDED")
    call(agent, "rollback_batch", requests=[after["request_id"]], reason="it was not")
    assert versions(world, before["item_id"])[-1]["status"] == "ACTIVE"
    assert versions(world, after["item_id"])[-1]["status"] == "RETRACTED"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Room 12 is free", "Room 13 is free"),
        ("Invoice 1001 was paid", "Invoice 1002 was paid"),
        ("The north gate is closed", "The south gate is closed"),
        ("Ana met Bo on Monday", "Ana met Bo on Tuesday"),
        ("Ana ate an apple", "Ana ate a banana"),
        ("The red bus goes to the harbour", "The blue bus goes to the harbour"),
    ],
)
def test_another_thing_is_no_contradiction(agent: Agent, one: str, other: str) -> None:
    """Two things of one kind are told apart by a word, like two values of one thing: both stay.

    Proves: V4
    """
    assert write(agent, "semantic", one, embedding=VECTOR)["outcome"] == "COMMITTED"
    assert write(agent, "semantic", other, embedding=near(0.97))["outcome"] == "COMMITTED"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The north gate is closed", "The north gate is open"),
        ("Room 12 is empty", "Room 12 is full"),
        ("The deadline is on Monday", "The deadline is on Friday"),
        ("Alice is tall", "Alice is short"),
    ],
)
def test_two_values_of_one_thing_contradict_each_other_without_a_key(
    world: World, agent: Agent, one: str, other: str
) -> None:
    """Where both certainly speak of one thing, and say one of two of it.

    Proves: V4, V5
    """
    first = write(world.agent(), "semantic", one, embedding=VECTOR)
    second = write(agent, "semantic", other, embedding=near(0.9))
    assert (second["outcome"], second["reason"]) == ("REJECTED", "CONTRADICTION")
    assert second["detail"]["contradicts"][0]["item_id"] == str(first["item_id"])


def test_news_of_ones_own_is_a_version_without_a_key_too(world: World, agent: Agent) -> None:
    """The wording tells that something changed; said by another agent it is a memory beside it.

    Proves: V10
    """
    first = write(agent, "semantic", "The deadline is on Monday.", embedding=VECTOR)
    news = write(agent, "semantic", "The deadline is now on Friday.", embedding=near(0.8))
    assert (news["outcome"], news["item_id"]) == ("COMMITTED", first["item_id"])
    assert [v["content"] for v in versions(world, first["item_id"])] == [
        "The deadline is on Monday.",
        "The deadline is now on Friday.",
    ]
    other = world.agent()
    rumour = write(other, "semantic", "The deadline is now on Wednesday.", embedding=near(0.8))
    assert rumour["outcome"] == "COMMITTED"
    assert rumour["item_id"] != first["item_id"]


def test_what_is_added_is_not_believed_for_what_was_there(world: World, agent: Agent) -> None:
    """A memory that grows is worth what the new words rest on, in its head and in its record.

    Proves: D4, Z2
    """
    source = {"uri": "https://docs.example.org/1", "excerpt": "Ana owns a dog"}
    call(world.admin, "define_source", uri_pattern="https://docs.example.org/*", type="document")
    first = write(agent, "semantic", "Ana owns a dog", embedding=VECTOR, evidence=[source])
    query = "SELECT adjusted_confidence AS trust, authority FROM memwarden_data.item"
    [before] = world.rows(query)
    more = write(agent, "semantic", "Ana owns a large dog", embedding=near(0.97))
    assert (more["outcome"], more["item_id"]) == ("MERGED", first["item_id"])
    [after] = world.rows(query)
    assert after["trust"] < before["trust"]
    assert after["authority"] < before["authority"]
    record = world.value(
        "SELECT record FROM memwarden_data.whole_provenance WHERE version_id = %s",
        more["version_id"],
    )
    assert (record["adjusted_confidence"], record["authority"]) == tuple(after.values())


def test_ones_own_value_of_one_thing_is_its_next_version(world: World) -> None:
    """Without a key too, where both certainly speak of one thing: told, and undone by one call.

    Proves: V10, T5
    """
    configure(world, duplicate_similarity=0.95, conflict="review")
    agent = world.agent(role="curator")
    first = write(agent, "semantic", "The north gate is closed", embedding=VECTOR)
    second = write(agent, "semantic", "The north gate is open", embedding=near(0.9))
    assert (second["outcome"], second["item_id"]) == ("COMMITTED", first["item_id"])
    told = second["detail"]["updates"]
    assert told["item_id"] == str(first["item_id"])
    assert told["version_id"] == str(first["version_id"])
    call(agent, "rollback", item_id=first["item_id"], reason="it is closed")
    assert versions(world, first["item_id"])[-1]["content"] == "The north gate is closed"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana drinks tea with milk", "Ana does not drink tea"),
        ("A red car is parked outside", "A blue car is parked outside"),
        ("Ana's train leaves at 10:15", "Ana's train leaves at 11:15"),
        ("We ship to Norway", "We do not ship to Norway"),
    ],
)
def test_an_uncertain_contradiction_is_stored_and_marked(
    world: World, agent: Agent, one: str, other: str
) -> None:
    """Whoever wrote the first, and whatever the policy: nothing is refused or replaced for it.

    Proves: V4, V5
    """
    first = write(agent, "semantic", one, embedding=VECTOR)
    second = write(world.agent(), "semantic", other, embedding=near(0.9))
    assert second["outcome"] == "COMMITTED"
    assert [m["item_id"] for m in second["detail"]["marked"]] == [str(first["item_id"])]
    marked = world.rows("SELECT item_id FROM memwarden_data.item WHERE contradicted")
    assert {m["item_id"] for m in marked} == {first["item_id"], second["item_id"]}
