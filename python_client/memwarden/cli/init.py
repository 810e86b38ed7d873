"""`memwarden init`: a starting configuration for a new database."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memwarden.cli.options import AsJson, Dsn, told_errors
from memwarden.cli.terminal import print_json, printable
from memwarden.starting import Start, begin, passwords, refusal_of

_START = Start()
_TURN = """capture {source} 'I live in Lisbon.' --speaker Ana --external-id 1 --scope {scope}"""
_FACT = """write semantic '{{"city": "Lisbon"}}' --subject Ana --predicate 'lives in' \
--evidence memwarden:capture/{application}/{source}/1"""
# What the answer shows of a connection string: never a password, nor where one lies.
_SHOWN = ("host", "hostaddr", "port", "dbname", "sslmode", "service")


def init(
    *,
    scope: Annotated[str, typer.Option(help="Where the agent's memories belong.")] = _START.scope,
    agent: Annotated[str, typer.Option(help="The first agent, and its login.")] = _START.agent,
    reviewer: Annotated[
        str, typer.Option(help="The person who decides what may last, and their login.")
    ] = _START.reviewer,
    application: Annotated[
        str, typer.Option(help="The program that records what people say, and its login.")
    ] = _START.application,
    source: Annotated[
        str, typer.Option(help="The name under which it captures what people say.")
    ] = _START.source,
    profile: Annotated[
        str | None,
        typer.Option(
            help="What is asked of a write: open, balanced or strict. By default balanced for a new"
            " organisation, and for one that is there what it has.",
            show_default=False,
        ),
    ] = None,
    password_file: Annotated[
        Path | None,
        typer.Option(
            help="Three lines, the passwords of agent, reviewer and application; for you alone."
            " Without it the logins have none.",
            show_default=False,
        ),
    ] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Prepare a database: extension, storage, dictionary, scope, agent, reviewer, application.

    As a superuser. All of it happens, or nothing. What is there stays as it is, so a second run
    changes nothing, but for the profile where one is named. No password is printed. The last lines
    are three commands to try.
    """
    start = Start(scope, agent, reviewer, application, source, profile)
    with told_errors():
        secrets = None if password_file is None else passwords(password_file)
        begun = begin(dsn, start, secrets)
    if as_json:
        print_json(begun.steps)
        return
    for each in begun.steps:
        note = f"  ({each.note})" if each.note and each.made else ""
        print(printable(f"{'made' if each.made else 'there':5}  {each.what} {each.name}{note}"))
    if not any(each.made for each in begun.steps):
        print("nothing was changed")
    for wanting in begun.to_do:
        print(printable(f"to do  {wanting}"))
    if begun.by_words:
        print("recall compares words, not meaning, until an embedder is configured:")
        print("see memwarden models use, and docs/embeddings.md")
    _print_next(start, begun.profile, dsn)


def _print_next(start: Start, profile: str, dsn: str) -> None:
    """Print the three commands to try next, after what keeps them from working."""
    refusal = refusal_of(make_conninfo(dsn, user=start.agent))
    if refusal is not None:
        # The superuser got in, so it is the login that the server wants something else of.
        print(printable(f"to do  let {start.agent} log in: {refusal}"))
        print(f"       \\password {start.agent} in psql; then PGPASSWORD or a ~/.pgpass has it")
    turn = _TURN.format(source=start.source, scope=start.scope)
    fact = _FACT.format(application=start.application, source=start.source)
    print("Try next:")
    for who, does, command in (
        (start.application, "record what Ana says", turn),
        (start.agent, "write it into memory, and cite that", fact),
        (start.reviewer, "see what waits for you", "review list")
        if profile == "strict"
        else (start.agent, "recall it", "recall 'where does Ana live?'"),
    ):
        print(printable(f"as {who}, {does}:"))
        print(printable(f"  memwarden {command} --dsn {shlex.quote(way_of(dsn, who))}"))


def way_of(dsn: str, login: str) -> str:
    """Return how a login connects to the same database, as far as that may be shown."""
    given = conninfo_to_dict(dsn)
    return make_conninfo("", **{n: given[n] for n in _SHOWN if n in given}, user=login)
