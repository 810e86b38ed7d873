"""The command `memwarden`: one module for each group of commands."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from memwarden.cli import access, items, memory, server
from memwarden.cli.demo import demo

app = typer.Typer(
    name="memwarden",
    help="Governed memory for AI agents, inside PostgreSQL.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(version("memwarden"))
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


app.command()(server.status)
app.command()(memory.write)
app.command()(memory.recall)
app.command()(items.get)
app.command()(items.history)
app.command()(items.request)
app.command()(access.whoami)
app.command()(access.explain)
app.command()(demo)


def main() -> None:
    """Run the command; the entry point of the installed script."""
    app()
