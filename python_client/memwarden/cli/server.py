"""`memwarden status`."""

from __future__ import annotations

import typer
from rich.text import Text

from memwarden.cli.options import AsJson, Dsn, ExitCode, connected
from memwarden.cli.terminal import cell, console, print_json, table

_STYLES = {"ok": "green", "warning": "yellow", "outdated": "red", "missing": "red"}


def status(*, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Show what is installed and what is missing.

    Exits with 1 when something is missing or outdated.
    """
    with connected(dsn) as memory:
        components = memory.status()
    if as_json:
        print_json(components)
    else:
        out = console()
        rows = table(out, "component", "state", "detail")
        for each in components:
            state = Text(each.state, style=_STYLES.get(each.state, ""))
            rows.add_row(cell(each.component), state, cell(each.detail))
        out.print(rows)
    if any(each.state in ("missing", "outdated") for each in components):
        raise typer.Exit(ExitCode.FAILED)
