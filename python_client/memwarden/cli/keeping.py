"""`memwarden pin`, `unpin`, `link-action` and `hold ...`: keeping memories."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from memwarden.cli.memory import said
from memwarden.cli.options import (
    AsJson,
    Because,
    Dsn,
    ItemId,
    Moment,
    connected,
    exit_code,
)
from memwarden.cli.terminal import cell, console, lines, print_json, table

HoldId = Annotated[UUID, typer.Argument(help="The hold's id, as `hold set` prints it.")]

hold = typer.Typer(name="hold", help="Legal holds: what they hold survives every deletion.")


def pin(item_id: ItemId, *, reason: Because, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Keep a memory from decay and collection."""
    with connected(dsn) as memory:
        memory.pin(item_id, reason)
    if as_json:
        print_json({"pinned": item_id})


def unpin(
    item_id: ItemId,
    *,
    reason: Annotated[str, typer.Option(help="Why; it stays in the history.")] = "unpinned",
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Let a pinned memory age again."""
    with connected(dsn) as memory:
        memory.unpin(item_id, reason)
    if as_json:
        print_json({"unpinned": item_id})


def link_action(
    action_id: Annotated[str, typer.Argument(help="The action's number in your application.")],
    versions: Annotated[list[UUID], typer.Argument(help="The versions that it rests on.")],
    *,
    recall_id: Annotated[UUID | None, typer.Option(help="The recall that gave them.")] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Record that an action of yours rests on versions: nothing beneath it is collected."""
    with connected(dsn) as memory:
        linked = memory.link_action(action_id, versions, recall_id)
    if as_json:
        print_json({"linked": linked})
    else:
        print(f"versions linked: {linked}")


@hold.command("set")
def set_hold(
    *,
    reason: Because,
    item: Annotated[UUID | None, typer.Option(help="This memory.")] = None,
    subject: Annotated[str | None, typer.Option(help="Memories about this subject.")] = None,
    scope: Annotated[str | None, typer.Option(help="Memories here and below.")] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="Memories that name this; may be repeated.")
    ] = None,
    layer: Annotated[
        list[str] | None, typer.Option(help="Memories of this layer; may be repeated.")
    ] = None,
    since: Moment = None,
    until: Moment = None,
    four_eyes: Annotated[
        bool | None, typer.Option(help="Whether two persons lift it; by default by policy.")
    ] = None,
    org: Annotated[str | None, typer.Option(help="The organisation; yours by default.")] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Hold every memory that meets all these options, now and later."""
    with connected(dsn) as memory:
        held = memory.hold(
            reason,
            item_id=item,
            subject=subject,
            scope=scope,
            texts=text or None,
            layers=layer or None,
            written_during=None if since is None and until is None else (since, until),
            four_eyes=four_eyes,
            org=org,
        )
    if as_json:
        print_json(held)
    else:
        print(f"hold {held.hold_id}: memories held now: {held.items}")


@hold.command("lift")
def lift_hold(hold_id: HoldId, *, reason: Because, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """End a legal hold. Exits with 4 when a second person must agree."""
    with connected(dsn) as memory:
        done = memory.lift_hold(hold_id, reason)
    if as_json:
        print_json(done)
    elif done.committed:
        print("lifted")
    else:
        print(f"people decide first: request {done.request_id}")
    raise typer.Exit(exit_code(done.outcome))


@hold.command("items")
def held_items(hold_id: HoldId, *, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Show every version of the memories that a hold keeps."""
    with connected(dsn) as memory:
        found = memory.held_items(hold_id)
    if as_json:
        print_json(found)
        return
    out = console()
    rows = table(out, "item", "version", "status", "recorded", "says", whole=("item",))
    for each in found:
        says = cell(said(each.content, 80)) if each.readable else cell("you may not read it")
        rows.add_row(
            lines(each.item_id, each.scope),
            cell(each.version),
            cell(each.status),
            cell(each.recorded_at),
            says,
        )
    out.print(rows)
