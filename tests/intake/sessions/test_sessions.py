"""A session is its agent's own; what enters it is remembered through the gates in one go."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg
import pytest
from psycopg.errors import InvalidParameterValue, ObjectNotInPrerequisiteState, UndefinedObject

from helpers import recall, write_many
from intake.sessions.conftest import (
    HOME,
    TASK,
    advance,
    close,
    end_turn,
    note,
    observe,
    open_session,
    render,
    search,
    set_goal,
    slots,
)
from scope_calls import create_scope, refused

if TYPE_CHECKING:
    from conftest import World

TABLES = ("session", "session_entry", "working_memory")
CALLS = (
    "set_goal(%s, 'g')",
    "observe(%s, 'look', 'seen')",
    "advance_plan(%s)",
    "note(%s, 'n')",
    "end_turn(%s)",
    "working_memory(%s)",
    "render_working_memory(%s)",
    "search_session(%s, 'seen')",
    "close_session(%s)",
)


def test_a_session_is_one_for_agent_task_and_scope(world: World) -> None:
    """Another task, another scope, another agent: another one.

    Proves: L2
    """
    agent = world.agent(descendants=True)
    create_scope(agent, f"{HOME}/task/t")
    first = open_session(agent)
    assert open_session(agent) == first
    assert open_session(world.connect(str(agent.info.user))) == first
    others = {
        open_session(agent, "another"),
        open_session(agent, scope=f"{HOME}/task/t"),
        open_session(world.agent()),
    }
    assert len({first, *others}) == 4


def test_what_was_observed_is_an_item_of_layer_session(world: World) -> None:
    """Written by the agent, about the task, on the tool's word; found by the session's id again.

    Proves: L2 (write-through from L0)
    """
    agent = world.agent()
    session = open_session(agent)
    row = observe(agent, session, "v3 has no /v1/users", "critical", tool="changelog")
    assert (row["outcome"], row["kept"]) == ("COMMITTED", True)
    (item,) = recall(agent, query="users")
    assert item["item_id"] == row["item_id"]
    assert (item["layer"], item["subject"]) == ("session", TASK)
    assert item["content"] == {"tool": "changelog", "result": "v3 has no /v1/users"}
    evidence = world.value("SELECT evidence FROM memwarden_data.version")
    assert evidence[0]["uri"] == f"tool:changelog/{session}"
    record = world.value("SELECT record FROM memwarden_data.whole_provenance")
    assert record["origin"]["session"] == str(session)
    assert record["origin"]["task"] == TASK


def test_what_happens_twice_is_there_twice_and_what_is_sent_twice_once(world: World) -> None:
    """By the request id, as with write().

    Proves: L2, W4
    """
    agent = world.agent()
    session = open_session(agent)
    for _ in range(2):
        assert observe(agent, session, "nothing new")["outcome"] == "COMMITTED"
    made = world.value("SELECT memwarden_internal.uuid7()")
    sent = [observe(agent, session, "sent again", request_id=made) for _ in range(2)]
    assert [(row["outcome"], row["kept"]) for row in sent] == [
        ("COMMITTED", True),
        ("ALREADY_COMMITTED", False),
    ]
    shown = [each["result"] for each in slots(agent, session)["observations"]]
    assert shown == ["sent again", "nothing new", "nothing new"]
    assert len(search(agent, session, "nothing new sent")) == 3


def test_a_step_that_is_sent_twice_is_done_once(world: World) -> None:
    """By the request id.

    Proves: L1 (plan)
    """
    agent = world.agent()
    session = open_session(agent)
    set_goal(agent, session, "g", plan=["one", "two", "three"])
    made = world.value("SELECT memwarden_internal.uuid7()")
    assert [advance(agent, session, request_id=made)["done"] for _ in range(2)] == [1, 1]
    assert advance(agent, session)["current_step"] == "three"


def test_what_a_gate_refuses_is_told_and_kept_nowhere(world: World) -> None:
    """A role that may not write the layer: neither working memory nor the session has it.

    Proves: L2 (a refusal is told)
    """
    agent = world.agent()
    session = open_session(agent)
    world.admin.execute(
        "UPDATE memwarden_data.principal SET role_id ="
        " (SELECT role_id FROM memwarden_data.access_role WHERE name = 'verifier')"
    )
    row = observe(agent, session, "seen")
    assert (row["outcome"], row["reason"], row["kept"]) == ("REJECTED", "ROLE_FORBIDS", False)
    row = set_goal(agent, session, "g", plan=["one"])
    assert (row["outcome"], row["kept"]) == ("REJECTED", False)
    shown = slots(agent, session)
    assert (shown["observations"], shown["goal"], shown["plan"]["steps"]) == ([], None, [])
    assert world.value("SELECT count(*) FROM memwarden_data.session_entry") == 0


SECRET = "AKIAIOSFODNN7EXAMPLE"


def test_a_secret_is_masked_before_anything_is_stored(world: World) -> None:
    """In every slot and in the session's memories; the answer says what was masked.

    Proves: L1, L10 (working memory and sessions)
    """
    agent = world.agent()
    session = open_session(agent)
    row = observe(agent, session, f"the key is {SECRET}.", tool="env")
    assert (row["outcome"], row["masked"][0]["kind"]) == ("COMMITTED", "secret.aws_key")
    goal = f"use {SECRET} for it"
    assert set_goal(agent, session, goal, plan=[goal], constraints=[goal])["masked"]
    note(agent, session, goal)
    advance(agent, session)
    shown = render(agent, session)
    assert shown.count("[secret.aws_key]") == 4
    for table in (
        *("working_memory", "session_entry", "session", "version", "item", "write_request"),
        *("provenance", "log"),
    ):
        rows = str(world.rows(f"SELECT t.* FROM memwarden_data.{table} AS t"))
        assert SECRET not in rows, table
    with pytest.raises(InvalidParameterValue) as error:
        open_session(agent, f"task {SECRET}")
    assert SECRET not in str(error.value.diag.message_detail)


def test_searching_finds_what_working_memory_has_let_go(world: World) -> None:
    """Of this session alone, with the whole result.

    Proves: L2 (search)
    """
    agent = world.agent()
    session, other = open_session(agent), open_session(agent, "another task")
    for number in range(8):
        observe(agent, session, f"bird number {number} is a heron")
    observe(agent, other, "a heron elsewhere")
    end_turn(agent, session)
    assert slots(agent, session)["observations"] == []
    found = search(agent, session, "heron")
    assert len(found) == 8
    assert {row["part"] for row in found} == {"observation"}
    (best,) = search(agent, session, "number 5", k=1)
    assert best["content"]["result"] == "bird number 5 is a heron"


def test_searching_tells_and_records_what_is_its_own(world: World) -> None:
    """However much better others answer, who work on a task of that name in the same scope.

    Proves: L2 (search), Z4
    """
    agent, other = world.agent(), world.agent()
    session = open_session(agent)
    observe(agent, session, "among many other birds of the lake there was a heron")
    observe(agent, session, "a heron")
    observe(agent, session, "nothing else")
    write_many(
        other,
        [
            {"layer": "session", "content": f"heron {number}", "subject": TASK}
            for number in range(1100)
        ],
    )
    found = search(agent, session, "heron", k=2)
    assert [row["content"]["result"] for row in found] == [
        "a heron",
        "among many other birds of the lake there was a heron",
    ]
    (logged,) = world.rows("SELECT item_ids, session_id, k, layers FROM memwarden_data.recall_log")
    assert logged == {
        "item_ids": [row["item_id"] for row in found],
        "session_id": session,
        "k": 2,
        "layers": ["session"],
    }


def test_searching_tells_what_was_noted_twice_twice(world: World) -> None:
    """And of both no more than was asked for.

    Proves: L2 (search)
    """
    agent = world.agent()
    session = open_session(agent)
    for _ in range(3):
        observe(agent, session, "a heron")
    observe(agent, session, "an egret")
    assert len(search(agent, session, "heron egret")) == 4
    assert len(search(agent, session, "heron", k=2)) == 2
    last = world.rows("SELECT item_ids FROM memwarden_data.recall_log ORDER BY recalled_at")[-1]
    assert len(last["item_ids"]) == 1


def test_a_session_holds_as_much_as_its_layer_says(world: World) -> None:
    """The least important of the oldest expire; goal and progress stay.

    Proves: L2, L3 (max_items), G7 (session memory)
    """
    world.admin.execute("SELECT memwarden.configure_layer('session', '{\"max_items\": 4}')")
    agent = world.agent()
    session = open_session(agent)
    set_goal(agent, session, "watch herons", plan=["one", "two"])
    advance(agent, session)
    for number, importance in enumerate(("high", "low", "normal", "normal")):
        observe(agent, session, f"heron {number}", importance)
    set_goal(agent, session, "watch herons well")
    left = {str(row["content"]) for row in recall(agent, query="heron", k=100)}
    assert left == {
        "{'tool': 'look', 'result': 'heron 0'}",
        "{'tool': 'look', 'result': 'heron 3'}",
        "{'done': 1, 'step': 'one', 'total': 2}",
        "{'done': 1, 'goal': 'watch herons well', 'plan': ['one', 'two'], 'constraints': []}",
    }


def test_nobody_else_sees_or_touches_a_session(world: World) -> None:
    """Another agent of the same scope: absent and another's answer alike; no table shows a row.

    Proves: A1, L2 (isolation)
    """
    agent, other = world.agent(), world.agent()
    session = open_session(agent)
    observe(agent, session, "seen")
    world.grant_tables(str(other.info.user), str(agent.info.user))
    assert other.execute("SELECT * FROM memwarden.sessions").fetchall() == []
    for who in (agent, other):
        for table in TABLES:
            assert who.execute(f"SELECT * FROM memwarden_data.{table}").fetchall() == []
    for call in CALLS:
        told = [
            refused(partial(other.execute, f"SELECT * FROM memwarden.{call}", (who,)), who)
            for who in (session, uuid4())
        ]
        assert told[0] == told[1], call
        assert told[0][0] == "42704"
    assert open_session(other) != session


def test_whether_others_read_its_memories_say_roles(world: World) -> None:
    """An executor reads its own alone; an orchestrator of the same scope reads all.

    Proves: L2, A1
    """
    first, second = world.agent(role="executor"), world.agent(role="executor")
    watching = world.agent(role="orchestrator")
    session = open_session(first)
    assert observe(first, session, "a heron")["outcome"] == "COMMITTED"
    assert len(recall(first, query="heron")) == 1
    assert recall(second, query="heron") == []
    assert len(recall(watching, query="heron")) == 1


def test_a_scope_that_is_not_the_agents_has_no_sessions_of_it(world: World) -> None:
    """Nor does one that it no longer writes.

    Proves: A1
    """
    agent = world.agent()
    world.scope("/org/acme/user/bo")
    for scope in ("/org/acme/user/bo", "/org/acme/user/nobody", "/org/acme"):
        with pytest.raises(UndefinedObject):
            open_session(agent, scope=scope)
    session = open_session(agent)
    world.admin.execute("SELECT memwarden.revoke_scope(%s, %s)", (agent.info.user, HOME))
    with pytest.raises(UndefinedObject):
        slots(agent, session)


def test_a_session_that_is_over_takes_no_more(world: World) -> None:
    """Closed, or unused for its time to live.

    Proves: L2 (TTL)
    """
    agent = world.agent()
    closed, unused = open_session(agent, "closed"), open_session(agent, "unused", ttl="1 minute")
    close(agent, closed)
    world.admin.execute(
        "UPDATE memwarden_data.session SET used_at = used_at - interval '1 minute'"
        " WHERE session_id = %s",
        (unused,),
    )
    for session in (closed, unused):
        for call in CALLS[:-2]:
            with pytest.raises(ObjectNotInPrerequisiteState):
                agent.execute(f"SELECT * FROM memwarden.{call}", (session,))
        assert search(agent, session, "anything") == []
    again = open_session(agent, "unused")
    assert again not in (closed, unused)
    assert world.value(
        "SELECT ended FROM memwarden_data.session WHERE session_id = %s", unused
    ) == ("expired")


@pytest.mark.parametrize("task", ["", " x", "two\nlines", "x" * 201, None])
def test_a_task_has_a_name(shared_world: World, task: str) -> None:
    """One line, not too long.

    Proves: L2
    """
    agent = shared_world.agent("/org/acme/user/eve")
    with pytest.raises(InvalidParameterValue):
        open_session(agent, task)


@pytest.mark.parametrize("ttl", ["0", "-1 hour", "25 hours"])
def test_a_lifetime_is_within_the_layers(shared_world: World, ttl: str) -> None:
    """More than nothing, at most max_ttl of layer session.

    Proves: L2 (TTL)
    """
    agent = shared_world.agent("/org/acme/user/eve")
    with pytest.raises(InvalidParameterValue):
        open_session(agent, ttl=ttl)


@pytest.mark.parametrize(
    ("tool", "result", "importance"),
    [
        ("", "r", "normal"),
        ("a b", "r", "normal"),
        ("[GOAL]", "r", "normal"),
        ("t", " ", "normal"),
        ("t", "x" * 262145, "normal"),
        ("t", "r", "huge"),
        ("t", "r", None),
    ],
)
def test_what_is_no_observation_is_refused(
    shared_world: World, tool: str, result: str, importance: str
) -> None:
    """Before anything is asked of a gate.

    Proves: L1
    """
    agent = shared_world.agent("/org/acme/user/eve")
    session = open_session(agent)
    with pytest.raises(InvalidParameterValue):
        observe(agent, session, result, importance, tool=tool)


def test_who_is_not_bound_has_no_session(world: World) -> None:
    """Nor has who is no agent.

    Proves: A1
    """
    stranger = world.connect(world.role("memwarden_agent"))
    with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification):
        open_session(stranger)
    auditor = world.agent(groups=["memwarden_auditor"])
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        open_session(auditor)


def test_a_session_asks_for_the_rights_to_its_own_scope_alone(world: World) -> None:
    """Whatever plan is chosen: one that reads every scope asks for none of the others."""
    for number in range(20):
        world.scope(f"/org/acme/user/u{number}")
    role = world.register(HOME)
    session = open_session(world.connect(role))
    with world.connect(autocommit=False) as connection:
        connection.execute("SET LOCAL track_functions = 'all'")
        connection.execute("SET LOCAL enable_indexscan = off")
        connection.execute("SET LOCAL enable_bitmapscan = off")
        connection.execute(f"SET LOCAL SESSION AUTHORIZATION {role}")
        assert slots(connection, session)
        connection.execute("RESET SESSION AUTHORIZATION")
        (counted,) = connection.execute(
            "SELECT calls FROM pg_stat_xact_user_functions WHERE funcname = 'may_write'"
        ).fetchall()
    assert counted["calls"] == 1
