"""The report on compliance as one page of HTML: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

__all__ = ["page"]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 0.5rem 0 1.5rem; width: 100%; }
th, td { border-bottom: 1px solid #ccc; padding: 0.3rem 0.6rem; text-align: left; }
.open { background: #fde8e8; } .good { color: #14532d; } .bad { color: #991b1b; }
"""


def page(report: Mapping[str, Any]) -> str:
    """Return the report of `compliance_report()` as a page that stands alone."""
    last_run = report.get("last_run") or "no time: it never ran"
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Compliance</title>',
        f"<style>{_STYLE}</style></head><body><h1>Compliance of agent memory</h1>",
        f"<p>Made at {_text(report['generated_at'])}. ",
        f"The compliance job last ended at {_text(last_run)}.</p>",
    ]
    for organisation in report["organisations"]:
        parts += _organisation(organisation)
    return "".join(parts) + "</body></html>\n"


def _organisation(said: Mapping[str, Any]) -> Iterable[str]:
    state = ("good", "no incident is open") if said["compliant"] else ("bad", "incidents are open")
    yield f"<h2>{_text(said['org'])}: <span class={state[0]}>{state[1]}</span></h2>"
    yield "<h3>Incidents</h3>"
    yield _table(
        ("kind", "severity", "breaches", "opened_at", "seen_at", "closed_at", "incident_id"),
        said["incidents"],
        marked=lambda row: row["closed_at"] is None,
    )
    yield "<h3>Retention</h3>"
    yield _table(
        ("rule", "of", "keep_at_most", "keep_at_least", "afterwards", "due", "held", "due_since"),
        said["retention"] or [],
    )
    for title in ("erasures", "consents"):
        numbers = {
            name: len(value) if isinstance(value, list) else value
            for name, value in said[title].items()
        }
        yield f"<h3>{title.capitalize()}</h3>"
        yield _table(tuple(numbers), [numbers])
    waiting = said["erasures"]["waiting_for_a_hold"]
    if waiting:
        yield "<h3>Erasures that wait for a legal hold</h3>"
        yield _table(("erasure_id", "asked_at", "memories"), waiting)


def _table(
    columns: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    marked: Any = lambda _row: False,
) -> str:
    if not rows:
        return "<p>None.</p>"
    head = "".join(f"<th>{_text(name.replace('_', ' '))}</th>" for name in columns)
    body = "".join(
        f"<tr{' class=open' if marked(row) else ''}>"
        + "".join(f"<td>{_text(row.get(name))}</td>" for name in columns)
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: Any) -> str:
    return "" if value is None else escape(str(value))
