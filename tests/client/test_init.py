"""`memwarden init`: what it leaves in a new database, and what it says to try."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
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


def _of_bolt(name: str) -> str:
    """A login of another organisation: each is bound to one."""
    return name if name.startswith("--") else f"{name}_bolt"


@pytest.fixture
def cast(server_dsn: str) -> Iterator[list[str]]:
    """Yield options with logins of this test's own: roles belong to the whole server."""
    mark = uuid4().hex[:10]
    agent, reviewer, application = (f"{name}_{mark}" for name in NAMES)
    yield ["--agent", agent, "--reviewer", reviewer, "--application", application]
    with psycopg.connect(server_dsn, autocommit=True) as server:
        for role in (agent, reviewer, application, *map(_of_bolt, (agent, reviewer, application))):
            server.execute(SQL("DROP ROLE IF EXISTS {}").format(Identifier(role)))


def _roles(dsn: str, names: list[str]) -> list[tuple[object, ...]]:
    with psycopg.connect(dsn) as server:
        return server.execute(
            "SELECT rolname, rolpassword FROM pg_authid WHERE rolname = ANY (%s) ORDER BY 1",
            (names,),
        ).fetchall()


def test_a_new_database_takes_a_governed_write(
    empty_dsn: str, cast: list[str], tmp_path: Path
) -> None:
    """`createdb`, `memwarden init`, and its last lines; a second init changes nothing.

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
    steps = [line.split()[:2] for line in first.stdout.splitlines()[:12]]
    whats = ["extension", "storage", "dictionary", "scope", "profile", "login", "contributor"]
    whats += ["login", "reviewer", "login", "contributor", "source"]
    assert steps == [["made", what] for what in whats]
    assert "profile balanced  (of acme; strict refuses writes without evidence" in first.stdout
    for word in ("sesame", "bea", "hidden", "SCRAM"):
        assert word not in first.output

    logins = [cast[1], cast[3], cast[5]]
    before = _roles(empty_dsn, logins)
    assert all(str(password).startswith("SCRAM-SHA-256$") for _, password in before)

    assert "recall compares words, not meaning, until an embedder is configured" in first.stdout
    # pg_cron works in one database of a server: which one, and what to run there.
    [to_do] = [line for line in first.stdout.splitlines() if line.startswith("to do ")]
    assert "jobs missing" in to_do
    assert "SELECT cron.schedule_in_database(" in to_do
    assert to_do.endswith("pg_cron works in database memwarden_cron")

    # The commands that the answer ends with, as they stand there: for another login no password.
    commands = _commands(first)
    users = [each[-1].split()[-1] for each in commands]
    assert users == [f"user={cast[n]}" for n in (5, 1, 1)]
    captured, written, recalled = (
        run(*command, *options)
        for command, options in zip(commands, ([], [], ["--json"]), strict=True)
    )
    assert captured.exit_code == 0, captured.output
    assert captured.stdout.startswith("memwarden:capture/")
    assert written.exit_code == 0, written.output
    assert "COMMITTED" in written.stdout
    [found] = json.loads(recalled.stdout)
    assert found["text"] == "Ana lives in Lisbon"

    secret.write_text("another\nand another\nand one more\n")
    again = run(*given)
    assert (again.exit_code, again.stderr) == (0, "")
    assert "made" not in again.stdout
    assert "nothing was changed" in again.stdout
    assert _roles(empty_dsn, logins) == before
    answer = json.loads(run(*given, "--json").stdout)
    assert [each["made"] for each in answer] == [False] * len(whats)

    # A login that the server does not let in is said before what it should try.
    with psycopg.connect(empty_dsn, autocommit=True) as admin:
        for limit in (0, -1):
            alter = SQL("ALTER ROLE {} CONNECTION LIMIT {}")
            admin.execute(alter.format(Identifier(cast[1]), limit))
            told = run(*given)
            assert (f"to do  let {cast[1]} log in: " in told.stdout) == (limit == 0)
            assert (f"\\password {cast[1]} in psql" in told.stdout) == (limit == 0)
            assert "hidden" not in told.output

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


def _commands(done: Result) -> list[list[str]]:
    """The commands that the answer ends with."""
    lines = done.stdout.splitlines()[-6:]
    return [shlex.split(line.removeprefix("  memwarden ")) for line in lines[1::2]]


def _profile(dsn: str, *arguments: str) -> str:
    """What init says of the profile."""
    done = run("init", *arguments, "--dsn", dsn)
    assert done.exit_code == 0, done.output
    [said] = [line for line in done.stdout.splitlines() if line[7:].startswith("profile ")]
    with psycopg.connect(dsn) as admin:
        query = "SELECT detail FROM memwarden.status() WHERE component = 'profile'"
        [shown] = admin.execute(query).fetchone() or ()
    return f"{said}: {shown}"


def test_a_profile_is_chosen_where_the_organisation_begins_or_by_name(
    empty_dsn: str, cast: list[str]
) -> None:
    """What is there keeps its settings to the letter. Proves: Z12, W1."""
    strict = run("init", *cast, "--profile", "strict", "--dsn", empty_dsn)
    assert strict.exit_code == 0, strict.output
    assert "made   profile strict  (of acme)" in strict.stdout
    capture, write, review = _commands(strict)
    assert run(*capture).exit_code == 0
    waits = run(*write)
    assert (waits.exit_code, "AWAITING_APPROVAL" in waits.stdout) == (4, True), waits.output
    [proposal] = json.loads(run(*review, "--json").stdout)
    approved = run("review", "approve", proposal["proposal_id"], "--dsn", review[-1])
    assert approved.exit_code == 0, approved.output

    settings = (
        "SELECT (SELECT jsonb_agg(s ORDER BY s) FROM memwarden_data.layer_setting AS s),"
        " (SELECT jsonb_agg(a ORDER BY a) FROM memwarden_data.approval_policy AS a)"
    )
    with psycopg.connect(empty_dsn, autocommit=True) as admin:
        admin.execute(
            "SELECT memwarden.configure_layer('semantic', %s, org => 'acme')",
            ('{"unclear": "store"}',),
        )
        kept = admin.execute(settings).fetchone()
        again = "there  profile strict: server strict; acme strict but for 1 settings"
        assert _profile(empty_dsn, *cast) == again
        assert _profile(empty_dsn, *cast, "--profile", "strict") == again
        assert admin.execute(settings).fetchone() == kept
        # By name: done, and said. What was set by hand lies over it.
        said = _profile(empty_dsn, *cast, "--profile", "open")
        assert said.startswith("made   profile open  (of acme; strict refuses writes")
        assert said.endswith("server strict; acme open")
        assert _profile(empty_dsn, *cast) == "there  profile open: server strict; acme open"

        # An organisation that somebody made without init has the server's.
        admin.execute("SELECT memwarden.create_scope('/org/bolt')")
        there = _profile(empty_dsn, *map(_of_bolt, cast), "--scope", "/org/bolt/user/bo")
        assert there == "there  profile strict: server strict; acme open"


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
        ["--profile", "bank"],
        ["--profile", ""],
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
