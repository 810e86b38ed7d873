"""The command, as a person and as a script run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg
import pytest
from typer.testing import CliRunner

from memwarden.cli import app
from memwarden.cli.server import note
from memwarden.results import ComponentStatus

if TYPE_CHECKING:
    from conftest import World

MAIN = "from memwarden.cli import main; main()"


@dataclass(frozen=True)
class Ran:
    """What a command printed, and how it ended."""

    returncode: int
    stdout: str
    stderr: str


def run_alone(*arguments: str, dsn: str = "") -> Ran:
    """Run the command in a process of its own, warnings being errors."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", MAIN, *arguments],
        env=os.environ | {"MEMWARDEN_DSN": dsn, "TERM": "dumb"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def run(*arguments: str, dsn: str = "", input: str | None = None) -> Ran:
    """Run the command in this process: starting one takes longer than most commands run."""
    done = CliRunner().invoke(
        app, arguments, input=input, env={"MEMWARDEN_DSN": dsn, "TERM": "dumb"}
    )
    # A command ends by an exit status; what else it raises, a person would see as a traceback.
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Ran(done.exit_code, done.stdout, done.stderr)


def test_a_fact_is_written_recalled_and_looked_at(agent_dsn: str) -> None:
    """Proves: W1, L6."""
    fact = '{"statement": "Ana drinks green tea"}'
    ran = run_alone(
        *("write", "semantic", fact, "--subject", "Ana", "--predicate", "drinks"),
        *("--confidence", "0.9", "--evidence", "chat:1", "--json"),
        dsn=agent_dsn,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    written = json.loads(ran.stdout)
    assert written["outcome"] == "COMMITTED"

    ran = run_alone("recall", "what does Ana drink?", dsn=agent_dsn)
    assert (ran.returncode, ran.stderr) == (0, "")
    for shown in ("Ana drinks green tea", "chat:1", "semantic", "score", "cosine"):
        assert shown in ran.stdout
    assert ran.stdout.isprintable() or "\x1b" not in ran.stdout

    [recalled] = json.loads(run("recall", "tea", "--json", dsn=agent_dsn).stdout)
    assert recalled["item_id"] == written["item_id"]
    assert recalled["content"] == json.loads(fact)

    item = json.loads(run("get", written["item_id"], "--json", dsn=agent_dsn).stdout)
    assert item["provenance"]["evidence"] == [{"type": "human_input", "uri": "chat:1"}]
    assert "green tea" in run("get", written["item_id"], dsn=agent_dsn).stdout
    [version] = json.loads(run("history", written["item_id"], "--json", dsn=agent_dsn).stdout)
    assert version["version"] == 1
    assert "ACTIVE" in run("history", written["item_id"], dsn=agent_dsn).stdout
    asked = run("request", written["request_id"], dsn=agent_dsn)
    assert "commit" in asked.stdout
    assert "ACCEPT" in asked.stdout


def test_evidence_is_quoted(agent_dsn: str) -> None:
    """One excerpt for each piece of evidence."""
    fact = ("write", "semantic", '{"drink": "tea"}', "--evidence", "chat:1")
    ran = run(*fact, "--excerpt", "I drink tea.", "--json", dsn=agent_dsn)
    assert ran.returncode == 0, ran.stderr
    item = run("get", json.loads(ran.stdout)["item_id"], "--json", dsn=agent_dsn)
    [evidence] = json.loads(item.stdout)["provenance"]["evidence"]
    assert evidence["uri"] == "chat:1"
    ran = run(*fact, "--excerpt", "I drink", "--excerpt", "tea", dsn=agent_dsn)
    assert ran.returncode == 2
    assert "one --excerpt for each --evidence" in ran.stderr


def test_an_agent_asks_who_it_is_and_why_it_may(agent_dsn: str, agent_scope: str) -> None:
    """A script reads the exit code of `explain`."""
    me = json.loads(run("whoami", "--json", dsn=agent_dsn).stdout)
    assert me["home"] == agent_scope
    shown = run("whoami", dsn=agent_dsn)
    assert (shown.returncode, shown.stderr) == (0, "")
    for each in (me["agent"], me["role"], "WRITE"):
        assert each in shown.stdout
    label = ("--classification", "public")
    ran = run("write", "semantic", '{"a": "tea"}', *label, "--json", dsn=agent_dsn)
    item_id = json.loads(ran.stdout)["item_id"]
    assert "[public]" in run("recall", "tea", dsn=agent_dsn).stdout
    may = run("explain", item_id, dsn=agent_dsn)
    assert (may.returncode, may.stderr) == (0, "")
    assert "clearance" in may.stdout
    may_not = run("explain", item_id, "--operation", "ADMIN", "--json", dsn=agent_dsn)
    assert may_not.returncode == 3
    assert [each["allowed"] for each in json.loads(may_not.stdout) if each["decisive"]] == [False]
    refused = run("write", "semantic", '{"a": 1}', "--domain", "health", dsn=agent_dsn)
    assert refused.returncode == 3
    assert "DOMAIN_NOT_HELD" in refused.stdout


def test_content_comes_as_plain_text_or_from_standard_input(agent_dsn: str) -> None:
    """Quoting JSON in a shell is nobody's pleasure."""
    ran = run("write", "working", "--text", 'Ana said "hello" \\', "--json", dsn=agent_dsn)
    assert ran.returncode == 0, ran.stderr
    item = run("get", json.loads(ran.stdout)["item_id"], "--json", dsn=agent_dsn)
    assert json.loads(item.stdout)["content"] == {"text": 'Ana said "hello" \\'}
    ran = run("write", "working", "-", dsn=agent_dsn, input='{"statement": "from a pipe"}')
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (["semantic", '{"a": 1}', "--confidence", "1.7"], 3, "CONFIDENCE_OUT_OF_RANGE"),
        (["semantic", "{not json"], 3, "INVALID_JSON"),
        (["gossip", '{"a": 1}'], 3, "UNKNOWN_LAYER"),
        (["semantic", '{"a": 1}', "--deadline", "2020-01-01"], 5, "DEADLINE_EXCEEDED"),
    ],
)
def test_what_is_not_stored_ends_with_a_code_and_an_explanation(
    agent_dsn: str, arguments: list[str], code: int, shown: str
) -> None:
    """A script reads the code, a person the meaning and the remedy."""
    ran = run("write", *arguments, dsn=agent_dsn)
    assert ran.returncode == code, ran.stderr
    assert shown in ran.stdout
    assert "meaning" in ran.stdout
    assert "remedy" in ran.stdout


def test_a_busy_scope_defers_and_says_when(agent_dsn: str) -> None:
    """Exit code 4: nothing is lost, and the server tries again."""
    with psycopg.connect(agent_dsn) as holding:
        holding.execute("SELECT memwarden.write('semantic', '{\"first\": \"here\"}')")
        ran = run(
            *("write", "semantic", '{"second": "here"}'),
            dsn=psycopg.conninfo.make_conninfo(agent_dsn, options="-c lock_timeout=50ms"),
        )
    assert ran.returncode == 4, ran.stdout
    assert "SCOPE_BUSY" in ran.stdout
    assert "retry after" in ran.stdout


def test_status_lists_what_is_wrong(agent_dsn: str) -> None:
    """It fails when something is missing, so that a script notices; --json has every component."""
    ran = run("status", dsn=agent_dsn)
    components = json.loads(run("status", "--json", dsn=agent_dsn).stdout)
    assert {"component", "state", "detail"} == set(components[0])
    assert {"logic", "storage", "gates"} <= {each["component"] for each in components}
    ill = [each for each in components if each["state"] != "ok"]
    *lines, last = ran.stdout.splitlines()
    assert len(lines) == len(ill), "a line for each, however long"
    assert {line.split(":")[0] for line in lines} == {
        f"{each['state']}  {each['component']}" for each in ill
    }
    assert last.endswith(f"is well: {len(components) - len(ill)} checks")
    wrong = [each for each in components if each["state"] in ("missing", "outdated")]
    assert ran.returncode == (1 if wrong else 0)


def test_status_begins_with_the_gravest(agent_dsn: str, world: World) -> None:
    """Each with the command that mends it, on one line."""
    world.admin.execute("SELECT memwarden.disable_gate('deadline')")
    [*lines, last] = run("status", dsn=agent_dsn).stdout.splitlines()
    states = [line.split()[0] for line in lines]
    assert states == sorted(states, key=["missing", "outdated", "warning"].index)
    [gates] = [line for line in lines if line.startswith("warning  gates: ")]
    assert "SELECT memwarden.enable_gate('NAME');" in gates
    assert last.startswith("everything else is well: ")


def test_status_is_one_line_when_all_is_well() -> None:
    """And a state of a newer server is shown first, with nothing that steers a terminal."""
    well = [ComponentStatus(component=name, state="ok", detail="") for name in ("logic", "gates")]
    assert [line.plain for line in note(well)] == ["everything is well: 2 checks"]
    odd = ComponentStatus(component="keys", state="lost", detail="bring\n them \x1b[2J back")
    late = ComponentStatus(component="jobs", state="warning", detail="call run_due_jobs()")
    assert [line.plain for line in note([late, odd, well[0]])] == [
        "lost  keys: bring them \\x1b[2J back",
        "warning  jobs: call run_due_jobs()",
        "everything else is well: 1 check",
    ]


@pytest.mark.parametrize("command", ["get", "history", "request"])
def test_what_cannot_be_seen_is_not_found(agent_dsn: str, command: str) -> None:
    """Exit code 6, and nothing on standard output."""
    ran = run(command, str(uuid4()), dsn=agent_dsn)
    assert ran.returncode == 6
    assert ran.stdout == ""
    assert "no " in ran.stderr


def test_nothing_found_is_no_error(agent_dsn: str) -> None:
    """An empty memory is an answer."""
    assert run("recall", "tea", dsn=agent_dsn).stdout == "nothing found\n"
    assert json.loads(run("recall", "tea", "--json", dsn=agent_dsn).stdout) == []


def test_errors_are_one_message_with_a_hint_and_no_traceback(stranger_dsn: str) -> None:
    """No identity, no server, no connection string."""
    alone = run_alone("recall", "tea", dsn=stranger_dsn)
    others = [run("recall", "tea", dsn=dsn) for dsn in ("host=/nonexistent", "no such string")]
    for ran in (alone, *others):
        assert ran.returncode == 1
        assert ran.stderr.startswith("error: ")
        assert "Traceback" not in ran.stderr
    assert "hint: " in alone.stderr


def test_wrong_usage_ends_with_2(agent_dsn: str) -> None:
    """As it does for every other command."""
    assert run_alone("get", "not-an-id", dsn=agent_dsn).returncode == 2
    assert run("write", "semantic", dsn=agent_dsn).returncode == 2
    assert run("remember", dsn=agent_dsn).returncode == 2


def test_remembered_escape_sequences_do_not_reach_the_terminal(agent_dsn: str) -> None:
    """What an attacker had remembered is shown, not executed."""
    written = run("write", "working", "--text", "tea \x1b]0;owned\x07 \u202e", dsn=agent_dsn)
    assert written.returncode == 0
    shown = run("recall", "tea", dsn=agent_dsn).stdout
    assert "\\x1b]0;owned\\x07" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
