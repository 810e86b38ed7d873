"""A report as HTML: the body that the console frames, and a file that needs nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby

from memwarden.reporting.charts import Point, bars, line, text
from memwarden.reporting.gathering import ANTI_PATTERNS, Report
from memwarden.results import Health, Metric, MetricValue

__all__ = ["body", "page"]

_TITLES = {"health": "Health of memory", "governance": "Governance of memory"}
_MOST = 12
_REFUSED = ("REJECTED", "DEADLINE_EXCEEDED")
_UNREFUSED = "No write was refused."
_UNMEASURED = (
    "Nothing was measured yet. The job memwarden_metrics measures every five minutes; an "
    "administrator does it at once with CALL memwarden.take_metrics()."
)

STYLE = """
:root { color-scheme: light dark; --ground: #f5f6f8; --card: #fff; --ink: #1b2430;
  --quiet: #566170; --line: #d8dde4; --accent: #1f5f99; --late: #a3260f; --late-ground: #fdeeea;
  --good-ground: #e6f4ea; --good: #1b6533; --tag: #eceff3; --unseen: #7a3b00;
  --unseen-ground: #ffe9c7; }
@media (prefers-color-scheme: dark) { :root { --ground: #12171d; --card: #1b222b; --ink: #e7ebf0;
  --quiet: #a3afbd; --line: #323c48; --accent: #7db8ee; --late: #ff9c86; --late-ground: #3a1d17;
  --good-ground: #17311f; --good: #86d79e; --tag: #2a3440; --unseen: #ffd596;
  --unseen-ground: #4a3412; } }
* { box-sizing: border-box; }
body { font: 100%/1.5 system-ui, sans-serif; background: var(--ground); color: var(--ink);
  max-width: 76rem; margin: 0 auto; padding: 1.2rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1rem; margin: 0 0 .6rem; }
table { width: 100%; border-collapse: collapse; }
th { text-align: left; font-size: .8rem; color: var(--quiet); }
th, td { padding: .4rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: anywhere; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 1rem 1.1rem; margin-bottom: 1rem; }
.quiet { color: var(--quiet); font-size: .875rem; }
.nothing { color: var(--quiet); }
.heading { margin-bottom: 1rem; } h3 { font-size: .8rem; color: var(--quiet); }
"""


def page(report: Report, style: str) -> str:
    """Return a page that stands alone. `style`: the rules that charts and states are drawn by."""
    title = _TITLES[report.kind]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}{style}</style></head>"
        f"<body>{body(report)}</body></html>\n"
    )


def body(report: Report) -> str:
    """Return what stands below the heading of the page, that heading included."""
    return "".join(_parts(report))


def _parts(report: Report) -> Iterator[str]:
    yield f'<div class="heading"><h1>{_TITLES[report.kind]}</h1><span class="quiet">'
    yield f"{_when(report.made_at)}, {_text(report.org or 'all organisations that you oversee')}"
    yield "</span></div>"
    if not report.health:
        yield '<p class="nothing">There is no organisation yet that you may see figures of.</p>'
    ranked = sorted(report.health, key=_urgency)
    for health in ranked[:_MOST]:
        yield _health(health, report.made_at)
    if len(ranked) > _MOST:
        yield f'<p class="quiet">{len(ranked) - _MOST} more organisations are not shown, of which '
        yield "none is worse. One at a time: <code>memwarden report --org NAME</code>.</p>"
    shown = {health.org for health in ranked[:_MOST]}
    yield _card(_trend_title(report), *_trends(report, shown), empty=_UNMEASURED)
    yield '<div class="pair">'
    yield _card(
        f"How writes ended, {_period(report)}", *_funnel(report), empty="Nothing was written."
    )
    yield _card(f"Why writes were refused, {_period(report)}", _reasons(report), empty=_UNREFUSED)
    yield "</div>"
    if report.kind == "governance":
        yield _card("Anti-patterns", *_anti_patterns(report), empty="None was measured.")
    yield _card("Metrics that are not well", _unwell(report.metrics), empty=_no_metric(report))
    yield '<div class="pair">'
    yield _card("Time of the gates, 95th percentile", _gates(report), empty="No gate has run.")
    yield _card("What waits for people", _reviews(report), empty=_no_review(report))
    yield "</div>"
    yield _card(f"What people decided in {report.days} days", _decisions(report), empty="Nothing.")
    yield '<div class="pair">'
    yield _card("Jobs", _jobs(report), empty="Jobs are for auditors and administrators.")
    yield _card("Storage", _storage(report), empty="Storage is for administrators.")
    yield "</div>"


def _urgency(health: Health) -> tuple[bool, float, str]:
    # What is surely bad comes before what nobody knows, and that before what is well.
    score = 0.8 if health.score is None else health.score
    return score > 0.8, score, health.org


def _no_metric(report: Report) -> str:
    return "All are well." if report.metrics else "There is no metric that you may see."


def _no_review(report: Report) -> str:
    if report.reviews is None:
        return "Queues are for reviewers, auditors, curators and administrators."
    return "Nothing waits."


def _health(health: Health, now: datetime) -> str:
    score = "unknown" if health.score is None else f"{health.score:.2f}"
    before = [
        f"{value:.2f} a {name} ago"
        for name, value in (("day", health.a_day_ago), ("week", health.a_week_ago))
        if value is not None
    ]
    costs = [cost for cost in health.costs if cost["cost"] > 0]
    rows = (
        (cost["metric"], f"{cost['value']:.3g}", f"{cost['cost']:.3f}", _moment(cost["since"]))
        for cost in costs
    )
    parts = [
        f'<p class="score"><b class="number">{score}</b> {_state(health.state)} ',
        f'<span class="quiet">{_text(", ".join(_since(health, now) + before))}</span></p>',
        _table(("costs", "value", "of the score", "since"), rows) if costs else "",
    ]
    if health.missing:
        parts.append(
            f'<p class="quiet">Without data, which is never good: '
            f"{_text(', '.join(health.missing))}. The score rests on {health.measured:.0%}"
            " of the weight.</p>"
        )
    return _card(health.org, *parts)


def _since(health: Health, now: datetime) -> list[str]:
    if health.taken_at is None:
        return ["not measured for two hours"]
    said = [] if health.since is None else [f"since {_when(health.since)}"]
    # Jobs measure every five minutes.
    late = now - health.taken_at > timedelta(minutes=15)
    return [*said, f"measured at {_when(health.taken_at)}"] if late else said


def _trend_title(report: Report) -> str:
    return f"Health over {report.days} days"


def _trends(report: Report, shown: Container[str]) -> Iterator[str]:
    marks = ((0.8, "healthy"), (0.6, "degraded"))
    for org, values in _by_org(report.trend):
        if org in shown and any(each.value is not None for each in values):
            if len(report.health) > 1:
                yield f"<h3>{_text(org)}</h3>"
            yield line(_points(values), title=f"Health of {org}", span=_span(report), marks=marks)


def _span(report: Report) -> tuple[datetime, datetime]:
    return report.made_at - timedelta(days=report.days), report.made_at


def _anti_patterns(report: Report) -> Iterator[str]:
    for name, words in ANTI_PATTERNS:
        for org, values in _by_org(report.anti_patterns.get(name, [])):
            known = [each.value for each in values if each.value is not None]
            if known:
                most = max(1.0, *known)
                yield f"<h3>{_text(words)}, {_text(org)}</h3>"
                yield line(_points(values), title=words, span=_span(report), ends=(0, most))


def _by_org(values: Iterable[MetricValue]) -> Iterator[tuple[str, list[MetricValue]]]:
    for org, found in groupby(values, key=lambda each: each.org):
        yield org, list(found)


def _points(values: Sequence[MetricValue]) -> list[Point]:
    return [(each.hour.astimezone(UTC), each.value) for each in values]


def _period(report: Report) -> str:
    # Days in UTC, which is how they are counted.
    return "31 days" if report.kind == "governance" else "since yesterday"


def _funnel(report: Report) -> Iterator[str]:
    ended = Counter[str]()
    for each in report.writes:
        ended[each.outcome] += each.writes
    asked = ended.total()
    merged = ended["MERGED"] + ended["ALREADY_COMMITTED"]
    rows = (
        ("asked", asked),
        ("decided", asked - ended["DEFERRED"]),
        ("committed", ended["COMMITTED"]),
        ("known already", merged),
        ("refused", sum(ended[outcome] for outcome in _REFUSED)),
        ("waiting", ended["DEFERRED"]),
    )
    shown = [(name, count, f"{count:,} ({count / asked:.0%})") for name, count in rows if asked]
    yield bars(shown, title="Writes")
    if report.waiting and report.kind == "health":
        yield f'<p class="late">{report.waiting:,} older writes still wait, for over 24 hours.</p>'


def _reasons(report: Report) -> str:
    refused = Counter[str]()
    for each in report.writes:
        if each.outcome in _REFUSED:
            reason = each.reason.replace("_", " ").lower()
            # Over a quarter the question is what each policy does.
            by_gate = report.kind == "governance"
            refused[f"{each.gate}: {reason}" if by_gate else reason] += each.writes
    rows = [(name, count, f"{count:,}") for name, count in refused.most_common(_MOST)]
    return bars(rows, title="Refusals by reason")


def _gates(report: Report) -> str:
    slowest: dict[str, float] = {}
    for each in report.latency:
        slowest[each.gate] = max(each.p95_ms, slowest.get(each.gate, 0))
    rows = sorted(slowest.items(), key=lambda pair: -pair[1])[:_MOST]
    return bars([(gate, ms, f"{ms:.2f} ms") for gate, ms in rows], title="Time of gates")


def _unwell(metrics: Sequence[Metric]) -> str:
    whole = [each for each in metrics if each.part == "*"]
    # A layer or an agent may be far off where all of them together are well.
    unwell = [each for each in metrics if each.state in ("ALERT", "WARNING")]
    unwell.sort(key=lambda each: (each.state, each.metric, each.org, each.part))
    rows = (
        (
            f"{each.metric} {'' if each.part == '*' else f'of {each.part} '}({each.org})",
            "" if each.value is None else f"{each.value:.3g} {each.unit}",
            each.healthy or "",
            each.state,
            _when(each.since),
            each.remedy,
        )
        for each in unwell[:_MOST]
    )
    heads = ("metric", "value", "healthy", "state", "since", "what to do")
    missing = sorted({each.metric for each in whole if each.state == "MISSING_METRIC"})
    parts = [_table(heads, rows, states=3) if unwell else ""]
    if len(unwell) > _MOST:
        parts.append(f'<p class="late">{len(unwell) - _MOST} more: <code>memwarden metrics --all')
        parts.append("</code></p>")
    if missing:
        parts.append(f'<p class="quiet">Without data: {_text(", ".join(missing))}.</p>')
    return "".join(parts)


def _reviews(report: Report) -> str:
    rows = (
        (f"{each.layer} ({each.org})", each.tier, each.pending, each.overdue, _when(each.oldest_at))
        for each in report.reviews or ()
    )
    heads = ("layer", "tier", "waiting", "overdue", "oldest since")
    return _table(heads, rows) if report.reviews else ""


def _decisions(report: Report) -> str:
    rows = [
        (each.decision.replace("_", " "), each.decisions, f"{each.decisions:,}, {each.hours:.1f} h")
        for each in report.decisions
    ]
    return bars(rows, title="Decisions, and hours waited in the mean")


def _jobs(report: Report) -> str:
    if report.jobs is None:
        return ""
    well = [each for each in report.jobs if each.state in ("on time", "running")]
    rows = (
        (each.name, each.state, _when(each.last_end), each.last_error or "")
        for each in report.jobs
        if each not in well
    )
    table = (
        _table(("job", "state", "last end", "last error"), rows)
        if len(well) < len(report.jobs)
        else ""
    )
    return f"{table}<p class=quiet>{len(well)} jobs are well.</p>"


def _storage(report: Report) -> str:
    if not report.storage:
        return ""
    by_table = Counter[str]()
    for each in report.storage:
        by_table[each.table_name or ""] += each.bytes
    rows = [(name, size, _bytes(size)) for name, size in by_table.most_common(_MOST)]
    return bars(rows, title="Bytes of tables")


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def _card(title: str, *parts: str, empty: str = "") -> str:
    said = "".join(parts) or f'<p class="nothing">{_text(empty)}</p>'
    return f'<section class="card"><h2>{_text(title)}</h2>{said}</section>'


def _table(
    heads: Sequence[str], rows: Iterable[Sequence[object]], states: int | None = None
) -> str:
    """Return a table; each cell knows its heading, for screens on which it stands alone."""
    parts = ['<table class="figures"><thead><tr>']
    parts += (f'<th scope="col">{_text(head)}</th>' for head in heads)
    parts.append("</tr></thead><tbody>")
    for row in rows:
        parts.append("<tr>")
        for place, (head, value) in enumerate(zip(heads, row, strict=True)):
            said = _state(str(value)) if place == states else _text(value)
            parts.append(f'<td data-label="{_text(head)}">{said}</td>')
        parts.append("</tr>")
    return "".join(parts) + "</tbody></table>"


def _state(state: str) -> str:
    kind = {"OK": "good", "HEALTHY": "good", "ALERT": "bad", "CRITICAL": "bad"}.get(state, "fair")
    return f'<span class="tag {kind}">{_text(state.replace("_", " ").lower())}</span>'


def _when(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _moment(said: str | None) -> str:
    # JSON has the time zone of the session.
    return "" if said is None else _when(datetime.fromisoformat(said))


def _text(value: object) -> str:
    return text(str(value))
