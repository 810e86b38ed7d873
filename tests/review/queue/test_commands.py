"""`memwarden review bulk` and `feedback`, and the client's methods behind them."""

from __future__ import annotations

import json
import os
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow
from typer.testing import CliRunner, Result

from memwarden import ChangedSince, Client, InvalidArgument, NotAllowed
from memwarden.cli import app
from review.queue.desk import edit, propose, reject

if TYPE_CHECKING:
    from conftest import World


@pytest.fixture
def dsn(shared_world: World, reviewer: Connection[DictRow]) -> str:
    """Return how the reviewer connects."""
    return make_conninfo(shared_world.dsn, user=reviewer.info.user)


def run(dsn: str, *arguments: str) -> Result:
    """Run a command of the group `review`, without a terminal."""
    environment = os.environ | {"MEMWARDEN_DSN": dsn, "COLUMNS": "200"}
    return CliRunner().invoke(app, ["review", *arguments], env=environment)


def as_json(dsn: str, *arguments: str, code: int = 0) -> Any:
    """Run it with --json, return what it prints."""
    done = run(dsn, *arguments, "--json")
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


def test_nothing_is_decided_before_somebody_agrees(agent: Connection[DictRow], dsn: str) -> None:
    """Shown, and with --yes done; what cannot be decided so ends with 3.

    Proves: H4
    """
    for number in range(3):
        propose(agent, {"text": f"thing number {number}"})
    shown = as_json(dsn, "bulk", "approve", "--layer", "semantic", code=2)
    assert shown["proposals"] == 3
    assert run(dsn, "bulk", "approve").exit_code == 2
    assert "would approve: 3" in run(dsn, "bulk", "approve").output
    decided = as_json(dsn, "bulk", "approve", "--yes", "--note", "all well")
    assert {each["outcome"] for each in decided} == {"COMMITTED"}
    assert as_json(dsn, "bulk", "approve", "--yes") == []
    twice = {"text": "said by two"}
    propose(agent, twice)
    done = run(dsn, "bulk", "reject", "--reason", "NOISE", "--agent", agent.info.user, "--yes")
    assert done.exit_code == 0
    assert "REVIEW_REJECTED" in done.output
    for wrong in (("reject",), ("approve", "--reason", "NOISE"), ("delete",)):
        assert run(dsn, "bulk", *wrong, "--yes").exit_code == 2
    propose(agent, {"text": "something else"})
    decided = as_json(dsn, "bulk", "reject", "--reason", "BECAUSE", "--yes", code=3)
    assert [each["error"] for each in decided] == ["22023"]


def test_feedback_is_read_at_the_command_line(
    shared_world: World, agent: Connection[DictRow], reviewer: Connection[DictRow]
) -> None:
    """By the agent about itself; control characters of a note steer no terminal.

    Proves: H5
    """
    mine = make_conninfo(shared_world.dsn, user=agent.info.user)
    reject(reviewer, propose(agent, {"text": "Tea is blue"}), note="look \x1b[2J at a cup")
    edit(reviewer, propose(agent, {"drink": "tea"}, predicate="prefers"), {"drink": "green tea"})
    first, second = as_json(mine, "feedback")
    assert (first["event"], first["reason"]) == ("rejected", "FACTUAL_ERROR")
    assert second["changes"][0]["after"] == "green tea"
    shown = run(mine, "feedback").output
    assert "FACTUAL_ERROR" in shown
    assert "green tea" in shown
    assert "\x1b[2J" not in shown
    assert [each["event"] for each in as_json(mine, "feedback", "--after", first["event_id"])] == [
        "edited"
    ]
    [rate] = [each for each in as_json(mine, "feedback", "--rates") if each["topic"] == "prefers"]
    assert (rate["edited"], rate["approval_rate"]) == (1, 1)
    assert "100%" in run(mine, "feedback", "--rates").output


def test_the_client_decides_what_it_has_previewed(
    shared_world: World, agent: Connection[DictRow], reviewer: Connection[DictRow], dsn: str
) -> None:
    """Errors have their names.

    Proves: H4, H5
    """
    proposals = {propose(agent, {"text": f"thing number {number}"}) for number in range(2)}
    with Client.connect(dsn) as memory:
        preview = memory.preview_decisions(agent=agent.info.user, risk_below=1)
        assert set(preview.proposal_ids) == proposals
        reject(reviewer, next(iter(proposals)), "OTHER")
        with pytest.raises(ChangedSince):
            memory.decide_many("approve", preview)
        [decided] = memory.decide_many(
            "reject", memory.preview_decisions(), reason="NOISE", note="chatter"
        )
        assert (decided.outcome, decided.error) == ("REJECTED", None)
        with pytest.raises(InvalidArgument):
            memory.preview_decisions(max_rows=0)
        assert [each.reason for each in memory.feedback()] == ["OTHER", "NOISE"]
        assert memory.approval_rates()[0].rejected == 2
        assert memory.forget_noise(decided.proposal_id, "on second thought")
        assert not memory.forget_noise(uuid.uuid4())
    with Client.connect(make_conninfo(shared_world.dsn, user=agent.info.user)) as memory:
        with pytest.raises(NotAllowed):
            memory.preview_decisions()
        assert len(memory.feedback(reasons=["NOISE"])) == 1
