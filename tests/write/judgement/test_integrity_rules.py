"""Rules that an organisation lays down: of a memory alone, and of two of one subject."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import call, curator, refusal, state
from helpers import write
from races import together
from write.judgement.test_constraint_graph import HOME, answer, configure, define, say

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]


def rule(world: World, name: str, condition: str, **more: Any) -> None:
    """Lay down a rule for everybody."""
    call(world.admin, "define_integrity_rule", name=name, condition=condition, **more)


@pytest.mark.parametrize(
    ("condition", "kept", "broken"),
    [
        ("memory.content.amount >= 0", {"amount": 0}, {"amount": -1}),
        ("memory.content.amount >= 0", {"other": -1}, {"amount": "lots"}),
        ("memory.content.amount >= 0", ["amount", -1], {"amount": [1]}),
        (
            "memory.content.start <= memory.content.end",
            {"start": "2024-02-01", "end": "2024-02-01T10:00:00Z"},
            {"start": "2024-02-02", "end": "2024-02-01"},
        ),
        (
            "memory.content.start <= memory.content.end",
            {"start": 9, "end": 10},
            {"start": "soon", "end": "later"},
        ),
        ("memory.content.a <> memory.content.b", {"a": "x", "b": "y"}, {"a": "x", "b": "x"}),
        ("memory.content.state IN ('open', 'done')", {"state": "open"}, {"state": "ajar"}),
        ("memory.content.price.net BETWEEN 1 AND 3", {"price": {"net": 3}}, {"price": {"net": 4}}),
        ("'eu' = ANY(memory.content.regions)", {"regions": ["us", "eu"]}, {"regions": ["us"]}),
        ("memory.content.id LIKE 'A-%'", {"id": "A-1"}, {"id": "B-1"}),
        ("memory.confidence < 0.9 OR memory.content.sure = true", {"sure": True}, {"sure": False}),
        (
            "NOT (memory.content.end IS NULL AND memory.content.open = false)",
            {"open": True},
            {"open": False},
        ),
        (
            "memory.content.day >= '2020-01-01'",
            {"day": "2020-01-01"},
            {"day": "2019-12-31T23:59:59Z"},
        ),
    ],
)
def test_a_rule_of_one_memory(world: World, condition: str, kept: Any, broken: Any) -> None:
    """What is not there breaks no rule; what cannot be compared does.

    Proves: V4
    """
    rule(world, "sound", condition)
    agent = world.agent(HOME)
    assert answer(write(agent, "episodic", kept, confidence=0.95)) == ("COMMITTED", None)
    said = write(agent, "episodic", broken, confidence=0.95)
    assert answer(said) == ("REJECTED", "INTEGRITY_VIOLATION")
    assert said["detail"]["rules"] == ["sound"]
    [found] = said["detail"]["contradicts"]
    assert (found["method"], found["rule"], found["item_id"]) == ("integrity", "sound", None)


def test_every_broken_rule_is_named(world: World) -> None:
    """Also where they differ in what is to be done: what refuses comes before what waits.

    Proves: V4
    """
    rule(world, "b", "memory.content.n > 1", action="review")
    rule(world, "a", "memory.content.n > 2")
    agent = world.agent(HOME)
    said = write(agent, "semantic", {"n": 1})
    assert (*answer(said), said["detail"]["rules"]) == (
        "REJECTED",
        "INTEGRITY_VIOLATION",
        ["a", "b"],
    )
    call(world.admin, "drop_integrity_rule", name="a")
    said = write(agent, "semantic", {"n": 1, "again": True})
    assert (*answer(said), said["detail"]["rules"]) == ("DEFERRED", "INTEGRITY_REVIEW", ["b"])


def test_a_rule_concerns_its_layer_predicate_and_organisation(world: World) -> None:
    """Proves: V4."""
    acme, umbrella = world.agent(HOME), world.agent("/org/umbrella/user/bo")
    rule(world, "n", "memory.content.n > 1", layer="semantic", predicate="weighs", org="acme")
    low: dict[str, Any] = {"content": {"n": 0}, "subject": "ana", "predicate": "Weighs"}
    assert write(acme, "semantic", **low)["outcome"] == "REJECTED"
    assert write(acme, "semantic", **(low | {"predicate": "is"}))["outcome"] == "COMMITTED"
    assert write(acme, "durable", **low)["outcome"] == "COMMITTED"
    assert write(acme, "session", **low)["outcome"] == "COMMITTED"
    assert write(umbrella, "semantic", **low)["outcome"] == "COMMITTED"


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("layer", ["semantic", "episodic"])
def test_a_rule_of_two_holds_whichever_comes_last(world: World, layer: str, swapped: bool) -> None:
    """In a layer where a fact has one value, and in one where it has several.

    Proves: V4
    """
    rule(
        world,
        "no work after death",
        "memory.content.until <= other.content",
        predicate="works at",
        against="died on",
    )
    facts = [("works at", {"until": "2020-06-01"}), ("died on", "2019-01-01")]
    first, second = reversed(facts) if swapped else facts
    there = write(world.agent(HOME), layer, first[1], subject="ana", predicate=first[0])
    said = write(world.agent(HOME), layer, second[1], subject="Ana", predicate=second[0])
    assert answer(said) == ("REJECTED", "INTEGRITY_VIOLATION")
    [found] = said["detail"]["contradicts"]
    assert (found["item_id"], found["rule"]) == (str(there["item_id"]), "no work after death")
    for subject, scope in [("bo", HOME), ("ana", "/org/acme/user/bo")]:
        said = write(world.agent(scope), layer, second[1], subject=subject, predicate=second[0])
        assert answer(said) == ("COMMITTED", None)


def test_the_order_of_two_events(world: World) -> None:
    """Dates in the content, and times from when on a fact holds; the same day is in order.

    Proves: V4
    """
    call(
        world.admin,
        "order_predicates",
        earlier="born on",
        later="died on",
        earlier_at="content",
        later_at="content.day",
    )
    call(world.admin, "order_predicates", earlier="hired", later="left", action="review")
    one, other = world.agent(HOME), world.agent(HOME)
    say(one, "ana", "died on", {"day": "2001-02-03"})
    said = say(other, "ana", "born on", "2001-02-04")
    assert answer(said) == ("REJECTED", "INTEGRITY_VIOLATION")
    assert said["detail"]["contradicts"][0]["method"] == "temporal"
    assert said["detail"]["rules"] == ["born on before died on"]
    assert answer(say(other, "ana", "born on", "2001-02-03")) == ("COMMITTED", None)
    say(one, "ana", "hired", True, valid_from="2020-01-01")
    assert answer(say(other, "ana", "left", True, valid_from="2019-01-01")) == (
        "DEFERRED",
        "INTEGRITY_REVIEW",
    )
    assert answer(say(one, "ana", "left", True, valid_from="2021-01-01")) == ("COMMITTED", None)


def test_the_time_zone_of_the_writer_changes_nothing(world: World) -> None:
    """A date is midnight in UTC, wherever the session is.

    Proves: V4
    """
    rule(world, "order", "memory.content.a <= memory.content.b")
    agent = world.agent(HOME)
    for zone in ("Pacific/Kiritimati", "Pacific/Honolulu", "UTC"):
        agent.execute(f"SET timezone = '{zone}'")
        fine = {"a": "2024-01-01", "b": "2024-01-01T00:30:00Z", "zone": zone}
        assert write(agent, "semantic", fine)["outcome"] == "COMMITTED"
        wrong = {"a": "2024-01-01T00:30:00Z", "b": "2024-01-01", "zone": zone}
        assert write(agent, "semantic", wrong)["outcome"] == "REJECTED"


def test_what_the_writer_may_not_read_breaks_no_rule(world: World) -> None:
    """Its refusal would tell of it.

    Proves: V5, A3
    """
    rule(world, "once", "memory.content <> other.content", predicate="sits at", against="sits at")
    chief = world.agent(HOME, clearance="restricted")
    clerk = world.agent(HOME, clearance="internal")
    define(world, "sits at", same_key="accumulate")
    say(chief, "ana", "sits at", {"n": 1}, classification="restricted")
    assert answer(say(clerk, "ana", "sits at", {"n": 1.0})) == ("COMMITTED", None)


def test_of_two_that_break_a_rule_together_one_stands(world: World) -> None:
    """Written at once by two agents, however often.

    Proves: V4
    """
    rule(world, "r", "memory.content < other.content", predicate="low", against="high")
    patient = "-c lock_timeout=2min"
    agents = [world.connect(world.register(HOME), options=patient) for _ in range(16)]
    facts = [(f"s{n // 2}", "low" if n % 2 else "high", 5) for n in range(16)]
    actions = [partial(say, a, *fact) for a, fact in zip(agents, facts, strict=True)]
    answers = sorted(str(answer(row)) for row in together(actions))
    assert len(answers) == 16
    assert answers[:8] == [str(("COMMITTED", None))] * 8
    assert answers[8:] == [str(("REJECTED", "INTEGRITY_VIOLATION"))] * 8


def test_a_preview_shows_what_would_break_it_and_changes_nothing(world: World) -> None:
    """Ids and places of memories alone and of pairs, and nothing of what they say.

    Proves: V4
    """
    agent = world.agent(HOME)
    bad = write(agent, "semantic", {"n": -1})
    write(agent, "semantic", {"n": 1})
    [row] = call(world.admin, "preview_integrity_rule", condition="memory.content.n > 0")
    assert (row["item_id"], row["scope"], row["item_layer"]) == (bad["item_id"], HOME, "semantic")
    born = say(agent, "ana", "born on", "2001-02-04")
    died = say(agent, "ana", "died on", "2001-02-03")
    say(agent, "bo", "died on", "2001-02-03")
    pair: dict[str, Any] = {"predicate": "born on", "against": "died on"}
    found = call(
        world.admin, "preview_integrity_rule", condition="memory.content <= other.content", **pair
    )
    assert [(r["item_id"], r["other_item_id"]) for r in found] == [
        (born["item_id"], died["item_id"])
    ]
    assert world.value("SELECT count(*) FROM memwarden_data.integrity_rule") == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"condition": "pg_sleep(10) IS NULL"}, "42601"),
        ({"condition": "memory.content.n > 1; DROP TABLE x"}, "42601"),
        ({"condition": "memory.content.n > other.content.n"}, "42601"),
        ({"condition": "memory.words = 'x'"}, "42601"),
        ({"condition": "memory.subject > 'x'"}, "42601"),
        ({"condition": "1 = 1"}, "42601"),
        ({"condition": ""}, "42601"),
        ({"condition": "memory.content.n > 1", "predicate": "a", "against": "b"}, "42601"),
        ({"condition": "memory.content.n > 1", "against": "b"}, "22023"),
        ({"condition": "memory.content.n > 1", "action": "shrug"}, "22023"),
        ({"condition": "memory.content.n > 1", "layer": "nowhere"}, "42704"),
        ({"condition": "memory.content.n > 1", "org": "nobody"}, "42704"),
    ],
)
def test_what_is_no_rule_is_refused(world: World, arguments: dict[str, Any], code: str) -> None:
    """With the state that the reference names. Proves: V4."""
    assert state(world.admin, "define_integrity_rule", name="r", **arguments) == code


def test_who_administers_an_organisation_lays_down_its_rules(world: World) -> None:
    """And nobody else; what it did is on record.

    Proves: V4, Z1
    """
    chief = curator(world, "/org/acme")
    call(chief, "define_integrity_rule", name="n", condition="memory.content.n > 0")
    call(chief, "order_predicates", earlier="a", later="b")
    [row] = world.rows("SELECT DISTINCT org_id > 0 AS own FROM memwarden_data.integrity_rule")
    assert row["own"]
    wrong = refusal(
        chief, "define_integrity_rule", name="n", condition="memory.content.n > 0", org="global"
    )
    assert wrong.sqlstate in ("42501", "42704")
    call(chief, "drop_integrity_rule", name="n")
    assert state(chief, "drop_integrity_rule", name="n") == "42704"
    actions = world.rows("SELECT action FROM memwarden_data.access_log ORDER BY entry_id")
    assert [row["action"] for row in actions][-3:] == [
        "define_integrity_rule",
        "order_predicates",
        "drop_integrity_rule",
    ]
    seen = call_view(world.agent(HOME))
    assert seen == ["a before b"]
    assert call_view(world.agent("/org/umbrella/user/bo")) == []


def call_view(agent: Agent) -> list[str]:
    """The names of the rules that an agent is told of."""
    rows = agent.execute("SELECT name FROM memwarden.integrity_rules ORDER BY name").fetchall()
    return [row["name"] for row in rows]


def test_the_report_names_the_rule_beside_what_else_contradicts(world: World) -> None:
    """Proves: V5."""
    configure(world, conflict="review")
    define(world, "manager of", same_key="accumulate", inverse="managed by")
    rule(world, "r", "memory.confidence > 0.5", action="review", predicate="manager of")
    say(world.agent(HOME), "carol", "manager of", "bob", confidence=0.6)
    said = say(world.agent(HOME), "alice", "manager of", "bob", confidence=0.4)
    assert answer(said) == ("DEFERRED", "INTEGRITY_REVIEW")
    assert sorted(c["method"] for c in said["detail"]["contradicts"]) == [
        "constraint_graph",
        "integrity",
    ]
