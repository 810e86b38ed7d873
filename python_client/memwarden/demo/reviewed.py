"""What waits for a person, and what the person says: the part of the demo about approval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console

from memwarden._sync.client import Client
from memwarden.cli.memory import words
from memwarden.cli.terminal import cell, lines, table
from memwarden.demo.report import heading
from memwarden.demo.writes import quoted
from memwarden.results import Proposal, WriteResult


class _Case(NamedTuple):
    predicate: str
    statement: str
    edited: str | None
    rejected: str | None
    note: str


_CASES = (
    _Case("feeding", "To feed a raven, put nuts on the wall.", None, None, "I have seen it."),
    _Case(
        "calling",
        "To call a raven, whistle twice, or shout.",
        "To call a raven, whistle twice.",
        None,
        "Nobody shouts.",
    ),
    _Case(
        "luck",
        "To keep bad luck away, chase each raven.",
        None,
        "FACTUAL_ERROR",
        "That is superstition.",
    ),
)


ASIDES = tuple(each.statement for each in _CASES)
"""What was said to the new agent."""


def show_review(out: Console, newcomer: Client, reviewer: Client, scope: str) -> None:
    """Let somebody new write how things are done; let a person decide; show what each learns."""
    asked = [
        newcomer.write(
            "procedural",
            {"statement": each.statement},
            subject="Ravens",
            predicate=each.predicate,
            scope=scope,
            evidence=quoted(each.statement),
        )
        for each in _CASES
    ]
    waiting = {each.proposal_id: each for each in reviewer.review_queue(scope=scope)}
    proposals = [waiting[each.request_id] for each in asked]
    _show_waiting(out, proposals)
    decided = [
        _decide(reviewer, proposal, case) for proposal, case in zip(proposals, _CASES, strict=True)
    ]
    _show_decided(out, newcomer, decided)
    _show_recalled(out, newcomer, scope)


def _decide(reviewer: Client, proposal: Proposal, case: _Case) -> WriteResult:
    if case.rejected is not None:
        return reviewer.reject(proposal.proposal_id, case.rejected, case.note)
    if case.edited is not None:
        content = {"statement": case.edited}
        return reviewer.approve_with_edit(proposal.proposal_id, content, case.note)
    return reviewer.approve(proposal.proposal_id, case.note)


def _show_waiting(out: Console, proposals: Sequence[Proposal]) -> None:
    heading(out, "How something is done waits for a person")
    rows = table(out, "risk", "asked because", "proposal", "answer due", right=("risk",))
    for each in proposals:
        rows.add_row(
            cell(each.risk),
            cell(", ".join(each.reasons)),
            cell(words(each.content)),
            cell(each.due_at),
        )
    out.print(rows)


def _show_decided(out: Console, newcomer: Client, decided: Sequence[WriteResult]) -> None:
    heading(out, "What the agent is told")
    rows = table(out, "it asked for", "outcome", "what the person said")
    for case, result in zip(_CASES, decided, strict=True):
        status = newcomer.request_status(result.request_id)
        if status is None:
            continue
        told = status.detail or {}
        rows.add_row(
            cell(case.statement),
            lines(status.outcome, status.reason),
            lines(told.get("reason"), told.get("note"), case.edited),
        )
    out.print(rows)


def _show_recalled(out: Console, newcomer: Client, scope: str) -> None:
    heading(out, "What is remembered of it, and who approved it")
    rows = table(out, "memory", "asked by", "approved by", "because")
    for case in _CASES:
        for item in newcomer.recall(case.statement, k=1, scopes=[scope], predicate=case.predicate):
            record = newcomer.provenance(item.item_id)[0]
            rows.add_row(
                cell(words(item.content)),
                cell(record.source_agent),
                lines(record.approver, record.approved_at),
                cell(record.approval_justification),
            )
    out.print(rows)
