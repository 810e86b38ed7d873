"""A picture of what peers.py measures: for each measurement a bar a side, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from statistics import median

_BAR, _GAP, _LEFT, _WIDTH, _TOP = 14, 26, 250, 420, 66
_COLOURS = ("#b0b0b0", "#9dc3e6", "#c9a0dc", "#1b6ca8", "#2e9e6b", "#e08a3c")


def draw(measured: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """Return an SVG of rates a second: by measurement, by side, the rate of each round.

    The bar is the median, the thin line goes from the least to the most. Each measurement has a
    scale of its own, from nothing to its highest rate.
    """
    sides = list(dict.fromkeys(side for rates in measured.values() for side in rates))
    step = _BAR * len(sides) + _GAP
    width, height = _LEFT + _WIDTH + 90, _TOP + step * len(measured) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for place, side in enumerate(sides):
        x, y = 20 + 180 * (place % 4), 16 + 20 * (place // 4)
        parts += [
            f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{_COLOURS[place]}"/>',
            f'<text x="{x + 18}" y="{y}">{escape(side)}</text>',
        ]
    for number, (what, rates) in enumerate(measured.items()):
        top, most = _TOP + step * number, max(map(max, rates.values()))
        parts.append(
            f'<text x="{_LEFT - 10}" y="{top + step / 2 - _GAP / 2 + 4:.0f}" '
            f'text-anchor="end">{escape(what)}</text>'
        )
        for place, side in enumerate(sides):
            if side not in rates:
                continue
            y = top + _BAR * place
            least, middle, highest = (
                _WIDTH * rate / most
                for rate in (min(rates[side]), median(rates[side]), max(rates[side]))
            )
            parts += [
                f'<rect x="{_LEFT}" y="{y}" width="{middle:.1f}" height="{_BAR - 2}" '
                f'fill="{_COLOURS[place]}"/>',
                f'<path d="M{_LEFT + least:.1f} {y + 6}H{_LEFT + highest:.1f}" stroke="#333"/>',
                f'<text x="{_LEFT + highest + 5:.1f}" y="{y + _BAR - 4}" '
                f'font-size="10">{median(rates[side]):,.0f}</text>',
            ]
    return "\n".join([*parts, "</svg>", ""])
