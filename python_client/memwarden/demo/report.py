"""What became of the writes, for people: counts, reasons with examples, gates with their times."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.text import Text

from memwarden._sync.client import Client
from memwarden.cli.terminal import cell, shortened, table
from memwarden.demo.push import Decision
from memwarden.results import Outcome

_KINDS = ("new", "new version", "merged", "replayed", "rejected", "deferred", "too late")
_BY_OUTCOME = {
    Outcome.MERGED: "merged",
    Outcome.ALREADY_COMMITTED: "replayed",
    Outcome.REJECTED: "rejected",
    Outcome.DEFERRED: "deferred",
    Outcome.DEADLINE_EXCEEDED: "too late",
}


def heading(out: Console, text: str) -> None:
    """Print a heading with space above it."""
    out.print()
    out.print(Text(text, style="bold"))


def show_counts(out: Console, decisions: Sequence[Decision], taken: timedelta) -> None:
    """Print what became of the requests of each layer."""
    kinds = counts_of(decisions)
    rate = len(decisions) / taken.total_seconds()
    heading(
        out,
        f"{len(decisions)} requests decided in {taken.total_seconds():.1f} s ({rate:.0f} a second)",
    )
    numbers = ("requests", *_KINDS)
    rows = table(out, "layer", *numbers, right=numbers)
    for layer, counts in kinds.items():
        rows.add_row(layer, str(counts.total()), *(str(counts[kind]) for kind in _KINDS))
    out.print(rows)


def counts_of(decisions: Sequence[Decision]) -> dict[str, Counter[str]]:
    """Return for each layer how many requests became what."""
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    seen = set()
    for each in decisions:
        result = each.result
        if result.committed:
            kind = "new version" if result.item_id in seen else "new"
            seen.add(result.item_id)
        else:
            kind = _BY_OUTCOME[Outcome(result.outcome)]
        kinds[each.request.layer][kind] += 1
    return dict(kinds)


def show_standings(out: Console, standings: Sequence[dict[str, Any]]) -> None:
    """Print how firmly what is remembered may be said."""
    heading(out, "How firmly it may be said")
    rows = table(out, "layer", "standing", "memories", right=("memories",))
    for each in standings:
        rows.add_row(*(cell(value) for value in each.values()))
    out.print(rows)


def show_reasons(out: Console, memory: Client, decisions: Sequence[Decision]) -> None:
    """Print why requests were not committed as new, with one example of each reason."""
    groups: dict[tuple[str, str], list[Decision]] = defaultdict(list)
    for each in decisions:
        if not each.result.committed:
            groups[each.result.outcome, each.result.reason or "-"].append(each)
    if not groups:
        return
    meanings = {reason.reason: reason.meaning for reason in memory.reasons()}
    heading(out, "Not written again, and why")
    rows = table(out, "count", "outcome and reason", "for example", "because", right=("count",))
    for (outcome, reason), group in sorted(groups.items(), key=lambda pair: -len(pair[1])):
        rows.add_row(
            str(len(group)),
            cell(outcome if reason == "-" else f"{outcome} {reason}"),
            cell(shortened(_text(group[0].request.content), 80)),
            cell(_because(memory, group[0], meanings)),
        )
    out.print(rows)


def _because(memory: Client, decision: Decision, meanings: dict[str, str]) -> str:
    result = decision.result
    if result.item_id is not None:
        # The item may have moved on since: what counts is the version that was found then.
        for version in memory.history(result.item_id):
            if version.version_id == result.version_id:
                return f"known as: {shortened(_text(version.content), 80)}"
    return meanings.get(result.reason or "", "")


def show_new_versions(out: Console, memory: Client, decisions: Sequence[Decision]) -> None:
    """Print the history of the item that changed most often."""
    versions = Counter(each.result.item_id for each in decisions if each.result.committed)
    [(item_id, count)] = versions.most_common(1) or [(None, 0)]
    if item_id is None or count == 1:
        return
    heading(out, "A fact that changed: one item, its versions kept")
    rows = table(out, "v", "status", "valid from", "content", right=("v",))
    for version in memory.history(item_id):
        rows.add_row(
            cell(version.version),
            cell(version.status),
            cell(version.valid_from),
            cell(_text(version.content)),
        )
    out.print(rows)


def show_refused(out: Console, memory: Client, decisions: Sequence[Decision]) -> None:
    """Print the writes that were meant to be refused, and what they were told."""
    remedies = {reason.reason: reason.remedy for reason in memory.reasons()}
    heading(out, "Writes that no memory should take")
    rows = table(
        out, "the write has", "outcome", "reason", "what the writer can do", whole=("reason",)
    )
    for each in decisions:
        result = each.result
        remedy = remedies.get(result.reason or "") or "-"
        if result.retry_after is not None:
            remedy = f"nothing: the server tries again at {result.retry_after:%H:%M:%S}"
        rows.add_row(cell(each.wrong), cell(result.outcome), cell(result.reason), cell(remedy))
    out.print(rows)


def show_violations(out: Console, decisions: Sequence[Decision]) -> None:
    """Print every violation of a write that had several at once."""
    for each in decisions:
        violations = (each.result.detail or {}).get("errors") or ()
        if len(violations) > 1:
            out.print()
            out.print(f"All that is wrong with {each.wrong}, told at once:")
            for violation in violations:
                out.print(cell(f"  {violation['path']}: {violation['message']}"))


def show_gates(out: Console, gates: Sequence[dict[str, Any]]) -> None:
    """Print what each gate decided, how often, and how long it took."""
    heading(out, "What the gates decided, and how long they took")
    numbers = ("requests", "median us", "95 % us")
    rows = table(out, "gate", "decision", "reason", *numbers, right=numbers, whole=("reason",))
    for gate in gates:
        rows.add_row(*(cell(value) for value in gate.values()))
    out.print(rows)


def _text(content: Any) -> str:
    """Return the words of a content, or the content itself where it has another shape."""
    if isinstance(content, dict):
        for name in ("statement", "text"):
            if isinstance(content.get(name), str):
                return str(content[name])
    return str(content)
