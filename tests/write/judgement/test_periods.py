"""Facts of one value at a time, told by several of overlapping times."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.rows import DictRow

from races import together
from write.judgement.test_constraint_graph import HOME, Agent, answer, configure, say

if TYPE_CHECKING:
    from conftest import World


@pytest.fixture
def told(world: World) -> tuple[World, DictRow]:
    """A store in which somebody has told where Ana lived from 2020 to 2024."""
    configure(world, conflict="review")
    row = lives(world.agent(HOME), "Paris", "2020-01-01", "2024-01-01")
    return world, row


def lives(
    agent: Agent, city: str, valid_from: str | None, valid_to: str | None = None, **more: Any
) -> DictRow:
    """Say where Ana lived, and when."""
    times = {"valid_from": valid_from, "valid_to": valid_to}
    given = {name: time for name, time in times.items() if time is not None}
    return say(agent, "ana", "lives in", city, **given, **more)


def periods(world: World) -> list[tuple[str, str, str | None]]:
    """Which city the store holds true, from which year to which."""
    rows = world.rows(
        "SELECT v.content #>> '{}' AS city, to_char(lower(t.valid_during), 'YYYY-MM') AS since,"
        "       to_char(upper(t.valid_during), 'YYYY-MM') AS until"
        "  FROM memwarden_data.timeline AS t JOIN memwarden_data.version AS v USING (version_id)"
        " WHERE upper_inf(t.recorded_during) ORDER BY lower(t.valid_during), t.item_id"
    )
    return [(r["city"], r["since"], r["until"]) for r in rows]


@pytest.mark.parametrize(
    ("since", "until"),
    [
        ("2022-01-01", "2023-01-01"),
        ("2019-01-01", "2021-01-01"),
        ("2023-01-01", "2025-01-01"),
        ("2019-01-01", None),
        ("2023-01-01", None),
    ],
)
def test_another_value_for_a_time_that_was_told_of_contradicts(
    told: tuple[World, DictRow], since: str, until: str | None
) -> None:
    """Nothing is cut in silence, and nothing comes of it as an error.

    Proves: V4, T4
    """
    world, paris = told
    said = lives(world.agent(HOME), "London", since, until)
    assert answer(said) == ("REJECTED", "CONTRADICTION")
    [found] = said["detail"]["contradicts"]
    assert (found["item_id"], found["method"]) == (str(paris["item_id"]), "temporal")
    assert found["rule"] == "one value at a time"
    assert periods(world) == [("Paris", "2020-01", "2024-01")]
    surer = lives(world.agent(HOME), "London", since, until, confidence=0.9)
    assert answer(surer) == ("DEFERRED", "CONTRADICTION_REVIEW")


@pytest.mark.parametrize(
    ("since", "until"), [("2024-01-01", None), ("2018-01-01", "2020-01-01"), (None, None)]
)
def test_disjoint_times_are_no_contradiction(
    told: tuple[World, DictRow], since: str | None, until: str | None
) -> None:
    """What was told of other times stands beside it, in one item.

    Proves: V4, D5, T4
    """
    world, paris = told
    said = lives(world.agent(HOME), "London", since, until)
    assert (*answer(said), said["item_id"]) == ("COMMITTED", None, paris["item_id"])
    assert ("Paris", "2020-01", "2024-01") in periods(world)
    assert len(periods(world)) == 2


def test_the_story_goes_on(world: World) -> None:
    """What holds without an end ends where the next value begins, whoever tells it.

    Proves: V10, D5, T4
    """
    configure(world, conflict="review")
    lives(world.agent(HOME), "Paris", "2020-01-01")
    assert answer(lives(world.agent(HOME), "London", "2024-01-01")) == ("COMMITTED", "REPLACED")
    assert periods(world) == [("Paris", "2020-01", "2024-01"), ("London", "2024-01", None)]
    # Told afterwards by somebody else, what came before ends where Paris begins.
    assert answer(lives(world.agent(HOME), "Rome", "2018-01-01")) == ("COMMITTED", None)
    assert periods(world)[:2] == [("Rome", "2018-01", "2020-01"), ("Paris", "2020-01", "2024-01")]


def test_of_one_s_own_times_one_may_say_otherwise(world: World) -> None:
    """A new version of the same author is no contradiction.

    Proves: V10, D5
    """
    configure(world, conflict="review")
    agent = world.agent(HOME)
    lives(agent, "Paris", "2020-01-01", "2024-01-01")
    told = answer(lives(agent, "London", "2022-01-01", "2023-01-01"))
    assert told == ("COMMITTED", "REPLACED")
    assert [p[0] for p in periods(world)] == ["Paris", "London", "Paris"]


def test_the_same_value_for_a_longer_time_is_no_contradiction(
    told: tuple[World, DictRow],
) -> None:
    """However it is spelled.

    Proves: V4
    """
    world, _ = told
    assert answer(lives(world.agent(HOME), "PARIS", "2023-01-01", "2026-01-01")) == (
        "COMMITTED",
        None,
    )


@pytest.mark.parametrize(
    ("policy", "confidence", "outcome"),
    [
        ("accumulate", 0.6, "COMMITTED"),
        ("latest_wins", 0.6, "COMMITTED"),
        ("auto_resolve", 0.9, "COMMITTED"),
        ("auto_resolve", 0.7, "DEFERRED"),
        ("coexist", 0.6, "COMMITTED"),
    ],
)
def test_the_policy_of_the_layer_decides(
    told: tuple[World, DictRow], policy: str, confidence: float, outcome: str
) -> None:
    """Only where both are to stand does a fact become two items, each with its times.

    Proves: V5, D5
    """
    world, paris = told
    configure(world, conflict=policy)
    said = lives(world.agent(HOME), "London", "2022-01-01", "2023-01-01", confidence=confidence)
    assert said["outcome"] == outcome
    if outcome == "COMMITTED":
        assert (said["item_id"] == paris["item_id"]) == (policy != "coexist")
    cities = [p[0] for p in periods(world)]
    expected = {"DEFERRED": ["Paris"], "coexist": ["Paris", "London"]}
    cut = ["Paris", "London", "Paris"]
    assert cities == expected.get(outcome, expected.get(policy, cut))


def test_a_value_that_the_writer_may_not_read_is_not_told(world: World) -> None:
    """Proves: V5, A3."""
    configure(world, conflict="review")
    chief = world.agent(HOME, clearance="restricted")
    clerk = world.agent(HOME, clearance="internal")
    lives(chief, "Paris", "2020-01-01", "2024-01-01", classification="restricted")
    said = lives(clerk, "London", "2022-01-01", "2023-01-01")
    assert (*answer(said), said["detail"]) == ("COMMITTED", None, None)


def test_of_many_who_tell_of_one_time_one_is_believed(world: World) -> None:
    """At once: the others learn that they contradict it.

    Proves: V5
    """
    configure(world, conflict="review")
    patient = "-c lock_timeout=2min"
    agents = [world.connect(world.register(HOME), options=patient) for _ in range(16)]
    actions = [
        partial(lives, agent, f"City {n}", f"20{10 + n % 4}-01-01", "2020-01-01")
        for n, agent in enumerate(agents)
    ]
    answers = [answer(row) for row in together(actions)]
    assert answers.count(("COMMITTED", None)) == 1
    assert answers.count(("REJECTED", "CONTRADICTION")) == 15
    assert len(periods(world)) == 1
