"""The client waits for a decision, and decides."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from memwarden import Client
from memwarden.cli import app
from reviewing import HOME, ask, queue, reviewer

if TYPE_CHECKING:
    from conftest import World


def test_a_writer_waits_until_a_human_has_decided(world: World) -> None:
    """It listens; the decision of another session ends the wait.

    Proves: H3 (the client)
    """
    ask(world)
    ana = reviewer(world)
    dsn = make_conninfo(world.dsn, user=world.register(HOME))

    def say(content: str) -> str:
        with Client.connect(dsn) as memory:
            said = memory.write("semantic", content, justification="seen", wait=True, timeout=120)
            return f"{said.outcome} {said.reason}"

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(say, "The sky is blue")
        second = pool.submit(say, "The grass is red")
        with Client(ana) as desk:
            while len(found := desk.review_queue()) < 2:
                pass
            for proposal in found:
                assert proposal.justification == "seen"
                if proposal.content == "The sky is blue":
                    assert desk.approve(proposal.proposal_id, "so it is").committed
                else:
                    assert desk.reject(proposal.proposal_id, "FACTUAL_ERROR").rejected
            assert next(e.event for e in desk.review_history(found[0].proposal_id)) == "opened"
        assert first.result(120) == "COMMITTED None"
        assert second.result(120) == "REJECTED REVIEW_REJECTED"
    with Client.connect(dsn) as memory:
        waits = memory.write("semantic", "Snow is white", wait=True, timeout=0.1)
        assert waits.deferred
        status = memory.await_decision(waits.request_id, 0)
        assert status is not None
        assert status.reason == "AWAITING_APPROVAL"


def test_the_command_line_decides(world: World) -> None:
    """List, show, edit, approve and reject, with the exit codes that scripts go by.

    Proves: H4 (the command line)
    """
    ask(world)
    ana = reviewer(world)
    dsn = make_conninfo(world.dsn, user=ana.info.user)
    with Client.connect(make_conninfo(world.dsn, user=world.register(HOME))) as memory:
        for content in ("one", "two", "three"):
            memory.write("semantic", content)
    runner = CliRunner()

    def run(*arguments: str) -> tuple[int, str]:
        done = runner.invoke(app, ["review", *arguments, "--dsn", dsn])
        return done.exit_code, done.output

    code, listed = run("list", "--json")
    assert code == 0
    assert {each["content"] for each in json.loads(listed)} == {"one", "two", "three"}
    one, two, three = (str(p["proposal_id"]) for p in queue(ana))
    assert run("list")[0] == 0
    code, shown = run("show", one)
    assert (code, "LAYER_POLICY" in shown) == (0, True)
    assert run("approve", one, "--note", "yes")[0] == 0
    assert run("edit", two, '"2"')[0] == 0
    assert run("reject", three, "NOISE")[0] == 0
    assert run("approve", three)[0] == 1
    assert queue(ana) == []
