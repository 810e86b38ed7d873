"""The published contract of a write says what memwarden.write() takes, and no more."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from psycopg import Connection
from psycopg.rows import DictRow
from typer.testing import CliRunner

from helpers import write_many
from memwarden._request_id import new_request_id
from memwarden.cli import app
from memwarden.contract import VERSION, proto, schema_text
from memwarden.requests import WriteRequest, json_object

if TYPE_CHECKING:
    from conftest import World

SCHEMA: dict[str, Any] = json.loads(schema_text())
CHECK = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())

# What each type of PostgreSQL is in the two languages: JSON types that the schema admits, proto.
TYPES = {
    "text": ({"string", "null"}, "string"),
    "jsonb": (None, None),
    "double precision": ({"number", "null"}, "double"),
    "real[]": ({"array", "null"}, "repeated float"),
    "text[]": ({"array", "null"}, "repeated string"),
    "interval": ({"string", "null"}, "google.protobuf.Duration"),
    "timestamp with time zone": ({"string", "null"}, "google.protobuf.Timestamp"),
    "uuid": ({"string", "null"}, "string"),
}
DOCUMENTS = {
    "content": (None, "google.protobuf.Value"),
    "evidence": ({"array"}, "repeated google.protobuf.Struct"),
    "attributes": ({"object", "null"}, "google.protobuf.Struct"),
    "origin": ({"object", "null"}, "google.protobuf.Struct"),
}
RESULT = {
    "uuid": "string",
    "text": "string",
    "jsonb": "google.protobuf.Struct",
    "timestamp with time zone": "google.protobuf.Timestamp",
}


def resolved(declared: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference."""
    name = str(declared.get("$ref", "")).rpartition("/")[2]
    return SCHEMA["$defs"][name] | declared if name else declared


def messages() -> dict[str, dict[str, str]]:
    """Return the fields of each message of the .proto, with their types."""
    found = {}
    for name, body in re.findall(r"^message (\w+) \{(.*?)^\}", proto(), re.M | re.S):
        fields = re.findall(r"^  (?:optional )?((?:repeated )?[\w.]+) (\w+) = (\d+);", body, re.M)
        assert [int(number) for _, _, number in fields] == list(range(1, len(fields) + 1))
        found[name] = {field: kind for kind, field, _ in fields}
    return found


def test_names_and_types_are_those_of_write(world: World) -> None:
    """A new argument that the contract does not know fails here.

    Proves: W9
    """
    arguments = world.rows(
        "SELECT a.name, format_type(a.type, NULL) AS type, a.place > p.pronargs - p.pronargdefaults"
        "         AS optional"
        "  FROM pg_proc AS p, unnest(p.proargnames, p.proargtypes::oid[])"
        "       WITH ORDINALITY AS a (name, type, place)"
        " WHERE p.oid::regproc::text = 'memwarden.write' ORDER BY a.place"
    )
    arguments = [each for each in arguments if each["type"] is not None]
    fields = messages()["WriteRequest"]
    assert list(fields) == [each["name"] for each in arguments]
    assert set(SCHEMA["properties"]) == {*fields, "content_text"}
    for each in arguments:
        name = each["name"]
        in_json, in_proto = DOCUMENTS.get(name) or TYPES[each["type"]]
        assert fields[name] == in_proto, name
        declared = resolved(SCHEMA["properties"][name]).get("type")
        if in_json is not None and name != "layer":
            admitted = {declared} if isinstance(declared, str) else set(declared or ())
            assert admitted == in_json, name
    assert [each["name"] for each in arguments if not each["optional"]] == ["layer", "content"]
    assert SCHEMA["required"] == ["layer"]


def test_the_result_is_that_of_write(world: World) -> None:
    """Also its outcomes.

    Proves: W9
    """
    columns = world.rows(
        "SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute"
        " WHERE attrelid = 'memwarden_internal.write_result'::regclass AND attnum > 0"
        " ORDER BY attnum"
    )
    expected = {each["name"]: RESULT[each["type"]] for each in columns} | {"outcome": "Outcome"}
    assert messages()["WriteResult"] == expected
    constraint = world.value(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE contypid = 'memwarden_data.request_outcome'::regtype"
    )
    values = re.findall(r"^  ([A-Z_]+) = \d+;", proto(), re.M)
    assert set(values) - {"OUTCOME_UNSPECIFIED"} == set(re.findall(r"'([A-Z_]+)'", constraint))


def test_both_forms_bear_the_version() -> None:
    """The number of the contract, which is not the release's.

    Proves: W9
    """
    assert SCHEMA["$id"] == f"urn:memwarden:write_request:{VERSION}"
    assert f"version {VERSION}." in proto()
    assert f"package memwarden.v{VERSION.split('.')[0]};" in proto()
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(("form", "printed"), [("schema", schema_text), ("proto", proto)])
def test_the_command_prints_it(form: str, printed: Callable[[], str]) -> None:
    """As it lies in the package.

    Proves: W9
    """
    done = CliRunner().invoke(app, ["contract", form])
    assert (done.exit_code, done.output) == (0, printed())


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
numbers = st.floats(-1e300, 1e300) | st.integers(-(10**20), 10**20)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.none() | st.dictionaries(texts, values, max_size=3)
two = st.integers(0, 99).map("{:02}".format)
moments = st.none() | st.builds(
    "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{}".format,
    st.integers(900, 9999),
    st.integers(0, 13),
    st.integers(0, 32),
    st.integers(0, 24),
    st.integers(0, 60),
    st.integers(0, 60),
    st.sampled_from(["", ".5", ".123456", ".1234567"]),
    st.sampled_from(["Z", "+00:00", "-05:30", "+14:59", "+16:00", ""]),
)
durations = st.none() | st.one_of(
    st.builds("P{}DT{}H{}M{}S".format, *[st.integers(0, 99999)] * 4),
    st.builds("P{}D".format, st.integers(0, 10**6)),
    st.builds("PT{}.{}S".format, st.integers(0, 10**8), st.integers(0, 10**7)),
    st.builds("{} days {}.5 seconds".format, st.integers(-5, 10**5), st.integers(0, 10**8)),
    st.just("P"),
    st.just("PT"),
)
shares = st.none() | st.floats(0, 1) | st.sampled_from([0, 1, 1e-320, 2, True])
reals = st.floats(allow_nan=False, allow_infinity=False, width=32) | st.integers(-70000, 70000)
COULD_BE: dict[str, st.SearchStrategy[Any]] = {
    "layer": st.sampled_from(["working", "session", "semantic", "none", "a\0b"]) | texts,
    "content": values,
    "content_text": texts,
    "confidence": shares,
    "importance": shares,
    "evidence": st.lists(
        st.dictionaries(texts, values, max_size=2)
        | st.fixed_dictionaries({"type": texts, "uri": texts}, optional={"excerpt": values}),
        max_size=3,
    ),
    "embedding": st.none() | st.lists(reals, max_size=4),
    "ttl": durations,
    "deadline": moments,
    "valid_from": moments,
    "valid_to": moments,
    "request_id": st.none()
    | st.builds(lambda: str(new_request_id()))
    | st.uuids().map(str)
    | texts,
    "domains": st.none() | st.lists(texts, max_size=3),
    "attributes": objects,
    "origin": objects,
}
requests = st.fixed_dictionaries(
    {"layer": COULD_BE["layer"]},
    optional={
        name: COULD_BE.get(name, st.none() | texts)
        for name in SCHEMA["properties"]
        if name != "layer"
    },
)
NOT_READ = {"UNKNOWN_ARGUMENT", "INVALID_ARGUMENT", "GATE_FAULT"}


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    # The failing list is small enough to read; to shrink it takes a thousand batches.
    phases=[Phase.explicit, Phase.generate],
)
@given(st.lists(requests, min_size=4, max_size=12))
@example([{"layer": "semantic", "content": 1, "embedding": [1e-37, 65504, 0]}])
@example(
    [
        {"layer": "semantic", "content": 1, "valid_from": f"{day}T12:00:00Z"}
        for day in ("2470-06-31", "2023-02-29", "2024-02-29", "2100-02-29", "2000-02-29")
    ]
)
def test_what_the_schema_admits_is_read(
    agent: Connection[DictRow], asked: list[dict[str, Any]]
) -> None:
    """It may be refused by a gate, but no argument of it is one that cannot be read.

    Proves: W9
    """
    valid = [each for each in asked if CHECK.is_valid(each)]
    answers = write_many(agent, valid) if valid else []
    unread = [
        (each, answer["reason"], answer["detail"])
        for each, answer in zip(valid, answers, strict=True)
        if answer["reason"] in NOT_READ
    ]
    assert unread == []


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"layer": "semantic", "confidance": 1},
        {"layer": "semantic", "confidence": 1.1},
        {"layer": "semantic", "evidence": [{"type": "document"}]},
        {"layer": "semantic", "deadline": "tomorrow"},
        {"layer": "semantic", "ttl": "an hour"},
        {"layer": "semantic", "request_id": "1"},
        {"layer": "semantic", "subject": "a\0b"},
    ],
)
def test_what_is_wrong_is_not_admitted(wrong: dict[str, Any]) -> None:
    """So that who builds a request by hand learns of it before it is sent.

    Proves: W9
    """
    assert not CHECK.is_valid(wrong)


def test_what_the_client_sends_is_admitted() -> None:
    """The client keeps to the contract too.

    Proves: W9
    """
    full = WriteRequest(
        layer="semantic",
        content={"text": "x"},
        subject="a",
        predicate="b",
        scope="/org/a",
        confidence=0.5,
        evidence=[{"type": "document", "uri": "https://example.org"}],
        embedding=[0.5] * 3,
        ttl=timedelta(days=1, seconds=2.5),
        deadline=datetime.now(UTC),
        idempotency_key="k",
        kind="fact",
        importance=0.1,
        valid_from=datetime.now(UTC),
        embedding_model="lexical",
        trace_id="t",
        classification="internal",
        domains=["d"],
        attributes={"a": 1},
        origin={"kind": "user_stated"},
        write_class="preference",
    )
    errors = [each.message for each in CHECK.iter_errors(json.loads(json_object(full)))]
    assert errors == []
