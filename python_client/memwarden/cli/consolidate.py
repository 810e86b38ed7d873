"""`memwarden consolidate`: what becomes of one layer's memories in the next."""

from __future__ import annotations

import json
from collections import Counter
from typing import Annotated, Any

import typer

from memwarden._sync.client import Client
from memwarden.cli.options import AsJson, Dsn, ExitCode, connected, told_errors
from memwarden.cli.repeating import Every, repeat
from memwarden.cli.terminal import cell, console, lines, print_json, print_names, table
from memwarden.consolidation.discovery import available, load
from memwarden.consolidation.run import Consolidated
from memwarden.consolidation.run import consolidate as run


def _settings(text: str) -> dict[str, Any]:
    try:
        settings = json.loads(text)
    except ValueError:
        settings = None
    if not isinstance(settings, dict):
        raise typer.BadParameter("a JSON object")
    return settings


def consolidate(
    *,
    from_layer: Annotated[str, typer.Option("--from", help="The layer to read.")] = "session",
    to_layer: Annotated[str, typer.Option("--to", help="The layer to write.")] = "semantic",
    scope: Annotated[
        str | None, typer.Option(help="By default the agent's home.", show_default=False)
    ] = None,
    using: Annotated[str, typer.Option("--with", help="Who decides.")] = "rules",
    settings: Annotated[str, typer.Option(help="Its settings, a JSON object.")] = "{}",
    near: Annotated[
        int, typer.Option(min=1, max=50, help="Memories it is shown with each candidate.")
    ] = 5,
    most: Annotated[int, typer.Option(min=1, help="Candidates to decide about.")] = 10_000,
    every: Every = None,
    list_: Annotated[bool, typer.Option("--list", help="Print who can decide, and exit.")] = False,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Decide what becomes of a layer's memories in another, once each: ADD, UPDATE, DELETE, NOOP.

    As the agent's own writes and retractions. Exits with 3 when a gate refused one, with 4 when one
    waits or was left for the next run. With --every it goes on until it is ended.
    """
    if list_:
        print_names({name: each.value for name, each in available().items()}, as_json)
        return
    given = _settings(settings)
    with told_errors():
        consolidator = load(using)

    def decided(memory: Client) -> list[Consolidated]:
        return run(
            memory,
            consolidator,
            from_layer,
            to_layer,
            scope=scope,
            settings=given,
            near=near,
            most=most,
        )

    if every is not None:

        def once() -> list[Consolidated]:
            with Client.connect(dsn) as memory:
                return decided(memory)

        repeat(every, once, _told, as_json)
        return
    with connected(dsn) as memory:
        done = decided(memory)
    if as_json:
        print_json(done)
    else:
        _show(done)
    raise typer.Exit(_code(done))


def _told(done: list[Consolidated]) -> str:
    by = Counter(each.decision or "none" for each in done)
    return "decisions " + (", ".join(f"{name} {by[name]}" for name in sorted(by)) or "none")


def _code(done: list[Consolidated]) -> ExitCode:
    if any(each.outcome == "REJECTED" for each in done):
        return ExitCode.REJECTED
    waits = any(each.outcome in (None, "DEFERRED") for each in done)
    return ExitCode.DEFERRED if waits else ExitCode.OK


def _show(done: list[Consolidated]) -> None:
    out = console()
    rows = table(out, "memory", "decision", "outcome", "now", whole=("memory", "decision", "now"))
    for each in done:
        rows.add_row(
            cell(each.item_id),
            cell(each.decision),
            lines(each.outcome, each.reason),
            cell(each.target),
        )
    out.print(rows)
