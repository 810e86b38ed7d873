"""What holds for every command alike: --json, --help, and completion in the shell."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner, Result

from memwarden.cli import app
from memwarden.cli.repeating import repeat
from memwarden.errors import NotReady

if TYPE_CHECKING:
    from conftest import World

# What prints JSON, or another machine's language, without being asked to.
WITHOUT_JSON = {
    "export": "its answer is a file of JSON lines, or Parquet",
    "compliance": "its --json names a file",
    "log-head": "its answer is JSON",
    "log-proof": "its answer is JSON",
    "contract": "its answer is JSON Schema, or Protocol Buffers",
    "mcp": "standard output speaks JSON-RPC",
}
MAIN = "from memwarden.cli import main; main()"


def commands(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Walk the app; yield each command that does something with its words."""
    command = typer.main.get_command(app) if command is None else command
    if not hasattr(command, "commands"):
        yield " ".join(path), command
        return
    for name, below in command.commands.items():
        yield from commands(below, (*path, name))


EVERY = dict(commands())


def run(*arguments: str, dsn: str = "") -> Result:
    """Run a command in this process."""
    done = CliRunner().invoke(app, arguments, env={"MEMWARDEN_DSN": dsn, "TERM": "dumb"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def test_every_command_has_json_or_a_reason() -> None:
    """A command that is new cannot be forgotten, nor a reason outlive what it was for."""
    found = {
        name
        for name, command in EVERY.items()
        if not any("--json" in each.opts and each.is_flag for each in command.params)
    }
    assert found == set(WITHOUT_JSON)


@pytest.mark.parametrize("name", EVERY)
def test_every_command_explains_itself_and_its_options(name: str) -> None:
    """Every command has a sentence; help goes to stdout."""
    shown = run(*name.split(), "--help")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert EVERY[name].help
    assert "--help" in shown.stdout


# One that reads, with nothing to say to it; the others have tests of their own.
READING = (
    *("status", "whoami", "metrics", "health", "storage", "jobs list", "models list"),
    *("recalls list", "review list", "as-of 2099-01-01", "recall tea", "find Ana", "context tea"),
    *("worker --list", "consolidate --list", "extract --list", "consolidate", "extract"),
)


def test_an_answer_in_json_is_one_document_and_nothing_else(agent_dsn: str) -> None:
    """A right that is missing is a line on stderr, and no half an answer."""
    for each in READING:
        ran = run(*each.split(), "--json", dsn=agent_dsn)
        if ran.stdout:
            json.loads(ran.stdout)
        else:
            assert ran.stderr.startswith("error: "), each


def test_what_goes_on_prints_json_lines(agent_dsn: str, world: World) -> None:
    """`watch`, `worker` and `console`."""
    watched = run("watch", "--minutes", "0", "--json", dsn=world.dsn)
    *looks, verdict = [json.loads(line) for line in watched.stdout.splitlines()]
    assert (watched.exit_code, watched.stderr) == (7, "")
    assert [each["errors"]["org"] for each in looks] == ["acme"]
    assert verdict == {
        "verdict": "NOT KNOWN",
        "organisations": [],
        "not_known": ["acme"],
        "tasks": 0,
    }
    server = run("watch", "--minutes", "0", "--json", dsn="host=/nonexistent")
    assert (server.exit_code, server.stdout) == (2, "")

    worker = make_conninfo(world.dsn, user=world.role("memwarden_worker"))
    with _alone("worker", "--once", "--verbose", "--json", "--dsn", worker) as process:
        done = process.communicate(timeout=60)[0]
    assert all(json.loads(line)["level"] for line in done.splitlines())

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with _alone("console", "--port", str(port), "--json", "--dsn", agent_dsn) as process:
        assert process.stdout is not None
        address = process.stdout.readline()
        process.terminate()
        rest = process.communicate(timeout=30)[0]
    assert json.loads(address) == {"url": f"http://127.0.0.1:{port}"}
    assert all(json.loads(line) for line in rest.splitlines())


def _alone(*arguments: str) -> subprocess.Popen[str]:
    """Start a command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", MAIN, *arguments], stdout=subprocess.PIPE, text=True
    )


def test_a_run_that_is_repeated_is_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what it came to, or the error; the next run tries again."""
    answers: Iterator[list[str] | Exception] = iter(
        [["a", "b"], NotReady("not yet", sqlstate="55000"), KeyboardInterrupt()]  # type: ignore[list-item]
    )

    def once() -> list[str]:
        answer = next(answers)
        if isinstance(answer, list):
            return answer
        raise answer

    monkeypatch.setattr("threading.Event.wait", lambda *_: True)
    with pytest.raises(KeyboardInterrupt):
        repeat(1, once, lambda done: f"{len(done)} done", as_json=True)
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["results"] == ["a", "b"]
    assert (second["error"], second["sqlstate"]) == ("not yet", "55000")


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the command `memwarden` and what it says bash shall run."""
    folder = tmp_path_factory.mktemp("completion")
    command = folder / "memwarden"
    command.write_text(f"#!{sys.executable}\n{MAIN}\n")
    command.chmod(0o755)
    script = subprocess.run(
        [command, "--show-completion", "bash"],
        env=os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (folder / "completion.sh").write_text(script)
    return folder


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("memwarden rev", ["review"]),
        ("memwarden review app", ["approve"]),
        ("memwarden write --evid", ["--evidence"]),
        ("memwarden contract pro", ["proto"]),
        ("memwarden nothing-of-that-na", []),
    ],
)
def test_bash_completes_commands_and_options(bash: Path, typed: str, completed: list[str]) -> None:
    """As bash does when somebody presses Tab, with the script that the command prints."""
    words = typed.split()
    asked = f"""
        source {bash / "completion.sh"}
        COMP_WORDS=({" ".join(words)}) COMP_CWORD={len(words) - 1}
        _memwarden_completion memwarden
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    program = shutil.which("bash")
    assert program is not None
    done = subprocess.run(
        [program, "--norc", "-c", asked],
        env=os.environ | {"PATH": f"{bash}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert [each.strip() for each in done.stdout.split("\n") if each.strip()] == completed
    assert done.stderr == ""
