"""A definition that cannot serve is refused when it is made; only administrators make any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write
from model.memory.definitions import define

if TYPE_CHECKING:
    from conftest import World

REFUSED: dict[str, dict[str, Any]] = {
    "no object": {"schema": 5},
    "a boolean": {"schema": True},
    "an unknown type": {"schema": {"type": "strin"}},
    "a misspelt keyword": {"schema": {"properties": {"a": {"maxLenght": 3}}}},
    "a negative length": {"schema": {"maxLength": -1}},
    "a remote reference": {"schema": {"$ref": "https://example.com/schema.json"}},
    "a file": {"schema": {"properties": {"a": {"$ref": "file:///etc/passwd"}}}},
    "a relative reference": {"schema": {"items": {"$ref": "other.json#/x"}}},
    "a reference to nothing": {"schema": {"$ref": "#/$defs/none"}},
    "a circle": {"schema": {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}},
    "a dynamic reference": {"schema": {"$dynamicRef": "#x"}},
    "another dialect": {"schema": {"$schema": "http://json-schema.org/draft-04/schema#"}},
    "a broken pattern": {"schema": {"pattern": "("}},
    "a pattern that looks around": {"schema": {"pattern": "(?=a)b"}},
    "a pattern that looks back": {"schema": {"pattern": r"(a)\1"}},
    "a pattern that explodes": {"schema": {"pattern": "((a{1,1000}){1,1000}){1,1000}"}},
    "a pattern as a name": {"schema": {"patternProperties": {"(?<!a)b": {}}}},
    "an unknown format": {"schema": {"format": "telephone"}},
    "no constraints": {"schema": {}, "constraints": {}},
    "half a constraint": {"schema": {}, "constraints": [{"id": "x"}]},
    "no comparison": {
        "schema": {},
        "constraints": [{"id": "x", "description": "", "left": "/a", "op": ["<"], "right": "/b"}],
    },
    "no pointer": {
        "schema": {},
        "constraints": [{"id": "x", "description": "", "left": "a", "op": "<", "right": "/b"}],
    },
    "half a brace": {"schema": {}, "text_template": "{content"},
    "an unknown field": {"schema": {}, "text_template": "{password}"},
    "no dimension": {"schema": {}, "embedding_dimension": 0},
    "too many dimensions": {"schema": {}, "embedding_dimension": 4001},
    "no kind": {"schema": {}, "kind": "No Kind"},
    "no schema": {"schema": None},
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_definition_that_cannot_serve_is_refused(
    shared_world: World, admin: Connection[DictRow], kind: str, case: str
) -> None:
    """22023 when it is defined, so that no write ever stumbles over it; nothing is stored.

    Proves: V1
    """
    arguments = {"kind": kind} | REFUSED[case]
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        define(admin, **arguments)
    assert caught.value.diag.message_detail
    assert (
        shared_world.value(
            "SELECT count(*) FROM memwarden_data.content_schema WHERE kind = %s", kind
        )
        == 0
    )


def test_a_hostile_pattern_that_is_accepted_runs_in_linear_time(
    agent: Connection[DictRow], admin: Connection[DictRow], kind: str
) -> None:
    """What would keep a backtracking engine busy for ever is judged at once; it needs no timeout.

    Proves: V1
    """
    define(admin, kind, {"properties": {"a": {"pattern": "^(([a-z])+.)+[A-Z]([a-z])+$"}}})
    answer = write(agent, "semantic", {"a": "a" * 100_000}, kind=kind)
    assert answer["reason"] == "SCHEMA_VIOLATION"


@pytest.mark.parametrize(
    ("layer", "org"), [("no_such_layer", None), (None, None), ("semantic", "no-such-org")]
)
def test_a_definition_for_nobody_is_refused(
    admin: Connection[DictRow], kind: str, layer: str | None, org: str | None
) -> None:
    """An unknown layer or organisation: 42704.

    Proves: V1
    """
    with pytest.raises(psycopg.errors.UndefinedObject):
        admin.execute("SELECT memwarden.define_schema(%s, %s, '{}', org => %s)", (layer, kind, org))


@pytest.mark.parametrize("group", ["agent", "reviewer", "curator", "auditor"])
def test_only_an_administrator_defines(shared_world: World, kind: str, group: str) -> None:
    """Who writes does not decide what may be written.

    Proves: V1, Z1
    """
    other = shared_world.connect(shared_world.role(f"memwarden_{group}"))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        define(other, kind, {})
