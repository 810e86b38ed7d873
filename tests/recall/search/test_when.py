"""When a memory was said or true: told with every answer, and what recency counts from."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from helpers import ranked, recall, write, write_many

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import DictRow

    from conftest import World

TURN = datetime(2022, 5, 3, 14, 30, tzinfo=UTC)
DAY = timedelta(days=1)
UNBOUNDED = [("-infinity", "infinity"), ("-infinity", None)]


def answered(agent: Connection[DictRow], **how: Any) -> dict[Any, DictRow]:
    """What recall answers, by content."""
    return {row["content"]: row for row in recall(agent, **how)}


def test_an_imported_turn_is_told_with_the_time_when_it_was_said(world: World) -> None:
    """Recall, get, explain_recall and the view agree.

    Proves: T4
    """
    agent = world.agent()
    row = write(agent, "episodic", "Ana walks to the pier", valid_from=TURN)
    (found,) = recall(agent, query="pier")
    assert (found["valid_from"], found["valid_to"]) == (TURN, None)
    for asked in ("memwarden.get(%s)", "memwarden.items WHERE item_id = %s"):
        got = agent.execute(f"SELECT valid_from FROM {asked}", (row["item_id"],)).fetchone()
        assert got == {"valid_from": TURN}
    step = agent.execute(
        "SELECT facts FROM memwarden.explain_recall('pier') WHERE step = 'answer'"
    ).fetchone()
    assert step is not None
    assert step["facts"]["valid_from"] == "2022-05-03T14:30:00.000000Z"
    assert step["facts"]["valid_to"] is None


@pytest.mark.parametrize(("since", "until"), UNBOUNDED)
def test_what_has_no_bound_is_told_as_null(world: World, since: str, until: str | None) -> None:
    """And counts as recent as it was recorded: nothing else is known of it.

    Proves: T4
    """
    agent = world.agent()
    write(agent, "semantic", "the sun shines", valid_from=since, valid_to=until)
    (found,) = recall(agent, weights={"recency": 1})
    assert (found["valid_from"], found["valid_to"]) == (None, None)
    assert found["recency_score"] == pytest.approx(1, abs=1e-4)


def test_a_memory_of_now_begins_when_it_is_written(world: World) -> None:
    """Without a time of its own.

    Proves: T4
    """
    agent = world.agent()
    write(agent, "semantic", "the harbour is open")
    (found,) = recall(agent, query="harbour")
    assert found["valid_from"] == datetime.fromisoformat(found["provenance"]["recorded_at"])


def test_recency_counts_from_when_it_was_said(world: World) -> None:
    """A turn of one half-life ago has half, whenever it was imported; a time to come adds nothing.

    Proves: L7, T4
    """
    agent = world.agent()
    now = datetime.now(UTC)
    days = {"60": 0.25, "30": 0.5, "0": 1.0, "-400": 1.0}
    write_many(
        agent,
        [
            {"layer": "episodic", "content": each, "valid_from": str(now - int(each) * DAY)}
            for each in days
        ],
    )
    scores = answered(agent, weights={"recency": 1})
    assert {day: row["recency_score"] for day, row in scores.items()} == pytest.approx(
        days, abs=1e-3
    )


def test_what_was_true_long_ago_is_found(world: World) -> None:
    """After more half-lives than a number has room for.

    Proves: T4
    """
    agent = world.agent()
    for year in ("1815-06-18", "0044-03-15 BC"):
        write(agent, "episodic", f"a battle {year}", valid_from=year)
    for weights in ({"recency": 1}, {"keyword": 1, "freshness": 1}):
        found = agent.execute(
            "SELECT recency_score FROM memwarden.recall(%s, weights => %s)",
            ("battle", Jsonb(weights)),
        ).fetchall()
        assert [row["recency_score"] < 1e-250 for row in found] == [True, True]


def test_a_key_counts_from_when_its_value_began(world: World) -> None:
    """Not from when the item was first recorded.

    Proves: T4
    """
    agent = world.agent()
    now = datetime.now(UTC)
    told = {"subject": "Ana", "predicate": "lives in"}
    write(agent, "semantic", "Rome", valid_from=now - 900 * DAY, **told)
    write(agent, "semantic", "Oslo", valid_from=now - 30 * DAY, **told)
    (found,) = recall(agent, weights={"recency": 1})
    assert found["content"] == "Oslo"
    assert found["recency_score"] == pytest.approx(0.5, abs=1e-3)


def test_a_soft_lifetime_still_counts_from_when_it_was_recorded(world: World) -> None:
    """An old turn that was imported today is kept as long as any that was recorded today.

    Proves: T4
    """
    agent = world.agent()
    world.admin.execute(
        "UPDATE memwarden_data.layer SET soft_ttl = '10 days' WHERE layer = 'episodic'"
    )
    write(agent, "episodic", "Ana walks to the pier", valid_from=TURN)
    (found,) = ranked(agent, query="pier", weights={"keyword": 1})
    assert found["sum"] == found["score"] == 1
    world.admin.execute("UPDATE memwarden_data.item SET updated_at = now() - interval '11 days'")
    (found,) = ranked(agent, query="pier", weights={"keyword": 1})
    assert (found["sum"], found["score"]) == (0.5, 1)


def test_of_equals_the_one_said_last_comes_first(world: World) -> None:
    """In whatever order they were imported.

    Proves: T4
    """
    agent = world.agent()
    for year in (2023, 2025, 2021):
        write(agent, "semantic", f"pier {year}", valid_from=f"{year}-01-01T00:00:00Z")
    found = recall(agent, query="pier", weights={"keyword": 1})
    assert [row["content"] for row in found] == ["pier 2025", "pier 2023", "pier 2021"]


AGES = st.lists(
    st.none() | st.integers(-50_000, 50_000), min_size=2, max_size=12, unique_by=lambda a: a or 0
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(ages=AGES, fusion=st.sampled_from(["weighted", "rrf"]))
def test_the_order_by_recency_is_that_of_what_was_said(
    shared_world: World, ages: list[int | None], fusion: str
) -> None:
    """However imported turns, notes of today and times to come are mixed. Ages in minutes.

    Proves: T4
    """
    agent = shared_world.agent("/org/when", descendants=True)
    scope = f"/org/when/user/{uuid4().hex}"
    shared_world.scope(scope)
    now = datetime.now(UTC)
    times = [None if age is None else now - timedelta(minutes=age) for age in ages]
    rows = write_many(
        agent,
        [
            {"layer": "episodic", "content": f"turn {n}", "scope": scope}
            | ({} if at is None else {"valid_from": at.isoformat()})
            for n, at in enumerate(times)
        ],
    )
    assert {row["outcome"] for row in rows} == {"COMMITTED"}
    found = recall(agent, k=100, scopes=[scope], weights={"recency": 1}, fusion=fusion)
    shared_world.disconnect()
    old = [row["content"] for row in found if row["valid_from"] < now]
    past = sorted((-age, n) for n, age in enumerate(ages) if age is not None and age > 0)
    assert old == [f"turn {n}" for _, n in reversed(past)]
    # What was said today, or is of a time to come, comes before all of them.
    assert [row["content"] for row in found][len(found) - len(old) :] == old
