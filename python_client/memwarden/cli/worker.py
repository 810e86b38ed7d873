"""`memwarden worker`: asks plug-ins what the database wants judged, and tells reviewers."""

from __future__ import annotations

import logging
import os
from typing import Annotated

import typer

from memwarden.cli.log_lines import log_lines
from memwarden.cli.options import Dsn, told_errors
from memwarden.cli.terminal import print_names
from memwarden.worker.discovery import (
    available,
    available_channels,
    available_embedders,
    load,
    load_channels,
    load_embedders,
)
from memwarden.worker.loop import Pace
from memwarden.worker.service import serve


def worker(
    *,
    dsn: Dsn = "",
    plugins: Annotated[
        str | None,
        typer.Option(help="Names, with commas between; all that there are by default."),
    ] = None,
    channels: Annotated[
        str | None,
        typer.Option(help="Likewise, for telling reviewers; none where only plug-ins are named."),
    ] = None,
    embedders: Annotated[
        str | None,
        typer.Option(help="Likewise, or `all`: makes missing embeddings. None by default."),
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
    once: Annotated[bool, typer.Option("--once", help="End when nothing is due.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Print the plug-ins and exit.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="One line for each job.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Each line of the log, or --list, as JSON on stdout.")
    ] = False,
) -> None:
    """Bring back verdicts on what the database asks, and tell reviewers, until SIGTERM or Ctrl-C.

    The login is a member of memwarden_worker; with --embedders, of memwarden_embedder. See
    docs/worker.md and docs/embeddings.md.
    """
    if list_:
        found = available() | available_channels() | available_embedders()
        print_names({name: each.value for name, each in found.items()}, as_json)
        return
    log_lines(logging.INFO if verbose else logging.WARNING, as_json)
    with told_errors():
        has_ended = serve(
            dsn,
            load(_names(plugins, others=channels or embedders)),
            channels=load_channels(_names(channels, others=plugins or embedders)),
            embedders=load_embedders([] if embedders is None else _all_or_named(embedders)),
            concurrency=concurrency,
            once=once,
            pace=Pace(poll, lease),
        )
    if not has_ended:
        # Threads that a plug-in made itself would be waited for.
        logging.shutdown()
        os._exit(0)


def _names(named: str | None, *, others: str | None) -> list[str] | None:
    """What is named; all, where nothing is; none, where only others are."""
    if named is not None:
        return [each.strip() for each in named.split(",")]
    return None if others is None else []


def _all_or_named(named: str) -> list[str] | None:
    return None if named.strip() == "all" else _names(named, others=None)
