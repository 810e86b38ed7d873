"""Two clocks: what is held true of which time, and what was held true of it before."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg.errors import ExclusionViolation

from access import call, state
from conftest import World
from helpers import recall, write
from history.versions.past import KEY, Agent, as_of, check_timeline, contents, head, now, say, year
from races import together
from scope_calls import get

MICROSECOND = timedelta(microseconds=1)


def at(agent: Agent, *years: int, system_time: datetime | None = None) -> list[Any]:
    """What was held true of the middle of each year; None where nothing was."""
    found = []
    for number in years:
        rows = as_of(agent, system_time, valid_time=year(number) + timedelta(days=180), **KEY)
        assert len(rows) <= 1, rows
        found.append(rows[0]["content"] if rows else None)
    return found


def test_a_correction_of_the_past(shared_world: World, curator: Agent) -> None:
    """It changes what is held of that time, from then on; what was believed before stays so.

    Proves: T4
    """
    item = say(curator, "Lund", valid_from=year(2015))["item_id"]
    before = now(shared_world)
    say(curator, "Oslo", valid_from=year(2017), valid_to=year(2019))
    between = now(shared_world)
    say(curator, "Rome", valid_from=year(2018), valid_to=year(2020))
    years = (2014, 2016, 2017, 2018, 2019, 2020, 2030)
    believed = {
        before: [None, "Lund", "Lund", "Lund", "Lund", "Lund", "Lund"],
        between: [None, "Lund", "Oslo", "Oslo", "Lund", "Lund", "Lund"],
        now(shared_world): [None, "Lund", "Oslo", "Rome", "Rome", "Lund", "Lund"],
    }
    for moment, expected in believed.items():
        assert at(curator, *years, system_time=moment) == expected
    assert at(curator, *years) == expected
    # What holds at present is what the item says, with the period that is left to it.
    shown = get(curator, item)
    assert (shown["content"], shown["valid_from"], shown["valid_to"]) == ("Lund", year(2020), None)
    assert contents(curator, before) == contents(curator) == ["Lund"]
    assert [row["content"] for row in recall(curator, valid_at=year(2030))] == ["Lund"]
    check_timeline(shared_world)


def test_a_row_tells_its_period(curator: Agent) -> None:
    """valid_from and valid_to are those of the answer, cut by what came between.

    Proves: T4
    """
    say(curator, "Lund", valid_from=year(2015))
    say(curator, "Oslo", valid_from=year(2017), valid_to=year(2019))
    periods = [
        (row["content"], row["valid_from"], row["valid_to"])
        for number in (2016, 2018, 2020)
        for row in as_of(curator, valid_time=year(number))
    ]
    assert periods == [
        ("Lund", year(2015), year(2017)),
        ("Oslo", year(2017), year(2019)),
        ("Lund", year(2019), None),
    ]
    edges = [year(2017) - MICROSECOND, year(2017), year(2019) - MICROSECOND, year(2019)]
    said = [contents(curator, valid_time=each) for each in edges]
    assert said == [["Lund"], ["Oslo"], ["Oslo"], ["Lund"]]


def test_a_value_of_the_time_to_come(shared_world: World, curator: Agent) -> None:
    """It is held of its time, and does not become what the item says before that.

    Proves: T4
    """
    item = say(curator, "Lund", valid_from=year(2015))["item_id"]
    answer = say(curator, "Oslo", valid_from=year(2090))
    assert answer["item_id"] == item
    shown = get(curator, item)
    assert (shown["content"], shown["valid_to"]) == ("Lund", year(2090))
    assert at(curator, 2050, 2090, 2095) == ["Lund", "Oslo", "Oslo"]
    assert [row["content"] for row in recall(curator)] == ["Lund"]
    told = [(row["operation"], row["content"]) for row in call(curator, "history", item_id=item)]
    assert told == [("UPDATE", "Lund"), ("UPDATE", "Oslo"), ("INSERT", "Lund")]
    # A value of now ends where what was told ahead begins.
    say(curator, "Rome")
    assert at(curator, 2050, 2095) == ["Rome", "Oslo"]
    shown = get(curator, item)
    assert (shown["content"], shown["valid_to"]) == ("Rome", year(2090))
    check_timeline(shared_world)


def test_a_vacation(shared_world: World, curator: Agent) -> None:
    """A value with an end takes a piece of the open one, which goes on after it.

    Proves: T4
    """
    say(curator, "Lund", valid_from=year(2015))
    back = now(shared_world, days=14)
    item = say(curator, "Crete", valid_to=back)["item_id"]
    shown = get(curator, item)
    assert (shown["content"], shown["valid_to"]) == ("Crete", back)
    assert contents(curator, valid_time=back - MICROSECOND) == ["Crete"]
    assert contents(curator, valid_time=back) == ["Lund"]
    assert at(curator, 2016, 2090) == ["Lund", "Lund"]
    check_timeline(shared_world)


def test_where_nothing_holds_at_present(shared_world: World, curator: Agent) -> None:
    """The item says what comes next; if nothing does, what was last. Of now, there is no answer.

    Proves: T4
    """
    item = say(curator, "Lund", valid_from=year(2001), valid_to=year(2003))["item_id"]
    say(curator, "Oslo", valid_from=year(1990), valid_to=year(1995))
    assert head(shared_world, item)["content"] == "Lund"
    assert contents(curator, valid_time=now(shared_world)) == []
    assert contents(curator) == ["Lund"]
    say(curator, "Rome", valid_from=year(2095))
    assert head(shared_world, item)["content"] == "Rome"
    say(curator, "Bonn", valid_from=year(2085), valid_to=year(2090))
    assert head(shared_world, item)["content"] == "Bonn"
    assert at(curator, 1992, 1997, 2002, 2026, 2086, 2092, 2096) == [
        *("Oslo", None, "Lund", None, "Bonn", None, "Rome")
    ]
    check_timeline(shared_world)


@pytest.mark.parametrize(
    ("period", "reason"),
    [
        ({"valid_from": year(2020), "valid_to": year(2020)}, "nothing"),
        ({"valid_from": year(2021), "valid_to": year(2020)}, "backwards"),
        ({"valid_to": year(2020)}, "from now to the past"),
        ({"valid_from": "infinity"}, "never"),
        ({"valid_to": "-infinity"}, "never"),
    ],
)
def test_an_absurd_period_is_refused(curator: Agent, period: dict[str, Any], reason: str) -> None:
    """With a reason of its own.

    Proves: T4
    """
    row = write(curator, "semantic", "Lund", **KEY, **period)
    assert (row["outcome"], row["reason"]) == ("REJECTED", "VALID_TIME_INVALID"), reason


def test_periods_without_a_beginning_and_of_one_microsecond(
    shared_world: World, curator: Agent
) -> None:
    """The shortest and the longest there are, one over the other.

    Proves: T4
    """
    say(curator, "always", valid_from="-infinity", valid_to="infinity")
    say(curator, "once", valid_from=year(2000), valid_to=year(2000) + MICROSECOND)
    say(curator, "before", valid_from="-infinity", valid_to=year(1000))
    asked = {
        "-infinity": ["before"],
        year(999): ["before"],
        year(1000): ["always"],
        year(2000): ["once"],
        year(2000) + MICROSECOND: ["always"],
        year(9000): ["always"],
    }
    for moment, expected in asked.items():
        rows = curator.execute(
            "SELECT content FROM memwarden.as_of(valid_time => %s)", (moment,)
        ).fetchall()
        assert [row["content"] for row in rows] == expected, moment
    check_timeline(shared_world)


def test_the_same_value_of_another_time_is_news(shared_world: World, curator: Agent) -> None:
    """Since when, until when, or again; held of all of that time already, it is a duplicate.

    Proves: T4, W4
    """
    item = say(curator, "Lund", valid_from=year(2015))["item_id"]

    def again(**period: Any) -> tuple[str, str | None]:
        row = write(curator, "semantic", "Lund", **KEY, **period)
        return row["outcome"], row["reason"]

    assert again() == ("ALREADY_COMMITTED", None)
    assert again(valid_from=year(2015)) == ("ALREADY_COMMITTED", None)
    assert again(valid_from=year(2016)) == ("REJECTED", "EXACT_DUPLICATE")
    assert again(valid_from=year(2010)) == ("COMMITTED", None)
    assert at(curator, 2009, 2011, 2016) == [None, "Lund", "Lund"]
    say(curator, "Crete", valid_from=year(2020), valid_to=year(2021))
    assert again(valid_from=year(2019), valid_to=year(2022)) == ("COMMITTED", "REPLACED")
    assert at(curator, 2019, 2020, 2021) == ["Lund"] * 3
    assert head(shared_world, item)["content"] == "Lund"
    # What was true once, and is said to be true now.
    past = say(curator, "at sea", valid_from=year(2001), valid_to=year(2002), subject="Bo")
    row = write(curator, "semantic", "at sea", subject="Bo", predicate=KEY["predicate"])
    assert (row["outcome"], row["item_id"]) == ("COMMITTED", past["item_id"])
    check_timeline(shared_world)


@pytest.mark.parametrize(
    "period", [{"valid_from": year(2090)}, {"valid_from": year(2001), "valid_to": year(2002)}]
)
def test_a_write_for_another_time_that_is_sent_again(
    shared_world: World, curator: Agent, period: dict[str, Any]
) -> None:
    """Is known, though the item says something else: ALREADY_COMMITTED, and no version more.

    Proves: W4, T4
    """
    item = say(curator, "Lund", valid_from=year(2015))["item_id"]
    first = say(curator, "Oslo", **period)
    again = write(curator, "semantic", "Oslo", **KEY, **period)
    assert (again["outcome"], again["version_id"]) == ("ALREADY_COMMITTED", first["version_id"])
    assert head(shared_world, item)["version"] == 3
    # Once something else is held of that time, it says something again.
    say(curator, "Rome", **period)
    say(curator, "Oslo", **period)
    assert at(curator, period["valid_from"].year) == ["Oslo"]


def test_what_accumulates_has_no_one_value(shared_world: World, curator: Agent) -> None:
    """A predicate that may hold several values: each with its own time, none takes another's.

    Proves: T4, D5
    """
    call(shared_world.admin, "define_predicate", predicate="speaks", same_key="accumulate")
    period = {"valid_from": year(2010), "valid_to": year(2012)}
    say(curator, "Norwegian", predicate="speaks", valid_from=year(2000))
    say(curator, "Italian", predicate="speaks", **period)
    say(curator, "Lund", valid_from=year(2000))
    for number, expected in ((1999, []), (2005, ["Lund", "Norwegian"])):
        assert contents(curator, valid_time=year(number)) == expected
    assert contents(curator, valid_time=year(2011)) == ["Italian", "Lund", "Norwegian"]
    assert contents(curator) == ["Italian", "Lund", "Norwegian"]


def test_who_ends_it_ends_all_its_times(shared_world: World, curator: Agent) -> None:
    """Retracted, nothing is held of any time; what was held before that stays on record.

    Proves: T4, T3
    """
    item = say(curator, "Lund", valid_from=year(2015))["item_id"]
    say(curator, "Oslo", valid_from=year(2090))
    before = now(shared_world)
    call(curator, "retract", item_id=item, reason="all wrong")
    assert at(curator, 2016, 2095) == [None, None]
    assert at(curator, 2016, 2095, system_time=before) == ["Lund", "Oslo"]
    check_timeline(shared_world)


def test_the_database_itself_allows_no_two_values(shared_world: World, curator: Agent) -> None:
    """Not even its owner: a constraint, and rows that only end.

    Proves: T4, T1
    """
    item = say(curator, "Lund", valid_from=year(2015))["item_id"]
    copy = (
        "INSERT INTO memwarden_data.timeline"
        " SELECT org_id, scope_id, item_id, version_id, %s::tstzrange, recorded_during"
        "   FROM memwarden_data.timeline WHERE item_id = %s"
    )
    with pytest.raises(ExclusionViolation):
        shared_world.admin.execute(copy, ("[2020-01-01,2021-01-01)", item))
    for change in (
        "UPDATE memwarden_data.timeline SET valid_during = '(,)' WHERE item_id = %s",
        "UPDATE memwarden_data.timeline SET recorded_during = recorded_during WHERE item_id = %s",
        "DELETE FROM memwarden_data.timeline WHERE item_id = %s",
    ):
        with pytest.raises(psycopg.errors.ObjectInUse):
            shared_world.admin.execute(change, (item,))


def test_many_write_periods_of_one_key_at_once(shared_world: World, home: str) -> None:
    """Thirty-two connections, periods that overlap: no error.

    A period with an end is what was told of it last. Without an end, it gives way to later ones.

    Proves: T4
    """
    shared_world.scope(home)
    agents = [shared_world.agent(home) for _ in range(32)]
    for agent in agents:
        agent.execute("SET lock_timeout = '60s'")

    told: dict[str, tuple[datetime, datetime | None]] = {}

    def tell(number: int) -> list[str]:
        begin = year(2000 + number)
        periods: list[dict[str, Any]] = [
            {"valid_from": begin, "valid_to": begin + timedelta(days=365 * 5)},
            {"valid_from": begin - timedelta(days=700), "valid_to": begin},
            {"valid_from": begin},
        ]
        outcomes = []
        for step, period in enumerate(periods):
            told[f"{number} {step}"] = (period["valid_from"], period.get("valid_to"))
            row = write(agents[number], "semantic", f"{number} {step}", **KEY, **period)
            outcomes.append(row["outcome"])
        return outcomes

    outcomes = together([partial(tell, number) for number in range(len(agents))])
    assert {each for row in outcomes for each in row} == {"COMMITTED"}
    check_timeline(shared_world)
    said = shared_world.rows(
        "SELECT v.content"
        "  FROM memwarden_data.version AS v JOIN memwarden_data.item AS i USING (item_id)"
        "  JOIN memwarden_data.log AS l ON l.version_id = v.version_id"
        "  JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id WHERE s.path = %s"
        "   AND v.restores_version_id IS NULL ORDER BY l.log_seq",
        home,
    )
    assert len(said) == 96
    for number in range(1997, 2037):
        moment = year(number) + timedelta(days=180)
        assert at(agents[0], number) == [held_of(moment, [row["content"] for row in said], told)]


def held_of(
    moment: datetime, said: list[str], told: dict[str, tuple[datetime, datetime | None]]
) -> str | None:
    """What is held true of a moment, worked out anew from what was told, in the order given."""
    held: str | None = None
    for value in said:
        since, until = told[value]
        if since <= moment and (until is None or moment < until):
            later = until is None and held is not None and told[held][0] > since
            held = held if later else value
    return held


def test_writers_while_readers_ask(shared_world: World, home: str) -> None:
    """Who asks during a change is told one value of a time, never two, never none.

    Proves: T4
    """
    writer, reader = shared_world.agent(home), shared_world.agent(home)
    say(writer, 0, valid_from=year(2000))
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(
            lambda: [
                say(writer, n, valid_from=year(2000 + n % 20), valid_to=year(2021 + n % 7))
                for n in range(1, 60)
            ]
        )
        while not writing.done():
            assert len(as_of(reader, valid_time=year(2020))) == 1
        writing.result()
    assert state(reader, "as_of", min_confidence=2) == "22023"
