"""`memwarden review`: what waits for a human, and deciding about it."""

from __future__ import annotations

import json
import sys
from typing import Annotated
from uuid import UUID

import typer

from memwarden.cli.memory import said
from memwarden.cli.options import AsJson, Dsn, ExitCode, connected, exit_code
from memwarden.cli.terminal import cell, console, lines, print_json, table
from memwarden.errors import InvalidArgument
from memwarden.results import Proposal, WriteResult

ProposalId = Annotated[UUID, typer.Argument(help="The proposal's id, as `review list` shows it.")]
Note = Annotated[str | None, typer.Option(help="Why; it stays with the decision.")]
DespiteProbes = Annotated[
    bool, typer.Option("--despite-probes", help="Also where golden queries would fail.")
]


def list_proposals(
    *,
    scope: Annotated[str | None, typer.Option(help="This scope and all below it.")] = None,
    layer: Annotated[str | None, typer.Option()] = None,
    tier: Annotated[str | None, typer.Option(help="async, or sync: its writer waits.")] = None,
    agent: Annotated[str | None, typer.Option(help="Of this agent.")] = None,
    write_class: Annotated[str | None, typer.Option("--class", help="Of this class.")] = None,
    state: Annotated[
        str, typer.Option(help="pending, approved, rejected, expired, not_applicable or all.")
    ] = "pending",
    max_rows: Annotated[int, typer.Option("--max", help="1 to 1,000.")] = 100,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Show what you may decide about, the most urgent first."""
    with connected(dsn) as memory:
        found = memory.review_queue(
            scope=scope,
            layer=layer,
            tier=tier,
            agent=agent,
            write_class=write_class,
            state=None if state == "all" else state,
            max_rows=max_rows,
        )
    if as_json:
        print_json(found)
        return
    out = console()
    rows = table(out, "proposal", "waits", "risk", "says", whole=("proposal", "risk"))
    for each in found:
        rows.add_row(
            lines(each.proposal_id, each.layer, each.scope, each.agent),
            lines(
                f"{str(each.age).split('.')[0]}{' (overdue)' if each.overdue else ''}",
                each.tier,
                f"{each.approvals} of {each.needed}" if each.needed > 1 else None,
                each.state if each.state != "pending" else None,
            ),
            lines(f"{each.risk:.2f}", *each.reasons),
            cell(said(each.content, 80)),
        )
    out.print(rows)


def show(proposal_id: ProposalId, *, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Show one proposal: what it says, why it is risky, what it contradicts, and its history."""
    with connected(dsn) as memory:
        found = memory.proposal(proposal_id)
        if found is None:
            raise InvalidArgument("there is no such proposal that you may decide about")
        events = memory.review_history(proposal_id)
    if as_json:
        print_json({"proposal": found, "history": events})
        return
    out = console()
    rows = table(out, "", "")
    rows.show_header = False
    for name, value in (
        ("says", said(found.content, 4000)),
        ("about", " / ".join(part for part in (found.subject, found.predicate) if part)),
        ("in", f"{found.layer} of {found.scope}"),
        ("by", found.agent),
        ("because", found.justification),
        ("evidence", json.dumps(found.evidence) if found.evidence else None),
        ("risk", f"{found.risk:.2f}: {_explained(found)}"),
        ("reasons", ", ".join(found.reasons)),
        ("would renew", said(found.current["content"], 400) if _readable(found.current) else None),
        ("verdict", found.contradiction_check),
        ("state", f"{found.state}, {found.approvals} of {found.needed} agree"),
        ("due", found.due_at),
        ("expires", found.expires_at),
    ):
        if value:
            rows.add_row(name, cell(value))
    for against in found.contradictions:
        words = said(against["content"], 400) if _readable(against) else "(hidden from you)"
        rows.add_row("contradicts", lines(against["item_id"], words, against.get("becomes")))
    for event in events:
        rows.add_row(
            f"{event.at:%Y-%m-%d %H:%M}",
            lines(
                f"{event.event} by {event.by_principal or 'memwarden'}", event.reason, event.note
            ),
        )
    out.print(rows)


def approve(
    proposal_id: ProposalId,
    *,
    note: Note = None,
    despite_probes: DespiteProbes = False,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Agree to a proposal. Exits as `write` does: 0 stored, 3 refused, 4 others must agree."""
    with connected(dsn) as memory:
        _end(memory.approve(proposal_id, note, despite_probes=despite_probes), as_json)


def edit(
    proposal_id: ProposalId,
    content: Annotated[str, typer.Argument(help="JSON; - reads it from standard input.")],
    *,
    note: Note = None,
    despite_probes: DespiteProbes = False,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Agree to a proposal in other words. Exits as `approve` does."""
    try:
        words = json.loads(sys.stdin.read() if content == "-" else content)
    except ValueError:
        raise typer.BadParameter("CONTENT is not JSON") from None
    with connected(dsn) as memory:
        done = memory.approve_with_edit(proposal_id, words, note, despite_probes=despite_probes)
        _end(done, as_json)


def reject(
    proposal_id: ProposalId,
    reason: Annotated[
        str,
        typer.Argument(
            help="FACTUAL_ERROR, POLICY_VIOLATION, INSUFFICIENT_EVIDENCE, DUPLICATE, OUTDATED, "
            "NOISE, SENSITIVE, OUT_OF_SCOPE or OTHER."
        ),
    ],
    *,
    note: Note = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Refuse a proposal. Exits with 0 when that is what it now is."""
    with connected(dsn) as memory:
        done = memory.reject(proposal_id, reason, note)
    _tell(done, as_json)
    raise typer.Exit(ExitCode.OK if done.reason == "REVIEW_REJECTED" else ExitCode.FAILED)


def _readable(memory: dict[str, object] | None) -> bool:
    return memory is not None and "content" in memory


def _explained(proposal: Proposal) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {factor['value']:g} of {factor['weight']:g}"
        for name, factor in proposal.factors.items()
    )


def _end(result: WriteResult, as_json: bool) -> None:
    _tell(result, as_json)
    raise typer.Exit(exit_code(result.outcome))


def _tell(result: WriteResult, as_json: bool) -> None:
    if as_json:
        print_json(result)
        return
    out = console()
    rows = table(out, "", "")
    rows.show_header = False
    for name in ("outcome", "gate", "reason", "item_id", "detail"):
        value = getattr(result, name)
        if value is not None:
            rows.add_row(name, cell(json.dumps(value, default=str) if name == "detail" else value))
    out.print(rows)
