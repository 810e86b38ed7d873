"""An agent works on a task through the client: the calls are those of the server."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import jsonschema  # type: ignore[import-untyped]
import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from memwarden import Client, contract
from memwarden.cli import app
from memwarden.errors import InvalidArgument, NotFound, NotReady

if TYPE_CHECKING:
    from conftest import World


def test_a_task_is_worked_on_and_taken_up_again(memory: Client) -> None:
    """Goal, observations, plan, notes, turns; then closed, and resumed.

    Proves: L1, L2, L13
    """
    session = memory.open_session("count birds", ttl=timedelta(hours=2))
    assert memory.open_session("count birds") == session
    answer = memory.set_goal(
        session,
        "Count the herons",
        plan=["look", "count"],
        constraints=["quietly", {"text": "before noon", "importance": "critical"}],
    )
    assert (answer.outcome, answer.kept, answer.masked) == ("COMMITTED", True, None)
    seen = memory.observe(session, "look", "three herons", "critical")
    assert seen.item_id is not None
    step = memory.advance_plan(session)
    assert (step.done, step.total, step.current_step, step.next_step) == (1, 2, "count", None)
    memory.note(session, "or were there four?")
    slots = memory.working_memory(session)
    assert (slots.goal, slots.scratchpad, slots.turn) == (
        "Count the herons",
        "or were there four?",
        0,
    )
    assert memory.render_working_memory(session).startswith('[TASK_GOAL] "Count the herons"')
    assert memory.end_turn(session) == 1
    (best, *_) = memory.search_session(session, "herons three", k=3)
    assert (best.part, best.content["result"]) == ("observation", "three herons")
    entries = memory.close_session(session, "There are three herons.")
    assert memory.close_session(session) == entries
    assert {entry.part: entry.disposition for entry in entries} == {
        "goal": "released",
        "progress": "released",
        "observation": "promoted",
        "summary": "promoted",
    }
    envelope = memory.resume_session("count birds")
    jsonschema.validate(envelope, json.loads(contract.resumption_schema_text()))
    assert (envelope["resumed_from"], envelope["plan"]["done"]) == (str(session), 1)
    newest, oldest = memory.sessions()
    assert (newest.resumed_from, oldest.ended, oldest.turn) == (session, "closed", 1)
    assert [each.session_id for each in memory.sessions(open_only=True)] == [newest.session_id]


def test_what_cannot_be_done_is_told_by_its_kind(memory: Client, world: World) -> None:
    """A session that is over, that is another's, and arguments out of range.

    Proves: L2
    """
    session = memory.open_session("count birds")
    dsn = make_conninfo(world.dsn, user=world.register("/org/acme/user/ana"))
    with Client.connect(dsn) as other, pytest.raises(NotFound):
        other.note(session, "mine")
    with pytest.raises(InvalidArgument):
        memory.observe(session, "look", "three", "huge")
    memory.close_session(session, promote="none")
    with pytest.raises(NotReady):
        memory.note(session, "too late")


def test_sessions_are_listed_and_shown_at_a_terminal(memory: Client, agent_dsn: str) -> None:
    """As a person reads them, and as JSON.

    Proves: L1
    """
    session = memory.open_session("count birds")
    memory.set_goal(session, "Count the [31mherons")
    memory.close_session(memory.open_session("another"), promote="none")

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, ["session", *arguments, "--dsn", agent_dsn])
        assert done.exit_code == 0, done.output
        return done.output

    assert "another" in run("list")
    assert "another" not in run("list", "--open")
    (listed,) = json.loads(run("list", "--open", "--json"))
    assert (listed["session_id"], listed["task"]) == (str(session), "count birds")
    assert run("show", str(session)) == '[TASK_GOAL] "Count the [31mherons"\n'
    assert json.loads(run("show", str(session), "--json"))["goal"] == "Count the [31mherons"
    printed = CliRunner().invoke(app, ["contract", "resumption"]).output
    assert printed == contract.resumption_schema_text()
