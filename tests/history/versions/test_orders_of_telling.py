"""Dated values of one fact, told in any order, come to one story."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import permutations
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import World
from helpers import recall, write_many
from history.versions.past import Agent, as_of, check_timeline, head, say, year
from races import together
from shipped import Shipped

Told = dict[str, tuple[int, int | None]]
"""Each value with the year in which it begins, and the one in which it ends, if that was told."""

YEARS = range(2014, 2041)
"""What is told begins and ends within them: half of it is to come."""
JOBS: Told = {"Initech": (2024, None), "Acme": (2023, None), "Hooli": (2019, None)}


def key() -> dict[str, str]:
    """A fact of nobody else's."""
    return {"subject": f"Ana {uuid4().hex[:8]}", "predicate": "works at"}


def period(value: tuple[int, int | None]) -> dict[str, Any]:
    """From when to when, as a write says it."""
    since, until = value
    ends = {} if until is None else {"valid_to": year(until)}
    return {"valid_from": year(since)} | ends


def story(world: World, agent: Agent, subject: str) -> tuple[Any, ...]:
    """What is held of which time, what as_of() answers of each year, and what the item says."""
    rows = world.rows(
        "SELECT v.content #>> '{}' AS value, t.valid_during FROM memwarden_data.timeline AS t"
        "  JOIN memwarden_data.version AS v USING (org_id, version_id)"
        " WHERE upper_inf(t.recorded_during) AND v.subject = %s ORDER BY t.valid_during",
        subject,
    )
    asked = [
        [row["content"] for row in as_of(agent, valid_time=moment, subject=subject)]
        for moment in (year(number) + timedelta(days=180) for number in YEARS)
    ]
    [item] = world.rows("SELECT item_id FROM memwarden_data.item WHERE subject = %s", subject)
    shown = head(world, item["item_id"])
    timeline = [(row["value"], row["valid_during"]) for row in rows]
    return timeline, asked, shown["content"], shown["valid_during"]


def expected(told: Told, moment: datetime) -> str | None:
    """What began last of what holds then."""
    holding = [
        (since, value)
        for value, (since, until) in told.items()
        if year(since) <= moment and (until is None or moment < year(until))
    ]
    return max(holding)[1] if holding else None


@pytest.mark.parametrize("order", list(permutations(JOBS)))
def test_the_latest_is_current_in_whatever_order_they_come(
    shared_world: World, author: Agent, order: tuple[str, ...]
) -> None:
    """Acme, told after Initech, ended when Initech began. Proves: T4."""
    fact = key()
    for value in order:
        say(author, value, **fact, **period(JOBS[value]))
    timeline, _, shown, during = story(shared_world, author, fact["subject"])
    assert [
        (value, each.lower.year, each.upper and each.upper.year) for value, each in timeline
    ] == [
        ("Hooli", 2019, 2023),
        ("Acme", 2023, 2024),
        ("Initech", 2024, None),
    ]
    assert (shown, during.lower, during.upper) == ("Initech", year(2024), None)
    assert "Initech" in [row["content"] for row in recall(author, subject=fact["subject"])]
    check_timeline(shared_world)


@st.composite
def values(draw: st.DrawFn) -> Told:
    """Values that begin in different years; some are told with an end, before the next begins."""
    years = sorted(draw(st.sets(st.integers(2015, 2038), min_size=2, max_size=5)))
    told: Told = {}
    for place, since in enumerate(years):
        after = years[place + 1] if place + 1 < len(years) else 2040
        until = draw(st.none() | st.integers(since + 1, after)) if after > since else None
        told[f"value {since}"] = (since, until)
    return told


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(told=values(), seed=st.integers(0, 10**6))
def test_any_permutation_tells_the_same_story(
    shared_world: World, author: Agent, told: Told, seed: int
) -> None:
    """Timeline, as_of() and head, one by one and in a batch. Proves: T4."""
    orders = [list(told), list(reversed(told)), Random(seed).sample(list(told), len(told))]
    stories = []
    for number, order in enumerate(orders):
        fact = key()
        if number == 2:
            rows = [
                {"layer": "semantic", "content": value, **fact}
                | {name: str(moment) for name, moment in period(told[value]).items()}
                for value in order
            ]
            assert {row["outcome"] for row in write_many(author, rows)} == {"COMMITTED"}
        else:
            for value in order:
                say(author, value, **fact, **period(told[value]))
        stories.append(story(shared_world, author, fact["subject"]))
    assert stories[0] == stories[1] == stories[2]
    asked = [[expected(told, year(number) + timedelta(days=180))] for number in YEARS]
    _, answers, shown, during = stories[0]
    assert [answer or [None] for answer in answers] == asked
    now = datetime.now(UTC)
    if (present := expected(told, now)) is not None:
        assert shown == present
        assert now in during
    check_timeline(shared_world)


@pytest.mark.parametrize("until", ["2098-01-01Z", "infinity", None])
@pytest.mark.parametrize("in_a_set", [False, True])
def test_what_holds_now_is_current_beside_what_was_planned(
    shipped: Shipped, until: str | None, in_a_set: bool
) -> None:
    """As shipped; before the plan and, where it ends, behind it the new value holds.

    Proves: T4
    """
    author = shipped.agent
    fact = key() | {"layer": "semantic"}
    planned = fact | {"content": "Rome", "valid_from": "2096-05-01Z"}
    requests = [planned | ({"valid_to": until} if until else {}), fact | {"content": "Oslo"}]
    for each in [requests] if in_a_set else [[request] for request in requests]:
        write_many(author, each)
    [shown] = author.execute(
        "SELECT content, valid_from::text, valid_to::text FROM memwarden.items"
        " WHERE subject = %(subject)s",
        fact,
    )
    assert shown["content"] == "Oslo"
    assert shown["valid_from"] < "2090"
    assert shown["valid_to"].startswith("2096-05-01")
    after = author.execute(
        "SELECT content FROM memwarden.as_of(valid_time => '2099-01-01Z', subject => %(subject)s)",
        fact,
    )
    assert [row["content"] for row in after] == ["Oslo" if until == "2098-01-01Z" else "Rome"]
    assert "Oslo" in [row["content"] for row in recall(author, subject=fact["subject"])]


def test_writers_at_once_tell_one_story(shared_world: World, home: str) -> None:
    """Eight logins, each with a value of another time; then each says it again. Proves: T4."""
    shared_world.scope(home)
    agents = [shared_world.agent(home) for _ in range(8)]
    for agent in agents:
        agent.execute("SET lock_timeout = '60s'")
    fact = key()
    told: Told = {f"value {2010 + n}": (2010 + n, None) for n in range(8)}
    actions = [
        partial(say, agent, value, **fact, **period(told[value]))
        for agent, value in zip(agents, told, strict=True)
    ]
    together(actions)
    first = story(shared_world, agents[0], fact["subject"])
    assert [value for value, _ in first[0]] == list(told)
    assert first[2] == "value 2017"
    again = write_many(
        agents[3],
        [
            {"layer": "semantic", "content": "value 2013", **fact, "valid_from": str(year(2013))},
            {"layer": "semantic", "content": "value 2017", **fact, "valid_from": str(year(2017))},
        ],
    )
    assert [row["outcome"] for row in again] == ["ALREADY_COMMITTED", "REJECTED"]
    assert story(shared_world, agents[0], fact["subject"]) == first
    check_timeline(shared_world)


def test_a_value_with_an_end_is_a_pause_of_what_was_there_before(
    shared_world: World, author: Agent
) -> None:
    """Whichever is told first: what is open goes on behind it. Proves: T4."""
    told: Told = {"Lund": (2015, None), "Crete": (2017, 2019)}
    stories = []
    for order in permutations(told):
        fact = key()
        for value in order:
            say(author, value, **fact, **period(told[value]))
        stories.append(story(shared_world, author, fact["subject"]))
        assert [value for value, _ in stories[-1][0]] == ["Lund", "Crete", "Lund"]
        assert stories[-1][3].lower == year(2019)
    assert stories[0] == stories[1]


def test_what_was_told_later_of_one_time_counts(shared_world: World, author: Agent) -> None:
    """Of one and the same beginning, and with both ends: that is a correction. Proves: T4."""
    fact = key()
    say(author, "Lund", **fact, valid_from=year(2015))
    say(author, "Oslo", **fact, valid_from=year(2015))
    assert story(shared_world, author, fact["subject"])[2] == "Oslo"
    said = say(author, "Rome", **fact, valid_from=year(2014), valid_to=year(2030))
    assert said["reason"] == "REPLACED"
    assert story(shared_world, author, fact["subject"])[2] == "Rome"
    check_timeline(shared_world)


def test_the_story_is_rebuilt_from_the_log(world: World) -> None:
    """With the pieces in which a value holds again. Proves: T4."""
    author = world.agent("/org/acme")
    fact = key()
    for value, told in {"Crete": (2017, 2019), "Rome": (2024, None), "Lund": (2015, None)}.items():
        say(author, value, **fact, **period(told))
    before = story(world, author, fact["subject"])
    assert [value for value, _ in before[0]] == ["Lund", "Crete", "Lund", "Rome"]
    world.admin.execute("SELECT * FROM memwarden.rebuild_heads()")
    world.admin.execute("SELECT * FROM memwarden.rebuild_heads(replace => true)")
    assert story(world, author, fact["subject"]) == before
