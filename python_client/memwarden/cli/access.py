"""`memwarden whoami` and `memwarden explain`: who may what, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from memwarden.cli.options import AsJson, Dsn, ExitCode, ItemId, connected
from memwarden.cli.terminal import cell, console, print_json, show_fields, table


def whoami(*, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Show the agent that this login acts for, and what it may."""
    with connected(dsn) as memory:
        me = memory.whoami()
    if as_json:
        print_json(me)
        return
    show_fields(me, skip=("permissions",))
    out = console()
    rows = table(out, "may", "in layer", "kind", "of")
    for each in me.permissions or ():
        rows.add_row(*(cell(each.get(name)) for name in ("operation", "layer", "kind", "reach")))
    out.print(rows)


def explain(
    item_id: ItemId,
    *,
    agent: Annotated[str | None, typer.Option(help="Whom it is about; you by default.")] = None,
    org: Annotated[str | None, typer.Option(help="Whose agent, if its name is used twice.")] = None,
    operation: Annotated[str, typer.Option(help="READ, WRITE, DELETE or ADMIN")] = "READ",
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Show whether an agent may read, write or delete an item, rule by rule.

    Exits with 0 when it may and with 3 when it may not.
    """
    with connected(dsn) as memory:
        agent = agent or memory.whoami().agent
        rules = memory.explain_access(agent, item_id, operation, org)
    if as_json:
        print_json(rules)
    else:
        out = console()
        rows = table(out, "rule", "allows", "because", "decides")
        for each in rules:
            decides = "<-" if each.decisive else ""
            rows.add_row(cell(each.rule), cell(each.allowed), cell(each.explanation), cell(decides))
        out.print(rows)
    if not all(each.allowed for each in rules):
        raise typer.Exit(ExitCode.REJECTED)
