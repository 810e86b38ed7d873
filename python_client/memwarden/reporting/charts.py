"""Charts as SVG, made here: no script, no font, no colour that says what no word says.

They are drawn with classes, so the style sheet of the page decides colours, in light and dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from html import escape

from memwarden.cli.terminal import printable

__all__ = ["Point", "bars", "line", "text"]

_WIDTH, _HEIGHT = 640, 180
# Room for words as large as a phone needs them, which draws the chart at half its size.
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 116, 12, 32
_ROW, _ACROSS, _THICK = 42, 440, 10

# Values are kept once an hour, and what was not measured for two hours is not known.
_GAP = timedelta(hours=3)

Point = tuple[datetime, float | None]


def text(said: str) -> str:
    """Return words as markup that shows them, also the characters that have no shape."""
    return escape(printable(said))


def line(
    points: Sequence[Point],
    *,
    title: str,
    span: tuple[datetime, datetime] | None = None,
    ends: tuple[float, float] = (0, 1),
    marks: Sequence[tuple[float, str]] = (),
) -> str:
    """Return a line over a span of time; it breaks where there is no value for three hours.

    `ends`: the least and the greatest value of the scale. `marks`: values with a word, each a line
    across. `span`: from the first value to the last, unless said.
    """
    known = [(moment, value) for moment, value in points if value is not None]
    if not known:
        return ""
    first, last = span or (known[0][0], known[-1][0])
    length = (last - first).total_seconds() or 1
    low, high = ends

    def place(moment: datetime, value: float) -> tuple[float, float]:
        share = min(max((moment - first).total_seconds() / length, 0), 1)
        height = (min(max(value, low), high) - low) / (high - low)
        x = _LEFT + share * (_WIDTH - _LEFT - _RIGHT)
        return x, _HEIGHT - _BOTTOM - height * (_HEIGHT - _TOP - _BOTTOM)

    values = [value for _, value in known]
    said = (
        f"{values[-1]:.3g} at {known[-1][0]:%Y-%m-%d %H:%M}; of {len(values)} values the least is "
        f"{min(values):.3g}, the greatest {max(values):.3g}"
    )
    parts = [_opening(title, said, _HEIGHT, _WIDTH, "chart wide")]
    for value, word in marks:
        _, y = place(first, value)
        parts.append(
            f'<line class="mark" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text class="axis level" x="{_WIDTH - _RIGHT + 8}" y="{y:.1f}">'
            f"{text(word)}</text>"
        )
    for value in (low, high, *(value for value, _ in marks)):
        _, y = place(first, value)
        parts.append(
            f'<text class="axis level" x="{_LEFT - 6}" y="{y:.1f}" text-anchor="end">'
            f"{value:.3g}</text>"
        )
    for moment, anchor in ((first, "start"), (last, "end")):
        x, _ = place(moment, low)
        parts.append(
            f'<text class="axis" x="{x:.1f}" y="{_HEIGHT - 6}" text-anchor="{anchor}">'
            f"{moment:%d %b}</text>"
        )
    for run in _runs(points):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*each) for each in run))
        parts.append(f'<polyline class="trend" points="{path}"/>')
    x, y = place(*known[-1])
    parts.append(f'<circle class="last" cx="{x:.1f}" cy="{y:.1f}" r="4"/></svg>')
    return "".join(parts)


def _runs(points: Sequence[Point]) -> list[list[tuple[datetime, float]]]:
    """Return the stretches without a gap; a value alone is drawn as a short one."""
    runs: list[list[tuple[datetime, float]]] = [[]]
    for moment, value in points:
        if runs[-1] and (value is None or moment - runs[-1][-1][0] > _GAP):
            runs.append([])
        if value is not None:
            runs[-1].append((moment, value))
    return [run if len(run) > 1 else run * 2 for run in runs if run]


def bars(rows: Sequence[tuple[str, float, str]], *, title: str) -> str:
    """Return a bar for each row: its name, its length, and the words for that."""
    if not rows:
        return ""
    most = max(length for _, length, _ in rows) or 1
    height = _ROW * len(rows)
    said = "; ".join(f"{name}: {words}" for name, _, words in rows)
    parts = [_opening(title, said, height, _ACROSS, "chart")]
    for place, (name, length, words) in enumerate(rows):
        y = place * _ROW
        width = max(length / most * _ACROSS, 2 if length else 0)
        parts.append(
            f'<text class="name" x="0" y="{y + 17}">{text(_cut(name))}</text>'
            f'<text class="value" x="{_ACROSS}" y="{y + 17}" text-anchor="end">{text(words)}</text>'
            f'<rect class="track" x="0" y="{y + 24}" width="{_ACROSS}" height="{_THICK}" rx="3"/>'
            f'<rect class="bar" x="0" y="{y + 24}" width="{width:.1f}" height="{_THICK}" rx="3"/>'
        )
    return "".join(parts) + "</svg>"


def _cut(name: str) -> str:
    return name if len(name) <= 38 else f"{name[:37]}…"


def _opening(title: str, said: str, height: int, width: int, kind: str) -> str:
    return (
        f'<svg class="{kind}" role="img" viewBox="0 0 {width} {height}"'
        f' aria-label="{text(title)}: {text(said)}"><title>{text(title)}</title>'
    )
