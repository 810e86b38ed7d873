"""`memwarden status`."""

from __future__ import annotations

import typer

from memwarden.cli.options import AsJson, Dsn, ExitCode, connected
from memwarden.cli.terminal import console, print_json, printable

_STYLES = {"warning": "yellow", "outdated": "red", "missing": "red"}


def status(*, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Show what is wrong with the installation, and what mends it.

    A line for each component that is not well, what is missing first; one line for all others.
    Exits with 1 when something is missing or outdated.
    """
    with connected(dsn) as memory:
        components = memory.status()
    broken = [each for each in components if each.state in ("missing", "outdated")]
    if as_json:
        print_json(components)
    else:
        out = console()
        warned = [each for each in components if each.state == "warning"]
        for each in (*broken, *warned):
            out.print(each.state, style=_STYLES.get(each.state, ""), end="  ", soft_wrap=True)
            out.print(printable(f"{each.component}: {each.detail}"), markup=False, soft_wrap=True)
        well = len(components) - len(broken) - len(warned)
        rest = "everything else is well" if broken or warned else "everything is well"
        out.print(f"{rest}: {well} checks")
    if broken:
        raise typer.Exit(ExitCode.FAILED)
