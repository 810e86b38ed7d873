"""Attributes that an organisation gives its agents and items, declared before they are borne."""

from __future__ import annotations

from typing import Any

import pytest

from access import administrator, call, curator, join, name_of, refusal, state
from conftest import World
from helpers import recall, write

DECLARED = "SELECT count(*) FROM memwarden_data.attribute"


def declare(world: World, org: str | None, bearer: str, name: str, **more: Any) -> None:
    """Declare an attribute as an administrator of all."""
    call(world.admin, "define_attribute", bearer=bearer, name=name, org=org, **more)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"bearer": None}, "22023"),
        ({"bearer": "scope"}, "22023"),
        ({"name": None}, "22023"),
        ({"name": ""}, "22023"),
        ({"name": "Team"}, "22023"),
        ({"name": "a-team"}, "22023"),
        ({"name": "team\n"}, "22023"),
        ({"name": "t" * 64}, "22023"),
        ({"name": "clearance"}, "22023"),
        ({"bearer": "item", "name": "own", "allowed": ["x"]}, "22023"),
        ({"type": None}, "22023"),
        ({"type": "jsonb"}, "22023"),
        ({"allowed": []}, "22023"),
        ({"allowed": {}}, "22023"),
        ({"allowed": "care"}, "22023"),
        ({"allowed": [None]}, "22023"),
        ({"allowed": [1]}, "22023"),
        ({"allowed": [["care"]]}, "22023"),
        ({"allowed": ["c" * 200]}, "22023"),
        ({"allowed": [f"team {n}" for n in range(101)]}, "22023"),
        ({"type": "number", "allowed": ["1"]}, "22023"),
        ({"type": "boolean", "allowed": [1]}, "22023"),
        ({"bearer": "item"}, "22023"),
        ({"bearer": "item", "type": "number"}, "22023"),
        ({"org": "nobody"}, "42704"),
        ({"org": ""}, "42704"),
    ],
    ids=repr,
)
def test_a_broken_declaration_declares_nothing(
    shared_world: World, changes: dict[str, Any], expected: str
) -> None:
    """22023 for what is malformed, 42704 for an organisation that is not there.

    Proves: A2
    """
    shared_world.scope("/org/declaring")
    before = shared_world.value(DECLARED)
    sound = {"bearer": "agent", "name": "team", "org": "declaring"}
    assert state(shared_world.admin, "define_attribute", **sound | changes) == expected
    assert shared_world.value(DECLARED) == before


def test_an_attribute_keeps_its_type(shared_world: World, home: str) -> None:
    """Policies rely on it: here, and where an organisation's meets the one that all have.

    Proves: A2
    """
    shared_world.scope(home)
    org, name = home.split("/")[2], f"a{home.split('/')[2]}"
    declare(shared_world, org, "agent", name, type="number")
    taken = {"bearer": "agent", "name": name}
    for where in (org, None):
        assert state(shared_world.admin, "define_attribute", **taken, org=where) == "42710"
    declare(shared_world, org, "agent", name, type="number", allowed=[1, 2])
    declare(shared_world, None, "agent", name, type="number")
    shared_world.scope(f"/org/{org}b")
    other = {"org": f"{org}b", "type": "boolean"}
    assert state(shared_world.admin, "define_attribute", **taken, **other) == "42710"
    # An item's attribute of that name is another.
    declare(shared_world, org, "item", name, type="boolean")


VALUES = [
    ("text", None, "care", True),
    ("text", None, 1, False),
    ("text", None, None, False),
    ("text", None, ["care"], False),
    ("text", None, "c" * 999, False),
    ("text", None, "c" * 998, True),
    ("text", ["care", "cure"], "cure", True),
    ("text", ["care", "cure"], "Cure", False),
    ("number", None, -1.5, True),
    ("number", None, "1", False),
    ("number", [1, 2], 2.0, True),
    ("number", [1, 2], 3, False),
    ("boolean", None, False, True),
    ("boolean", None, "false", False),
    ("boolean", [True], False, False),
]


@pytest.mark.parametrize(("type_", "allowed", "value", "fits"), VALUES, ids=repr)
def test_agents_bear_what_is_declared_and_allowed(
    shared_world: World, home: str, type_: str, allowed: Any, value: Any, fits: bool
) -> None:
    """When they are registered as when they are changed; whoami() tells.

    Proves: A2
    """
    agent = shared_world.agent(home)
    org = home.split("/")[2]
    declare(shared_world, org, "agent", "mark", type=type_, allowed=allowed)
    given = {"attributes": {"mark": value}}
    change = {"agent": name_of(agent)} | given
    register = {"name": "another", "scope": home} | given
    if fits:
        call(shared_world.admin, "change_agent", **change)
        call(shared_world.admin, "register_agent", **register)
        assert call(agent, "whoami")[0]["attributes"] == given["attributes"]
        return
    for function, arguments in (("change_agent", change), ("register_agent", register)):
        error = refusal(shared_world.admin, function, **arguments)
        assert error.sqlstate == "22023"
        said = "attributes: mark has a value that it may not have"
        assert error.diag.message_detail == said


@pytest.mark.parametrize(
    ("type_", "allowed", "value", "fits"),
    [row for row in VALUES if row[0] == "boolean" or row[1]],
    ids=repr,
)
def test_items_bear_what_is_declared_and_allowed(
    shared_world: World, home: str, type_: str, allowed: Any, value: Any, fits: bool
) -> None:
    """get() and the view tell; what does not fit is refused, and others are not held up.

    Proves: A2
    """
    agent = shared_world.agent(home)
    declare(shared_world, home.split("/")[2], "item", "mark", type=type_, allowed=allowed)
    row = write(agent, "semantic", "something", attributes={"mark": value})
    if not fits:
        assert (row["gate"], row["reason"]) == ("06_access", "ATTRIBUTES_INVALID")
        return
    assert row["outcome"] == "COMMITTED"
    (item,) = call(agent, "get", item_id=row["item_id"])
    (viewed,) = agent.execute("SELECT attributes FROM memwarden.items").fetchall()
    assert item["attributes"] == viewed["attributes"] == {"mark": value}


@pytest.mark.parametrize("attributes", [[], "mark", 1, True, {"other": True}, {"": True}])
def test_what_is_no_object_of_declared_attributes_is_refused(
    shared_world: World, home: str, attributes: Any
) -> None:
    """An item's and an agent's are declared apart; an empty object is as good as none.

    Proves: A2
    """
    agent = shared_world.agent(home)
    declare(shared_world, home.split("/")[2], "agent", "other", type="boolean")
    refused = write(agent, "semantic", "something", attributes=attributes)
    assert refused["reason"] == "ATTRIBUTES_INVALID"
    assert write(agent, "semantic", "something", attributes={})["outcome"] == "COMMITTED"


def test_an_organisation_may_narrow_what_all_have(shared_world: World, home: str) -> None:
    """Its own list of values replaces the common one, in it and nowhere else.

    Proves: A2
    """
    org, name = home.split("/")[2], f"a{home.split('/')[2]}"
    agent, other = shared_world.agent(home), shared_world.agent(home.replace(org, f"{org}b"))
    declare(shared_world, None, "item", name, allowed=["red", "green"])
    owner = curator(shared_world, f"/org/{org}")
    call(owner, "define_attribute", bearer="item", name=name, allowed=["green", "blue"])
    expected = {
        agent: {"red": "ATTRIBUTES_INVALID", "green": None, "blue": None},
        other: {"red": None, "green": None, "blue": "ATTRIBUTES_INVALID"},
    }
    for who, colours in expected.items():
        for colour, reason in colours.items():
            row = write(who, "semantic", f"it is {colour}", attributes={name: colour})
            assert row["reason"] == reason


def test_other_values_leave_what_was_borne_before(shared_world: World, home: str) -> None:
    """Items and agents keep theirs; a new version that names none keeps its own.

    Proves: A2
    """
    org = home.split("/")[2]
    shared_world.scope(home)
    for bearer in ("agent", "item"):
        declare(shared_world, org, bearer, "mark", allowed=["old"])
    agent = join(shared_world, home, attributes={"mark": "old"})
    key = {"subject": "Ana", "predicate": "is"}
    item = write(agent, "semantic", "here", attributes={"mark": "old"}, **key)["item_id"]
    for bearer in ("agent", "item"):
        declare(shared_world, org, bearer, "mark", allowed=["new"])
    assert call(agent, "whoami")[0]["attributes"] == {"mark": "old"}
    call(shared_world.admin, "change_agent", agent=name_of(agent), clearance="restricted")
    assert call(agent, "whoami")[0]["attributes"] == {"mark": "old"}
    again = write(agent, "semantic", "there", **key)
    assert (again["outcome"], again["item_id"]) == ("COMMITTED", item)
    assert call(agent, "get", item_id=item)[0]["attributes"] == {"mark": "old"}
    refused = write(agent, "semantic", "gone", attributes={"mark": "old"}, **key)
    assert refused["reason"] == "ATTRIBUTES_INVALID"
    assert [row["content"] for row in recall(agent)] == ["there"]


def test_who_administers_no_organisation_declares_nothing(shared_world: World, home: str) -> None:
    """An orchestrator neither; a curator in its own organisation only; an administrator anywhere.

    Proves: A2, Z1
    """
    org = home.split("/")[2]
    owner = curator(shared_world, f"/org/{org}")
    shared_world.scope(f"/org/{org}b")
    orchestrator = join(shared_world, f"/org/{org}", "curator", role="orchestrator")
    given = {"bearer": "agent", "name": "mark"}
    for who, where in ((orchestrator, None), (orchestrator, org), (owner, f"{org}b")):
        assert state(who, "define_attribute", **given, org=where) == "42501"
    assert state(owner, "define_attribute", **given, org="global") == "42501"
    call(owner, "define_attribute", **given)
    call(administrator(shared_world), "define_attribute", **given, org=f"{org}b")
    found = shared_world.rows(
        "SELECT o.name FROM memwarden_data.attribute AS a"
        "  JOIN memwarden_data.organisation AS o USING (org_id)"
        " WHERE a.name = 'mark' AND o.name LIKE %s ORDER BY 1",
        f"{org}%",
    )
    assert [row["name"] for row in found] == [org, f"{org}b"]
