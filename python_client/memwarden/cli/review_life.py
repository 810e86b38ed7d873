"""`memwarden review bulk` and `feedback`: many decisions at once, and what came of decisions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Annotated
from uuid import UUID

import typer

from memwarden.cli.memory import said
from memwarden.cli.options import AsJson, Dsn, ExitCode, Moment, connected
from memwarden.cli.terminal import cell, console, instant, lines, print_json, table
from memwarden.results import DecidedProposal, DecisionPreview, Feedback


def bulk(
    decision: Annotated[str, typer.Argument(help="approve or reject.", metavar="DECISION")],
    *,
    reason: Annotated[
        str | None, typer.Option(help="Of a rejection: FACTUAL_ERROR, NOISE and so on.")
    ] = None,
    note: Annotated[str | None, typer.Option(help="Kept with each decision.")] = None,
    scope: Annotated[str | None, typer.Option(help="Proposals for this scope.")] = None,
    layer: Annotated[str | None, typer.Option(help="For this layer.")] = None,
    tier: Annotated[str | None, typer.Option(help="async or sync.")] = None,
    agent: Annotated[str | None, typer.Option(help="By this agent.")] = None,
    write_class: Annotated[str | None, typer.Option("--class", help="Of this class.")] = None,
    waits_for: Annotated[
        list[str] | None,
        typer.Option(help="Which wait for this reason and no other; may be repeated."),
    ] = None,
    risk_below: Annotated[
        float | None, typer.Option(min=0, max=1, help="With less risk than this.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, max=1000, help="The oldest so many.")] = 100,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Decide about all proposals that meet all these options, after showing how many that are.

    Asks before it acts. With --json, or where there is no terminal to ask on, it only shows, and
    exits with 2, unless --yes is given. Exits with 3 when one could not be decided so.
    """
    if decision not in ("approve", "reject") or (decision == "reject") != (reason is not None):
        raise typer.BadParameter("approve, or reject with --reason")
    with connected(dsn) as memory:
        look = partial(
            memory.preview_decisions,
            scope=scope,
            layer=layer,
            tier=tier,
            agent=agent,
            write_class=write_class,
            reasons=waits_for or None,
            risk_below=risk_below,
            max_rows=most,
        )
        preview = look() if yes else _agreed(look, decision, as_json)
        decided = (
            memory.decide_many(decision, preview, reason=reason, note=note)
            if preview.proposals
            else []
        )
    if as_json:
        print_json(decided)
    else:
        _show_decided(decided)
    raise typer.Exit(_code(decision, decided))


def _agreed(look: Callable[[], DecisionPreview], decision: str, as_json: bool) -> DecisionPreview:
    """Show what would be decided; return it when a person has agreed to just that."""
    preview = look()
    while True:
        if as_json:
            print_json(preview)
        else:
            _show_preview(preview, decision)
        if as_json or not sys.stdin.isatty():
            typer.echo("nothing was decided: --yes does it without asking", err=True)
            raise typer.Exit(2)
        if not preview.proposals:
            return preview
        typer.confirm(f"{decision.capitalize()} {preview.proposals}?", abort=True)
        # While a person reads, others decide.
        shown, preview = preview, look()
        if preview.digest == shown.digest:
            return preview
        print("they are no longer what they were:")


def _show_preview(preview: DecisionPreview, decision: str) -> None:
    print(f"would {decision}: {preview.proposals}")
    if preview.oldest_at is not None and preview.highest_risk is not None:
        out = console()
        rows = table(out, "layers", "agents", "oldest", "highest risk")
        rows.add_row(
            lines(*preview.layers or ()),
            lines(*preview.agents or ()),
            cell(instant(preview.oldest_at)),
            cell(f"{preview.highest_risk:.2f}"),
        )
        out.print(rows)


def _show_decided(decided: list[DecidedProposal]) -> None:
    out = console()
    rows = table(out, "proposal", "outcome", "item", whole=("proposal", "item"))
    for each in decided:
        rows.add_row(
            cell(each.proposal_id),
            lines(each.outcome or f"error {each.error}", each.reason),
            cell(each.item_id),
        )
    out.print(rows)


def _code(decision: str, decided: list[DecidedProposal]) -> ExitCode:
    if any(each.error is not None for each in decided):
        return ExitCode.REJECTED
    if decision == "approve":
        if any(each.outcome in ("REJECTED", "ALREADY_DECIDED") for each in decided):
            return ExitCode.REJECTED
        if any(each.outcome == "DEFERRED" for each in decided):
            return ExitCode.DEFERRED
    return ExitCode.OK


def feedback(
    *,
    agent: Annotated[str | None, typer.Option(help="About this agent's writes.")] = None,
    layer: Annotated[str | None, typer.Option(help="For this layer.")] = None,
    reason: Annotated[
        list[str] | None, typer.Option(help="With this reason; may be repeated.")
    ] = None,
    since: Moment = None,
    after: Annotated[UUID | None, typer.Option(help="Behind this event, for a next page.")] = None,
    most: Annotated[int, typer.Option(min=1, max=1000, help="So many at most.")] = 100,
    rates: Annotated[
        bool, typer.Option("--rates", help="Instead, how proposals fared, in numbers.")
    ] = False,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Show what reviewers said about writes: of the caller, or those that it may decide about."""
    with connected(dsn) as memory:
        if rates:
            counted = memory.approval_rates(since=since)
        else:
            found = memory.feedback(
                agent=agent, layer=layer, reasons=reason, since=since, after=after, max_rows=most
            )
    if as_json:
        print_json(counted if rates else found)
    elif rates:
        out = console()
        rows = table(out, "agent", "layer", "topic", "approved", "edited", "rejected", "rate")
        for row in counted:
            rows.add_row(
                *(cell(each) for each in (row.agent, row.layer, row.topic)),
                *(cell(each) for each in (row.approved, row.edited, row.rejected)),
                cell(None if row.approval_rate is None else f"{row.approval_rate:.0%}"),
            )
        out.print(rows)
    else:
        _show_feedback(found)


def _show_feedback(found: list[Feedback]) -> None:
    out = console()
    rows = table(out, "proposal", "said", "about", whole=("proposal", "said"))
    for each in found:
        changed = [
            f"{one['path']}: {one['before']} -> {one['after']}" for one in each.changes or ()
        ]
        rows.add_row(
            lines(each.proposal_id, instant(each.at), each.agent),
            lines(each.event, each.reason),
            lines(said(each.content, 80), *changed, each.note),
        )
    out.print(rows)
