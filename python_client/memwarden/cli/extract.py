"""`memwarden extract`: candidates for memory from what was captured."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from memwarden._sync.client import Client
from memwarden.cli.options import AsJson, Dsn, ExitCode, connected
from memwarden.cli.repeating import Every, repeat
from memwarden.cli.terminal import cell, console, lines, print_json, print_names, table
from memwarden.extraction.discovery import available
from memwarden.extraction.run import extract as run
from memwarden.results import Extracted


def extract(
    *,
    source: Annotated[
        str | None, typer.Option(help="By default every source.", show_default=False)
    ] = None,
    since: Annotated[
        datetime | None, typer.Option(help="Captured then or later.", show_default=False)
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(help="Captured before.", show_default=False)
    ] = None,
    extractor: Annotated[
        str | None, typer.Option(help="By default every extractor.", show_default=False)
    ] = None,
    version: Annotated[
        int | None,
        typer.Option(help="By default the newest when a capture came.", show_default=False),
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Captures to read.")] = 10_000,
    every: Every = None,
    list_: Annotated[bool, typer.Option("--list", help="Print the plug-ins, and exit.")] = False,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Have extractors read the agent's captures, once each, and write what they find.

    As the agent's own writes, through every gate. Exits with 3 when a gate refused one, with 4 when
    one waits or a capture was left for the next run. With --every it goes on until it is ended.
    """
    if list_:
        print_names({name: each.value for name, each in available().items()}, as_json)
        return

    def read(memory: Client) -> list[Extracted]:
        return run(
            memory,
            source,
            since=since,
            until=until,
            extractor=extractor,
            version=version,
            most=most,
        )

    if every is not None:

        def once() -> list[Extracted]:
            with Client.connect(dsn) as memory:
                return read(memory)

        repeat(every, once, _told, as_json)
        return
    with connected(dsn) as memory:
        done = read(memory)
    if as_json:
        print_json(done)
    else:
        _show(done)
    raise typer.Exit(_code(done))


def _told(done: list[Extracted]) -> str:
    captures = len({each.capture_id for each in done})
    written = sum(each.item_id is not None for each in done)
    told = f"captures {captures}, candidates {len(done)}, memories {written}"
    unread = sum({each.capture_id: each.unread for each in done}.values())
    return f"{told}, parts of unknown shape {unread}" if unread else told


def _code(done: list[Extracted]) -> ExitCode:
    if any(each.outcome == "REJECTED" for each in done):
        return ExitCode.REJECTED
    waits = any(each.outcome == "DEFERRED" or each.fault is not None for each in done)
    return ExitCode.DEFERRED if waits else ExitCode.OK


def _show(done: list[Extracted]) -> None:
    out = console()
    rows = table(out, "capture, memory", "extractor", "outcome", whole=("capture, memory",))
    for each in done:
        rows.add_row(
            lines(each.capture_id, each.item_id),
            cell(f"{each.extractor_name}:{each.version}"),
            lines(
                each.outcome or each.fault,
                each.reason,
                f"{each.unread} of unknown shape" if each.unread else None,
            ),
        )
    out.print(rows)
