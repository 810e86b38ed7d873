"""`memwarden renew`, `relevance` and `retention ...`: how long memories live."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from memwarden.cli.options import AsJson, Because, Dsn, ItemId, connected, exit_code
from memwarden.cli.terminal import cell, console, lines, print_json, table

Time = Annotated[
    str | None, typer.Option(metavar="INTERVAL", help="As in SQL: '90 days', '1 year', infinity.")
]

retention = typer.Typer(name="retention", help="How long memories may and must be kept.")


def renew(
    item_id: ItemId,
    *,
    reason: Because,
    ttl_seconds: Annotated[
        float | None, typer.Option(help="Time to live from now on; the layer's by default.")
    ] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Say that a memory still holds: its lifetimes begin anew."""
    ttl = None if ttl_seconds is None else timedelta(seconds=ttl_seconds)
    with connected(dsn) as memory:
        done = memory.renew(item_id, reason, ttl)
    if as_json:
        print_json(done)
    else:
        print(f"{done.outcome}: version {done.version_id}")
    raise typer.Exit(exit_code(done.outcome))


def relevance(item_id: ItemId, *, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Show how relevant a memory still is, and why."""
    with connected(dsn) as memory:
        parts = memory.explain_relevance(item_id)
    if as_json:
        print_json(parts)
        return
    out = console()
    rows = table(out, "part", "value", "follows from", right=("value",))
    for each in parts:
        rows.add_row(cell(each.part), cell(each.value), cell(each.detail))
    out.print(rows)


@retention.command("explain")
def explain_retention(item_id: ItemId, *, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Show each rule about how long a memory is kept, and which one decides."""
    with connected(dsn) as memory:
        rules = memory.explain_retention(item_id)
    if as_json:
        print_json(rules)
        return
    out = console()
    rows = table(out, "rule", "decides", "ends", "then", "may", "must", whole=("rule",))
    for each in rules:
        rows.add_row(
            lines(each.rule, each.rule_org),
            cell(each.decides),
            cell(each.ends_at),
            cell(each.afterwards),
            cell(each.permitted_until),
            cell(each.required_until),
        )
    out.print(rows)


@retention.command("set")
def set_retention(
    *,
    classification: Annotated[
        str | None, typer.Option(help="personal, business, general or public.")
    ] = None,
    layer: Annotated[str | None, typer.Option(help="Or of this layer.")] = None,
    class_: Annotated[
        str | None, typer.Option("--class", help="Or of this class of writes.")
    ] = None,
    keep_at_most: Time = None,
    keep_at_least: Time = None,
    afterwards: Annotated[str | None, typer.Option(help="delete, archive or cold.")] = None,
    counted_from: Annotated[str | None, typer.Option(help="creation or update.")] = None,
    expected: Annotated[
        int | None, typer.Option(help="How many memories the change ends now.")
    ] = None,
    org: Annotated[str | None, typer.Option(help="The organisation; yours by default.")] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Set a retention rule. Where it ends memories at once, it asks for their number first."""
    with connected(dsn) as memory:
        ended = memory.set_retention(
            classification=classification,
            layer=layer,
            class_=class_,
            keep_at_most=keep_at_most,
            keep_at_least=keep_at_least,
            afterwards=afterwards,
            counted_from=counted_from,
            expected=expected,
            org=org,
        )
    if as_json:
        print_json({"items": ended})
    else:
        print(f"memories that end now: {ended}")
