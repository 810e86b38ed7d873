"""Charts are well-formed, stay inside their frame, and say in words what they show."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from memwarden.reporting.charts import Point, bars, line

START = datetime(2026, 1, 1, tzinfo=UTC)
SPAN = (START, START + timedelta(days=2))
values = st.one_of(st.none(), st.floats(-10, 10))


def numbers(drawn: str) -> list[tuple[float, float]]:
    """Every point of every line."""
    pairs = " ".join(re.findall(r'points="([^"]*)"', drawn)).split()
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in pairs)]


@given(st.lists(values, max_size=50), st.text())
def test_a_line_stays_inside_its_frame(found: list[float | None], title: str) -> None:
    """Whatever the values, with a gap where there is none."""
    points: list[Point] = [(START + timedelta(hours=n), value) for n, value in enumerate(found)]
    drawn = line(points, title=title, span=SPAN, marks=((0.8, "good"),))
    if all(value is None for value in found):
        assert drawn == ""
        return
    ElementTree.fromstring(clean(drawn))
    assert all(0 <= x <= 640 and 0 <= y <= 180 for x, y in numbers(drawn))


@given(st.lists(st.tuples(st.text(), st.floats(0, 1e12), st.text()), max_size=20))
def test_bars_are_as_long_as_their_values(rows: list[tuple[str, float, str]]) -> None:
    """The longest fills the row, and names are words."""
    drawn = bars(rows, title="bars")
    assert (drawn == "") == (not rows)
    if rows:
        tree = ElementTree.fromstring(clean(drawn))
        drawn_bars = tree.findall("rect[@class='bar']")
        assert len(drawn_bars) == len(rows)
        longest = max(float(each.get("width", "0")) for each in drawn_bars)
        assert longest == (440 if any(length for _, length, _ in rows) else 0)


def test_a_gap_breaks_the_line() -> None:
    """Two stretches, of which one is a single value."""
    points: list[Point] = [(START + timedelta(hours=n), v) for n, v in enumerate((1, 2, None, 3))]
    assert line(points, title="gap", span=SPAN).count("<polyline") == 2


def test_an_outage_breaks_the_line() -> None:
    """Where nothing was kept for hours, nobody knows what lay between."""
    points: list[Point] = [(START + timedelta(hours=n), 0.5) for n in (0, 1, 3, 20, 21)]
    assert line(points, title="outage", span=SPAN).count("<polyline") == 2


def test_what_came_long_ago_is_drawn_long_ago() -> None:
    """The frame is the span of the report, not that of the values."""
    drawn = line([(START, 1), (START + timedelta(hours=1), 0)], title="old", span=SPAN)
    assert max(x for x, _ in numbers(drawn)) < 100
    assert "of 2 values the least is 0, the greatest 1" in drawn


def test_a_name_cannot_leave_its_text() -> None:
    """Markup in it is shown."""
    drawn = bars([("<b>x</b>", 1, '"&')], title="<i>")
    assert "<b>" not in drawn
    assert "\u202e" not in bars([("\u202etxt", 1, "")], title="turned")
    assert "&lt;b&gt;" in drawn


def clean(drawn: str) -> str:
    """Without the characters that XML cannot have at all."""
    return re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", drawn)
