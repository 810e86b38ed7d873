"""`memwarden console`, as it is started."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memwarden.cli import app

ROOT = Path(__file__).parents[2]
MAIN = "from memwarden.cli import main; main()"
COMMAND = [sys.executable, "-W", "error", "-c", MAIN, "console", "--dsn", "dbname=nowhere"]
PATHS = os.pathsep.join([str(ROOT / "python_client"), str(ROOT / "plpython")])


def started(*arguments: str) -> subprocess.Popen[str]:
    """Start the command in a process of its own."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        env=os.environ | {"PYTHONPATH": PATHS, "TERM": "dumb"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@pytest.mark.parametrize("more", [(), ("--proxy", "127.0.0.1"), ("--as", "reviewer")])
def test_it_says_where_it_is_and_serves_the_log_in(more: tuple[str, ...]) -> None:
    """Without asking the database for anything before somebody logs in."""
    port = free_port()
    with started("--port", str(port), *more) as running:
        try:
            assert running.stdout is not None
            url = running.stdout.readline().split()[-1]
            assert url == f"http://127.0.0.1:{port}"
            for _ in range(100):
                try:
                    with urllib.request.urlopen(f"{url}/login", timeout=10) as answer:
                        page = answer.read().decode()
                        assert answer.headers["Server"] is None
                    break
                except urllib.error.URLError:
                    time.sleep(0.1)
            assert "<h1>Log in</h1>" in page
            if "--as" in more:
                said = running.stdout.readline()
                assert re.fullmatch(r"Log in as reviewer with the token \S{32}\n", said)
                assert said.split()[-1] not in page
        finally:
            running.terminate()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--host", "0.0.0.0"),
        ("--host", "0.0.0.0", "--url", "http://review.example.org"),
        ("--url", "https://review.example.org/memory"),
        ("--url", "review.example.org"),
        ("--as", "reviewer", "--url", "https://review.example.org"),
        ("--as", "reviewer", "--proxy", "127.0.0.1"),
    ],
)
def test_passwords_do_not_cross_the_network_readable(arguments: tuple[str, ...]) -> None:
    """Beyond this machine it asks for the address of a proxy that speaks HTTPS."""
    ran = CliRunner().invoke(app, ["console", "--dsn", "dbname=nowhere", *arguments])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert re.search(r"--url", ran.stderr)


def test_an_address_that_is_taken_is_told() -> None:
    """In one line."""
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        started("--port", str(taken.getsockname()[1])) as ran,
    ):
        _, error = ran.communicate(timeout=60)
    assert ran.returncode == 1
    assert error.startswith("error: 127.0.0.1:")
    assert "Traceback" not in error
