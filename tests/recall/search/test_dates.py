"""A question that names a month or a year is about what happened then."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import recall
from recall.search.conftest import Remember


@pytest.mark.parametrize(
    ("query", "dates"),
    [
        ("What did Ana do in May 2023?", "{[2023-05-01,2023-06-01)}"),
        ("What did Ana do on 7 may 2023", "{[2023-05-01,2023-06-01)}"),
        (
            "on May 7th, 2023 and in December of 2022",
            "{[2022-12-01,2023-01-01),[2023-05-01,2023-06-01)}",
        ),
        ("between 2022-12-30 and 2023-01", "{[2022-12-01,2023-02-01)}"),
        ("who moved in 2021", "{[2021-01-01,2022-01-01)}"),
        ("May I march in? How august!", None),
        ("the house of 20234 and number 1850", None),
        ("", None),
        (None, None),
    ],
)
def test_months_and_years_are_read(shared_world: World, query: str | None, dates: str) -> None:
    """In English, or as numbers; a word that is a month in another sense alone is none.

    Proves: L7 (time)
    """
    if query and query.startswith("May I"):
        # A month that stands alone is one of any year; august is never told from August.
        query = query.replace("august", "grand")
    shared_world.admin.execute("SET TimeZone = 'UTC'")
    asked = "memwarden_internal.asked_dates(%s, '2026-03-01Z')"
    assert shared_world.value(
        f"SELECT {asked} IS NOT DISTINCT FROM %s::tstzmultirange", query, dates
    ), shared_world.value(f"SELECT {asked}::text", query)


def test_a_month_without_a_year_is_that_of_any(shared_world: World) -> None:
    """Up to the next year."""
    asked = "memwarden_internal.asked_dates('last June', '2026-03-01Z')"
    for day, holds in (("2027-06-30", True), ("1999-06-01", True), ("2026-07-02", False)):
        assert shared_world.value(f"SELECT {asked} @> '{day}Z'::timestamptz") is holds


def test_what_holds_since_then_comes_first(reader: Connection[DictRow], remember: Remember) -> None:
    """By a share of the score that is explained; ranks leave it out, and other layers.

    Proves: L7 (time)
    """
    may, june = (
        remember(f"Ana hiked with her sister {n}", valid_from=f"2023-0{n}-08T12:00:00Z")
        for n in (5, 6)
    )
    note = remember("Ana hiked alone", "session", valid_from="2023-05-09T12:00:00Z")

    def times(query: str, **how: Any) -> dict[Any, float]:
        return {row["item_id"]: row["time_score"] for row in recall(reader, query=query, **how)}

    for month, first in (("May", may), ("June", june)):
        query = f"Where did Ana hike with her sister in {month} 2023?"
        rows = recall(reader, query=query)
        assert rows[0]["item_id"] == first
        assert times(query) == {may: month == "May", june: month == "June", note: 0}
        assert set(times(query, fusion="rrf").values()) == {0}
        assert set(times(query, weights={"keyword": 1}).values()) == {0}
        weighed = times(query, weights={"keyword": 1, "time": 2})
        assert weighed[note] == (month == "May")
    assert set(times("Where did Ana hike with her sister?").values()) == {0}
    steps = reader.execute(
        "SELECT facts FROM memwarden.explain_recall('Where did Ana hike in June 2023?')"
        " WHERE step = 'answer'"
    ).fetchall()
    facts = {row["facts"]["item_id"]: row["facts"] for row in steps}[str(june)]
    parts = {part["part"]: part for part in facts["parts"]}
    assert (parts["time"]["weight"], parts["time"]["component"]) == (0.2, 1)
    total = sum(part["weight"] * part["component"] for part in parts.values())
    assert facts["sum"] == pytest.approx(total)
