"""What memory does: how writes end, how long gates take, what waits, jobs and storage."""

from __future__ import annotations

from collections import Counter, defaultdict

from memwarden.reporting.charts import bars
from memwarden.reporting.gathering import Report
from memwarden.reporting.markup import card, said, size, table, when
from memwarden.results import Job

__all__ = ["decisions", "funnel", "gates", "jobs", "reasons", "reviews", "storage"]

_MOST = 12
_REFUSED = ("REJECTED", "DEADLINE_EXCEEDED")


def _period(report: Report) -> str:
    # Days in UTC, which is how they are counted.
    return f"{report.days} days" if report.kind == "governance" else "since yesterday"


def funnel(report: Report) -> str:
    """Return how many writes were asked for, and how they ended."""
    ended = Counter[str]()
    for each in report.writes:
        ended[each.outcome] += each.writes
    asked = ended.total()
    rows = (
        ("asked", asked),
        ("decided", asked - ended["DEFERRED"]),
        ("committed", ended["COMMITTED"]),
        ("known already", ended["MERGED"] + ended["ALREADY_COMMITTED"]),
        ("refused", sum(ended[outcome] for outcome in _REFUSED)),
        ("waiting", ended["DEFERRED"]),
    )
    shown = [(name, count, f"{count:,} ({_share(count, asked)})") for name, count in rows if asked]
    parts = [bars(shown, title="Writes")]
    if report.waiting and report.kind == "health":
        parts.append(f'<p class="late">{report.waiting:,} older writes still wait, ')
        parts.append("for over 24 hours.</p>")
    return card(f"How writes ended, {_period(report)}", *parts, empty="No write was counted.")


def _share(count: int, whole: int) -> str:
    # Few is not none, and nearly all is not all.
    if 0 < count < 0.005 * whole:
        return "under 1%"
    return "over 99%" if 0.995 * whole < count < whole else f"{count / whole:.0%}"


def reasons(report: Report) -> str:
    """Return why writes were refused; over a quarter by which gate, too."""
    refused = Counter[str]()
    for each in report.writes:
        if each.outcome in _REFUSED:
            reason = each.reason.replace("_", " ").lower()
            by_gate = report.kind == "governance"
            refused[f"{each.gate}: {reason}" if by_gate else reason] += each.writes
    rows = [(name, count, f"{count:,}") for name, count in refused.most_common(_MOST)]
    title = f"Why writes were refused, {_period(report)}"
    return card(title, bars(rows, title="Refusals by reason"), empty="No refusal was counted.")


def gates(report: Report) -> str:
    """Return how long the slowest gates take."""
    slowest: dict[str, float] = {}
    for each in report.latency:
        slowest[each.gate] = max(each.p95_ms, slowest.get(each.gate, 0))
    rows = sorted(slowest.items(), key=lambda pair: -pair[1])[:_MOST]
    drawn = bars([(gate, ms, f"{ms:.2f} ms") for gate, ms in rows], title="Time of gates")
    return card("Time of the gates, 95th percentile, 24 hours", drawn, empty="No gate was timed.")


def reviews(report: Report) -> str:
    """Return what waits for people, and since when."""
    if report.reviews is None:
        empty = "Queues are for reviewers, auditors, curators and administrators."
        return card("What waits for people", empty=empty)
    rows = (
        (f"{each.layer} ({each.org})", each.tier, each.pending, each.overdue, when(each.oldest_at))
        for each in report.reviews
    )
    heads = ("layer", "tier", "waiting", "overdue", "oldest since")
    shown = table(heads, rows) if report.reviews else ""
    return card("What waits for people", shown, empty="Nothing waits.")


def decisions(report: Report) -> str:
    """Return how proposals ended, and how long they waited."""
    rows = [
        (
            each.decision.replace("_", " "),
            each.decisions,
            f"{each.decisions:,} after {each.hours:.1f} h",
        )
        for each in report.decisions
    ]
    drawn = bars(rows, title="Decisions, and hours waited in the mean")
    return card(f"What people decided in {report.days} days", drawn, empty="Nothing.")


def jobs(report: Report) -> str:
    """Return the jobs that are not well; those that merely never ran by name alone."""
    if report.jobs is None:
        return card("Jobs", empty="Jobs are for auditors and administrators.")
    by_state: dict[str, list[Job]] = defaultdict(list)
    for each in report.jobs:
        by_state[each.state].append(each)
    well = sum(len(by_state.pop(name, ())) for name in ("on time", "running"))
    never = by_state.pop("never ran", [])
    not_called = by_state.pop("not called", [])
    rows = [
        (each.name, each.state, when(each.last_end), each.last_error or "")
        for found in by_state.values()
        for each in found
    ]
    parts = [table(("job", "state", "last end", "last error"), rows) if rows else ""]
    if not_called:
        parts.append('<p class="late">Nobody calls the jobs: see “Jobs” in docs/operate.md.</p>')
    if never:
        names = ", ".join(each.name.removeprefix("memwarden_") for each in never)
        parts.append(f"<p>{len(never)} never ran: {said(names)}. ")
        parts.append("On a new server they run soon; else see “Jobs” in docs/operate.md.</p>")
    parts.append(f'<p class="quiet">{well} of {len(report.jobs)} are well.</p>')
    return card("Jobs", *parts)


def storage(report: Report) -> str:
    """Return the tables that take most room."""
    by_table = Counter[str]()
    for each in report.storage or ():
        by_table[each.table_name or ""] += each.bytes
    rows = [(name, count, size(count)) for name, count in by_table.most_common(_MOST)]
    drawn = bars(rows, title="Bytes of tables")
    return card("Storage", drawn, empty="Storage is for administrators.")
