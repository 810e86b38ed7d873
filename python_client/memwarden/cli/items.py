"""`memwarden get`, `memwarden find` and `memwarden request`: items and requests by their keys."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from memwarden.cli.memory import words
from memwarden.cli.options import AsJson, Dsn, ExitCode, ItemId, connected, not_found
from memwarden.cli.terminal import cell, console, print_json, shortened, show_fields, table


def get(item_id: ItemId, *, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Show one item as it stands. Exits with 6 when there is none that you may see."""
    with connected(dsn) as memory:
        item = memory.get(item_id)
    if item is None:
        not_found("item", item_id)
    if as_json:
        print_json(item)
    else:
        show_fields(item)


def find(
    subject: Annotated[str, typer.Argument(help="What the items are about.")],
    predicate: Annotated[str | None, typer.Argument(help="Which property of it.")] = None,
    *,
    layer: Annotated[str | None, typer.Option()] = None,
    scope: Annotated[str | None, typer.Option(help="Exactly this one.")] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Show the current items about a subject, the newest first. Looks words up, searches nothing.

    Exits with 6 when there is none that you may see.
    """
    with connected(dsn) as memory:
        found = memory.find_items(subject, predicate, layer=layer, scope=scope)
    if as_json:
        print_json(found)
    else:
        out = console()
        rows = table(out, "item", "layer", "subject", "predicate", "content", whole=("item",))
        for item in found:
            content = shortened(words(item.content), 160)
            rows.add_row(
                *map(cell, (item.item_id, item.layer, item.subject, item.predicate, content))
            )
        out.print(rows)
    if not found:
        raise typer.Exit(ExitCode.NOT_FOUND)


def request(
    request_id: Annotated[UUID, typer.Argument(help="The id that `write` returned.")],
    *,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Show what became of a write request, gate by gate."""
    with connected(dsn) as memory:
        found = memory.request_status(request_id)
    if found is None:
        not_found("request", request_id)
    if as_json:
        print_json(found)
        return
    show_fields(found, skip=("gates",))
    out = console()
    rows = table(out, "gate", "decision", "reason", "microseconds", right=("microseconds",))
    for gate in found.gates or ():
        rows.add_row(*(cell(gate.get(name)) for name in ("gate", "decision", "reason", "us")))
    out.print(rows)
