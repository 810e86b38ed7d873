"""How well memory is: scores, what they cost, trends, and metrics that are not well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby

from memwarden.reporting.charts import Point, line
from memwarden.reporting.gathering import ANTI_PATTERNS, Report
from memwarden.reporting.markup import card, moment, said, state, table, when
from memwarden.results import Health, Metric, MetricValue

__all__ = ["anti_patterns", "scores", "trend", "unwell"]

_MOST = 12
_MEASURE = (
    "The job memwarden_metrics measures every five minutes; an administrator does it at once with "
    "CALL memwarden.take_metrics()."
)


def scores(report: Report) -> Iterator[str]:
    """Yield the health of each organisation, the worst first."""
    if not report.health:
        yield '<p class="nothing">There is no organisation yet that you may see figures of.</p>'
    ranked = sorted(report.health, key=_urgency)
    for health in ranked[:_MOST]:
        yield _score(health, report.made_at)
    if len(ranked) > _MOST:
        yield f'<p class="quiet">{len(ranked) - _MOST} more organisations are not shown, of which '
        yield "none is worse. One at a time: <code>memwarden report --org NAME</code>.</p>"


def _urgency(health: Health) -> tuple[bool, float, str]:
    # What is surely bad comes before what nobody knows, and that before what is well.
    score = 0.8 if health.score is None else health.score
    return score > 0.8, score, health.org


def _score(health: Health, now: datetime) -> str:
    score = "no score" if health.score is None else f"{health.score:.2f}"
    before = [
        f"{value:.2f} a {name} ago"
        for name, value in (("day", health.a_day_ago), ("week", health.a_week_ago))
        if value is not None
    ]
    costs = [cost for cost in health.costs if cost["cost"] > 0]
    rows = (
        (cost["metric"], f"{cost['value']:.3g}", f"{cost['cost']:.3f}", moment(cost["since"]))
        for cost in costs
    )
    parts = [
        f'<p class="score"><b class="number">{score}</b> {state(health.state)} ',
        f'<span class="quiet">{said(", ".join(_since(health, now) + before))}</span></p>',
        table(("costs", "value", "of the score", "since"), rows) if costs else "",
    ]
    if health.missing:
        parts.append(
            f'<p class="quiet">Missing, which is never good: {said(", ".join(health.missing))}.</p>'
        )
    if health.not_measured:
        parts.append(
            f'<p class="quiet">Not set up, or nobody uses it: '
            f"{said(', '.join(health.not_measured))}. The score rests on {health.measured:.0%}"
            " of the weight; it needs 30%.</p>"
        )
    return card(health.org, *parts)


def _since(health: Health, now: datetime) -> list[str]:
    if health.taken_at is None:
        return ["not measured for two hours"]
    known = [] if health.since is None else [f"since {when(health.since)}"]
    late = now - health.taken_at > timedelta(minutes=15)
    return [*known, f"measured at {when(health.taken_at)}"] if late else known


def trend(report: Report) -> str:
    """Return the health of each organisation that is shown, over the days of the report."""
    shown = {health.org for health in sorted(report.health, key=_urgency)[:_MOST]}
    marks = ((0.8, "healthy"), (0.6, "degraded"))
    drawn = []
    for org, values in _by_org(report.trend):
        chart = line(_points(values), title=f"Health of {org}", span=_span(report), marks=marks)
        if org in shown and chart:
            drawn.append(f"<h3>{said(org)}</h3>{chart}" if len(shown) > 1 else chart)
    empty = f"Nothing was measured yet. {_MEASURE}"
    return card(f"Health over {report.days} days", *drawn, empty=empty)


def anti_patterns(report: Report) -> str:
    """Return how much there was of what the documents call anti-patterns."""
    drawn = []
    for name, words in ANTI_PATTERNS:
        for org, values in _by_org(report.anti_patterns.get(name, [])):
            known = [each.value for each in values if each.value is not None]
            if known:
                ends = (0, max(1.0, *known))
                chart = line(_points(values), title=words, span=_span(report), ends=ends)
                drawn.append(f"<h3>{said(words)}, {said(org)}</h3>{chart}")
    empty = f"None was measured. {_MEASURE}"
    return card(f"Anti-patterns over {report.days} days", *drawn, empty=empty)


def _span(report: Report) -> tuple[datetime, datetime]:
    return report.made_at - timedelta(days=report.days), report.made_at


def _by_org(values: Iterable[MetricValue]) -> Iterator[tuple[str, list[MetricValue]]]:
    for org, found in groupby(values, key=lambda each: each.org):
        yield org, list(found)


def _points(values: Sequence[MetricValue]) -> list[Point]:
    return [(each.hour.astimezone(UTC), each.value) for each in values]


def unwell(metrics: Sequence[Metric]) -> str:
    """Return the metrics outside their range, what to do about each, and those without data."""
    # A layer or an agent may be far off where all of them together are well.
    found = [each for each in metrics if each.state in ("ALERT", "WARNING")]
    found.sort(key=lambda each: (each.state, each.metric, each.org, each.part))
    rows = (
        (
            f"{each.metric} {'' if each.part == '*' else f'of {each.part} '}({each.org})",
            "" if each.value is None else f"{each.value:.3g} {each.unit}",
            each.healthy or "",
            each.state,
            when(each.since),
            each.remedy,
        )
        for each in found[:_MOST]
    )
    heads = ("metric", "value", "healthy", "state", "since", "what to do")
    missing = sorted({m.metric for m in metrics if m.part == "*" and m.state == "MISSING_METRIC"})
    parts = [table(heads, rows, states=3)] if found else []
    if len(found) > _MOST:
        parts.append(f'<p class="late">{len(found) - _MOST} more: ')
        parts.append("<code>memwarden metrics --all</code></p>")
    if missing:
        parts.append(f'<p class="quiet">Missing: {said(", ".join(missing))}.</p>')
    empty = "There is no metric that you may see."
    if metrics:
        is_known = any(each.state == "OK" for each in metrics)
        empty = "All are well." if is_known else "Nothing of them was measured."
    return card("Metrics that are not well", *parts, empty=empty)
