"""`memwarden status`."""

from __future__ import annotations

from collections.abc import Sequence

import typer
from rich.text import Text

from memwarden.cli.options import AsJson, Dsn, ExitCode, connected
from memwarden.cli.terminal import console, print_json, printable
from memwarden.results import ComponentStatus

# The gravest first: what is missing keeps the rest from working.
_STYLES = {"missing": "red", "outdated": "red", "warning": "yellow"}


def status(*, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Show what is wrong, the gravest first, and what mends it.

    Exits with 1 when something is missing or outdated.
    """
    with connected(dsn) as memory:
        components = memory.status()
    if as_json:
        print_json(components)
    else:
        out = console()
        for line in note(components):
            out.print(line, soft_wrap=True)
    if any(each.state in ("missing", "outdated") for each in components):
        raise typer.Exit(ExitCode.FAILED)


def note(components: Sequence[ComponentStatus]) -> list[Text]:
    """Return a line for each component that is not well, and one for all that are."""
    order = list(_STYLES)
    wrong = [each for each in components if each.state != "ok"]
    # A state that this client does not know is as grave as any.
    wrong.sort(key=lambda each: order.index(each.state) if each.state in order else 0)
    lines = [
        Text.assemble(
            (printable(each.state), _STYLES.get(each.state, "red")),
            f"  {printable(each.component)}: {printable(' '.join((each.detail or '').split()))}",
        )
        for each in wrong
    ]
    well = len(components) - len(wrong)
    checks = f"{well} check{'' if well == 1 else 's'}"
    lines.append(Text(f"{'everything else' if wrong else 'everything'} is well: {checks}"))
    return lines
