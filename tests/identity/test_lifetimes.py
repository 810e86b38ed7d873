"""Kinds of scope are rows: some end with their work, and what is closed takes nothing more."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from psycopg.errors import (
    InsufficientPrivilege,
    InvalidParameterValue,
    ObjectNotInPrerequisiteState,
)

from conftest import World
from scope_calls import (
    CURATOR,
    close_scope,
    create_scope,
    organisation_of,
    refusal,
    scope_row,
)


@pytest.mark.parametrize(
    ("arguments", "days"), [({}, 30), ({"lifetime": "2 days"}, 2), ({"lifetime": "1 year"}, 365)]
)
def test_a_task_has_a_lifetime(
    shared_world: World, home: str, arguments: dict[str, str], days: int
) -> None:
    """Thirty days by default; only the scope that is named has the other, and keeps it.

    Proves: A10
    """
    agent = shared_world.agent(home)
    task = f"{home}/task/t"
    create_scope(agent, f"{task}/task/sub", **arguments)
    for path, expected in ((task, 30), (f"{task}/task/sub", days)):
        create_scope(agent, path, lifetime="5 seconds")
        row = scope_row(shared_world, path)
        assert abs(row["closes_at"] - row["created_at"] - timedelta(days=expected)) < timedelta(
            hours=1
        )
    assert scope_row(shared_world, home)["closes_at"] is None


@pytest.mark.parametrize("lifetime", ["0", "-1 day", "1001 years", "infinity", "-infinity"])
def test_a_lifetime_is_some_time(shared_world: World, home: str, lifetime: str) -> None:
    """22023 for none, less, and more than anybody can mean; also where the scope exists.

    Proves: A10
    """
    agent = shared_world.agent(home)
    for path in (f"{home}/task/t", home):
        with pytest.raises(InvalidParameterValue, match="outside what this function accepts"):
            create_scope(agent, path, lifetime=lifetime)


def test_only_what_ends_has_a_lifetime(shared_world: World, home: str) -> None:
    """22023 for a domain that should end.

    Proves: A10
    """
    with pytest.raises(InvalidParameterValue) as raised:
        create_scope(shared_world.admin, f"{home}/domain/d", lifetime="1 day")
    assert raised.value.diag.message_detail == "lifetime: scopes of kind 'domain' have none"


@pytest.mark.parametrize("who", ["agent", "curator", "database administrator"])
def test_nothing_is_created_below_a_closed_scope(shared_world: World, home: str, who: str) -> None:
    """55000, right below it and further down.

    Proves: A10
    """
    agent = shared_world.agent(home)
    task = f"{home}/task/t"
    create_scope(agent, f"{task}/task/sub")
    close_scope(agent, task)
    caller = {
        "agent": lambda: agent,
        "curator": lambda: shared_world.agent(organisation_of(home), **CURATOR),
        "database administrator": lambda: shared_world.connect(
            shared_world.role("memwarden_admin")
        ),
    }[who]()
    for path in (f"{task}/task/new", f"{task}/task/sub/task/new", f"{task}/task/x/task/y"):
        with pytest.raises(ObjectNotInPrerequisiteState, match="closed"):
            create_scope(caller, path)
    assert create_scope(agent, task) == scope_row(shared_world, task)["scope_id"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("Project", "x", False, None),
        ("org", "x", False, None),
        ("global", "x", False, None),
        ("", "x", False, None),
        (None, "x", False, None),
        ("p" * 64, "x", False, None),
        ("project", None, False, None),
        ("project", "x", None, None),
        ("project", "x", True, "0"),
        ("project", "x", True, "infinity"),
        ("project", "x", False, "1 day"),
    ],
    ids=repr,
)
def test_a_malformed_kind_is_refused(shared_world: World, arguments: tuple[Any, ...]) -> None:
    """22023, and no kind is made.

    Proves: N10
    """
    with pytest.raises(InvalidParameterValue):
        shared_world.admin.execute("SELECT memwarden.define_scope_kind(%s, %s, %s, %s)", arguments)
    assert shared_world.rows("SELECT FROM memwarden_data.scope_kind WHERE kind = 'project'") == []


def test_kinds_are_defined_by_administrators_of_the_database(
    shared_world: World, home: str
) -> None:
    """Not by an organisation's, nor by agents; changed, they change what is opened from then on.

    Proves: N10
    """
    define = "SELECT memwarden.define_scope_kind('sprint', 'two weeks', %s, %s)"
    for options in (CURATOR, {}):
        agent = shared_world.agent(organisation_of(home), **options)
        with pytest.raises(InsufficientPrivilege):
            agent.execute(define, (True, "14 days"))
    admin = shared_world.connect(shared_world.role("memwarden_admin"))
    admin.execute(define, (False, None))
    agent = shared_world.agent(home)
    assert refusal(agent, f"{home}/sprint/s1")[0] == "42501"
    admin.execute(define, (True, "14 days"))
    create_scope(agent, f"{home}/sprint/s1")
    row = scope_row(shared_world, f"{home}/sprint/s1")
    assert abs(row["closes_at"] - row["created_at"] - timedelta(days=14)) < timedelta(hours=1)
