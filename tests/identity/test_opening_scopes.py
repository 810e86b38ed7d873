"""Who opens a scope: administrators any, an agent a task below what it writes."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.errors import (
    InsufficientPrivilege,
    UndefinedObject,
)

from conftest import World
from helpers import recall, write, write_many
from scope_calls import (
    CURATOR,
    close_scope,
    create_scope,
    one,
    organisation_of,
    refusal,
    scope_row,
)


def test_an_agent_opens_a_task_below_its_home_and_works_in_it(
    shared_world: World, home: str
) -> None:
    """It writes the task and opens more below; others of the same home do not even see it.

    Proves: A4, A10
    """
    ana, colleague = shared_world.agent(home), shared_world.agent(home)
    below = shared_world.agent(home, descendants=True)
    task = f"{home}/task/t1"
    number = create_scope(ana, task)
    assert number == create_scope(ana, task) == scope_row(shared_world, task)["scope_id"]
    assert create_scope(ana, f"{task}/task/sub") != number
    for path in (task, f"{task}/task/sub"):
        assert write(ana, "semantic", {"step": path}, scope=path)["outcome"] == "COMMITTED"
    assert {row["scope"] for row in recall(ana)} == {task, f"{task}/task/sub"}
    assert {row["scope"] for row in recall(below)} == {task, f"{task}/task/sub"}
    assert recall(colleague) == []
    assert write(colleague, "semantic", {"a": 1}, scope=task)["reason"] == "UNKNOWN_SCOPE"
    with pytest.raises(InsufficientPrivilege):
        create_scope(colleague, task)
    writes = one(ana, "SELECT writes FROM memwarden.whoami()")["writes"]
    assert writes == [home, f"{task}/**"]


def test_a_batch_finds_the_task_that_was_just_opened(shared_world: World, home: str) -> None:
    """In the same transaction, and not when that is rolled back.

    Proves: A4
    """
    agent = shared_world.agent(home)
    with agent.transaction(force_rollback=True):
        create_scope(agent, f"{home}/task/t")
        request = {"layer": "semantic", "content": "x", "scope": f"{home}/task/t"}
        assert [row["outcome"] for row in write_many(agent, [request])] == ["COMMITTED"]
    assert write_many(agent, [request])[0]["reason"] == "UNKNOWN_SCOPE"
    assert one(agent, "SELECT writes FROM memwarden.whoami()")["writes"] == [home]


@pytest.mark.parametrize("kind", ["user", "domain"])
def test_an_agent_opens_only_what_ends_with_its_work(
    shared_world: World, home: str, kind: str
) -> None:
    """Other kinds are an administrator's, also on the way to a task; nothing is left of a failure.

    Proves: A4
    """
    agent = shared_world.agent(home, descendants=True)
    for path in (f"{home}/{kind}/x", f"{home}/{kind}/x/task/t", f"{home}/task/t/{kind}/x"):
        assert refusal(agent, path)[0] == "42501"
    assert shared_world.rows("SELECT FROM memwarden_data.scope WHERE path ~ %s", f"^{home}/") == []


def hidden_and_absent(world: World, home: str) -> list[tuple[str, str]]:
    """Pairs of paths: one that exists where the agent of a home sees nothing, one that does not."""
    organisation, other = organisation_of(home), organisation_of(home) + "-other"
    bob, gone = f"{organisation}/user/bob", f"{organisation}/user/gone"
    for path in (f"{bob}/task/t", f"{organisation}/task/t", f"{other}/user/bob", gone):
        world.scope(path)
    close_scope(world.admin, gone)
    none, nowhere = f"{organisation}/user/none", "/org/nowhere"
    return [
        (bob, none),
        (f"{bob}/task/t", f"{none}/task/t"),
        (f"{bob}/task/new", f"{none}/task/new"),
        (f"{bob}/task/t/task/new", f"{none}/task/t/task/new"),
        (f"{bob}/galaxy/new", f"{none}/galaxy/new"),
        (f"{gone}/task/new", f"{none}/task/new"),
        (f"{organisation}/task/t", f"{organisation}/task/new"),
        (other, nowhere),
        (f"{other}/user/bob", f"{nowhere}/user/bob"),
        (f"{other}/task/new", f"{nowhere}/task/new"),
        (f"{other}/galaxy/new", f"{nowhere}/galaxy/new"),
    ]


@pytest.mark.parametrize(
    "options", [{}, {"descendants": True}, {"writes": False}, CURATOR], ids=repr
)
@pytest.mark.parametrize("arguments", [{}, {"lifetime": "1 hour"}], ids=repr)
def test_hidden_and_absent_places_are_refused_alike(
    shared_world: World, home: str, options: dict[str, Any], arguments: dict[str, str]
) -> None:
    """To the letter: an answer must not tell that a scope, or an organisation, exists.

    Proves: A4
    """
    agent = shared_world.agent(home, **options)
    for hidden, absent in hidden_and_absent(shared_world, home):
        answer = refusal(agent, hidden, **arguments)
        assert answer == refusal(agent, absent, **arguments)
        assert answer[0] == ("42704" if "galaxy" in hidden else "42501")
        assert answer[2] in ("WRITE in the scope above", "scope kind 'galaxy'")


def test_an_agent_that_only_reads_a_scope_opens_nothing_below(
    shared_world: World, home: str
) -> None:
    """Reading from below, from above, or the scope itself; an existing scope it sees is returned.

    Proves: A4
    """
    task = f"{home}/task/t"
    number = shared_world.scope(task)
    readers = [
        shared_world.agent(home, writes=False),
        shared_world.agent(organisation_of(home), writes=False, descendants=True),
        shared_world.agent(f"{task}/task/below"),
    ]
    for reader in readers:
        assert refusal(reader, f"{home}/task/new")[0] == "42501"
    assert [create_scope(reader, task) for reader in readers[1:]] == [number, number]
    assert refusal(readers[0], task)[0] == "42501"


def test_who_administers_an_organisation_creates_any_scope_in_it(
    shared_world: World, home: str
) -> None:
    """Role curator, a curator's login and writing the organisation's scope; none of other tenants'.

    Proves: A4, A1
    """
    organisation = organisation_of(home)
    curator = shared_world.agent(organisation, **CURATOR)
    for path in (f"{organisation}/domain/d/user/u", f"{organisation}/task/t/task/sub"):
        assert create_scope(curator, path) == scope_row(shared_world, path)["scope_id"]
    assert refusal(curator, f"{organisation}x")[0] == "42501"
    assert refusal(curator, f"{organisation}x/user/u")[0] == "42501"
    shared_world.scope(f"{organisation}x")
    assert refusal(curator, f"{organisation}x/user/u")[0] == "42501"
    # Opening a task, it writes that too; of other scopes it is only the administrator.
    writes = one(curator, "SELECT writes FROM memwarden.whoami()")["writes"]
    assert writes == [organisation, f"{organisation}/task/t/**"]


@pytest.mark.parametrize(
    "missing",
    [{"role": "orchestrator"}, {"role": "contributor"}, {"writes": False}, {"below": True}],
    ids=repr,
)
def test_every_part_of_an_administrator_is_needed(
    shared_world: World, home: str, missing: dict[str, Any]
) -> None:
    """42501 for another role, a scope that is only read, and a place below the organisation.

    Proves: A4, A1
    """
    options = CURATOR | {"descendants": True} | missing
    place = home if options.pop("below", False) else organisation_of(home)
    shared_world.scope(home)
    agent = shared_world.agent(place, **options)
    assert refusal(agent, f"{organisation_of(home)}/user/new")[0] == "42501"
    assert refusal(agent, f"{home}/domain/new")[0] == "42501"


@pytest.mark.parametrize("group", ["memwarden_reviewer", "memwarden_auditor", "memwarden_jobs"])
def test_other_logins_cannot_call_it_at_all(shared_world: World, home: str, group: str) -> None:
    """Also with a principal that might.

    Proves: A4
    """
    role = shared_world.register(organisation_of(home), role="curator", groups=(group,))
    with pytest.raises(InsufficientPrivilege):
        create_scope(shared_world.connect(role), f"{home}/task/t")


@pytest.mark.parametrize("call", ["create_scope('/org/acme/task/t')", "close_scope('/org/acme')"])
def test_without_identity_no_scope_is_opened_or_closed(shared_world: World, call: str) -> None:
    """A login of the group that no principal is bound to.

    Proves: A4
    """
    shared_world.scope("/org/acme")
    nobody = shared_world.connect(shared_world.role("memwarden_agent"))
    with pytest.raises((InsufficientPrivilege, UndefinedObject)):
        nobody.execute(f"SELECT memwarden.{call}")
    rows = shared_world.rows("SELECT closed_at FROM memwarden_data.scope WHERE path ~ '^/org/acme'")
    assert rows == [{"closed_at": None}]
