"""`memwarden init`: a starting configuration for a new database."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memwarden.cli.options import AsJson, Dsn, told_errors
from memwarden.cli.terminal import print_json, printable
from memwarden.starting import Start, begin, passwords

_START = Start()
_TURN = """capture {source} 'I prefer green tea.' --speaker Ana --external-id 1 --scope {scope} \
   """
_FACT = """write semantic '{{"drink": "green tea"}}' --subject Ana --predicate prefers \
    --evidence memwarden:capture/{application}/{source}/1 \
   """
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
    changes nothing, but for the profile where one is named. No password is printed.
    """
    start = Start(scope, agent, reviewer, application, source, profile)
    with told_errors():
        secrets = None if password_file is None else passwords(password_file)
        steps = begin(dsn, start, secrets)
    if as_json:
        print_json(steps)
        return
    for each in steps:
        note = f"  ({each.note})" if each.note and each.made else ""
        print(printable(f"{'made' if each.made else 'there':5}  {each.what} {each.name}{note}"))
    if not any(each.made for each in steps):
        print("nothing was changed")
    for who, does in (
        (application, _TURN.format(source=source, scope=scope)),
        (agent, _FACT.format(application=application, source=source)),
        (agent, "recall 'what does Ana drink?'"),
        (reviewer, "review list"),
    ):
        print(printable(f"as {who}: memwarden {does} --dsn {shlex.quote(_way(dsn, who))}"))


def _way(dsn: str, login: str) -> str:
    """Return how a login connects to the same database, as far as that may be shown."""
    given = conninfo_to_dict(dsn)
    return make_conninfo("", **{n: given[n] for n in _SHOWN if n in given}, user=login)
