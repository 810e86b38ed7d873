"""`memwarden demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from memwarden.cli.options import Dsn, told_errors
from memwarden.cli.terminal import console, print_json, printable
from memwarden.demo.conversation import NotAConversation


def demo(
    *,
    dsn: Dsn = "",
    data: Annotated[
        Path | None,
        typer.Option(help="A file in the LoCoMo format; without it, a sample.", dir_okay=False),
    ] = None,
    database: Annotated[
        str, typer.Option(help="The database to make. Only one of an earlier demo is dropped.")
    ] = "memwarden_demo",
    questions: Annotated[
        int, typer.Option(min=0, help="How many questions to show for each conversation.")
    ] = 5,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the figures as JSON, and nothing else.")
    ] = False,
) -> None:
    """Push a conversation through the gates, ask about it, and take a wrong write back.

    Makes a database on the server, and login roles whose names begin with its name: the login must
    be a superuser. One of them is the application that captures what is said.
    """
    from memwarden.demo.run import run

    try:
        with told_errors():
            out = Console(quiet=True) if as_json else console()
            figures = run(dsn, database, data, out, questions)
    except NotAConversation as error:
        raise typer.BadParameter(printable(str(error)), param_hint="--data") from None
    if as_json:
        print_json(figures)
