"""`memwarden demo`: a conversation goes in, a report comes out, on any kind of output."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier
from typer.testing import CliRunner, Result

from memwarden.cli import app

MAIN = "from memwarden.cli import main; main()"
COMMAND = [sys.executable, "-W", "error", "-c", MAIN, "demo"]
DATABASE = f"memwarden_demo_{os.getpid()}"  # tests may run in several processes


def demo(dsn: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the demo in a process of its own."""
    return subprocess.run(
        [*COMMAND, "--dsn", dsn, "--database", DATABASE, *arguments],
        # Somebody's terminal may be narrow; what is read here is as wide as a pipe is.
        env={n: v for n, v in os.environ.items() if n != "COLUMNS"} | {"TERM": "dumb"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def refused(dsn: str, *arguments: str) -> Result:
    """Start it in this process, where it has nothing to do."""
    return CliRunner().invoke(app, ["demo", "--dsn", dsn, "--database", DATABASE, *arguments])


@pytest.fixture(autouse=True)
def _no_demo_stays(server_dsn: str) -> Iterator[None]:
    yield
    with psycopg.connect(server_dsn, autocommit=True) as server:
        drop = SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
        server.execute(drop.format(Identifier(DATABASE)))
        for each in ("application", "agent", "curator", "newcomer", "reviewer"):
            role = f"{DATABASE}_{each}"
            server.execute(SQL("DROP ROLE IF EXISTS {}").format(Identifier(role)))


@pytest.fixture(scope="module")
def sample() -> str:
    """What the demo shows of its own conversation; the database of it may be gone."""
    ran = demo(os.environ["MEMWARDEN_TEST_DSN"])
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_the_sample_goes_through_the_gates_and_its_questions_are_answered(sample: str) -> None:
    """And a wrong write is taken back, and a person decides about what waits.

    Proves: W1, W3, W4, W5, W7, W8, V1, D1, D2, D5, L6, T3, T5, H2, H4, F3
    """
    shown = sample
    assert "\x1b" not in shown
    assert "\r" not in shown
    for reason in (
        "STRUCTURAL_DUPLICATE",
        "EVIDENCE_UNCLEAR",
        "INSUFFICIENT_EVIDENCE",
        "SENSITIVE_CONTENT",
        "ALREADY_COMMITTED",
        "CONTENT_TOO_LARGE",
        "CONFIDENCE_OUT_OF_RANGE",
        "EMBEDDING_DIMENSION",
        "DEADLINE_EXCEEDED",
        "UNKNOWN_LAYER",
        "UNKNOWN_SCOPE",
        "INVALID_JSON",
        "SCOPE_BUSY",
        "SCHEMA_VIOLATION",
    ):
        assert reason in shown, reason
    for gate in ("identity", "idempotency", "deadline", "admission", "schema", "known", "commit"):
        assert gate in shown, gate
    assert "SUPERSEDED" in shown
    assert "expected: " in shown
    found = re.search(r"^\s*all\s+13\s+([\d.]+)\s+([\d.]+)\s*$", shown, re.MULTILINE)
    assert found is not None
    assert float(found[1]) > 0.4
    assert float(found[2]) > 0.8
    undone = shown[shown.index("A wrong write, taken back") :]
    for each in ("RETRACTED", "says again what version 1 said", "demo-curator", "A raven was"):
        assert each in undone
    past, now = re.findall(r"^As of .*: (.*)$", undone, re.MULTILINE)
    assert (past, now) == ("Ravens forget an insult at once.", "Ravens can hold a grudge.")
    reviewed = undone[undone.index("waits for a person") :]
    for each in (
        "LAYER_POLICY",
        "REVIEW_REJECTED",
        "FACTUAL_ERROR",
        "That is superstition.",
        "demo-reviewer",
        "I have seen it.",
    ):
        assert each in reviewed, each
    remembered = reviewed[reviewed.index("What is remembered of it") :]
    assert "nuts on the wall" in remembered
    assert "whistle twice" in remembered
    assert "or shout" not in remembered
    assert "bad luck" not in remembered


def test_every_note_of_the_sample_is_stored_and_none_waits(sample: str) -> None:
    """But for real repeats. What the application captured bears its turns out; nobody approved.

    Proves: V9
    """
    # Requests: new, new versions, merged, replayed, rejected, deferred, too late.
    assert re.search(r"^\s*episodic\s+95\s+95(\s+0){6}\s*$", sample, re.MULTILINE)
    assert re.search(r"^\s*semantic\s+49\s+39\s+5\s+0\s+0\s+5\s+0\s+0\s*$", sample, re.MULTILINE)
    firmly = sample[sample.index("How firmly it may be said") :]
    firmly = firmly[: firmly.index("Not written again")]
    # The notes are in words of their own: told as reported, which is right.
    standings = re.findall(r"^\s*(\w+)\s+(\w+)\s+(\d+)\s*$", firmly, re.MULTILINE)
    assert standings == [("episodic", "verified", "95"), ("semantic", "reported", "39")]


def test_the_demo_can_be_run_again_with_a_file_of_several_conversations(
    server_dsn: str, tmp_path: Path
) -> None:
    """Each has a scope of its own, and the last demo leaves no trace."""

    def conversation(name: str) -> dict[str, object]:
        turn = {"speaker": "A", "dia_id": "D1:1", "text": f"I live in {name}."}
        return {
            "sample_id": name,
            "conversation": {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [turn]},
            "qa": [{"question": "Where does A live?", "answer": name, "evidence": ["D1:1"]}],
        }

    data = tmp_path / "several.json"
    data.write_text(json.dumps([conversation("Rome"), conversation("Oslo")]))
    ran = demo(server_dsn, "--data", str(data), "--questions", "1")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert re.search(r"^\s*all\s+2\s+1\.000\s+1\.000\s*$", ran.stdout, re.MULTILINE)
    assert "I live in Oslo." in ran.stdout
    ran = demo(server_dsn, "--data", str(data), "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    figures = json.loads(ran.stdout)
    assert figures["standings"] == [{"layer": "episodic", "standing": "verified", "memories": 2}]
    assert figures["writes"]["episodic"]["new"] == 2
    assert figures["evidence_recall"][-1] == {
        "conversation": "all",
        "questions": 2,
        "turns": 1,
        "turns_and_facts": 1,
    }
    assert "SENSITIVE_CONTENT" in {each["reason"] for each in figures["refused"]}


def test_what_no_demo_made_is_not_touched(server_dsn: str) -> None:
    """A database or a role may bear the name by chance."""
    with psycopg.connect(server_dsn, autocommit=True) as server:
        server.execute(SQL("CREATE DATABASE {}").format(Identifier(DATABASE)))
        ran = refused(server_dsn)
        assert ran.exit_code == 1
        assert "no demo made it" in ran.stderr
        server.execute(SQL("DROP ROLE {}").format(Identifier(f"{DATABASE}_agent")))
        server.execute(SQL("CREATE ROLE {}").format(Identifier(f"{DATABASE}_agent")))
        ran = refused(server_dsn)
        assert ran.exit_code == 1
        assert "no demo made it" in ran.stderr
    with psycopg.connect(make_conninfo(server_dsn, dbname=DATABASE)) as kept:
        assert kept.execute("SELECT 1").fetchone() == (1,)


def test_a_file_that_is_no_conversation_is_wrong_usage(server_dsn: str, tmp_path: Path) -> None:
    """And nothing is made on the server."""
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"a": 1}')
    for path in (wrong, tmp_path / "missing.json", tmp_path):
        ran = refused(server_dsn, "--data", str(path))
        assert ran.exit_code == 2
        assert isinstance(ran.exception, SystemExit)
