"""`memwarden get` and `memwarden request`: one item or request by its id."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from memwarden.cli.options import AsJson, Dsn, ItemId, connected, not_found
from memwarden.cli.terminal import cell, console, print_json, show_fields, table


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
