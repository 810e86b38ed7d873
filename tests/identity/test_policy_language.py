"""What policy conditions mean: compiled by the server's own Python, judged by PostgreSQL."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from conftest import World
from memwarden_core.policy.condition import PolicyError, compile_condition
from policy_conditions import (
    JUNK,
    KNOWN,
    LEVELS,
    Condition,
    Document,
    conditions,
    documents,
    quoted,
    soups,
)

TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20
) | st.text("\\'\"aux04{$%", max_size=8)
RANDOM: Any = {
    "deadline": None,
    "database": None,
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
}


def truths(world: World, condition: str, found: list[Any]) -> list[bool | None]:
    """Whether the condition holds on each of the documents; the server compiles and decides."""
    return world.value(  # type: ignore[no-any-return]
        "SELECT array(SELECT d::jsonb @@ c.compiled::jsonpath"
        "               FROM unnest(%s::text[]) WITH ORDINALITY AS u (d, n) ORDER BY n)"
        "  FROM memwarden_internal.compile_policy(%s, %s, %s) AS c",
        [json.dumps(document) for document in found],
        condition,
        json.dumps(KNOWN),
        json.dumps(LEVELS),
    )


def document(
    agent: Document | None = None, item: Document | None = None, operation: str = "READ"
) -> Document:
    """A document to judge."""
    return {"agent": agent or {}, "item": item or {}, "operation": operation}


MEDIC = document(
    {"name": "ana", "team": "care", "grade": 7, "validated": True, "clearance": 2}
    | {"domains": ["medical", "legal"]},
    {"tag": "medical", "score": 7, "own": False, "classification": 1, "domains": ["medical"]},
    "WRITE",
)


@pytest.mark.parametrize(
    ("condition", "medic", "nobody"),
    [
        ("TRUE", True, True),
        ("FALSE", False, False),
        ("agent.name = 'ana'", True, False),
        ("agent.name = \"ana\" AND item.tag = 'medical' AND operation = WRITE", True, False),
        ("agent.name <> 'ana'", False, True),
        ("NOT agent.name = 'ana'", False, True),
        ("agent.name != 'bob'", True, True),
        ("agent.name = agent.team", False, False),
        ("agent.name <> agent.team", True, True),
        ("agent.grade = item.score", True, False),
        ("agent.grade <= 7.0 AND 6.5 < agent.grade", True, False),
        ("agent.grade < 7 OR agent.grade > 7", False, False),
        ("NOT agent.grade < 7", True, True),
        ("agent.grade BETWEEN 7 AND 8", True, False),
        ("agent.grade NOT BETWEEN 1 AND 6", True, True),
        ("agent.grade BETWEEN 8 AND 7", False, False),
        ("agent.validated", True, False),
        ("NOT item.own", True, True),
        ("item.own = FALSE", True, False),
        ("agent.validated = item.own", False, False),
        ("item.classification <= agent.clearance", True, False),
        ("item.classification >= 'confidential'", False, False),
        ("'internal' < agent.clearance", True, False),
        ("item.classification BETWEEN 'public' AND 'internal'", True, False),
        ("item.classification IN ('internal', 'restricted')", True, False),
        ("agent.name IN ('bob', 'ana')", True, False),
        ("agent.name NOT IN ('bob', 'ana')", False, True),
        ("agent.name IS NULL", False, True),
        ("agent.domains IS NOT NULL", True, False),
        ("agent.name LIKE 'an%'", True, False),
        ("agent.name LIKE '%'", True, False),
        ("agent.name NOT LIKE 'b%'", True, True),
        ("'medical' = ANY(item.domains)", True, False),
        ("NOT 'finance' = ANY(item.domains)", True, True),
        ("item.tag = ANY(agent.domains)", True, False),
        ("item.tag IN agent.domains", True, False),
        ("'legal' NOT IN item.domains", True, True),
        ("operation IN (WRITE, 'DELETE')", True, False),
        ("operation <> 'READ'", True, False),
        ("FALSE AND FALSE OR TRUE", True, True),
        ("FALSE AND (FALSE OR TRUE)", False, False),
        ("NOT FALSE AND FALSE", False, False),
        ("NOT (FALSE AND FALSE)", True, True),
        ("NOT agent.name = 'bob' AND agent.name = 'bob'", False, False),
    ],
)
def test_what_a_condition_says(
    shared_world: World, condition: str, medic: bool, nobody: bool
) -> None:
    """On a document with every attribute, and on one without any. Proves: A2."""
    assert truths(shared_world, condition, [MEDIC, document()]) == [medic, nobody]


@pytest.mark.parametrize(
    ("condition", "agent"),
    [
        ("agent.name = 'a'", {"name": ["a"]}),
        ("agent.name = 'a' OR agent.name <> 'a' AND FALSE", {"name": 5}),
        ("agent.name = agent.team", {"name": None, "team": None}),
        ("agent.name LIKE '%'", {"name": ["a"]}),
        ("agent.name IN ('a', 'b')", {"name": {"a": "a"}}),
        ("agent.grade = 1", {"grade": [1]}),
        ("agent.grade < 1", {"grade": "0"}),
        ("agent.validated", {"validated": "true"}),
        ("agent.validated = agent.validated", {"validated": 1}),
        ("'a' = ANY(agent.domains)", {"domains": "a"}),
        ("'a' = ANY(agent.domains)", {"domains": [["a"]]}),
        ("'a' = ANY(agent.domains)", {"domains": ["a", 1]}),
        ("'a' = ANY(agent.domains)", {"domains": []}),
        ("agent.name = ANY(agent.domains)", {"name": ["a"], "domains": ["a"]}),
        ("agent.domains IS NULL", {"domains": []}),
        ("agent.domains IS NULL", {"domains": [None]}),
    ],
)
def test_a_value_of_another_type_equals_nothing(
    shared_world: World, condition: str, agent: Document
) -> None:
    """Neither an array's members nor a null speak for the attribute. Proves: A2."""
    found = [document(agent)]
    assert truths(shared_world, condition, found) == [False]
    assert truths(shared_world, f"NOT ({condition})", found) == [True]


@settings(max_examples=300, **RANDOM)
@given(conditions, st.lists(documents(), min_size=8, max_size=16))
def test_conditions_hold_where_they_say(
    shared_world: World, condition: Condition, found: list[Document]
) -> None:
    """Random conditions and documents against an evaluator of their own. Proves: A2."""
    expected = [condition.holds(each) for each in found]
    assert truths(shared_world, condition.text, found) == expected


@settings(max_examples=100, **RANDOM)
@given(conditions, st.lists(JUNK | st.fixed_dictionaries({"agent": JUNK, "item": JUNK})))
def test_no_document_whatsoever_leaves_a_condition_undecided(
    shared_world: World, condition: Condition, found: list[Any]
) -> None:
    """Proves: A2."""
    assert None not in truths(shared_world, condition.text, found)


@settings(max_examples=100, **RANDOM)
@given(TEXT, TEXT, st.sampled_from("'\""))
@example("\\", '"', "'")
@example('" || 1 == 1 || "', "", "'")
@example("\\u0041\\x41\\n${", "A", '"')
@example("\U0001d11e", "\ufffd", "'")
def test_a_string_means_itself(shared_world: World, text: str, other: str, mark: str) -> None:
    """No text gets out of its quotes, none is changed. Proves: A2."""
    condition = f"agent.name = {quoted(text, mark)}"
    try:
        compile_condition(condition, KNOWN, LEVELS)
    except PolicyError:
        return  # control characters
    found = [document({"name": text}), document({"name": other}), document()]
    assert truths(shared_world, condition, found) == [True, text == other, False]


@settings(max_examples=300, **RANDOM)
@given(soups)
@example("(" * 50 + "TRUE" + ")" * 50)
@example("NOT " * 50 + "TRUE")
@example("TRUE OR " * 249 + "FALSE")
@example(f"agent.grade < {'9' * 1_900}")
@example(f"agent.grade IN ({', '.join(['1'] * 600)})")
def test_whatever_compiles_is_jsonpath(shared_world: World, text: str) -> None:
    """The server's parser, of whichever release, agrees with the one here. Proves: A2."""
    try:
        expected, position = compile_condition(text, KNOWN, LEVELS), None
    except PolicyError as error:
        expected, position = None, error.position
    row = shared_world.rows(
        "SELECT c.compiled, c.at_offset, '{}' @@ c.compiled::jsonpath AS holds"
        "  FROM memwarden_internal.compile_policy(%s, %s, %s) AS c",
        text,
        json.dumps(KNOWN),
        json.dumps(LEVELS),
    )[0]
    assert (row["compiled"], row["at_offset"]) == (expected, position)
    assert (row["holds"] is None) == (expected is None)
