"""A report as HTML: the body that the console frames, and a file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from memwarden.reporting import quality, work
from memwarden.reporting.gathering import Report
from memwarden.reporting.markup import said, when

__all__ = ["body", "page"]

_TITLES = {"health": "Health of memory", "governance": "Governance of memory"}
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
.late { color: var(--late); font-size: .875rem; font-weight: 600; }
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
    yield f"{when(report.made_at)}, {said(report.org or 'all organisations that you oversee')}"
    yield "</span></div>"
    yield from quality.scores(report)
    yield quality.trend(report)
    yield from _pair(work.funnel(report), work.reasons(report))
    if report.kind == "governance":
        yield quality.anti_patterns(report)
    yield quality.unwell(report.metrics)
    yield from _pair(work.gates(report), work.reviews(report))
    yield from _pair(work.decisions(report), work.jobs(report))
    yield work.storage(report)


def _pair(left: str, right: str) -> Iterator[str]:
    yield f'<div class="pair">{left}{right}</div>'
