"""`memwarden session`: an agent's sessions, and what is before it in one of them."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from memwarden.cli.options import AsJson, Dsn, connected
from memwarden.cli.terminal import cell, console, lines, print_json, printable, table

app = typer.Typer(name="session", help="Look at the sessions that you work in.")


@app.command("list")
def list_sessions(
    *,
    open_only: Annotated[bool, typer.Option("--open", help="Only those that go on.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=10000, help="At most so many.")] = 100,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """List your own sessions, the newest first."""
    with connected(dsn) as memory:
        found = memory.sessions(open_only=open_only, limit=limit)
    if as_json:
        print_json(found)
        return
    out = console()
    rows = table(out, "session", "what for", "used at", whole=("session",))
    for each in found:
        rows.add_row(
            cell(each.session_id),
            lines(each.task, each.scope, f"turn {each.turn}, {each.entries} entries"),
            lines(each.used_at, each.ended),
        )
    out.print(rows)


@app.command("show")
def show_session(
    session_id: Annotated[UUID, typer.Argument(help="The session's id, as `list` shows it.")],
    *,
    budget: Annotated[
        int, typer.Option(min=1, max=1000000, help="Tokens of the text, at most.")
    ] = 1000,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Show the working memory of an open session, as a model reads it; it counts as a call."""
    with connected(dsn) as memory:
        if as_json:
            print_json(memory.working_memory(session_id))
        else:
            print(printable(memory.render_working_memory(session_id, budget)))
