"""What an agent is given before it asks: in blocks, under budgets, and why the rest is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from access import state
from recall.context.conftest import rendered
from recall.injection.conftest import (
    GOAL,
    HOME,
    Agent,
    given,
    left_out,
    named,
    push,
    remember,
    set_policy,
    start,
    tokens,
)
from write.judgement.test_disputes import both
from write.judgement.test_gates import configure

if TYPE_CHECKING:
    from conftest import World

BLOCKS: list[dict[str, Any]] = [
    {"block": "rules", "layers": ["procedural"], "priority": 9},
    {"block": "facts", "layers": ["semantic"], "priority": 5},
]


@pytest.fixture
def agent(world: World) -> Agent:
    """An agent that writes and administers its organisation's memory."""
    return world.agent(HOME, descendants=True, role="curator")


def test_what_concerns_the_task_is_pushed_and_nothing_else(agent: Agent) -> None:
    """Facts and procedures about it; what is about something else says so, and episodes wait.

    Proves: L5
    """
    fact = remember(agent, "the user service keeps 100 connections to its database")
    other = remember(agent, "green tea is drunk at five")
    episode = remember(agent, "the user service moved to a new database in May", "episodic")
    rows = push(agent, task=GOAL)
    assert given(rows) == [fact]
    assert left_out(rows) == {other: "THRESHOLD"}
    assert rows[0]["block"] == "knowledge"
    assert rows[0]["position"] == 1
    assert json.loads(rows[0]["line"])["text"].startswith("the user service")
    assert (rows[1]["line"], rows[1]["content"], rows[1]["position"]) == (None, None, None)
    assert given(push(agent, task=GOAL, blocks=["episodes"])) == [episode]


def test_five_memories_at_most_are_pushed_unless_more_are_asked_for(agent: Agent) -> None:
    """The documents' item budget.

    Proves: L5
    """
    for number in range(8):
        remember(agent, f"user service database note number {number}")
    rows = push(agent, task=GOAL)
    assert len(given(rows)) == 5
    assert set(left_out(rows).values()) == {"ITEMS"}
    assert len(given(push(agent, task=GOAL, max_items=7))) == 7


@pytest.mark.parametrize("budget", [1, 60, 130, 190, 400])
def test_the_token_budget_is_kept_header_and_all(agent: Agent, budget: int) -> None:
    """Also where nothing fits.

    Proves: L5, N5
    """
    for number in range(5):
        remember(agent, f"user service {number} database: " + "more of it " * number)
    rows = push(agent, task=GOAL, token_budget=budget, threshold=0)
    lines = [row for row in rows if row["left_out"] is None]
    assert not lines or tokens(agent, rendered(agent, lines)) <= budget
    if len(lines) < 5:
        assert "BUDGET" in left_out(rows).values()


def test_a_threshold_of_the_call_goes_before_that_of_the_blocks(agent: Agent) -> None:
    """From everything to nothing.

    Proves: L5
    """
    remember(agent, "the user service is written in Go")
    remember(agent, "green tea is drunk at five")
    assert len(given(push(agent, task=GOAL, threshold=0))) == 2
    assert given(push(agent, task=GOAL, threshold=1)) == []


def test_the_lowest_priority_yields_first(agent: Agent, world: World) -> None:
    """Rules stay whole, facts have what is left.

    Proves: N5
    """
    set_policy(world.admin, {"blocks": BLOCKS, "max_items": 3}, org="acme")
    rules = [remember(agent, f"database rule {n}", "procedural") for n in range(2)]
    # More relevant than any rule.
    facts = [remember(agent, f"move the user service to database {n}") for n in range(2)]
    rows = push(agent, task=GOAL)
    assert set(given(rows)[:2]) == set(rules)
    assert given(rows)[2] in facts
    assert list(left_out(rows).values()) == ["ITEMS"]
    assert [row["block"] for row in rows] == ["rules", "rules", "facts", "facts"]


def test_a_block_has_its_own_budgets(agent: Agent, world: World) -> None:
    """One item of rules, and few tokens of facts, whatever there is in all.

    Proves: N5
    """
    own = [BLOCKS[0] | {"max_items": 1}, BLOCKS[1] | {"token_budget": 60}]
    set_policy(world.admin, {"blocks": own}, org="acme")
    for number in range(2):
        remember(agent, f"database rule {number}", "procedural")
        remember(agent, f"user service {number}" + " in the new database" * 12)
    rows = push(agent, task=GOAL)
    assert [row["block"] for row in rows if row["left_out"] is None] == ["rules"]
    assert {(row["block"], row["left_out"]) for row in rows if row["left_out"]} == {
        ("rules", "ITEMS"),
        ("facts", "BUDGET"),
    }


def test_what_is_always_there_yields_after_what_is_on_demand(agent: Agent, world: World) -> None:
    """Whatever the priorities.

    Proves: N5
    """
    on_demand = [BLOCKS[0] | {"tier": "on_demand", "priority": 900}, BLOCKS[1]]
    set_policy(world.admin, {"blocks": on_demand, "max_items": 1}, org="acme")
    remember(agent, "database rule", "procedural")
    fact = remember(agent, "user service database")
    assert given(push(agent, task=GOAL)) == [fact]
    assert given(push(agent, task=GOAL, blocks=["rules", "facts"])) == [fact]


def test_blocks_take_what_they_are_for(agent: Agent, world: World) -> None:
    """By predicates, and each memory once.

    Proves: L5, N5
    """
    blocks = [
        {"block": "preferences", "layers": ["semantic"], "predicates": ["prefers", "likes"]},
        {"block": "facts", "layers": ["semantic"], "priority": -1, "threshold": 0.1},
    ]
    set_policy(world.admin, {"blocks": blocks}, org="acme")
    mail = remember(agent, "Slack over e-mail", subject="Ana", predicate="prefers")
    tea = remember(agent, "green tea", subject="Ana", predicate="likes")
    fact = remember(agent, "the database is new", subject="user service", predicate="has")
    rows = push(agent, task=GOAL)
    assert {row["item_id"]: row["block"] for row in rows} == {
        mail: "preferences",
        tea: "preferences",
        fact: "facts",
    }


def test_memories_that_contradict_each_other_are_pushed_together_or_not_at_all(
    world: World, agent: Agent
) -> None:
    """Never one side alone, as in a context.

    Proves: L5, F9
    """
    configure(world, conflict="coexist")
    one, other = both(agent)
    rows = push(agent, task="is the door open?", threshold=0)
    assert set(given(rows)) == {one, other}
    assert [row["contradicts"] for row in rows] == [[given(rows)[1]], [given(rows)[0]]]
    assert given(push(agent, task="is the door open?", threshold=0, max_items=1)) == []


def test_a_session_is_pushed_for_its_goal_or_its_step(agent: Agent) -> None:
    """What has to do with either.

    Proves: L5
    """
    goal = remember(agent, "the user service database has a replica")
    step = remember(agent, "breaking changes are listed in the changelog")
    begun = start(agent, goal=GOAL, plan=["read about breaking changes", "migrate"])
    assert set(begun["item_ids"]) == {goal, step}
    assert set(given(push(agent, session_id=begun["session_id"]))) == {goal, step}


def test_what_the_session_noted_is_pushed_and_no_other_session_of_that_name(
    world: World, agent: Agent
) -> None:
    """Entries of this very session, once working memory has let them go.

    Proves: L5
    """
    other = world.agent(HOME, descendants=True, role="curator")
    for who in (agent, other):
        begun = start(who, goal=GOAL)
        who.execute(
            "SELECT memwarden.observe(%s, 'psql', %s)",
            (begun["session_id"], f"the user service database has {who is agent} tables"),
        )
    rows = push(agent, task=GOAL, session_id=start(agent)["session_id"])
    [row] = [row for row in rows if row["block"] == "session"]
    assert row["content"]["result"].endswith("True tables")


def test_a_push_is_in_the_log_of_recalls(agent: Agent, world: World) -> None:
    """With what it gave, for which task, and never its text.

    Proves: L5, Z4
    """
    fact = remember(agent, "the user service database")
    remember(agent, "green tea")
    session = start(agent, goal=GOAL)["session_id"]
    [first, *_] = push(agent, session_id=session)
    [row] = world.rows(
        "SELECT * FROM memwarden_data.recall_log WHERE recall_id = %s", first["recall_id"]
    )
    assert (row["purpose"], row["session_id"], row["item_ids"]) == ("push", session, [fact])
    assert "service" not in str(row)


def test_a_push_works_where_nothing_may_be_written(agent: Agent) -> None:
    """And gives the same, but for the id of its record.

    Proves: L5, Z4
    """
    remember(agent, "the user service database")
    written = push(agent, task=GOAL)
    with agent.transaction():
        agent.execute("SET TRANSACTION READ ONLY")
        unwritten = push(agent, task=GOAL)
    assert [row["line"] for row in unwritten] == [row["line"] for row in written]
    assert unwritten[0]["recall_id"] is None


def test_nobody_is_pushed_what_it_may_not_read(world: World) -> None:
    """Neither words nor the fact that something was left out.

    Proves: L5, A3
    """
    ana, bo = world.agent(HOME), world.agent("/org/acme/user/bo")
    high = world.agent(HOME, clearance="restricted")
    remember(bo, "Bo's user service database")
    remember(high, "the secret user service database", classification="restricted")
    assert named(push(ana, task=GOAL, threshold=0)) == []
    assert len(push(high, task=GOAL)) == 1
    assert named(push(high, task=GOAL, classification="internal")) == []


def test_another_agents_session_is_as_good_as_none(world: World, agent: Agent) -> None:
    """By any call.

    Proves: L5, A3
    """
    session = start(agent, goal=GOAL)["session_id"]
    other = world.agent(HOME, descendants=True, role="curator")
    assert state(other, "push", session_id=session) == "42704"
    assert state(other, "before_call", session_id=session) == "42704"


@pytest.mark.parametrize(
    ("arguments", "sqlstate"),
    [
        ({}, "22023"),
        ({"task": " "}, "22023"),
        ({"task": "x" * 10001}, "22023"),
        ({"task": "x", "max_items": 0}, "22023"),
        ({"task": "x", "token_budget": 0}, "22023"),
        ({"task": "x", "threshold": 1.5}, "22023"),
        ({"task": "x", "classification": "cosmic"}, "42704"),
        ({"task": "x", "scope": "/org/acme/user/bo"}, "42704"),
    ],
    ids=str,
)
def test_arguments_out_of_range_are_named(
    agent: Agent, arguments: dict[str, Any], sqlstate: str
) -> None:
    """Proves: L5."""
    assert state(agent, "push", **arguments) == sqlstate
