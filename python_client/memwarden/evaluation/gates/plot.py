"""A picture of the error rates of judges: what is wrongly found against what is missed, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from memwarden.evaluation.gates.rates import Rate, Report, Row

_WIDTH, _HEIGHT, _MARGIN, _GAP = 300, 260, 60, 70
_COLOURS = ("#1b6ca8", "#c1502e", "#3a7d44", "#7b4b94", "#8a6d1d", "#444444")


class Curve(NamedTuple):
    """A judge on a set: (wrongly found, missed, threshold) for each threshold."""

    name: str
    points: list[tuple[float, float, float]]


def merges(report: Report) -> list[Curve]:
    """Wrong and missed merges of each judge on each set."""
    return _curves(report.rows, lambda row: (row.false_merge, row.missed_merge))


def contradictions(report: Report) -> list[Curve]:
    """Wrong and missed contradictions of each judge on each set."""
    return _curves(report.rows, lambda row: (row.false_contradiction, row.missed_contradiction))


def _curves(
    rows: Sequence[Row], rates: Callable[[Row], tuple[Rate | None, Rate | None]]
) -> list[Curve]:
    found: dict[str, list[tuple[float, float, float]]] = {}
    for row in rows:
        wrong, missed = (rate.share if rate else None for rate in rates(row))
        if wrong is not None and missed is not None:
            name = f"{row.data}, {row.judge}"
            found.setdefault(name, []).append((wrong, missed, row.threshold))
    return [Curve(name, points) for name, points in found.items()]


def draw(report: Report) -> str:
    """Return an SVG of two panels: merges on the left, contradictions on the right."""
    panels = (("Merges", merges(report)), ("Contradictions", contradictions(report)))
    lines = max(len(curves) for _, curves in panels)
    width = 2 * (_WIDTH + _MARGIN) + _GAP
    height = _HEIGHT + 2 * _MARGIN + 18 * lines
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for place, (title, curves) in enumerate(panels):
        left = _MARGIN + place * (_WIDTH + _MARGIN + _GAP // 2)
        parts += _panel(title, curves, left)
    return "\n".join([*parts, "</svg>", ""])


def _panel(title: str, curves: Sequence[Curve], left: int) -> list[str]:
    bottom = _MARGIN + _HEIGHT
    parts = [
        f'<text x="{left}" y="{_MARGIN - 20}" font-size="15">{escape(title)}</text>',
        f'<rect x="{left}" y="{_MARGIN}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" '
        'stroke="#999"/>',
        f'<text x="{left + _WIDTH // 2}" y="{bottom + 34}" text-anchor="middle">'
        "wrongly found</text>",
        f'<text transform="translate({left - 40} {_MARGIN + _HEIGHT // 2}) rotate(-90)" '
        'text-anchor="middle">missed</text>',
    ]
    for tenth in range(0, 11, 2):
        x, y = left + _WIDTH * tenth / 10, bottom - _HEIGHT * tenth / 10
        parts += [
            f'<text x="{x:.0f}" y="{bottom + 16}" text-anchor="middle">{tenth * 10} %</text>',
            f'<text x="{left - 4}" y="{y + 4:.0f}" text-anchor="end">{tenth * 10}</text>',
        ]
    for number, curve in enumerate(curves):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [(left + _WIDTH * x, bottom - _HEIGHT * y, t) for x, y, t in curve.points]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}"/>')
        parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}">'
            f"<title>{escape(curve.name)} at {threshold:g}</title></circle>"
            for x, y, threshold in places
        ]
        parts.append(
            f'<text x="{left}" y="{bottom + 56 + 18 * number}" fill="{colour}">'
            f"{escape(curve.name)}</text>"
        )
    return parts
