"""`memwarden compliance`: the report on retention, erasures, consents and incidents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from memwarden.cli.options import Dsn, connected
from memwarden.compliance import page


def compliance(
    *,
    html: Annotated[Path | None, typer.Option(dir_okay=False, help="Write a page here.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", dir_okay=False, help="Write JSON here.")
    ] = None,
    org: Annotated[
        str | None, typer.Option(help="One organisation; all that you oversee by default.")
    ] = None,
    dsn: Dsn = "",
) -> None:
    """Report on compliance: incidents, retention, erasures, consents.

    Prints a line for each organisation, and JSON or a page that needs nothing else into files.
    Exits with 1 where an incident is open.
    """
    with connected(dsn) as memory:
        report = memory.compliance_report(org)
    try:
        if html is not None:
            html.write_text(page(report), encoding="utf-8")
        if json_file is not None:
            json_file.write_text(
                json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
            )
    except OSError as error:
        typer.echo(f"{error.filename}: {error.strerror}", err=True)
        raise typer.Exit(1) from None
    for organisation in report["organisations"]:
        still = [i for i in organisation["incidents"] if i["closed_at"] is None]
        said = ", ".join(f"{i['kind']} {i['breaches']}" for i in still) or "no incident is open"
        print(f"{organisation['org']}: {said}")
    if not all(organisation["compliant"] for organisation in report["organisations"]):
        raise typer.Exit(1)
