"""Where memories come from: `provenance` and `verify-provenance`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from memwarden.cli.options import AsJson, Dsn, ExitCode, ItemId, connected, moment, not_found
from memwarden.cli.terminal import cell, console, instant, lines, print_json, table


def provenance(item_id: ItemId, *, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Show who wrote each version of an item, on what evidence, and what it is worth."""
    with connected(dsn) as memory:
        records = memory.provenance(item_id)
    if not records:
        not_found("item", item_id)
    if as_json:
        print_json(records)
        return
    out = console()
    rows = table(out, "v", "who, when, how", "evidence", "scores", right=("v",))
    for each in records:
        grounds = [
            f"{ground['type']} {ground['uri']} (authority {ground['authority']:g})"
            for ground in each.evidence
        ]
        rows.add_row(
            cell(each.version),
            lines(each.source_agent, instant(each.recorded_at), each.origin, each.event.lower()),
            lines(each.evidence_quality, *grounds),
            lines(
                f"adjusted confidence {each.adjusted_confidence:.2f}",
                f"agent's own {each.agent_confidence:.2f}",
                None if each.fact_score is None else f"factual {each.fact_score:.2f}",
                f"authority {each.authority:.2f}",
            ),
        )
    out.print(rows)


def verify_provenance(
    *,
    since: Annotated[
        datetime | None,
        typer.Option(parser=moment, metavar="TIME", help="Only records from then on."),
    ] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Check the signature of every provenance record; print those that were altered.

    For administrators. Exits with 0 when all is intact and with 1 when something does not fit.
    """
    with connected(dsn) as memory:
        found = memory.verify_provenance(since)
    if as_json:
        print_json(found)
    elif found:
        out = console()
        rows = table(out, "finding", "item", "version", "detail", whole=("finding",))
        for each in found:
            rows.add_row(*map(cell, (each.finding, each.item_id, each.version_id, each.detail)))
        out.print(rows)
    else:
        print("intact")
    if found:
        raise typer.Exit(ExitCode.FAILED)
