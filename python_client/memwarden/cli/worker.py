"""`memwarden worker`: asks plug-ins what the database wants judged."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

from memwarden.cli.options import Dsn, told_errors
from memwarden.worker.discovery import available, load
from memwarden.worker.runner import Pace
from memwarden.worker.service import serve


def worker(
    *,
    dsn: Dsn = "",
    plugins: Annotated[
        str | None,
        typer.Option(help="Names, with commas between; all that there are by default."),
    ] = None,
    concurrency: Annotated[
        int, typer.Option(min=1, max=64, help="Jobs at the same time, a connection each.")
    ] = 1,
    poll: Annotated[
        float, typer.Option(min=0.1, max=3600, help="Seconds between looks that nobody asked for.")
    ] = 10,
    lease: Annotated[
        float, typer.Option(min=1, max=3600, help="Seconds after which others take a job.")
    ] = 60,
    once: Annotated[bool, typer.Option("--once", help="End when no job is due.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Print the plug-ins and exit.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="One line for each job.")] = False,
) -> None:
    """Take jobs from the database and bring back verdicts, until SIGTERM or Ctrl-C.

    The login is a member of memwarden_worker. See docs/worker.md.
    """
    if list_:
        for name, each in available().items():
            print(f"{name}  {each.value}")
        return
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO if verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(message)s",
    )
    with told_errors():
        chosen = load(None if plugins is None else [each.strip() for each in plugins.split(",")])
        serve(dsn, chosen, concurrency=concurrency, once=once, pace=Pace(poll, lease))
