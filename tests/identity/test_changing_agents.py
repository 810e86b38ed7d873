"""What an agent is and may changes while it works: from its next statement on, and at once."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import administrator, call, curator, join, name_of, refusal, state
from conftest import World
from helpers import recall, write

SEEN = "SELECT content FROM memwarden.items"


def change(world: World, agent: Connection[DictRow], **changes: Any) -> None:
    """Call change_agent() as an administrator."""
    call(world.admin, "change_agent", agent=name_of(agent), **changes)


def test_what_is_left_out_stays(shared_world: World, home: str) -> None:
    """Each property by itself, and none but it.

    Proves: A1, A3
    """
    org = home.split("/")[2]
    shared_world.scope(home)
    call(shared_world.admin, "define_attribute", bearer="agent", name="team", org=org)
    agent = join(shared_world, home, domains=["law"], attributes={"team": "care"})
    (expected,) = call(agent, "whoami")
    one_by_one: list[dict[str, Any]] = [
        {},
        {"role": "executor"},
        {"clearance": "restricted"},
        {"domains": ["law", "tax"]},
        {"attributes": {"team": "cure"}},
        {"validated": False},
        {"domains": []},
        {"attributes": {}},
        {"clearance": "public", "validated": True},
    ]
    for changes in one_by_one:
        change(shared_world, agent, **changes)
        expected |= changes
        (found,) = call(agent, "whoami")
        assert found | {"permissions": 0} == expected | {"permissions": 0}


def test_a_change_counts_from_the_next_statement_on(shared_world: World, home: str) -> None:
    """In an open transaction, in a prepared statement, for reading and for writing.

    Proves: A1, A3
    """
    author = join(shared_world, home, clearance="restricted", domains=["law"])
    write(author, "semantic", "secret", classification="restricted")
    write(author, "semantic", "legal", domains=["law"])
    agent = shared_world.agent(home)
    agent.execute(f"PREPARE mine AS {SEEN}")
    agent.execute("SET plan_cache_mode = force_generic_plan")

    def seen_and_refused() -> tuple[set[str], str | None]:
        seen = {row["content"] for row in agent.execute("EXECUTE mine")}
        assert {row["content"] for row in recall(agent)} == seen
        return seen, write(agent, "session", f"note {len(seen)}", domains=["law"])["reason"]

    with agent.transaction():
        assert seen_and_refused() == (set(), "DOMAIN_NOT_HELD")
        change(shared_world, agent, clearance="restricted", domains=["law"])
        assert seen_and_refused()[0] >= {"secret", "legal"}
        change(shared_world, agent, clearance="internal")
        assert seen_and_refused()[1] is None
        change(shared_world, agent, role="executor", domains=[])
        assert seen_and_refused() == (set(), "DOMAIN_NOT_HELD")
    change(shared_world, agent, role="contributor", validated=False)
    assert write(agent, "semantic", "a fact")["reason"] == "AGENT_NOT_VALIDATED"


def test_a_disabled_agent_loses_its_open_session_and_an_enabled_one_has_it_back(
    shared_world: World, home: str
) -> None:
    """Within a transaction, too; nothing it wrote is lost, and disabling twice is no error.

    Proves: A3, A6
    """
    agent = shared_world.agent(home)
    write(agent, "semantic", "a fact")
    with agent.transaction():
        assert agent.execute(SEEN).fetchall() == [{"content": "a fact"}]
        change(shared_world, agent, enabled=False)
        assert agent.execute(SEEN).fetchall() == []
        for function, arguments in (
            ("whoami", {}),
            ("recall", {}),
            ("write", {"layer": "working", "content": '"x"'}),
        ):
            with (
                pytest.raises(psycopg.errors.InvalidAuthorizationSpecification),
                agent.transaction(),
            ):
                call(agent, function, **arguments)
    since = "SELECT disabled_at FROM memwarden_data.principal WHERE name = %s"
    before = shared_world.value(since, name_of(agent))
    change(shared_world, agent, enabled=False)
    assert shared_world.value(since, name_of(agent)) == before
    change(shared_world, agent, enabled=True)
    assert agent.execute(SEEN).fetchall() == [{"content": "a fact"}]
    assert write(agent, "semantic", "another fact")["outcome"] == "COMMITTED"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"agent": None}, "42704"),
        ({"agent": ""}, "42704"),
        ({"agent": "nobody"}, "42704"),
        ({"agent": "memwarden"}, "42704"),
        ({"org": "nobody"}, "42704"),
        ({"role": ""}, "42704"),
        ({"role": "nobody"}, "42704"),
        ({"clearance": "secret"}, "42704"),
        ({"domains": ["Law"]}, "22023"),
        ({"domains": [None]}, "22023"),
        ({"domains": [["law"]]}, "22023"),
        ({"attributes": []}, "22023"),
        ({"attributes": {"undeclared": True}}, "22023"),
    ],
    ids=repr,
)
def test_a_broken_change_changes_nothing(
    shared_world: World, changes: dict[str, Any], expected: str
) -> None:
    """Not even the rest of what it asks for.

    Proves: A1
    """
    agent = shared_world.agent("/org/broken/user/ana")
    (before,) = call(agent, "whoami")
    sound = {"agent": name_of(agent), "validated": False, "domains": ["tax"]}
    assert state(shared_world.admin, "change_agent", **sound | changes) == expected
    assert call(agent, "whoami") == [before]


def test_an_agent_has_as_many_logins_as_are_bound_to_it(shared_world: World, home: str) -> None:
    """Each acts for it: what one wrote is the other's own. A login speaks for one agent.

    Proves: A6 (a login role)
    """
    admin = administrator(shared_world)
    first = join(shared_world, home, role="executor")
    agent = name_of(first)
    second = shared_world.connect(shared_world.role("memwarden_agent"))
    assert state(second, "recall") == "28000"
    call(admin, "bind_login", agent=agent, login_role=name_of(second))
    assert write(first, "session", "mine")["outcome"] == "COMMITTED"
    assert second.execute(SEEN).fetchall() == [{"content": "mine"}]
    assert call(second, "whoami") == call(first, "whoami")
    other = shared_world.agent(home)
    for login in (name_of(second), name_of(other), agent):
        error = refusal(admin, "bind_login", agent=agent, login_role=login)
        assert error.sqlstate == "42710"

    call(admin, "unbind_login", login_role=agent)
    assert first.execute(SEEN).fetchall() == []
    assert state(first, "recall") == "28000"
    assert second.execute(SEEN).fetchall() == [{"content": "mine"}]
    # Bound to another agent, the open session is that agent's.
    call(admin, "bind_login", agent=name_of(other), login_role=agent)
    (me,) = call(first, "whoami")
    assert me["agent"] == name_of(other)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("bind_login", {"agent": None, "login_role": "{login}"}),
        ("bind_login", {"agent": "nobody", "login_role": "{login}"}),
        ("bind_login", {"agent": "memwarden", "login_role": "{login}"}),
        ("bind_login", {"agent": "{agent}", "login_role": None}),
        ("bind_login", {"agent": "{agent}", "login_role": "no_such_login"}),
        ("bind_login", {"agent": "{agent}", "login_role": "memwarden_agent"}),
        ("bind_login", {"agent": "{agent}", "login_role": "{login}", "org": "nobody"}),
        ("unbind_login", {"login_role": None}),
        ("unbind_login", {"login_role": "{login}"}),
    ],
    ids=repr,
)
def test_a_broken_binding_binds_nothing(
    shared_world: World, function: str, arguments: dict[str, Any]
) -> None:
    """42704, and nothing is bound or unbound.

    Proves: A6
    """
    names = {
        "agent": shared_world.register("/org/binding/user/ana"),
        "login": shared_world.role("memwarden_agent"),
    }
    bound = "SELECT * FROM memwarden_data.principal_login ORDER BY 1"
    before = shared_world.rows(bound)
    given = {key: value and value.format(**names) for key, value in arguments.items()}
    assert state(shared_world.admin, function, **given) == "42704"
    assert shared_world.rows(bound) == before


def test_a_revoked_grant_ends_at_once_and_others_go_on(shared_world: World, home: str) -> None:
    """The home's as well: whoever lives there no longer reads or writes it.

    Proves: A4
    """
    neighbour = home.replace("/user/ana", "/user/bob")
    agent = shared_world.agent(home)
    owner = shared_world.agent(neighbour)
    write(agent, "semantic", "at home")
    write(owner, "semantic", "next door")
    grant = {"agent": name_of(agent), "scope": neighbour}
    call(shared_world.admin, "grant_scope", **grant, writes=True)

    def seen() -> set[str]:
        return {row["content"] for row in agent.execute(SEEN)}

    assert seen() == {"at home", "next door"}
    call(shared_world.admin, "revoke_scope", agent=name_of(agent), scope=home)
    assert seen() == {"next door"}
    assert write(agent, "working", "a note")["reason"] == "UNKNOWN_SCOPE"
    assert write(agent, "working", "a note", scope=neighbour)["outcome"] == "COMMITTED"
    call(shared_world.admin, "revoke_scope", **grant)
    assert seen() == set()
    assert recall(agent) == []
    for unknown in (grant, grant | {"agent": "nobody"}, grant | {"scope": home + "/task/none"}):
        error = refusal(shared_world.admin, "revoke_scope", **unknown)
        assert error.sqlstate == "42704"
    assert write(owner, "working", "a note")["outcome"] == "COMMITTED"


def test_a_name_of_two_organisations_does_not_tell_whose_agent_is_meant(
    shared_world: World, home: str
) -> None:
    """22023 for an administrator of all, until org says whose; a curator means its own.

    Proves: A1, A6
    """
    org = home.split("/")[2]
    other = f"{org}b"
    for name in (org, other):
        shared_world.scope(f"/org/{name}")
        call(shared_world.admin, "register_agent", name="twin", scope=f"/org/{name}")
    owner = curator(shared_world, f"/org/{other}")
    admin = administrator(shared_world)
    login = shared_world.role("memwarden_agent")
    for function, arguments in (
        ("change_agent", {"validated": False}),
        ("bind_login", {"login_role": login}),
        ("revoke_tokens", {}),
    ):
        error = refusal(admin, function, agent="twin", **arguments)
        assert error.sqlstate == "22023"
        assert "2 organisations" in (error.diag.message_detail or "")
    assert refusal(owner, "change_agent", agent="twin", org=org).sqlstate == "42704"
    call(owner, "change_agent", agent="twin", validated=False)
    call(admin, "change_agent", agent="twin", org=org, role="executor")
    call(admin, "bind_login", agent="twin", org=org, login_role=login)
    found = shared_world.rows(
        "SELECT org, role, validated FROM memwarden.agents WHERE agent = 'twin' AND org IN (%s, %s)"
        " ORDER BY org",
        org,
        other,
    )
    assert [tuple(row.values()) for row in found] == [
        (org, "executor", True),
        (other, "contributor", False),
    ]
    (me,) = call(shared_world.connect(login), "whoami")
    assert me["org"] == org
