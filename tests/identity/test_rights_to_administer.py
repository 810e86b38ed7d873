"""Who administers an organisation: by role, place and login, and as far as its policies allow."""

from __future__ import annotations

from typing import Any

import pytest

from access import call, join, name_of
from conftest import World
from helpers import write
from identity.two import ACME, OTHER, Two, answer, full_calls, layer_calls
from row_digests import row_digests


@pytest.fixture
def two(world: World) -> Two:
    """Two organisations in a database of their own."""
    return Two(world)


@pytest.mark.parametrize(
    "changed",
    [
        {"role": "contributor"},
        {"role": "orchestrator"},
        {"writes": False},
        {"home": f"{ACME}/user/ana"},
        {"enabled": False},
    ],
    ids=repr,
)
def test_it_takes_the_role_and_the_place(two: Two, changed: dict[str, Any]) -> None:
    """A curator without either administers nothing, whatever its login may call.

    Proves: A1, Z1
    """
    standing: dict[str, Any] = {"role": "curator", "writes": True, "descendants": True} | changed
    enabled, home = standing.pop("enabled", True), standing.pop("home", ACME)
    somebody = join(two.world, home, "agent", "curator", **standing)
    call(two.acme, "change_agent", agent=name_of(somebody), enabled=enabled)
    before = row_digests(two.world.admin)
    for function, arguments in full_calls(ACME, two.agents[ACME]):
        assert answer(somebody, function, **arguments) in ("42501", "42704"), function
    assert row_digests(two.world.admin) == before


def test_it_takes_the_login_too(two: Two) -> None:
    """With an agent's login, a curator opens and closes scopes and defines content, no more.

    Proves: A1, Z1
    """
    agent = join(two.world, ACME, role="curator")
    done = [
        function
        for function, arguments in [*full_calls(ACME, two.agents[ACME]), *layer_calls("acme")]
        if answer(agent, function, **arguments) is None
    ]
    layer = ["define_schema", "define_predicate", "set_synonyms"]
    assert done == ["create_scope", "close_scope", *layer]


def test_the_right_comes_and_goes_with_grant_role_and_definition(two: Two) -> None:
    """At the next statement of an open session, whoever gives or takes it.

    Proves: A1
    """
    deputy = join(two.world, f"{ACME}/user/bob", "agent", "curator", role="curator")
    about = {"agent": name_of(deputy)}

    def may_administer() -> bool:
        state = answer(deputy, "define_role", name="mine", permissions=[], org="acme")
        assert state in (None, "42501")
        return state is None

    assert not may_administer()
    call(two.acme, "grant_scope", **about, scope=ACME, writes=True)
    assert may_administer()
    call(two.acme, "change_agent", **about, role="contributor")
    assert not may_administer()
    permissions = [{"operation": "ADMIN", "degree": "full"}]
    call(two.acme, "define_role", name="deputy", permissions=permissions)
    call(two.acme, "change_agent", **about, role="deputy")
    assert may_administer()
    # It may give up what it has, and with that the right to take it back.
    call(deputy, "define_role", name="deputy", permissions=[{"operation": "ADMIN"}])
    assert not may_administer()
    assert answer(deputy, "define_predicate", predicate="is", same_key="accumulate") is None
    call(two.acme, "define_role", name="deputy", permissions=permissions)
    call(deputy, "revoke_scope", **about, scope=ACME)
    assert not may_administer()


def test_administration_of_one_layer_ends_there(two: Two) -> None:
    """Its schemas are defined; what concerns every layer takes the right to every layer.

    Proves: A1
    """
    for name, degree in (("librarian", "layer"), ("director", "full")):
        permissions = [{"operation": "ADMIN", "layers": ["semantic"], "degree": degree}]
        call(two.acme, "define_role", name=name, permissions=permissions)
        who = join(two.world, ACME, "agent", "curator", role=name)
        schema = {"kind": f"of.{name}", "schema": {}}
        assert answer(who, "define_schema", layer="semantic", **schema) is None
        assert answer(who, "define_schema", layer="episodic", **schema) == "42501"
        for function, arguments in [*layer_calls("acme"), *full_calls(ACME, two.agents[ACME])]:
            if function != "define_schema":
                assert answer(who, function, **arguments) in ("42501", "42704"), function


def test_policies_are_asked_of_administration_too(two: Two) -> None:
    """Of who administers, for no item; an administrator of the database is above them.

    Proves: A2
    """
    person = two.acme
    machine = join(two.world, ACME, "agent", "curator", role="curator", kind="service")
    about = {"name": "people only", "default_effect": "allow", "operations": ["ADMIN"]}
    call(person, "define_policy_set", **about)
    call(person, "set_policy", policy_set="people only", name="people only", effect="deny",
         condition="agent.kind <> 'human' AND operation = ADMIN")  # fmt: skip
    for function, arguments in [*layer_calls("acme"), *full_calls(ACME, two.agents[ACME])]:
        assert answer(machine, function, **arguments) in ("42501", "42704"), function
        assert answer(person, function, **arguments) is None, function
    # Whoever locks itself out is let in again from above.
    call(person, "define_policy_set", **about | {"default_effect": "deny"})
    assert answer(person, "drop_policy", policy_set="people only") == "42501"
    call(two.world.admin, "drop_policy", policy_set="people only", org="acme")
    assert answer(person, "define_role", name="back", permissions=[]) is None


def test_an_orchestrator_defines_the_content_of_its_organisation(two: Two) -> None:
    """Schemas, predicates and synonyms, with a login like any agent's; nothing more, nowhere else.

    Proves: A1, Z1
    """
    place = {"role": "orchestrator", "writes": True}
    orchestrator = join(two.world, ACME, **place)
    powerful_login = join(two.world, ACME, "agent", "curator", **place)
    reads_only = join(two.world, ACME, role="orchestrator", writes=False)
    for who in (orchestrator, powerful_login):
        for function, arguments in layer_calls("acme"):
            assert answer(who, function, **arguments) is None, function
        for org in ("other", "global", "nobody"):
            for function, arguments in layer_calls(org):
                assert answer(who, function, **arguments) == "42501", (function, org)
        for function, arguments in full_calls(ACME, two.agents[ACME]):
            assert answer(who, function, **arguments) in ("42501", "42704"), function
    for function, arguments in layer_calls("acme"):
        assert answer(reads_only, function, **arguments) == "42501", function
    # What it defined counts for its organisation.
    trip = {"layer": "semantic", "content": "Rome", "kind": "trip"}
    assert write(orchestrator, "episodic", "it rains")["outcome"] == "COMMITTED"
    assert write(two.acme, **trip)["outcome"] == "COMMITTED"
    assert write(two.curators[OTHER], **trip)["reason"] == "UNKNOWN_KIND"
