"""`memwarden report`: how well memory is, as one file."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from memwarden.cli.options import AsJson, Dsn, connected


class Kind(StrEnum):
    """What a report is about."""

    HEALTH = "health"
    GOVERNANCE = "governance"


def report(
    *,
    kind: Annotated[
        Kind, typer.Option(help="How memory is now, or how it was governed in a quarter.")
    ] = Kind.HEALTH,
    org: Annotated[
        str | None, typer.Option(help="One organisation; all that you oversee by default.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write here; standard output by default.")
    ] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Report how well memory is, as one file of HTML that needs nothing else, or as JSON.

    For the weekly report on retention, erasures and consents see `memwarden compliance`.
    """
    # These print as the commands do, so they import from here.
    from memwarden.reporting.gathering import gather
    from memwarden.reporting.page import page

    with connected(dsn) as memory:
        made = gather(memory, org, kind.value)
    if org is not None and not made.health:
        typer.echo("there is no organisation of that name that this login may see", err=True)
        raise typer.Exit(1)
    if as_json:
        text = json.dumps(asdict(made), indent=2, default=str) + "\n"
    else:
        style = files("memwarden.console").joinpath("static/figures.css").read_text("utf-8")
        text = page(made, style)
    if output is None:
        print(text, end="")
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        typer.echo(f"{error.filename}: {error.strerror}", err=True)
        raise typer.Exit(1) from None
