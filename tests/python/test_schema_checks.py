"""Content is checked against its schema: every violation at once, none of them quoting it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_core.schema.check import SchemaRefused, check_schema, violations
from memwarden_core.schema.quick import accepts
from memwarden_core.violation import Violation

PERSON = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["name", "born"],
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 5, "pattern": "^[A-Z]"},
        "born": {"type": "string", "format": "date"},
        "pets": {"type": "array", "items": {"$ref": "#/$defs/pet"}, "maxItems": 2},
        "mood": {"enum": ["good", "bad"]},
        "age": {"type": ["integer", "null"], "minimum": 0, "exclusiveMaximum": 150},
    },
    "dependentRequired": {"pets": ["mood"]},
    "additionalProperties": False,
    "$defs": {"pet": {"type": "object", "required": ["kind"]}},
}


def found(schema: Mapping[str, object], value: object) -> list[tuple[str, str]]:
    """(path, message) of every violation."""
    result = violations(schema, value)
    assert all(each.code == "SCHEMA_VIOLATION" for each in result)
    return [(each.path, each.message) for each in result]


def test_conforming_content_has_no_violation() -> None:
    """Proves: V1."""
    for content in (
        {"name": "Ana", "born": "1990-02-28"},
        {"name": "Ana", "born": "1990-02-28", "age": 30.0, "mood": "bad", "pets": [{"kind": 1}]},
    ):
        assert found(PERSON, content) == []


def test_every_violation_is_listed_at_once() -> None:
    """Proves: V1."""
    content = {
        "name": "ana maria",
        "pets": [{"kind": "cat"}, {}, 5],
        "age": 150,
        "secret code": "hunter2",
    }
    assert found(PERSON, content) == [
        ("content", "has properties that the schema does not declare"),
        ("content.age", "must be less than 150"),
        ("content.born", "is required"),
        ("content.mood", "is required beside the other properties"),
        ("content.name", "length must be at most 5"),
        ("content.name", 'must match the pattern "^[A-Z]"'),
        ("content.pets", "number of items must be at most 2"),
        ("content.pets.*", "must be of type object"),
        ("content.pets.*.kind", "is required"),
    ]


secrets = st.text("hunter2 xyz", min_size=3).map(lambda text: "S" + text)
nested = st.recursive(
    secrets | st.integers(5_000_000, 2**53 - 1),
    lambda inner: (
        st.lists(inner) | st.dictionaries(secrets | st.sampled_from(["name", "a"]), inner)
    ),
)


@given(nested)
def test_violations_never_quote_the_content(content: object) -> None:
    """Neither values nor property names that came with it. Proves: V1."""
    strict = {
        "type": "null",
        "maxProperties": 0,
        "maxItems": 0,
        "maxLength": 0,
        "maximum": 0,
        "not": {},
        "anyOf": [{"type": "boolean"}],
        "propertyNames": {"maxLength": 2},
        "properties": {"name": {"type": "null"}},
        "additionalProperties": {"type": "null", "additionalProperties": False},
        "items": {"type": "boolean", "enum": [True]},
    }
    listed = violations(strict, content)
    assert listed
    for violation in listed:
        assert set(violation.path.split(".")) <= {"content", "name", "*"}
        assert "S" not in violation.message
        assert "5000000" not in violation.message


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"const": 1}, [1, 1.0], [True, "1", [1]]),
        ({"enum": [0, [False], "a"]}, [0, 0.0, [False], "a"], [False, [0], "A", None]),
        ({"multipleOf": 0.5}, [1.5, 2], [1.2]),
        ({"uniqueItems": True}, [[1, "1", True], [[1], [2]]], [[1, 1.0], [{"a": 1}, {"a": 1.0}]]),
        ({"contains": {"const": 1}, "maxContains": 1}, [[1, 2]], [[2], [1, 1]]),
        ({"prefixItems": [{"type": "string"}], "items": False}, [["a"], []], [[1], ["a", "b"]]),
        ({"oneOf": [{"minimum": 1}, {"maximum": 5}]}, [0, 9], [3]),
        (
            {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
            [{}, {"a": 1, "b": 1}],
            [{"a": 1}],
        ),
        ({"patternProperties": {"^x": {"type": "null"}}}, [{"x": None, "y": 1}], [{"xy": 1}]),
        (
            {"patternProperties": {"^x": True}, "additionalProperties": {"type": "null"}},
            [{"x": 1, "y": None}],
            [{"y": 1}],
        ),
        ({"dependentSchemas": {"a": {"required": ["b"]}}}, [{}, {"a": 1, "b": 1}], [{"a": 1}]),
        ({"pattern": "a$"}, ["ba", 5], ["ab", "a\n"]),
        ({"format": "date-time"}, ["2026-01-02T03:04:05Z"], ["2026-02-30T03:04:05Z", "2026-01-02"]),
        ({"format": "email"}, ["ana.b@example.com"], ["ana", "a@b@", ".a@b", "a@-b"]),
        ({"format": "uri"}, ["https://example.com/a?b#c", "urn:x"], ["example.com", "http://a b"]),
        ({"format": "uuid"}, ["0190163d-8694-739b-aea5-966c26f8ad91"], ["0190163d8694739baea5"]),
        ({"format": "ipv4"}, ["127.0.0.1"], ["127.0.0.256", "127.1"]),
        ({"format": "ipv6"}, ["::1"], ["::g", "fe80::1%eth0"]),
        ({"format": "time"}, ["03:04:05.5+01:00"], ["25:00:00Z", "03:04:05"]),
        ({"format": "duration"}, ["P1DT2H", "PT5S", "P2W"], ["P", "PT", "1D"]),
        ({"format": "hostname"}, ["a.example"], ["-a", "a..b", "a" * 64]),
        (True, [1, {}], []),
    ],
    ids=str,
)
def test_keywords_mean_what_the_standard_says(
    schema: dict[str, object] | bool, good: list[object], bad: list[object]
) -> None:
    """Proves: V1."""
    around = {"properties": {"value": schema}}
    assert [each for each in good if violations(around, {"value": each})] == []
    assert [each for each in bad if not violations(around, {"value": each})] == []


leaf_schemas = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", "array", "string", "integer", "number", "null"])
        | st.just(["boolean", "integer"]),
        "enum": st.lists(
            st.sampled_from([0, 1, True, False, "a", None, [1], {"a": 0}]), min_size=1
        ),
        "const": st.sampled_from([0, True, "a", [], [True]]),
        "minimum": st.integers(-2, 2),
        "exclusiveMaximum": st.integers(-2, 2),
        "minLength": st.integers(0, 2),
        "maxItems": st.integers(0, 2),
        "minProperties": st.integers(0, 2),
        "uniqueItems": st.booleans(),
        "pattern": st.sampled_from(["^a", "b$", "[0-9]"]),
        "required": st.lists(st.sampled_from(["a", "b"]), unique=True),
        "dependentRequired": st.just({"a": ["b"]}),
    },
)
schemas = st.recursive(
    leaf_schemas | st.booleans(),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from(["a", "b"]), inner),
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), inner),
            "additionalProperties": inner,
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
        },
    ),
    max_leaves=5,
)
contents = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, 1.5, "", "a", "ab"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "ab", "c"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(schemas, contents)
def test_verdicts_are_those_of_the_library(schema: object, content: object) -> None:
    """Proves: V1."""
    library = importlib.import_module("jsonschema").Draft202012Validator
    valid = library(schema).is_valid(content)
    assert (violations({"allOf": [schema]}, content) == []) == valid
    assert valid or not accepts(schema, content)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "text"},
        {"required": "name"},
        {"requried": ["name"]},
        {"properties": {"a": {"format": "hostnam"}}},
        {"pattern": "(?=a)b"},
        {"pattern": "(a)\\1"},
        {"patternProperties": {"[": {}}},
        {"$schema": "http://json-schema.org/draft-07/schema#"},
        {"items": {"$schema": "http://json-schema.org/draft-04/schema#"}},
        {"items": {"$id": "https://example.com/other"}},
        {"$ref": "https://example.com/schema.json"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "other.json#/a"},
        {"$dynamicRef": "#a"},
        {"$ref": "#/$defs/none"},
        {"$ref": "#/enum/0", "enum": [{"type": "null"}]},
        {"$ref": "#"},
        {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}},
        {"unevaluatedProperties": False},
    ],
    ids=str,
)
def test_a_schema_that_cannot_be_trusted_is_refused(schema: dict[str, object]) -> None:
    """When it is defined, and once more should nobody have checked it. Proves: V1."""
    with pytest.raises(SchemaRefused) as refused:
        check_schema(schema)
    assert len(refused.value.problems) >= 1
    with pytest.raises(SchemaRefused):
        violations({"allOf": [{"type": "null"}], **schema}, {"a": "b"})


def test_every_problem_of_a_schema_is_listed() -> None:
    """Proves: V1."""
    with pytest.raises(SchemaRefused) as refused:
        check_schema('{"type": "text", "pattern": "(?=a)", "$ref": "#/x", "misspelt": 1}')
    assert len(refused.value.problems) == 4


def test_without_re2_there_are_no_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's own engine backtracks and would judge differently. Proves: V1."""
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(SchemaRefused, match="patterns need RE2"):
        check_schema({"pattern": "^never compiled before$"})


def test_a_schema_may_refer_to_itself() -> None:
    """Proves: V1."""
    tree = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "parts": {"items": {"$ref": "#"}}},
        "required": ["name"],
    }
    check_schema(tree)
    assert found(tree, {"name": "a", "parts": [{"name": "b", "parts": [{"nome": "c"}]}]}) == [
        ("content.parts.*.parts.*.name", "is required")
    ]


def test_a_schema_that_doubles_its_work_at_every_level_is_cut_off() -> None:
    """Python inside the server cannot be cancelled. Proves: V1."""
    child = {"properties": {"child": {"$ref": "#/$defs/node"}}}
    node = {"anyOf": [{**child, "required": ["a"]}, {**child, "required": ["b"]}]}
    content: dict[str, object] = {}
    for _ in range(60):
        content = {"child": content}
    assert found({"$ref": "#/$defs/node", "$defs": {"node": node}}, content) == [
        ("content", "takes too much work to check against the schema")
    ]


def test_patterns_and_unique_items_take_linear_time() -> None:
    """Backtracking or comparing all pairs would take hours. Proves: V1."""
    assert found({"items": {"pattern": "^(a+)+$"}}, ["a" * 50_000 + "b"]) == [
        ("content.*", 'must match the pattern "^(a+)+$"')
    ]
    mixed = [{"a": i} if i % 2 else [i] for i in range(50_000)]
    assert found({"uniqueItems": True}, mixed) == []


def test_a_bad_item_behind_many_good_ones_is_found() -> None:
    """Proves: V1."""
    schema = {"items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}
    assert violations(schema, [*range(5_000), "x"]) == [
        Violation("SCHEMA_VIOLATION", "content.*", "must be of type integer")
    ]
