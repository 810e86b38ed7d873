"""`memwarden init`: the first governed write on a new database takes four commands."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier
from typer.testing import CliRunner, Result

from memwarden.cli import app

NAMES = ("writer", "decider", "recorder")


def run(*arguments: str) -> Result:
    """Run the command in this process."""
    done = CliRunner().invoke(app, arguments, env={"TERM": "dumb"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


@pytest.fixture
def cast(server_dsn: str) -> Iterator[list[str]]:
    """Yield options with logins of this test's own: roles belong to the whole server."""
    mark = uuid4().hex[:10]
    agent, reviewer, application = (f"{name}_{mark}" for name in NAMES)
    yield ["--agent", agent, "--reviewer", reviewer, "--application", application]
    with psycopg.connect(server_dsn, autocommit=True) as server:
        for role in (agent, reviewer, application):
            server.execute(SQL("DROP ROLE IF EXISTS {}").format(Identifier(role)))


def _roles(dsn: str, names: list[str]) -> list[tuple[object, ...]]:
    with psycopg.connect(dsn) as server:
        return server.execute(
            "SELECT rolname, rolpassword FROM pg_authid WHERE rolname = ANY (%s) ORDER BY 1",
            (names,),
        ).fetchall()


def test_a_new_database_takes_a_governed_write_after_four_commands(
    empty_dsn: str, cast: list[str], tmp_path: Path
) -> None:
    """`createdb`, `memwarden init`, `capture`, `write`; a second init changes nothing.

    Proves: W1
    """
    secret = tmp_path / "passwords"
    secret.write_text("open sesame\nfor bea alone\nand the hidden app\n")
    secret.chmod(0o644)
    given = ["init", *cast, "--dsn", f"{empty_dsn} password=hidden", "--password-file", str(secret)]
    open_to_all = run(*given)
    assert (open_to_all.exit_code, open_to_all.stdout) == (1, "")
    assert "chmod 600" in open_to_all.stderr
    secret.chmod(0o600)
    first = run(*given)
    assert (first.exit_code, first.stderr) == (0, "")
    steps = [line.split()[:2] for line in first.stdout.splitlines()[:11]]
    whats = ["extension", "storage", "dictionary", "scope", "login", "contributor", "login"]
    whats += ["reviewer", "login", "contributor", "source"]
    assert steps == [["made", what] for what in whats]
    for word in ("sesame", "bea", "hidden", "SCRAM"):
        assert word not in first.output

    logins = [cast[1], cast[3], cast[5]]
    before = _roles(empty_dsn, logins)
    assert all(str(password).startswith("SCRAM-SHA-256$") for _, password in before)

    # The commands that the answer names, as they stand there: for another login no password.
    agent, reviewer, _ = (make_conninfo(empty_dsn, user=name) for name in logins)
    shown = first.stdout.replace("\\\n", "").splitlines()[11:]
    capture, write, review = (shlex.split(line.partition(": memwarden ")[2]) for line in shown)
    users = [each[-1].split()[-1] for each in (write, review, capture)]
    assert users == [f"user={n}" for n in logins]
    captured = run(*capture)
    assert captured.exit_code == 0, captured.output
    assert captured.stdout.startswith("memwarden:capture/")
    fact = {"drink": "green tea"}
    written = run(*write)
    assert written.exit_code == 4, written.output
    assert "AWAITING_APPROVAL" in written.stdout
    [proposal] = json.loads(run(*review, "--json").stdout)
    approved = run("review", "approve", proposal["proposal_id"], "--dsn", reviewer)
    assert approved.exit_code == 0, approved.output
    [found] = json.loads(run("recall", "what does Ana drink?", "--json", "--dsn", agent).stdout)
    assert found["content"] == fact

    secret.write_text("another\nand another\nand one more\n")
    again = run(*given)
    assert (again.exit_code, again.stderr) == (0, "")
    assert "made" not in again.stdout
    assert "nothing was changed" in again.stdout
    assert _roles(empty_dsn, logins) == before
    answer = json.loads(run(*given, "--json").stdout)
    assert [each["made"] for each in answer] == [False] * len(whats)

    # What is there and is another one stays, and nothing else is made beside it.
    for other, said in (
        (["--scope", "/org/acme/user/bo"], "exists and is not"),
        (["--agent", "postgres"], "a superuser is never the right login"),
        (["--reviewer", cast[1], "--agent", cast[3]], "exists and is no login"),
    ):
        refused = run(*given, *other)
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert said in refused.stderr
    with psycopg.connect(empty_dsn) as admin:
        kept = admin.execute("SELECT count(*) FROM memwarden.scopes WHERE scope LIKE '%/bo'")
        assert kept.fetchone() == (0,)


def test_the_four_commands_of_the_pages_work(empty_dsn: str, cast: list[str]) -> None:
    """The same on every page; the database that `createdb` makes is there."""
    root = Path(__file__).parents[2]
    pages = [root / each for each in ("README.md", "docs/README.md", "python_client/README.md")]
    blocks = {
        found[1]
        for page in pages
        for found in re.finditer(
            r"^```sh\n(createdb app\n.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL
        )
    }
    [block] = blocks
    _, init, capture, write = (shlex.split(line) for line in block.replace("\\\n", "").splitlines())
    assert init[-1] == "dbname=app"
    made = run(*init[1:-1], empty_dsn, *cast)
    assert made.exit_code == 0, made.output
    assert capture[-1] == "dbname=app user=application"
    heard = run(*capture[1:-1], make_conninfo(empty_dsn, user=cast[5]))
    assert heard.exit_code == 0, heard.output
    assert write[-1] == "dbname=app user=assistant"
    write = [each.replace("/application/", f"/{cast[5]}/") for each in write]
    written = run(*write[1:-1], make_conninfo(empty_dsn, user=cast[1]), "--json")
    assert json.loads(written.stdout)["reason"] == "AWAITING_APPROVAL"
    assert run("init", "--help").exit_code == 0


@pytest.mark.parametrize(
    "wrong",
    [
        ["--agent", 'x"; DROP ROLE y; --'],
        ["--agent", ""],
        ["--agent", "pg_monitor"],
        ["--agent", "memwarden_admin"],
        ["--agent", "ünï"],
        ["--agent", "a" * 64],
        ["--reviewer", "Bea"],
        ["--agent", "one", "--reviewer", "one"],
        ["--agent", "one", "--application", "one"],
        ["--source", "chat:*"],
        ["--scope", "acme"],
        ["--scope", "/org/"],
        ["--scope", "/org/acme/\x1b[2J"],
        ["--password-file", "/nonexistent"],
        ["--password-file", "/dev/null"],
        ["--dsn", "no connection string with secret"],
        ["--dsn", "host=/nonexistent"],
    ],
)
def test_a_wrong_argument_is_one_line_and_nothing_is_asked(wrong: list[str]) -> None:
    """No server is needed to say so, and no message quotes what may be a password."""
    refused = run("init", "--dsn", "host=/nonexistent", *wrong)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.startswith("error: ")
    assert "secret" not in refused.stderr
    assert "\x1b" not in refused.stderr


def test_what_the_server_refuses_leaves_nothing(
    empty_dsn: str, outsider_dsn: str, cast: list[str]
) -> None:
    """A login that is another one is found late; the logins made before it are gone again."""
    refused = run("init", *cast[:4], "--application", "postgres", "--dsn", empty_dsn)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert _roles(empty_dsn, [cast[1], cast[3]]) == []
    with psycopg.connect(empty_dsn) as admin:
        assert admin.execute("SELECT to_regnamespace('memwarden')").fetchone() == (None,)
    refused = run("init", *cast, "--dsn", outsider_dsn)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "needs a superuser" in refused.stderr
