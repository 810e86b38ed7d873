"""A picture of what recall finds: a bar for each way of asking, as SVG."""

from __future__ import annotations

from html import escape

from memwarden.evaluation.recall.rates import Report

_BAR, _GAP, _LEFT, _WIDTH, _TOP = 14, 22, 330, 420, 60
_COLOURS = ("#9dc3e6", "#1b6ca8")


def draw(report: Report) -> str:
    """Return an SVG: evidence recall@1 and recall@10 by turn, else by session."""
    rows = report.by_turn or report.by_session
    step = 2 * _BAR + _GAP
    height = _TOP + step * len(rows) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + 60}" height="{height}" '
        f'viewBox="0 0 {_LEFT + _WIDTH + 60} {height}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for place, name in enumerate(("recall@1", "recall@10")):
        x = _LEFT + 110 * place
        parts += [
            f'<rect x="{x}" y="18" width="12" height="12" fill="{_COLOURS[place]}"/>',
            f'<text x="{x + 18}" y="28">evidence {name}</text>',
        ]
    for tenth in range(0, 11, 2):
        x = _LEFT + _WIDTH * tenth // 10
        parts += [
            f'<line x1="{x}" y1="{_TOP - 8}" x2="{x}" y2="{height - 34}" stroke="#ddd"/>',
            f'<text x="{x}" y="{height - 16}" text-anchor="middle">{tenth / 10:.1f}</text>',
        ]
    for number, row in enumerate(rows):
        y = _TOP + step * number
        parts.append(
            f'<text x="{_LEFT - 10}" y="{y + _BAR + 4}" text-anchor="end">{escape(row.mode)}</text>'
        )
        for place, share in enumerate((row.all.recall_1, row.all.recall_10)):
            top = y + _BAR * place
            parts += [
                f'<rect x="{_LEFT}" y="{top}" width="{_WIDTH * share:.1f}" height="{_BAR - 2}" '
                f'fill="{_COLOURS[place]}"/>',
                f'<text x="{_LEFT + _WIDTH * share + 5:.1f}" y="{top + _BAR - 4}" '
                f'font-size="10">{share:.3f}</text>',
            ]
    return "\n".join([*parts, "</svg>", ""])
