"""Organisations define roles of their own; a definition counts from the next statement on."""

from __future__ import annotations

import itertools
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from access import administrator, call, curator, join, name_of, refusal, state
from conftest import World
from helpers import recall, write
from races import together

READ_ALL = [{"operation": "READ"}]
NUMBERS = itertools.count(1)


def permitted(world: World, org: str, role: str) -> set[tuple[Any, ...]]:
    """What the view says that a role permits."""
    rows = world.rows(
        "SELECT operation, layer, kind, reach, degree FROM memwarden.roles"
        " WHERE org = %s AND role = %s",
        org,
        role,
    )
    return {tuple(row.values()) for row in rows}


def test_what_is_left_out_means_everything_and_the_least(shared_world: World, home: str) -> None:
    """All layers, every kind, everybody's items; but soft, and layer.

    Proves: A1
    """
    shared_world.scope(home)
    org = home.split("/")[2]
    permissions = [
        {"operation": "READ"},
        {"operation": "WRITE", "layers": ["session", "working"], "reach": "own", "kind": "trip"},
        {"operation": "DELETE"},
        {"operation": "DELETE", "layers": ["*"], "degree": "hard"},
        {"operation": "ADMIN"},
        {"operation": "ADMIN", "degree": "full"},
    ]
    call(shared_world.admin, "define_role", name="all-of-it", permissions=permissions, org=org)
    assert permitted(shared_world, org, "all-of-it") == {
        ("READ", "*", None, "all", None),
        ("WRITE", "session", "trip", "own", None),
        ("WRITE", "working", "trip", "own", None),
        ("DELETE", "*", None, "all", "soft"),
        ("DELETE", "*", None, "all", "hard"),
        ("ADMIN", "*", None, "all", "layer"),
        ("ADMIN", "*", None, "all", "full"),
    }


def test_a_role_without_permissions_permits_nothing(shared_world: World, home: str) -> None:
    """Neither reading nor writing, in any layer; whoami() still tells who one is.

    Proves: A1
    """
    author = shared_world.agent(home)
    write(author, "semantic", "a fact")
    org = home.split("/")[2]
    call(shared_world.admin, "define_role", name="guest", permissions=[], org=org)
    guest = join(shared_world, home, role="guest")
    assert recall(guest) == []
    for layer in ("working", "session", "semantic"):
        assert write(guest, layer, "mine")["reason"] == "ROLE_FORBIDS"
    (me,) = call(guest, "whoami")
    assert (me["role"], me["permissions"]) == ("guest", [])


def test_a_definition_counts_from_the_next_statement_on(shared_world: World, home: str) -> None:
    """Open sessions, prepared statements and transactions that have begun included.

    Proves: A1
    """
    org = home.split("/")[2]
    author = shared_world.agent(home)
    write(author, "semantic", "a fact")
    define = {"name": "changing", "org": org}
    call(shared_world.admin, "define_role", permissions=READ_ALL, **define)
    reader = join(shared_world, home, role="changing")
    reader.execute("PREPARE mine AS SELECT content FROM memwarden.items")
    reader.execute("SET plan_cache_mode = force_generic_plan")
    with reader.transaction():
        for permissions, seen in ((READ_ALL, 1), ([], 0), (READ_ALL, 1)):
            call(shared_world.admin, "define_role", permissions=permissions, **define)
            assert len(reader.execute("EXECUTE mine").fetchall()) == seen
            assert len(recall(reader)) == seen
            outcome = write(reader, "working", "a note")["outcome"]
            assert outcome == "REJECTED"
    call(shared_world.admin, "define_role", permissions=[{"operation": "WRITE"}], **define)
    assert write(reader, "working", "a note")["outcome"] == "COMMITTED"


def test_a_role_of_an_organisation_hides_the_built_in_one_there_only(
    shared_world: World, home: str
) -> None:
    """For agents that have the role already as for those registered later; others keep theirs.

    Proves: A1
    """
    org = home.split("/")[2]
    before, elsewhere = shared_world.agent(home), shared_world.agent(home.replace(org, f"{org}b"))
    other_role = join(shared_world, home, role="orchestrator")
    built_in = permitted(shared_world, "global", "contributor")
    # Its own curator does it, for the organisation it is in.
    owner = curator(shared_world, f"/org/{org}")
    working_only = [{"operation": "WRITE", "layers": ["working"]}, {"operation": "READ"}]
    call(owner, "define_role", name="contributor", permissions=working_only)
    after = shared_world.agent(home)
    for agent in (before, after):
        assert write(agent, "semantic", "a fact")["reason"] == "ROLE_FORBIDS"
        assert write(agent, "working", f"note of {name_of(agent)}")["outcome"] == "COMMITTED"
        (me,) = call(agent, "whoami")
        assert [p["operation"] for p in me["permissions"]] == ["WRITE", "READ"]
    assert write(elsewhere, "semantic", "a fact")["outcome"] == "COMMITTED"
    assert write(other_role, "episodic", "it happened")["outcome"] == "COMMITTED"
    assert permitted(shared_world, "global", "contributor") == built_in
    # What an administrator of all defines reaches every organisation but those that have their own.
    call(administrator(shared_world), "define_role", name="newcomer", permissions=READ_ALL)
    call(owner, "define_role", name="newcomer", permissions=[])
    for agent, count in ((before, 0), (elsewhere, 1)):
        name, where = name_of(agent), home.split("/")[2] if agent is before else f"{org}b"
        call(shared_world.admin, "change_agent", agent=name, org=where, role="newcomer")
        (me,) = call(agent, "whoami")
        assert len(me["permissions"]) == count


def test_two_definitions_at_once_do_not_mix(shared_world: World, home: str) -> None:
    """One of them holds, whole.

    Proves: A1
    """
    shared_world.scope(home)
    org = home.split("/")[2]
    definitions = [
        [{"operation": operation, "layers": ["working", "session", "episodic"]}]
        for operation in ("READ", "WRITE")
    ]
    admins = [administrator(shared_world) for _ in definitions]
    for attempt in range(5):
        name = f"role{attempt}"
        together(
            [
                lambda a=a, d=d, name=name: call(  # type: ignore[misc]
                    a, "define_role", name=name, permissions=d, org=org
                )
                for a, d in zip(admins, definitions, strict=True)
            ]
        )
        found = {row[:2] for row in permitted(shared_world, org, name)}
        assert len(found) == 3
        assert len({operation for operation, _ in found}) == 1


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"name": None}, "22023"),
        ({"name": ""}, "22023"),
        ({"name": "Reader"}, "22023"),
        ({"name": "9reader"}, "22023"),
        ({"name": "a reader"}, "22023"),
        ({"name": "r" * 64}, "22023"),
        ({"name": "reader\n"}, "22023"),
        ({"description": None}, "22023"),
        ({"permissions": None}, "22023"),
        ({"org": "nobody"}, "42704"),
        ({"org": ""}, "42704"),
    ],
    ids=repr,
)
def test_a_broken_definition_defines_nothing(
    shared_world: World, changes: dict[str, Any], expected: str
) -> None:
    """22023 for what is malformed, 42704 for an organisation that is not there.

    Proves: A1
    """
    count = "SELECT count(*) FROM memwarden_data.access_role"
    before = shared_world.value(count)
    shared_world.scope("/org/defining")
    sound = {"name": "reader", "permissions": READ_ALL, "org": "defining"}
    assert state(shared_world.admin, "define_role", **sound | changes) == expected
    assert shared_world.value(count) == before


def test_who_administers_no_organisation_defines_no_role(shared_world: World, home: str) -> None:
    """42501, whoever's role it would be, and whether that organisation exists or not.

    Proves: A1, Z1
    """
    org = home.split("/")[2]
    agent = join(shared_world, f"/org/{org}", "agent", "curator")
    orchestrator = join(shared_world, f"/org/{org}", "curator", role="orchestrator")
    owner = curator(shared_world, f"/org/{org}b")
    attempts = [(agent, None), (agent, org), (orchestrator, None), (orchestrator, org)]
    attempts += [(owner, org), (owner, "global"), (owner, "nobody")]
    told = set()
    for who, where in attempts:
        error = refusal(who, "define_role", name="mine", permissions=READ_ALL, org=where)
        assert error.sqlstate == "42501"
        told.add(error.diag.message_detail)
    assert told == {"ADMIN (full) in that organisation"}


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
WORDS = st.sampled_from(["*", "semantic", "no such layer", "own", "all", "soft", "full", "layer"])
PERMISSION = st.fixed_dictionaries(
    {"operation": st.sampled_from(["READ", "WRITE", "DELETE", "ADMIN"]) | JUNK},
    optional={
        "layers": st.lists(WORDS | JUNK, max_size=3) | JUNK,
        "kind": st.sampled_from(["annotation", "", "A", "k" * 64]) | JUNK,
        "reach": WORDS | JUNK,
        "degree": WORDS | JUNK,
        "more": JUNK,
    },
)


def storable(value: Any) -> bool:
    """Whether PostgreSQL's jsonb takes a value at all."""
    return "\\u0000" not in repr(value).replace("\\x00", "\\u0000")


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@example([{"operation": "READ", "layers": ["*"] * 101}])
@example([{"operation": "READ"}] * 101)
@example([{"operation": "DELETE", "degree": "full"}])
@example([{"operation": "READ", "degree": "soft"}])
@example([{"operation": ["READ"]}])
@given(st.lists(PERMISSION | JUNK, max_size=3) | JUNK)
def test_any_json_is_a_definition_or_refused_as_one(shared_world: World, given_: Any) -> None:
    """22023 that says what permissions are, or a role that works; never an internal error.

    Proves: A1
    """
    shared_world.scope("/org/junk")
    if not storable(given_):
        return
    name = f"junk{next(NUMBERS)}"
    define = {"name": name, "permissions": given_, "org": "junk"}
    try:
        call(shared_world.admin, "define_role", **define)
    except psycopg.Error:
        error = refusal(shared_world.admin, "define_role", **define)
        assert error.sqlstate == "22023"
        assert (error.diag.message_detail or "").startswith("permissions: ")
        assert permitted(shared_world, "junk", name) == set()
        return
    found = permitted(shared_world, "junk", name) - {(None,) * 5}
    assert {row[0] for row in found} == {each["operation"] for each in given_}
