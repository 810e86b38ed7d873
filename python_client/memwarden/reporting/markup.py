"""Cards, tables and words of a report as HTML, safe for whatever stands in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from memwarden.reporting.charts import text

__all__ = ["card", "moment", "said", "size", "state", "table", "when"]


def card(title: str, *parts: str, empty: str = "") -> str:
    """Return a section with a heading; `empty` is said where it has nothing."""
    inside = "".join(parts) or f'<p class="nothing">{said(empty)}</p>'
    return f'<section class="card"><h2>{said(title)}</h2>{inside}</section>'


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], states: int | None = None) -> str:
    """Return a table; each cell knows its heading, for screens on which it stands alone.

    A style sheet that stacks cells takes their roles away, so they are said. `states`: the column
    that holds states.
    """
    parts = ['<table class="figures" role="table"><thead role="rowgroup"><tr role="row">']
    parts += (f'<th role="columnheader" scope="col">{said(head)}</th>' for head in heads)
    parts.append('</tr></thead><tbody role="rowgroup">')
    for row in rows:
        parts.append('<tr role="row">')
        for place, (head, value) in enumerate(zip(heads, row, strict=True)):
            inside = state(str(value)) if place == states else said(value)
            parts.append(f'<td role="cell" data-label="{said(head)}">{inside}</td>')
        parts.append("</tr>")
    return "".join(parts) + "</tbody></table>"


def state(name: str) -> str:
    """Return a state as a word in its colour."""
    kind = {"OK": "good", "HEALTHY": "good", "ALERT": "bad", "CRITICAL": "bad"}.get(name, "fair")
    return f'<span class="tag {kind}">{said(name.replace("_", " ").lower())}</span>'


def when(instant: datetime | None) -> str:
    """Return a time in UTC."""
    return "" if instant is None else f"{instant.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def moment(stated: str | None) -> str:
    """Return a time of JSON in UTC; there it has the time zone of the session."""
    return "" if stated is None else when(datetime.fromisoformat(stated))


def said(value: object) -> str:
    """Return a value as text."""
    return text(str(value))


def size(count: float) -> str:
    """Return bytes in the unit that people read."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if count >= 10 else f"{count:.2g} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
