"""What the commands share: the connection, the exit codes, how an error is told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from enum import IntEnum
from typing import Annotated, NoReturn
from uuid import UUID

import typer

from memwarden._sync.client import Client
from memwarden.cli.terminal import printable
from memwarden.embedders import Embedder
from memwarden.errors import MemwardenError
from memwarden.results import Outcome


class ExitCode(IntEnum):
    """What a script can tell from the command's end. 2 is wrong usage, as everywhere.

    Where 1 is a verdict (`gate`, `watch`), 2 is also that the command could not look, and 7 that
    what it saw tells nothing.
    """

    OK = 0
    FAILED = 1
    UNABLE = 2
    REJECTED = 3
    DEFERRED = 4
    DEADLINE_EXCEEDED = 5
    NOT_FOUND = 6
    UNKNOWN = 7


_BY_OUTCOME = {
    Outcome.COMMITTED: ExitCode.OK,
    Outcome.MERGED: ExitCode.OK,
    Outcome.ALREADY_COMMITTED: ExitCode.OK,
    Outcome.REJECTED: ExitCode.REJECTED,
    Outcome.DEFERRED: ExitCode.DEFERRED,
    Outcome.DEADLINE_EXCEEDED: ExitCode.DEADLINE_EXCEEDED,
}


def exit_code(outcome: str) -> ExitCode:
    """Return the exit code for the outcome of a write."""
    try:
        return _BY_OUTCOME[Outcome(outcome)]
    except ValueError:
        return ExitCode.FAILED


Dsn = Annotated[
    str,
    typer.Option(
        "--dsn",
        envvar="MEMWARDEN_DSN",
        help="libpq connection string or URI; without it the PG* variables decide.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
ItemId = Annotated[UUID, typer.Argument(help="The item's id, as `recall` shows it.")]


def moment(text: str) -> datetime:
    """Return the time that a person means, local where it names no zone."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except (OverflowError, ValueError):
        raise typer.BadParameter("a time such as 2026-05-01 or 2026-05-01T12:30:00+02:00") from None


Moment = Annotated[
    datetime | None,
    typer.Option(
        parser=moment, metavar="TIME", help="Local where it names no zone.", show_default=False
    ),
]
Share = Annotated[float | None, typer.Option(help="From 0 to 1.", show_default=False)]
Because = Annotated[str, typer.Option("--reason", help="Why; it stays in the history.")]


def not_found(what: str, identifier: UUID) -> NoReturn:
    """End with a message and the code for what is not there."""
    typer.echo(f"no {what} {identifier} that this login may see", err=True)
    raise typer.Exit(ExitCode.NOT_FOUND)


@contextmanager
def connected(
    dsn: str, exit_with: ExitCode = ExitCode.FAILED, embedder: Embedder | None = None
) -> Iterator[Client]:
    """Yield a client; an error of the server or the connection becomes a message and that exit."""
    with told_errors(exit_with), Client.connect(dsn, embedder=embedder) as client:
        yield client


@contextmanager
def told_errors(exit_with: ExitCode = ExitCode.FAILED) -> Iterator[None]:
    """Turn the package's errors into lines on stderr and an exit code."""
    try:
        yield
    except MemwardenError as error:
        code = f" ({error.sqlstate})" if error.sqlstate else ""
        print(f"error: {printable(error.args[0])}{code}", file=sys.stderr)
        for label, text in (("detail", error.detail), ("hint", error.hint)):
            if text:
                print(f"{label}: {printable(text)}", file=sys.stderr)
        raise typer.Exit(exit_with) from None
