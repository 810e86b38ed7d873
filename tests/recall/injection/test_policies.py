"""Who says what is pushed, and to whom it applies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from recall.injection.conftest import GOAL, HOME, Agent, call, given, push, remember, set_policy

if TYPE_CHECKING:
    from conftest import World

RULES: dict[str, Any] = {"block": "rules", "layers": ["procedural"], "threshold": 0.1}


@pytest.fixture
def agent(world: World) -> Agent:
    """An agent that writes its home."""
    return world.agent(HOME, descendants=True, role="curator")


def blocks(agent: Agent) -> set[str]:
    """From which blocks an agent is given something."""
    return {row["block"] for row in push(agent, task=GOAL)}


def test_the_policy_of_an_agent_goes_before_that_of_its_organisation(
    world: World, agent: Agent
) -> None:
    """That before the one of all; what is dropped makes way for the wider one.

    Proves: N5
    """
    other = world.agent(HOME, descendants=True)
    remember(agent, "the user service database")
    remember(agent, "a rule of the user service database", "procedural")
    assert blocks(agent) == {"knowledge"}
    set_policy(world.admin, {"blocks": [RULES | {"block": "own_rules"}]}, org="acme")
    name = str(agent.info.user)
    set_policy(world.admin, {"blocks": [RULES]}, org="acme", agent=name)
    assert (blocks(agent), blocks(other)) == ({"rules"}, {"own_rules"})
    call(world.admin, "drop_injection_policy", org="acme", agent=name)
    assert blocks(agent) == {"own_rules"}
    call(world.admin, "drop_injection_policy", org="acme")
    assert blocks(agent) == {"knowledge"}


def test_what_is_not_named_stays_as_it_held(world: World, agent: Agent) -> None:
    """Of the policy that held so far, and of its own.

    Proves: N5
    """
    for number in range(3):
        remember(agent, f"user service database {number}")
    set_policy(world.admin, {"max_items": 2}, org="acme")
    assert len(given(push(agent, task=GOAL))) == 2
    set_policy(world.admin, {"refresh_turns": 9}, org="acme")
    assert len(given(push(agent, task=GOAL))) == 2
    [row] = agent.execute(
        "SELECT * FROM memwarden.injection_policies WHERE org = 'acme'"
    ).fetchall()
    assert (row["max_items"], row["refresh_turns"], row["token_budget"]) == (2, 9, 2000)
    assert {block["block"] for block in row["blocks"]} == {"session", "knowledge", "episodes"}


@pytest.mark.parametrize(
    ("settings", "sqlstate"),
    [
        ({"token_budget": 0}, "22023"),
        ({"max_items": "many"}, "22023"),
        ({"colour": "red"}, "22023"),
        ({"blocks": {}}, "22023"),
        ({"blocks": [RULES, RULES]}, "22023"),
        ({"blocks": ["rules"]}, "22023"),
        ({"blocks": [{"block": "Rules!", "layers": ["semantic"]}]}, "22023"),
        ({"blocks": [{"block": "rules"}]}, "22023"),
        ({"blocks": [RULES | {"tier": "never"}]}, "22023"),
        ({"blocks": [RULES | {"threshold": 2}]}, "22023"),
        ({"blocks": [RULES | {"layers": ["moon"]}]}, "42704"),
        ({"blocks": [RULES | {"weight": 1}]}, "22023"),
        ([], "22023"),
    ],
    ids=str,
)
def test_settings_that_mean_nothing_are_refused(
    world: World, settings: dict[str, Any], sqlstate: str
) -> None:
    """And nothing of them is stored.

    Proves: N5
    """
    with pytest.raises(psycopg.Error) as raised:
        set_policy(world.admin, settings)
    assert raised.value.sqlstate == sqlstate
    assert world.value("SELECT count(*) FROM memwarden_data.injection_policy") == 1
    assert world.value("SELECT count(*) FROM memwarden_data.injection_block") == 3


def test_an_agent_sets_no_policy_not_even_its_own(world: World) -> None:
    """Who is pushed to does not say what.

    Proves: N5, A1
    """
    agent = world.agent(HOME)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        set_policy(agent, {"max_items": 100}, agent=str(agent.info.user))
    world.grant_tables(str(agent.info.user))
    world.admin.execute("SELECT memwarden.create_scope('/org/other')")
    set_policy(world.admin, {"max_items": 3}, org="other")
    rows = agent.execute("SELECT * FROM memwarden.injection_policies").fetchall()
    assert [row["org"] for row in rows] == ["global"]
    assert len(agent.execute("SELECT FROM memwarden_data.injection_policy").fetchall()) == 1
    assert len(agent.execute("SELECT FROM memwarden_data.injection_block").fetchall()) == 3


def test_changes_of_policies_are_in_the_access_log(world: World) -> None:
    """Who, and what.

    Proves: N5
    """
    world.scope("/org/acme")
    set_policy(world.admin, {"max_items": 3}, org="acme")
    call(world.admin, "drop_injection_policy", org="acme")
    rows = world.rows("SELECT action FROM memwarden_data.access_log ORDER BY entry_id DESC LIMIT 2")
    assert [row["action"] for row in rows] == ["drop_injection_policy", "set_injection_policy"]
