"""A task that goes on in another session is given its progress and key findings."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import jsonschema  # type: ignore[import-untyped]

from intake.sessions.conftest import (
    HOME,
    TASK,
    advance,
    close,
    end_turn,
    observe,
    open_session,
    render,
    resume,
    set_goal,
    slots,
)
from memwarden.contract import resumption_schema_text
from scope_calls import retract

if TYPE_CHECKING:
    from uuid import UUID

    from conftest import World
    from intake.sessions.conftest import Agent

GOAL = {
    "plan": ["check changes", "deploy to staging", "run tests"],
    "constraints": ["zero downtime", {"text": "no schema change", "importance": "critical"}],
}


def work(agent: Agent) -> UUID:
    """A session that got one step ahead and found something."""
    session = open_session(agent)
    set_goal(agent, session, "upgrade user-service to v3", **GOAL)
    advance(agent, session)
    observe(agent, session, "v3 has no /v1/users", "critical")
    observe(agent, session, "staging is slow", "high")
    observe(agent, session, "nothing of note")
    return session


def later(world: World, days: int) -> None:
    """Let sessions and what they remembered be over for so long already."""
    with world.admin.transaction():
        world.admin.execute("SET LOCAL session_replication_role = replica")
        for table, column in (
            ("session", "used_at"),
            ("session", "closed_at"),
            ("item", "updated_at"),
        ):
            world.admin.execute(
                f"UPDATE memwarden_data.{table} SET {column} = {column} - %s", (timedelta(days),)
            )


def test_the_next_session_is_given_what_the_last_one_came_to(world: World) -> None:
    """As an envelope whose namespace is the scope, and in working memory; days later, too.

    Proves: L13
    """
    agent = world.agent()
    first = work(agent)
    close(agent, first, "check the API first")
    later(world, 3)
    envelope = resume(agent)
    assert envelope["envelope"] == 1
    assert (envelope["namespace"], envelope["task"]) == (HOME, TASK)
    assert (envelope["resumed_from"], envelope["ended"]) == (str(first), "closed")
    assert envelope["goal"] == "upgrade user-service to v3"
    assert envelope["plan"] == {"steps": GOAL["plan"], "done": 1}
    assert [each["text"] for each in envelope["constraints"]] == [
        "zero downtime",
        "no schema change",
    ]
    findings = envelope["findings"]
    assert [each.get("summary") or each["result"] for each in findings] == [
        "check the API first",
        "v3 has no /v1/users",
        "staging is slow",
    ]
    assert {(each["standing"], each["layer"]) for each in findings} == {("remembered", "episodic")}
    assert render(agent, envelope["session_id"]).split("\n") == [
        '[TASK_GOAL] "upgrade user-service to v3"',
        '[CURRENT_STEP] (1/3) "deploy to staging"',
        '[NEXT_STEP] "run tests"',
        '[OBSERVATION] {"tool": "look", "result": "v3 has no /v1/users", "importance": "critical"}',
        '[CONSTRAINT] "zero downtime"',
        '[CONSTRAINT] "no schema change"',
    ]


def test_the_envelope_has_the_form_that_is_published(world: World) -> None:
    """With and without an earlier session.

    Proves: L13 (versioned envelope)
    """
    agent = world.agent()
    schema = json.loads(resumption_schema_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    empty = resume(agent, "nothing yet")
    jsonschema.validate(empty, schema)
    assert (empty["resumed_from"], empty["findings"], empty["goal"]) == (None, [], None)
    close(agent, work(agent), "grey")
    jsonschema.validate(resume(agent), schema)


def test_resuming_again_changes_nothing(world: World) -> None:
    """What the session has said and found since comes first.

    Proves: L13
    """
    agent = world.agent()
    close(agent, work(agent))
    first = resume(agent)
    assert resume(agent) == first
    set_goal(agent, first["session_id"], "roll back")
    observe(agent, first["session_id"], "v3 is withdrawn", "critical")
    end_turn(agent, first["session_id"])
    again = resume(agent)
    assert (again["goal"], again["plan"]) == ("roll back", first["plan"])
    assert [each["result"] for each in again["findings"]] == [
        "v3 is withdrawn",
        "v3 has no /v1/users",
        "staging is slow",
    ]
    assert slots(agent, first["session_id"])["goal"] == "roll back"


def test_progress_goes_on_over_several_sessions(world: World) -> None:
    """Each begins where the one before it ended.

    Proves: L13
    """
    agent = world.agent()
    close(agent, work(agent))
    for done in (2, 3):
        envelope = resume(agent)
        assert advance(agent, envelope["session_id"])["done"] == done
        close(agent, envelope["session_id"])
    assert resume(agent)["plan"]["done"] == 3


def test_what_nobody_promoted_is_the_sessions_own_note(world: World) -> None:
    """A gate refused it when the session ran out; as long as it could be recovered, and no longer.

    Proves: L13, L2
    """
    agent = world.agent()
    session = work(agent)
    setting = '{"min_external": 5}'
    world.admin.execute("SELECT memwarden.configure_layer('episodic', %s)", (setting,))
    world.admin.execute("UPDATE memwarden_data.session SET used_at = used_at - interval '2 hours'")
    envelope = resume(agent)
    assert (envelope["resumed_from"], envelope["ended"]) == (str(session), "expired")
    assert envelope["plan"]["done"] == 1
    assert {each["standing"] for each in envelope["findings"]} == {"unverified"}
    close(agent, envelope["session_id"], promote="none")
    later(world, 31)
    envelope = resume(agent)
    assert (envelope["goal"], envelope["findings"]) == (None, [])


def test_what_lasting_memory_took_back_is_no_finding(world: World) -> None:
    """Nor does working memory have it.

    Proves: L13
    """
    agent = world.agent(role="curator")
    rows = close(agent, work(agent))
    (wrong,) = [row for row in rows if row["importance"] == "critical" and row["item_id"]]
    retract(agent, wrong["item_id"])
    envelope = resume(agent)
    assert [each["result"] for each in envelope["findings"]] == ["staging is slow"]
    assert slots(agent, envelope["session_id"])["observations"] == []


def test_another_agents_session_is_not_resumed(world: World) -> None:
    """In the same scope, of the same task.

    Proves: A1, L13
    """
    agent, other = world.agent(), world.agent()
    close(agent, work(agent))
    envelope = resume(other)
    assert (envelope["resumed_from"], envelope["goal"]) == (None, None)
