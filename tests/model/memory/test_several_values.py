"""Predicates of which people have several values are shipped: a second value replaces none."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from conftest import World
from helpers import write
from shipped import as_init_leaves_it

HOME = "/org/acme"
SHIPPED = (
    *("likes", "owns", "knows", "allergic to", "is allergic to", "has child", "member of"),
    *("speaks", "visited", "plays", "suffers from", "has pet", "friend of", "has skill", "uses"),
    *("mag", "ist allergisch gegen", "kennt", "hat Kind", "spricht"),
    *("houdt van", "is allergisch voor", "kent", "heeft kind", "spreekt"),
    *("aime", "est allergique à", "possède", "membre de", "parle"),
    *("le gusta", "es alérgica a", "conoce a", "tiene hijo", "habla"),
    *("gosta de", "é alérgico a", "possui", "tem filha", "fala"),
)
OF_ONE = (
    *("favourite colour", "favorite food", "lives in", "works at", "works for", "married to"),
    *("born in", "born on", "is", "has", "name", "age", "prefers", "employer", "reports to"),
    *("home address", "phone number", "email", "native language", "spouse of", "status"),
    *("wohnt in", "arbeitet bei", "heißt", "woont in", "habite à", "vive en", "mora em"),
)
DENIALS = (
    ("likes", "no longer likes"),
    ("is allergic to", "no longer allergic to"),
    ("Member of", "is_no_longer_a_member_of"),
    ("mag", "mag nicht mehr"),
    ("houdt van", "houdt niet meer van"),
    ("aime", "n'aime plus"),
    ("le gusta", "ya no le gusta"),
    ("gosta de", "não gosta mais de"),
)
INSIDE = (
    *(("likes", "no longer"), ("allergic to", "no longer"), ("plays", "no longer")),
    *(("mag", "nicht mehr"), ("bezit", "niet meer"), ("le gusta", "ya no"), ("usa", "ya no")),
)
SENTENCES = (
    ("likes", "{} no longer likes {}."),
    ("is allergic to", "{} is no longer allergic to {}!"),
    ("member of", "{} IS NO LONGER A MEMBER OF {}"),
    ("ist allergisch gegen", "{} ist nicht mehr allergisch gegen {}."),
    ("houdt van", "{} houdt niet meer van {}."),
    ("aime", "{} n'aime plus {}."),
    ("usa", "{} ya no usa {}."),
    ("gosta de", "{} não gosta mais de {}."),
)


def say(agent: Any, subject: str, predicate: str, content: Any, **more: Any) -> Any:
    """Write a fact."""
    return write(agent, "semantic", content, subject=subject, predicate=predicate, **more)


def values(agent: Any, subject: str) -> list[tuple[str, Any]]:
    """What is said of a subject at present."""
    rows = agent.execute(
        "SELECT predicate, content FROM memwarden.items WHERE subject = %s AND status = 'ACTIVE'"
        " ORDER BY predicate, content",
        (subject,),
    ).fetchall()
    return [(row["predicate"], row["content"]) for row in rows]


@pytest.mark.parametrize("predicate", SHIPPED)
def test_of_some_things_people_have_several(shared_world: World, predicate: str) -> None:
    """In every language whose small words the judge knows, however it is spelled. Proves: D5."""
    agent, who = shared_world.agent(HOME), f"Ana {uuid4().hex[:8]}"
    for spelled, value in ((predicate, "one"), (predicate.upper().replace(" ", "_"), "two")):
        answer = say(agent, who, spelled, value)
        assert (answer["outcome"], answer["reason"]) == ("COMMITTED", None)
    assert [value for _, value in values(agent, who)] == ["two", "one"]


@pytest.mark.parametrize("predicate", OF_ONE)
def test_of_others_one_at_a_time(shared_world: World, predicate: str) -> None:
    """A second value is the next version, and says so. Proves: D5."""
    agent, who = shared_world.agent(HOME), f"Ana {uuid4().hex[:8]}"
    say(agent, who, predicate, "one")
    answer = say(agent, who, predicate, "two")
    assert (answer["outcome"], answer["reason"]) == ("COMMITTED", "REPLACED")
    assert values(agent, who) == [(predicate, "two")]


@pytest.mark.parametrize(("predicate", "denial"), DENIALS)
def test_a_denial_ends_that_value_alone(shared_world: World, predicate: str, denial: str) -> None:
    """And the value said anew ends the denial. Of another subject nothing ends. Proves: D5."""
    agent, who = shared_world.agent(HOME, role="curator"), f"Ana {uuid4().hex[:8]}"
    for subject in (who, f"{who} too"):
        for value in ("walnuts", "peanuts"):
            say(agent, subject, predicate, value)
    denied = say(agent, who, denial, "Walnuts")
    assert (denied["outcome"], denied["reason"]) == ("COMMITTED", "REPLACED")
    assert [each["value"] for each in denied["detail"]["replaced"]] == ["walnuts"]
    assert sorted(values(agent, who)) == sorted([(denial, "Walnuts"), (predicate, "peanuts")])
    assert len(values(agent, f"{who} too")) == 2
    # What is not said ends nothing; what nobody holds neither.
    assert say(agent, who, denial, "nuts of any kind")["reason"] is None
    again = say(agent, who, predicate, "walnuts")
    assert [each["value"] for each in again["detail"]["replaced"]] == ["Walnuts"]
    agent.execute(again["detail"]["undo"])
    assert (denial, "Walnuts") in values(agent, who)


@pytest.mark.parametrize(("predicate", "denial"), INSIDE)
def test_a_denial_inside_a_value_ends_that_value_alone(
    shared_world: World, predicate: str, denial: str
) -> None:
    """By the words that a declared denial adds to its predicate, before or behind. Proves: D5."""
    agent, who = shared_world.agent(HOME), f"Ana {uuid4().hex[:8]}"
    for value in ("rum", "gin"):
        say(agent, who, predicate, value)
    assert say(agent, who, predicate, f"{denial} dark rum")["reason"] is None
    denied = say(agent, who, predicate, f"{denial} Rum")
    assert (denied["outcome"], denied["reason"]) == ("COMMITTED", "REPLACED")
    assert [each["value"] for each in denied["detail"]["replaced"]] == ["rum"]
    assert (predicate, "gin") in values(agent, who)
    again = say(agent, who, predicate, "rum")
    assert [each["value"] for each in again["detail"]["replaced"]] == [f"{denial} Rum"]


@pytest.mark.parametrize(("predicate", "sentence"), SENTENCES)
def test_a_sentence_that_denies_ends_that_value_alone(
    shared_world: World, predicate: str, sentence: str
) -> None:
    """Where it is the subject, a declared denial and the value, to the letter. Proves: D5."""
    agent, who = shared_world.agent(HOME), f"Zora{uuid4().hex[:8]}"
    for value in ("walnuts", "peanuts"):
        say(agent, who, predicate, value)
    for wrong in (
        *(f"{who} too", f"If {who}", f"Bo says that {who}", f"{who}'s sister", "Bo"),
        *(f"Perhaps {who}", f"I dreamed that {who}", f"It is not true that {who}"),
    ):
        answer = write(agent, "semantic", sentence.format(wrong, "walnuts"), subject=wrong)
        assert answer["reason"] is None, wrong
    for value in ("walnuts and figs", "walnuts at night", "walnut oil", "walnuts?", "7 walnuts"):
        answer = write(agent, "semantic", sentence.format(who, value), subject=who)
        assert answer["reason"] is None, value
    answer = write(agent, "semantic", sentence.format(who, "walnuts"), subject=who)
    assert [each["value"] for each in answer["detail"]["replaced"]] == ["walnuts"]
    assert (predicate, "peanuts") in values(agent, who)
    agent.execute(answer["detail"]["undo"])
    assert (predicate, "walnuts") in values(agent, who)


def test_a_sentence_without_a_subject_of_its_own_denies_too(shared_world: World) -> None:
    """Alone, or as one of a batch. Proves: D5."""
    agent, who = shared_world.agent(HOME), f"Zora{uuid4().hex[:8]}"
    for value in ("walnuts", "peanuts", "soy"):
        say(agent, who, "allergic to", value)
    assert write(agent, "semantic", f"{who} is no longer allergic to soy.")["reason"] == "REPLACED"
    said = [f"{who} is no longer allergic to {nut}." for nut in ("figs", "walnuts")]
    requests = [{"layer": "semantic", "content": words} for words in said]
    rows = agent.execute(
        "SELECT reason FROM memwarden.write_many(%s) ORDER BY ordinal", (json.dumps(requests),)
    ).fetchall()
    assert [row["reason"] for row in rows] == [None, "REPLACED"]
    assert values(agent, who) == [("allergic to", "peanuts")]


@pytest.mark.parametrize("predicate", ["likes", "allergic to", "spricht"])
def test_several_values_contradict_none(world: World, predicate: str) -> None:
    """Neither is marked, whoever wrote the first. Proves: D5."""
    ana, bo = world.agent(HOME), world.agent(HOME)
    say(ana, "Eve", predicate, "5 walnuts")
    for agent, value in ((ana, "3 walnuts"), (ana, "peanuts"), (bo, "cashews"), (bo, "gin")):
        assert say(agent, "Eve", predicate, value)["outcome"] == "COMMITTED"
    found = ana.execute("SELECT contradicted FROM memwarden.items").fetchall()
    assert [row["contradicted"] for row in found] == [False] * 5


def test_a_denial_of_somebody_elses_memory_is_for_the_policy(world: World) -> None:
    """It ends nothing of another's where the layer lets people decide. Proves: D5."""
    world.admin.execute(
        "SELECT memwarden.configure_layer('semantic', %s)", (Jsonb({"conflict": "review"}),)
    )
    ana, bo = world.agent(HOME), world.agent(HOME)
    say(ana, "Eve", "likes", "tea")
    answer = say(bo, "Eve", "no longer likes", "tea")
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "CONTRADICTION")
    assert values(ana, "Eve") == [("likes", "tea")]


def test_an_organisations_own_definition_wins(world: World) -> None:
    """Of its own memories; a row that leaves it open leaves it as shipped. Proves: D5."""
    acme, umbrella = world.agent("/org/acme"), world.agent("/org/umbrella")
    world.admin.execute("SELECT memwarden.define_predicate('uses', 'new_version', 'acme')")
    world.admin.execute("SELECT memwarden.define_predicate('knows', NULL, 'acme', 'knows')")
    for agent in (acme, umbrella):
        for tool in ("Slack", "Teams"):
            say(agent, "Ana", "uses", tool)
            say(agent, "Ana", "knows", tool)
    assert values(acme, "Ana") == [("knows", "Slack"), ("knows", "Teams"), ("uses", "Teams")]
    assert len(values(umbrella, "Ana")) == 4
    # Its own denials too.
    world.admin.execute(
        "SELECT memwarden.define_predicate('gave up', 'accumulate', 'acme', ends => '{knows}')"
    )
    assert say(acme, "Ana", "gave up", "Slack")["reason"] == "REPLACED"
    assert say(umbrella, "Ana", "gave up", "Slack")["reason"] is None


def test_an_administrator_sees_and_changes_them(world: World) -> None:
    """They are rows of the view, under the organisation global. Proves: D5."""
    admin, agent = world.connect(world.role("memwarden_admin")), world.agent(HOME)
    found = agent.execute(
        "SELECT org, predicate, same_key, ends FROM memwarden.predicates"
        " WHERE predicate IN ('likes', 'no longer likes') ORDER BY predicate"
    ).fetchall()
    assert [tuple(row.values()) for row in found] == [
        ("global", "likes", "accumulate", []),
        ("global", "no longer likes", "accumulate", ["likes"]),
    ]
    admin.execute("SELECT memwarden.define_predicate('likes', 'new_version')")
    say(agent, "Ana", "likes", "tea")
    assert say(agent, "Ana", "likes", "gin")["reason"] == "REPLACED"
    # Another setup() changes nothing of it.
    world.admin.execute("SELECT memwarden.setup()")
    assert say(agent, "Ana", "likes", "rum")["reason"] == "REPLACED"
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        admin.execute("SELECT memwarden.define_predicate('likes', ends => '{likes}')")


def test_shipped_names_are_as_they_are_looked_up(shared_world: World) -> None:
    """Else a definition of the same predicate would be another row. Proves: D5."""
    odd = shared_world.rows(
        "SELECT predicate FROM memwarden_data.predicate AS p"
        " WHERE predicate <> memwarden_internal.predicate_name(predicate) OR EXISTS ("
        "       SELECT FROM unnest(p.ends) AS e WHERE e NOT IN ("
        "              SELECT o.predicate FROM memwarden_data.predicate AS o WHERE o.org_id = 0))"
    )
    assert odd == []


def test_in_a_store_as_init_leaves_it_both_allergies_stay(world: World) -> None:
    """They are two memories; nothing says replaced. Proves: D5."""
    with as_init_leaves_it(world) as store:
        for what in ("walnuts", "peanuts"):
            evidence = [store.heard("Petra", f"I am allergic to {what}.")]
            say(store.agent, "Petra", "allergic to", what, evidence=evidence)
        found = store.agent.execute(
            "SELECT content, status FROM memwarden.items WHERE subject = 'Petra'"
        ).fetchall()
        told = store.agent.execute("SELECT outcome, reason FROM memwarden.requests").fetchall()
    assert sorted(row["content"] for row in found) == ["peanuts", "walnuts"]
    assert {tuple(row.values()) for row in told} == {("COMMITTED", None)}
