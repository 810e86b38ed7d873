"""What contents of a kind look like is registered per layer, and checked on every write."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write, write_many
from model.memory.definitions import define
from races import together

if TYPE_CHECKING:
    from conftest import World

TRIP: dict[str, Any] = {
    "type": "object",
    "required": ["to", "days"],
    "properties": {
        "to": {"type": "string", "minLength": 2, "pattern": "^[A-Z]"},
        "days": {"type": "integer", "minimum": 1, "maximum": 60},
        "by": {"enum": ["train", "ship"]},
        "stops": {"type": "array", "items": {"$ref": "#/$defs/stop"}, "maxItems": 2},
        "when": {"type": "string", "format": "date"},
    },
    "dependentRequired": {"stops": ["when"]},
    "additionalProperties": False,
    "$defs": {"stop": {"type": "string"}},
}
GOOD = {"to": "Rome", "days": 3, "by": "train", "stops": ["Pisa"], "when": "2025-05-01"}


def errors(answer: DictRow) -> list[tuple[str, str]]:
    """(code, path) of every violation."""
    return [(error["code"], error["path"]) for error in answer["detail"]["errors"]]


def test_content_is_checked_and_every_violation_told_at_once(
    agent: Connection[DictRow], admin: Connection[DictRow], kind: str
) -> None:
    """Types, enumerations, ranges, patterns, cardinality, missing and unknown fields, arguments.

    Proves: V1
    """
    define(admin, kind, TRIP)
    assert write(agent, "semantic", GOOD, kind=kind)["outcome"] == "COMMITTED"
    bad = {"to": "x", "by": "rocket", "stops": ["a", 2, "c"], "pin": "hunter2"}
    answer = write(agent, "semantic", bad, kind=kind, confidence=7, subject=" ", ttl="-1 day")
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "MULTIPLE_VIOLATIONS")
    assert sorted(errors(answer)) == [
        ("CONFIDENCE_OUT_OF_RANGE", "confidence"),
        ("SCHEMA_VIOLATION", "content"),
        ("SCHEMA_VIOLATION", "content.by"),
        ("SCHEMA_VIOLATION", "content.days"),
        ("SCHEMA_VIOLATION", "content.stops"),
        ("SCHEMA_VIOLATION", "content.stops.*"),
        ("SCHEMA_VIOLATION", "content.to"),
        ("SCHEMA_VIOLATION", "content.to"),
        ("SCHEMA_VIOLATION", "content.when"),
        ("SUBJECT_INVALID", "subject"),
        ("TTL_OUT_OF_RANGE", "ttl"),
    ]
    assert "rocket" not in json.dumps(answer["detail"])
    assert "hunter2" not in json.dumps(answer["detail"])


@pytest.mark.parametrize("days", [1, 60, 3.0])
def test_the_bounds_of_a_range_belong_to_it(
    agent: Connection[DictRow], admin: Connection[DictRow], kind: str, days: float
) -> None:
    """And 3.0 is an integer, as JSON Schema says.

    Proves: V1
    """
    define(admin, kind, TRIP)
    answer = write(agent, "semantic", {"to": f"Rome {kind}", "days": days}, kind=kind)
    assert answer["outcome"] == "COMMITTED"


def test_a_new_definition_is_a_new_version_and_judges_from_then_on(
    shared_world: World, agent: Connection[DictRow], admin: Connection[DictRow], kind: str
) -> None:
    """The versions before are kept, and each item names the one that judged it.

    Proves: V1
    """
    answers = []
    for maximum in (1, 2, 3):
        assert define(admin, kind, {"properties": {"n": {"maximum": maximum}}}) == maximum
        answers.append(write(agent, "semantic", {"n": maximum, "of": kind}, kind=kind))
        refused = write(agent, "semantic", {"n": maximum + 1, "of": kind}, kind=kind)
        assert refused["reason"] == "SCHEMA_VIOLATION"
    judged = [
        shared_world.value(
            "SELECT s.version FROM memwarden_data.version AS v"
            "  JOIN memwarden_data.content_schema AS s USING (schema_id) WHERE v.version_id = %s",
            answer["version_id"],
        )
        for answer in answers
    ]
    assert judged == [1, 2, 3]
    kept = shared_world.rows(
        "SELECT version, current FROM memwarden_data.content_schema"
        " WHERE kind = %s ORDER BY version",
        kind,
    )
    assert [(row["version"], row["current"]) for row in kept] == [(1, False), (2, False), (3, True)]


def test_definitions_at_the_same_moment_are_consecutive_versions(
    shared_world: World, kind: str
) -> None:
    """Eight administrators at once: eight versions, the last of them current.

    Proves: V1
    """
    roles = [shared_world.role("memwarden_admin") for _ in range(8)]
    admins = [shared_world.connect(role) for role in roles]
    versions = together([lambda a=a: define(a, kind, {}) for a in admins])  # type: ignore[misc]
    assert sorted(versions) == list(range(1, 9))
    current = "SELECT version FROM memwarden_data.content_schema WHERE kind = %s AND current"
    assert [row["version"] for row in shared_world.rows(current, kind)] == [8]


def test_a_schema_speaks_for_its_layer_and_kind_only(
    agent: Connection[DictRow], admin: Connection[DictRow], kind: str
) -> None:
    """Another layer does not know the kind; a write without a kind is not judged by it.

    Proves: V1
    """
    define(admin, kind, {"required": ["n"]})
    assert write(agent, "durable", {"x": kind}, kind=kind)["reason"] == "UNKNOWN_KIND"
    assert write(agent, "semantic", {"x": kind}, kind=kind)["reason"] == "SCHEMA_VIOLATION"
    assert write(agent, "semantic", {"x": kind})["outcome"] == "COMMITTED"


def test_the_kind_default_speaks_for_writes_that_name_none(world: World) -> None:
    """An item written without a kind still names the schema that judged it.

    Proves: V1
    """
    agent = world.agent()
    define(world.admin, "default", {"required": ["n"]})
    assert write(agent, "semantic", {"x": 1})["reason"] == "SCHEMA_VIOLATION"
    assert write(agent, "episodic", {"x": 1})["outcome"] == "COMMITTED"
    write(agent, "semantic", {"n": 1})
    judged = "SELECT kind, schema_id FROM memwarden_data.version WHERE layer = 'semantic'"
    assert [(r["kind"], r["schema_id"] is not None) for r in world.rows(judged)] == [(None, True)]


def test_an_organisation_may_define_its_own(
    shared_world: World, agent: Connection[DictRow], admin: Connection[DictRow], kind: str
) -> None:
    """It outranks the one for all, whichever came first; other organisations keep theirs.

    Proves: V1
    """
    elsewhere = shared_world.agent(f"/org/{uuid.uuid4().hex[:12]}")
    define(admin, kind, {"required": ["own"]}, org="shared")
    assert write(elsewhere, "semantic", {"x": kind}, kind=kind)["reason"] == "UNKNOWN_KIND"
    define(admin, kind, {"required": ["all"]})
    for writer, asked in ((agent, "own"), (elsewhere, "all")):
        refused = write(writer, "semantic", {"x": kind}, kind=kind)
        assert errors(refused) == [("SCHEMA_VIOLATION", f"content.{asked}")]
        assert write(writer, "semantic", {asked: kind}, kind=kind)["outcome"] == "COMMITTED"


def test_a_schema_may_ask_for_embeddings_of_one_dimension(
    shared_world: World, agent: Connection[DictRow], admin: Connection[DictRow], kind: str
) -> None:
    """It concerns the caller's vectors, with or without a model's name, not the server's own.

    Proves: V1
    """
    shared_world.admin.execute("SELECT memwarden.register_embedding_model(%s, 2)", (kind,))
    define(admin, kind, {}, embedding_dimension=2)
    common = {"layer": "semantic", "kind": kind}
    given: list[dict[str, Any]] = [
        {"content": "a", "embedding": [1.0, 2.0], "embedding_model": kind},
        {"content": "b"},
        {"content": "c", "embedding": [1.0] * 384, "embedding_model": "default"},
        {"content": "d", "embedding": [1.0] * 384},
        {"content": "e", "embedding": [1.0, 2.0]},
    ]
    answers = write_many(agent, [common | request for request in given])
    assert [answer["reason"] for answer in answers] == [None, None] + ["EMBEDDING_DIMENSION"] * 3


def test_constraints_hold_between_fields(
    agent: Connection[DictRow], admin: Connection[DictRow], kind: str
) -> None:
    """Every comparison, with a field or a value; each broken one is named, absent fields hold.

    Proves: V1
    """
    rules = [
        {
            "id": "order",
            "description": "from before to",
            "left": "/from",
            "op": "<",
            "right": "/to",
        },
        {"id": "cap", "description": "at most 9", "left": "/to", "op": "<=", "right": {"value": 9}},
        {
            "id": "deep",
            "description": "not none",
            "left": "/a/0/b",
            "op": "<>",
            "right": {"value": "-"},
        },
    ]
    define(admin, kind, {}, constraints=rules)
    assert (
        write(agent, "semantic", {"from": 1, "to": 9, "k": kind}, kind=kind)["outcome"]
        == "COMMITTED"
    )
    assert write(agent, "semantic", {"from": 1, "k": kind}, kind=kind)["outcome"] == "COMMITTED"
    one = write(agent, "semantic", {"from": 2, "to": 1}, kind=kind)
    assert (one["reason"], errors(one)) == (
        "CONSTRAINT_VIOLATION",
        [("CONSTRAINT_VIOLATION", "content.from")],
    )
    assert "order" in one["detail"]["errors"][0]["message"]
    every = write(agent, "semantic", {"from": "x", "to": 11, "a": [{"b": "-"}]}, kind=kind)
    assert len(errors(every)) == 3


def test_a_template_makes_the_text_that_is_searched(
    agent: Connection[DictRow], admin: Connection[DictRow], kind: str
) -> None:
    """Instead of all string values.

    Proves: V1, L6
    """
    define(admin, kind, {}, text_template="{subject} likes {content.drink.name}")
    content = {"drink": {"name": f"tea {kind}"}, "secret": "xyzzy"}
    answer = write(agent, "semantic", content, kind=kind, subject="Ana")
    told = agent.execute("SELECT text FROM memwarden.get(%s)", (answer["item_id"],)).fetchall()
    assert told == [{"text": f"Ana likes tea {kind}"}]
    found = agent.execute(
        "SELECT keyword_score FROM memwarden.recall('xyzzy', kind => %s, threshold => 0)", (kind,)
    ).fetchall()
    assert [row["keyword_score"] for row in found] == [0]
