"""The commands about the past, as a person and as a script run them."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner, Result

from client.test_command_line import MAIN
from memwarden import Client
from memwarden.cli import app

if TYPE_CHECKING:
    from conftest import World

ROOT = Path(__file__).parents[2]


@pytest.fixture
def dsn(shared_world: World, home: str) -> str:
    """Return how an agent connects that may retract and roll back."""
    return make_conninfo(shared_world.dsn, user=shared_world.register(home, role="curator"))


@pytest.fixture
def memory(dsn: str) -> Iterator[Client]:
    """Yield the client of that agent."""
    with Client.connect(dsn) as client:
        yield client


def prefers(memory: Client, drink: str) -> UUID:
    """Write what Ana prefers: one item, whose versions follow one another."""
    written = memory.write("semantic", {"drink": drink}, subject="Ana", predicate="prefers")
    assert written.item_id is not None, written
    return written.item_id


def run(*arguments: object, dsn: str, typed: str | None = None) -> Result:
    """Run a command in this process, where its input is no terminal."""
    environment = {"MEMWARDEN_DSN": dsn, "TERM": "dumb"}
    return CliRunner().invoke(app, list(map(str, arguments)), input=typed, env=environment)


def shown(*arguments: object, dsn: str, code: int = 0) -> str:
    """Run a command that ends with that code, and return what it printed."""
    ran = run(*arguments, dsn=dsn)
    assert (ran.exit_code, ran.stderr) == (code, ""), ran.output
    return ran.stdout


def as_json(*arguments: object, dsn: str, code: int = 0) -> Any:
    """Run a command with --json."""
    return json.loads(shown(*arguments, "--json", dsn=dsn, code=code))


def on_a_terminal(*arguments: object, dsn: str, answer: str) -> tuple[int, str]:
    """Run a command on a terminal, where a person types an answer; return code and output."""
    master, slave = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", MAIN, *map(str, arguments)],
        env=os.environ | {"MEMWARDEN_DSN": dsn, "TERM": "dumb"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        close_fds=True,
    )
    os.close(slave)
    printed, answered = b"", False
    with suppress(OSError):  # what a terminal says when nobody is left on its other end
        while select.select([master], [], [], 60)[0] and (part := os.read(master, 4096)):
            printed += part
            if not answered and b"Undo this?" in printed:
                os.write(master, f"{answer}\n".encode())
                answered = True
    os.close(master)
    return running.wait(60), printed.decode()


def test_a_history_tells_who_when_why_and_what_changed(
    dsn: str, memory: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proves: T1 (on the command line)."""
    item_id = prefers(memory, "tea")
    prefers(memory, "coffee")
    memory.rollback(item_id, "said in jest")
    monkeypatch.setenv("COLUMNS", "150")
    told = shown("history", item_id, dsn=dsn)
    for each in (
        '/content/drink: "tea" -> "coffee"',
        "said in jest",
        "says again what version 1 said",
        memory.whoami().agent,
    ):
        assert each in told
    told = as_json("history", item_id, dsn=dsn)
    assert [each["operation"] for each in told] == ["RESTORE", "RETRACT", "UPDATE", "INSERT"]


def test_a_time_that_is_shown_is_a_time_that_can_be_asked_for(
    dsn: str, memory: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the microsecond, and in the zone of whoever asks.

    Proves: T3 (on the command line)
    """
    item_id = prefers(memory, "tea")
    prefers(memory, "coffee")
    for zone in ("UTC", "Asia/Kathmandu"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        told = shown("history", item_id, dsn=dsn)
        first = re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}", told)[-1]
        [found] = as_json("as-of", first, dsn=dsn)
        assert found["content"] == {"drink": "tea"}
    monkeypatch.undo()
    time.tzset()
    [now] = as_json("as-of", "2999-01-01", "--valid", "2998-01-01", "--subject", "ana", dsn=dsn)
    assert now["content"] == {"drink": "coffee"}
    assert "Ana prefers coffee" in " ".join(shown("as-of", "2999-01-01", dsn=dsn).split())
    assert shown("as-of", "2020-01-01T00:00:00Z", dsn=dsn) == "nothing was held then\n"
    assert run("as-of", "yesterday", dsn=dsn).exit_code == 2


def test_versions_and_moments_are_compared(dsn: str, memory: Client) -> None:
    """Two versions of an item, and the store since a moment."""
    item_id = prefers(memory, "tea")
    prefers(memory, "coffee")
    told = shown("diff", item_id, 1, 2, dsn=dsn)
    for each in ("/content/drink", "changed", '"tea"', '"coffee"'):
        assert each in told
    [changed] = as_json("diff-store", "2020-01-01", dsn=dsn)
    assert (changed["change"], changed["after"]) == ("added", {"drink": "coffee"})
    assert "coffee" in shown("diff-store", "2020-01-01", "--layer", "semantic", dsn=dsn)
    assert run("diff", str(item_id), "1", "9", dsn=dsn).exit_code == 1


def test_a_change_is_undone_and_the_way_back_is_told(dsn: str, memory: Client) -> None:
    """Proves: T5 (on the command line)."""
    item_id = prefers(memory, "tea")
    prefers(memory, "coffee")
    told = shown("rollback", item_id, "--reason", "said in jest", dsn=dsn)
    assert "RESTORE" in told
    command = next(line for line in told.splitlines() if line.startswith("To undo this: "))
    words = command.removeprefix("To undo this: memwarden ").removesuffix("...").split()
    assert "RESTORE" in shown(*words, "it was not", "--yes", dsn=dsn)
    assert [item.content for item in memory.as_of()] == [{"drink": "coffee"}]
    [back] = as_json("rollback", item_id, "--reason", "x", "--to-version", 1, dsn=dsn)
    assert back["action"] == "RESTORE"
    [gone] = as_json("rollback", item_id, "--reason", "x", "--no-restore", dsn=dsn)
    assert gone["action"] == "RETRACT"
    assert run("rollback", str(item_id), dsn=dsn).exit_code == 2, "a reason is asked for"
    stale = run("rollback", str(item_id), "--reason", "x", "--version-id", str(uuid4()), dsn=dsn)
    assert stale.exit_code == 1
    assert "40001" in stale.stderr


def test_a_run_is_shown_before_it_is_undone(dsn: str, memory: Client) -> None:
    """Without a person who agrees, nothing happens.

    Proves: T5 (on the command line)
    """
    prefers(memory, "tea")
    batch = ("rollback-batch", "--agent", memory.whoami().agent, "--reason", "poisoned")
    for arguments in (batch, (*batch, "--json")):
        ran = run(*arguments, dsn=dsn, typed="y\n")
        assert ran.exit_code == 2
        assert "RETRACT" in ran.stdout
        assert "--yes" in ran.stderr
    code, told = on_a_terminal(*batch, dsn=dsn, answer="n")
    assert code == 1, told
    assert len(memory.as_of()) == 1

    code, told = on_a_terminal(*batch, dsn=dsn, answer="y")
    assert code == 0, told
    assert told.index("tea") < told.index("Undo this?") < told.index("To undo this: ")
    assert memory.as_of() == []
    code, told = on_a_terminal(*batch[:3], "--until", "2020-01-01", *batch[3:], dsn=dsn, answer="y")
    assert (code, "there is nothing to undo" in told) == (0, True), told
    assert run("rollback-batch", "--reason", "x", dsn=dsn).exit_code == 2


def test_what_others_have_changed_since_is_left_alone_and_reported(
    dsn: str, memory: Client, shared_world: World, home: str
) -> None:
    """Exit code 3."""
    other = make_conninfo(shared_world.dsn, user=shared_world.register(home))
    with Client.connect(other) as poisoned:
        agent = poisoned.whoami().agent
        prefers(poisoned, "hemlock")
    prefers(memory, "tea")
    batch = ("rollback-batch", "--agent", agent, "--reason", "poisoned", "--since", "2020-01-01")
    [left] = as_json(*batch, "--yes", dsn=dsn, code=3)
    assert left["action"] == "CHANGED_SINCE"
    assert [item.content for item in memory.as_of()] == [{"drink": "tea"}]


def test_what_expired_is_recovered(dsn: str, memory: Client) -> None:
    """Proves: G5 (on the command line)."""
    item_id = prefers(memory, "tea")
    memory.expire(item_id, "drunk")
    assert "version" in shown("recover", item_id, "--reason", "refilled", dsn=dsn)
    assert memory.get(item_id) is not None
    memory.expire(item_id, "drunk")
    recovered = as_json("recover", item_id, "--reason", "x", "--ttl-seconds", 60, dsn=dsn)
    assert recovered["version_id"] == str(memory.history(item_id)[0].version_id)


def test_lineage_is_shown_both_ways(dsn: str, memory: Client) -> None:
    """Proves: P6 (on the command line)."""
    basis = prefers(memory, "tea")
    uri = f"memwarden:item/{basis}"
    derived = memory.write(
        "semantic",
        {"statement": "Ana sleeps badly"},
        evidence=[{"type": "memory_item", "uri": uri}],
    ).item_id
    assert str(basis) in "".join(shown("lineage", derived, dsn=dsn).split())
    assert "nothing rests on it" in shown("lineage", derived, "--derived", dsn=dsn)
    [resting] = as_json("lineage", basis, "--derived", "--depth", 1, dsn=dsn)
    assert resting["related_item"] == str(derived)
    memory.retract(basis, "it was decaffeinated")
    assert "taken back" in shown("lineage", derived, dsn=dsn)
    assert "stale" in shown("recall", "sleeps", dsn=dsn)


def test_the_log_is_verified_and_an_entry_is_proved_elsewhere(
    dsn: str, memory: Client, shared_world: World, tmp_path: Path
) -> None:
    """With a head that was kept, and a script that needs no server.

    Proves: T6 (on the command line)
    """
    item_id = prefers(memory, "tea")
    shared_world.admin.execute("CALL memwarden.seal_log()")
    head, proof = tmp_path / "head.json", tmp_path / "proof.json"
    head.write_text(shown("log-head", dsn=dsn))
    proof.write_text(shown("log-proof", item_id, dsn=dsn))
    checked = subprocess.run(
        [sys.executable, ROOT / "tools/check_inclusion", proof, head],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert str(item_id) in checked.stdout
    assert shown("verify-log", "--head", head, dsn=shared_world.dsn) == "intact\n"
    head.write_text(json.dumps(json.loads(head.read_text()) | {"head": "0" * 64}))
    assert as_json("verify-log", "--head", head, dsn=shared_world.dsn, code=1)
    assert "head" in shown("verify-log", "--head", head, dsn=shared_world.dsn, code=1)
    assert run("verify-log", dsn=dsn).exit_code == 1, "for administrators"
    assert run("verify-log", "--head", str(ROOT), dsn=shared_world.dsn).exit_code == 2


def test_hostile_contents_and_reasons_do_not_steer_the_terminal(dsn: str, memory: Client) -> None:
    """Wherever the past is shown."""
    hostile = "\x1b]0;owned\x07 \u202e[bold]"
    item_id = prefers(memory, hostile)
    prefers(memory, f"{hostile} twice")
    memory.rollback(item_id, f"because {hostile}")
    agent = memory.whoami().agent
    for arguments in (
        ("history", item_id),
        ("as-of", "2999-01-01"),
        ("diff", item_id, 1, 2),
        ("diff-store", "2020-01-01"),
    ):
        told = shown(*arguments, dsn=dsn)
        assert "owned" in told
        assert "\x1b" not in told
        assert "\u202e" not in told
    code, told = on_a_terminal(
        "rollback-batch", "--agent", agent, "--reason", hostile, dsn=dsn, answer="n"
    )
    assert code == 1
    assert "\x1b]" not in told
    assert "\u202e" not in told
