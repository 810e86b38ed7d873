"""At the end of a session what matters is asked to be kept; the rest is released."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.errors import InvalidParameterValue, UndefinedObject

from helpers import recall
from intake.sessions.conftest import (
    HOME,
    TASK,
    advance,
    close,
    observe,
    open_session,
    set_goal,
    slots,
)
from races import overlap, together
from replay import check_store
from scope_calls import close_scope, create_scope

if TYPE_CHECKING:
    from uuid import UUID

    from conftest import World
    from intake.sessions.conftest import Agent


def work(agent: Agent, session: UUID) -> None:
    """A goal, a step, and observations of every importance."""
    set_goal(agent, session, "count herons", plan=["look", "count"])
    advance(agent, session)
    for importance in ("low", "critical", "normal", "high"):
        observe(agent, session, f"a heron of {importance} importance", importance)


def told(rows: list[Any]) -> list[tuple[str, str, str | None]]:
    """What became of each observation and of the summary."""
    return [
        (row["importance"], row["disposition"], row["outcome"])
        for row in rows
        if row["part"] in ("observation", "summary")
    ]


def test_what_is_important_becomes_lasting_memory(world: World) -> None:
    """As copies in layer episodic, resting on what the session remembered; all of that expires.

    Proves: L2 (promotion through the gates, release)
    """
    agent = world.agent()
    session = open_session(agent)
    work(agent, session)
    rows = close(agent, session, "herons are grey")
    assert told(rows) == [
        ("low", "released", None),
        ("critical", "promoted", "COMMITTED"),
        ("normal", "released", None),
        ("high", "promoted", "COMMITTED"),
        ("high", "promoted", "COMMITTED"),
    ]
    left = {row["item_id"]: row for row in recall(agent, query="heron", k=100)}
    assert set(left) == {row["item_id"] for row in rows if row["disposition"] == "promoted"}
    assert {(row["layer"], row["subject"]) for row in left.values()} == {("episodic", TASK)}
    (summary,) = [row for row in rows if row["part"] == "summary"]
    assert left[summary["item_id"]]["content"] == {"summary": "herons are grey"}
    uris = [each["uri"] for each in left[summary["item_id"]]["provenance"]["evidence"]]
    assert f"tool:look/{session}" in uris
    assert sum(uri.startswith("memwarden:item/") for uri in uris) == 2
    assert world.value("SELECT count(*) FROM memwarden_data.working_memory") == 0
    check_store(world.admin)


def test_closing_again_answers_the_same_and_does_nothing(world: World) -> None:
    """Whatever it asks for then.

    Proves: L2 (idempotent)
    """
    agent = world.agent()
    session = open_session(agent)
    work(agent, session)
    first = close(agent, session)
    count = world.value("SELECT count(*) FROM memwarden_data.write_request")
    assert close(agent, session, "another", promote="none") == first
    assert world.value("SELECT count(*) FROM memwarden_data.write_request") == count


def test_a_refusal_is_among_the_answers(world: World) -> None:
    """In a store as shipped nothing lasts on an agent's own word, but on that of a known tool.

    Proves: L2 (through the gates), X2
    """
    world.ship_layers()
    agent = world.agent()
    session = open_session(agent)
    observe(agent, session, "the deployment to staging took 12 minutes", "critical")
    (row,) = close(agent, session)
    assert (row["disposition"], row["outcome"], row["item_id"]) == ("refused", "REJECTED", None)
    assert row["gate"] == "40_evidence"
    assert recall(agent, query="staging") == []

    world.admin.execute(
        "SELECT memwarden.define_source('tool:deploy/*', 'tool_output', org => 'acme')"
    )
    session = open_session(agent)
    observe(agent, session, "the deployment to staging took 12 minutes", "critical", tool="deploy")
    rows = close(agent, session, "the deployment to staging took 12 minutes, so plan for it")
    assert rows[0]["outcome"] == "COMMITTED", rows[0]["reason"]
    assert len(recall(agent, query="staging")) >= 1


def test_a_role_that_writes_no_lasting_layer_is_told_so(world: World) -> None:
    """Nothing is promoted by the session itself.

    Proves: L2, A1
    """
    agent = world.agent(role="executor")
    session = open_session(agent)
    observe(agent, session, "a heron", "critical")
    rows = close(agent, session, "herons")
    assert [(row["part"], row["disposition"], row["reason"]) for row in rows] == [
        ("observation", "refused", "ROLE_FORBIDS"),
        ("summary", "refused", "ROLE_FORBIDS"),
    ]


def test_it_is_promoted_into_the_scope_and_layer_that_are_named(world: World) -> None:
    """Where the caller may write there.

    Proves: L2
    """
    agent = world.agent(descendants=True)
    create_scope(agent, f"{HOME}/task/t")
    session = open_session(agent, scope=f"{HOME}/task/t")
    observe(agent, session, "a heron", "high")
    close(agent, session, "herons", target_scope=HOME, layer="semantic")
    rows = recall(agent, query="heron", k=10)
    assert {(row["scope"], row["layer"]) for row in rows} == {(HOME, "semantic")}
    assert len(rows) == 2


def test_nothing_is_promoted_where_nothing_is_asked_for(world: World) -> None:
    """Everything is released.

    Proves: L2
    """
    agent = world.agent()
    session = open_session(agent)
    work(agent, session)
    assert {row["disposition"] for row in close(agent, session, promote="none")} == {"released"}
    assert recall(agent, query="heron") == []


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"summary": " "}, InvalidParameterValue),
        ({"summary": "x" * 2001}, InvalidParameterValue),
        ({"promote": "all"}, InvalidParameterValue),
        ({"layer": "working"}, InvalidParameterValue),
        ({"layer": "session"}, InvalidParameterValue),
        ({"layer": "nowhere"}, UndefinedObject),
        ({"target_scope": "/org/acme/user/nobody"}, UndefinedObject),
    ],
)
def test_what_cannot_be_asked_for_closes_nothing(
    shared_world: World, more: dict[str, Any], error: type[Exception]
) -> None:
    """The session goes on.

    Proves: L2
    """
    agent = shared_world.agent("/org/acme/user/eve")
    session = open_session(agent)
    with pytest.raises(error):
        close(agent, session, **more)
    assert slots(agent, session)["session_id"] == session


def test_of_two_who_close_it_at_once_one_does(world: World) -> None:
    """Both have the same answer; each entry was promoted once.

    Proves: L2 (two at once)
    """
    agent = world.agent()
    for attempt in range(5):
        session = open_session(agent, f"task {attempt}")
        for number in range(3):
            observe(agent, session, f"heron {attempt} {number}", "critical")
        others = [world.connect(str(agent.info.user)) for _ in range(2)]
        answers = together([partial(close, each, session, "grey") for each in others])
        assert answers[0] == answers[1]
        assert len(answers[0]) == 4
        promoted = world.value(
            "SELECT count(*) FROM memwarden_data.item WHERE layer = 'episodic' AND subject = %s",
            f"task {attempt}",
        )
        assert promoted == 4
    check_store(world.admin)


def test_who_closes_a_session_that_another_is_closing_waits(world: World) -> None:
    """And does it all where the other was cut off.

    Proves: L2 (a killed closer can be run again)
    """
    agent = world.agent()
    session = open_session(agent)
    observe(agent, session, "a heron", "critical")
    first, second = (world.connect(str(agent.info.user)) for _ in range(2))
    rows = overlap(
        world.admin,
        first,
        partial(close, first, session, "grey"),
        second,
        partial(close, second, session, "white"),
        rollback=True,
    )
    assert [row["outcome"] for row in rows] == ["COMMITTED", "COMMITTED"]
    assert {str(row["content"]) for row in recall(agent, query="heron white grey", k=9)} == {
        "{'tool': 'look', 'result': 'a heron'}",
        "{'summary': 'white'}",
    }
    check_store(world.admin)


def test_a_session_ends_with_its_scope(world: World) -> None:
    """What it remembers expires with the scope; the call says that the session is over.

    Proves: A10, L2
    """
    agent = world.agent(descendants=True)
    create_scope(agent, f"{HOME}/task/t")
    session = open_session(agent, scope=f"{HOME}/task/t")
    observe(agent, session, "a heron", "critical")
    close_scope(agent, f"{HOME}/task/t")
    (row,) = agent.execute("SELECT ended FROM memwarden.sessions").fetchall()
    assert row["ended"] == "scope_closed"
    assert world.value("SELECT count(*) FROM memwarden_data.working_memory") == 0
    assert [row["disposition"] for row in close(agent, session)] == ["released"]
    check_store(world.admin)


def look(connection: Agent, session: UUID) -> str:
    """Observe something; the outcome, or the name of the error."""
    try:
        return str(observe(connection, session, "a heron")["outcome"])
    except psycopg.Error as error:
        return type(error).__name__


def end(connection: Agent, path: str) -> str:
    """Close a scope; what became of its memories."""
    return str(close_scope(connection, path))


def test_who_observes_while_the_scope_is_closed_waits_and_is_told(world: World) -> None:
    """Neither deadlock nor anything left behind, whoever comes first.

    Proves: A10, L2
    """
    agent = world.agent(descendants=True)
    closer = world.connect(str(agent.info.user))
    for number in range(6):
        path = f"{HOME}/task/t{number}"
        create_scope(agent, path)
        session = open_session(agent, scope=path)
        observe(agent, session, "first")
        seen, _ = together([partial(look, agent, session), partial(end, closer, path)])
        assert seen in ("COMMITTED", "ObjectNotInPrerequisiteState", "LockNotAvailable"), seen
    left = world.value("SELECT count(*) FROM memwarden_data.item WHERE status = 'ACTIVE'")
    assert left == 0
    check_store(world.admin)
