"""What is captured is read without being asked for: by a job, or by a command that goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from access import call, join
from helpers import recall, write
from intake.capture.conftest import Agent, capture, extract, function, said
from races import PATIENCE, together
from shipped import Shipped

if TYPE_CHECKING:
    from conftest import World

ROOT = Path(__file__).parents[3]
HOME = "/org/acme/user/ana"
JOB = "CALL memwarden.extract_captures()"
FACT = "I live in Rome"


def run(world: World) -> None:
    """Run the job as its own role."""
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute(JOB)


def authors(world: World) -> list[str]:
    """Whose the lasting memories are."""
    rows = world.rows(
        "SELECT p.name FROM memwarden_data.item AS i JOIN memwarden_data.principal AS p"
        " USING (principal_id) WHERE i.layer = 'semantic' ORDER BY i.created_at"
    )
    return [row["name"] for row in rows]


def test_the_job_reads_everybodys_captures_in_their_names(world: World) -> None:
    """Each once, as extract() of its agent would have; nothing says afterwards for whom it acted.

    Proves: F2
    """
    ana, bob = world.agent(HOME), world.agent("/org/acme/user/bob")
    capture(ana, said(FACT))
    capture(bob, said("I live in Oslo", "Bob"))
    run(world)
    assert authors(world) == [ana.info.user, bob.info.user]
    assert recall(ana, query="Rome")[0]["content"] == "Rome"
    assert (extract(ana), extract(bob)) == ([], [])
    run(world)
    assert len(authors(world)) == 2
    assert world.value("SELECT count(*) FROM memwarden_data.acting") == 0


def test_runs_at_once_read_everything_once(world: World) -> None:
    """Several jobs and the agent itself; more than a page of captures.

    Proves: F2
    """
    ana = world.agent(HOME)
    for number in range(130):
        capture(ana, said(f"hello {number}"))
    capture(ana, said(FACT))
    jobs = [world.connect(world.role("memwarden_jobs")) for _ in range(3)]
    actions: list[Callable[[], Any]] = [lambda j=j: j.execute(JOB) for j in jobs]  # type: ignore[misc]
    together([*actions, lambda: extract(ana)])
    run(world)
    read = "SELECT count(*) AS n, max(attempts) AS most FROM memwarden_data.extraction"
    assert world.rows(read) == [{"n": 131, "most": 1}]
    assert authors(world) == [ana.info.user]


def test_one_agent_that_cannot_keeps_no_other_from_being_read(world: World) -> None:
    """A disabled agent waits; an error is a warning and the next run's; rights are those of today.

    Proves: F2
    """
    ana, bob, eve = (world.agent(f"/org/acme/user/{name}") for name in ("ana", "bob", "eve"))
    for agent in (ana, bob, eve):
        capture(agent, said(FACT))
    for agent, changes in ((ana, {"enabled": False}), (bob, {"role": "verifier"})):
        call(world.admin, "change_agent", agent=agent.info.user, org="acme", **changes)
    run(world)
    assert authors(world) == [eve.info.user]
    refused = "SELECT reason FROM memwarden_data.write_request WHERE outcome = 'REJECTED'"
    assert world.rows(refused) == [{"reason": "ROLE_FORBIDS"}]
    call(world.admin, "change_agent", agent=ana.info.user, org="acme", enabled=True)
    run(world)
    assert authors(world) == [eve.info.user, ana.info.user]


@pytest.mark.every_version
def test_what_an_extractor_does_meanwhile_it_does_as_its_agent(world: World) -> None:
    """The job lends it the agent's rights and nobody else's, and no longer than it runs.

    Proves: F2, A1
    """
    ana = world.agent(HOME)
    body = (
        "BEGIN RETURN QUERY SELECT jsonb_build_object('subject', 'it', 'predicate', 'ran as',"
        " 'confidence', 0.9, 'content', session_user::text); END"
    )
    made = function(world, "who", body)
    define = "SELECT memwarden.define_extractor('who', function => %s, layer => 'semantic')"
    world.admin.execute(define, (made,))
    capture(ana, said("hello"))
    run(world)
    assert recall(ana, query="ran")[0]["content"] == "memwarden_jobs"
    assert authors(world) == [ana.info.user]
    bea = join(world, "/org/acme/user/bea", "agent", "jobs")
    who = "SELECT memwarden_internal.current_principal() AS id"
    with bea.transaction():
        (before,) = bea.execute(who).fetchall()
        place = world.rows("SELECT org_id, principal_id FROM memwarden_data.capture")[0]
        bea.execute(
            "SELECT set_config('memwarden.acting', %s, true)",
            (f"{place['org_id']}:{place['principal_id']}",),
        )
        assert bea.execute(who).fetchall() == [before]
        capture(ana, said(FACT))
        bea.execute("SELECT memwarden_internal.extract_next(0)")
        assert bea.execute(who).fetchall() == [before]


def test_an_isolation_of_its_own_is_refused(world: World) -> None:
    """As of every job that writes.

    Proves: F2
    """
    capture(world.agent(HOME), said(FACT))
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute("SET default_transaction_isolation = 'repeatable read'")
        with pytest.raises(psycopg.errors.ActiveSqlTransaction):
            jobs.execute(JOB)


def command(world: World, agent: Agent, *words: str) -> subprocess.Popen[str]:
    """Start a command of the client as an agent."""
    dsn = make_conninfo(world.dsn, user=agent.info.user)
    arguments = [sys.executable, "-m", "memwarden", *words, "--dsn", dsn, "--every", "1"]
    path = os.pathsep.join(str(ROOT / folder) for folder in ("python_client", "plpython"))
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env=environment)


@pytest.mark.parametrize("name", ["extract", "consolidate"])
def test_a_command_goes_on_until_it_is_ended(world: World, name: str) -> None:
    """It takes what has come since its last run, and ends well at SIGTERM.

    Proves: F2, N4
    """
    ana = world.agent(HOME)
    running = command(world, ana, name)
    assert running.stderr is not None
    lines = iter(running.stderr.readline, "")
    try:
        told = next(lines)
        assert " INFO " in told
        if name == "extract":
            capture(ana, said(FACT))
            wanted = "captures 1, candidates 1, memories 1"
        else:
            query = "SELECT outcome FROM memwarden.write('session', '\"Ana lives in Rome\"')"
            assert ana.execute(query).fetchall() == [{"outcome": "COMMITTED"}]
            wanted = "decisions ADD 1"
        assert any(wanted in line for line in lines)
    finally:
        running.terminate()
        assert running.wait(PATIENCE) == 0
        running.stderr.close()


def test_what_an_agent_remembers_of_a_turn_stays_as_it_wrote_it(shipped: Shipped) -> None:
    """The job reads the same turn and finds the same, in fewer words: it is known.

    Proves: F2
    """
    turn = shipped.heard("Ana", "I live in Lisbon.")
    told = {"subject": "Ana", "predicate": "lives in"}
    written = write(shipped.agent, "semantic", {"city": "Lisbon"}, evidence=[turn], **told)
    assert written["outcome"] == "COMMITTED"
    shipped.world.admin.execute(JOB)
    found = recall(shipped.agent, query="where does Ana live?")
    assert [(row["item_id"], row["content"], row["standing"]) for row in found] == [
        (written["item_id"], {"city": "Lisbon"}, "verified")
    ]
    refused = shipped.world.rows(
        "SELECT DISTINCT reason FROM memwarden_data.write_request WHERE outcome = 'REJECTED'"
    )
    assert [row["reason"] for row in refused] == ["STRUCTURAL_DUPLICATE"]
