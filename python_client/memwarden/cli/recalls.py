"""`memwarden recalls`: who was given what, what came of it, and how good recall is."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

import typer

from memwarden.cli.options import AsJson, Dsn, ItemId, connected, moment
from memwarden.cli.terminal import cell, console, instant, lines, print_json, table

Since = Annotated[
    datetime | None, typer.Option(parser=moment, metavar="TIME", help="Made since then.")
]
MaxRows = Annotated[int, typer.Option("--max", help="1 to 1,000.")]


def list_recalls(
    *,
    agent: Annotated[str | None, typer.Option(help="Made by this agent.")] = None,
    task: Annotated[str | None, typer.Option(help="Made for this task.")] = None,
    purpose: Annotated[str | None, typer.Option(help="recall, context, push ...")] = None,
    query: Annotated[
        str | None, typer.Option(help="Of this very query; no word of it is kept.")
    ] = None,
    since: Since = None,
    max_rows: MaxRows = 100,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Show recalls: your own, and those of whom you oversee, the latest first."""
    with connected(dsn) as memory:
        found = memory.find_recalls(
            agent=agent, task=task, purpose=purpose, query=query, since=since, max_rows=max_rows
        )
    if as_json:
        print_json(found)
        return
    out = console()
    rows = table(out, "recall", "by", "for", "given", "came of it", whole=("recall",))
    for each in found:
        rows.add_row(
            lines(each.recall_id, instant(each.recalled_at)),
            lines(each.agent, "told afterwards" if each.reported else None),
            lines(each.purpose, each.task),
            cell(each.given),
            lines(each.outcome, f"{len(each.used)} used" if each.outcome else None),
        )
    out.print(rows)


def recalls_of(
    item_id: ItemId,
    *,
    since: Since = None,
    max_rows: MaxRows = 100,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Show who was given a memory, when, for which task, and what came of it."""
    with connected(dsn) as memory:
        found = memory.recalls_of(item_id, since=since, max_rows=max_rows)
    if as_json:
        print_json(found)
        return
    out = console()
    rows = table(out, "recall", "to", "for", "place", "came of it", whole=("recall",))
    for each in found:
        used = {True: "used", False: "not used", None: None}[each.used]
        rows.add_row(
            lines(each.recall_id, instant(each.recalled_at)),
            cell(each.agent),
            lines(each.purpose, each.task),
            cell(each.place),
            lines(each.outcome, used),
        )
    out.print(rows)


def quality(
    *,
    scope: Annotated[
        str | None, typer.Option(help="Of agents at home in this scope and below.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Of this agent.")] = None,
    purpose: Annotated[str | None, typer.Option(help="recall, context, push ...")] = None,
    since: Since = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Show how good recall was in the last 30 days, by what was reported of it."""
    with connected(dsn) as memory:
        found = memory.recall_quality(scope=scope, agent=agent, purpose=purpose, since=since)
    if as_json:
        print_json(found)
        return
    out = console()
    rows = table(
        out, "layer", "recalls", "gave something", "reported", "precision", "ignored", "doubtful"
    )
    for each in found:
        rows.add_row(
            cell(each.layer),
            cell(each.recalls),
            cell(_share(each.hit_ratio)),
            cell(each.reported),
            cell(_share(each.mean_precision)),
            cell(_share(each.false_positive_rate)),
            cell(_share(each.staleness)),
        )
    out.print(rows)


def report(
    recall_id: Annotated[UUID, typer.Argument(help="The recall's id, as a recall returns it.")],
    outcome: Annotated[str, typer.Argument(help="success, partial, failure or unknown.")],
    *,
    used: Annotated[
        list[UUID] | None, typer.Option(help="A memory that was of use; may be repeated.")
    ] = None,
    action: Annotated[
        str | None, typer.Option(help="The number of your action that rests on them.")
    ] = None,
    at_fault: Annotated[
        list[UUID] | None,
        typer.Option(help="Of a failure: a memory that it came from; may be repeated."),
    ] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Say what came of a recall of yours."""
    with connected(dsn) as memory:
        revision = memory.report_outcome(
            recall_id, used or (), outcome, action_id=action, at_fault=at_fault or ()
        )
    if as_json:
        print_json({"revision": revision})
    else:
        print(f"revision {revision}")


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"
