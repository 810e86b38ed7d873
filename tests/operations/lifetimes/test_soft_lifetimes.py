"""What is over softly counts half from that moment on, whether a job has run or not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from conftest import World
from helpers import ranked, write

from .conftest import Agent, age, remember


def score(agent: Agent, item: Any, **arguments: Any) -> float:
    """The sum by which a recall ranks a memory."""
    rows = ranked(agent, query="valve", weights={"keyword": 1}, **arguments)
    return next(float(row["sum"]) for row in rows if row["item_id"] == item)


def configure(world: World, layer: str, **settings: Any) -> None:
    """Change settings of a layer."""
    world.admin.execute("SELECT memwarden.configure_layer(%s, %s)", (layer, Jsonb(settings)))


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
@pytest.mark.parametrize("query", ["valve", "valve one two three four five six seven eight nine"])
def test_an_event_counts_half_after_thirty_days(
    shared_world: World, ana: Agent, fusion: str, query: str
) -> None:
    """In the plain search and in the full one; as relevant as before, and read as before.

    Proves: G2 (soft down-weights), G9 (expiry holds at read time)
    """
    item = remember(ana, "the valve leaks")
    how = {"query": query, "weights": {"keyword": 1}, "fusion": fusion}
    (before,) = ranked(ana, **how)
    age(shared_world, item, 29.9)
    (kept,) = ranked(ana, **how)
    assert kept["sum"] == pytest.approx(before["sum"])
    age(shared_world, item, 0.2)
    (after,) = ranked(ana, **how)
    assert after["sum"] == pytest.approx(before["sum"] / 2)
    assert after["score"] == before["score"]
    assert after["relevance"] == pytest.approx(before["relevance"])
    answers = ana.execute("SELECT * FROM memwarden.explain_recall(%s)", (query,)).fetchall()
    (facts,) = (row["facts"] for row in answers if row["step"] == "answer")
    assert facts["lifetime_weight"] == 0.5


def test_a_fact_has_no_soft_end_and_a_preference_has_one(shared_world: World, ana: Agent) -> None:
    """Preferences 90 days, lessons of tasks 30, facts of entities never.

    Proves: G9 (categories)
    """
    world = shared_world
    ana.execute("SELECT 1")
    world.admin.execute(
        "UPDATE memwarden_data.write_class SET consent_purpose = NULL WHERE class = 'preference'"
    )
    for days, classed in (
        (90, "preference"),
        (30, "task_learning"),
        (None, "entity_fact"),
        (None, None),
    ):
        named = {"class": classed} if classed else {}
        item = remember(ana, f"valve {classed} {days}", "semantic", **named)
        full = score(ana, item)
        age(world, item, (days or 400) - 0.1)
        assert score(ana, item) == pytest.approx(full)
        age(world, item, 0.2)
        assert score(ana, item) == pytest.approx(full / 2 if days else full)
        ana.execute("SELECT memwarden.retract(%s, 'over')", (item,))


def test_a_new_value_begins_anew_or_not_as_the_layer_says(shared_world: World, ana: Agent) -> None:
    """Both lifetimes, from the last version or from the first. Proves: G9 (counted from)."""
    key = {"subject": "valve", "predicate": "state", "ttl": "10 days"}
    configure(shared_world, "procedural", soft_ttl="5 days")
    try:
        for counted, soft in (("update", 1.0), ("creation", 0.5)):
            configure(shared_world, "procedural", counted_from=counted)
            item = remember(ana, f"valve {counted}", "procedural", **key | {"subject": counted})
            full = score(ana, item)
            age(shared_world, item, 6)
            write(ana, "procedural", f"valve {counted} anew", **key | {"subject": counted})
            assert score(ana, item) == pytest.approx(full * soft)
            ends = shared_world.value(
                "SELECT expires_at FROM memwarden_data.item WHERE item_id = %s", item
            )
            days = (ends - datetime.now(UTC)) / timedelta(days=1)
            assert days == pytest.approx(10 if counted == "update" else 4, abs=0.1)
            ana.execute("SELECT memwarden.retract(%s, 'over')", (item,))
    finally:
        configure(shared_world, "procedural", soft_ttl=None, counted_from="update")


def test_whoever_says_that_it_still_holds_renews_it(shared_world: World, ana: Agent) -> None:
    """It counts fully, lives on, and its history says who and why.

    Proves: G2 (a human may renew), G9
    """
    item = remember(ana, "the valve leaks")
    full = score(ana, item)
    age(shared_world, item, 40)
    shared_world.admin.execute(
        "UPDATE memwarden_data.item SET expires_at = now() + interval '1 day' WHERE item_id = %s",
        (item,),
    )
    assert score(ana, item) == pytest.approx(full / 2)
    (said,) = ana.execute("SELECT * FROM memwarden.renew(%s, 'checked again')", (item,)).fetchall()
    assert said["outcome"] == "COMMITTED"
    assert score(ana, item) == pytest.approx(full)
    (head,) = shared_world.rows(
        "SELECT version_id, expires_at - now() AS left FROM memwarden_data.item WHERE item_id = %s",
        item,
    )
    assert head["version_id"] == said["version_id"]
    assert head["left"] > timedelta(days=364)
    history = ana.execute("SELECT reason FROM memwarden.history(%s)", (item,)).fetchall()
    assert "checked again" in {row["reason"] for row in history}


def test_a_memory_without_end_stays_so_and_absurd_times_are_refused(
    shared_world: World, ana: Agent
) -> None:
    """A blank reason, and what is not there, too. Proves: G9."""
    fact = remember(ana, "the valve is red", "semantic")
    ana.execute("SELECT memwarden.renew(%s, 'still red')", (fact,))
    ana.execute("SELECT memwarden.renew(%s, 'red for a second', '1 second')", (fact,))
    assert shared_world.value(
        "SELECT expires_at IS NULL FROM memwarden_data.item WHERE item_id = %s", fact
    )
    for arguments, sqlstate in (
        ((fact, "more", "-1 day"), "22023"),
        ((fact, "more", "2000 years"), "22023"),
        ((fact, " ", "1 day"), "22023"),
        (("01890000-0000-7000-8000-000000000000", "more", "1 day"), "42704"),
    ):
        with pytest.raises(psycopg.Error) as raised:
            ana.execute("SELECT memwarden.renew(%s::uuid, %s, %s::interval)", arguments)
        assert raised.value.sqlstate == sqlstate


def test_to_renew_never_shortens(shared_world: World, ana: Agent) -> None:
    """That would be to expire it, without the right to and past those who approved it.

    Proves: H6 (renewing is no way round)
    """
    event = remember(ana, "the valve was oiled")
    ends = "SELECT expires_at FROM memwarden_data.item WHERE item_id = %s"
    shared_world.admin.execute(
        "UPDATE memwarden_data.item SET expires_at = now() + interval '30 days' WHERE item_id = %s",
        (event,),
    )
    before = shared_world.value(ends, event)
    ana.execute("SELECT memwarden.renew(%s, 'for a second', '1 second')", (event,))
    assert shared_world.value(ends, event) == before
    ana.execute("SELECT memwarden.renew(%s, 'for longer', '60 days')", (event,))
    assert shared_world.value(ends, event) > before + timedelta(days=29)


def test_what_ends_soon_is_listed_by_layer_scope_and_item(shared_world: World, home: str) -> None:
    """To whoever reads it, and nobody else. Proves: G9 (a warning before deletion)."""
    agent = shared_world.agent(home)
    soon = remember(agent, "the tap drips", ttl="3 days")
    remember(agent, "the hall is dry", ttl="300 days")
    fading = remember(agent, "the lamp flickers")
    age(shared_world, fading, 25)
    by_item = agent.execute("SELECT * FROM memwarden.ending_soon(grain => 'item')").fetchall()
    assert {(row["item_id"], row["ending"]) for row in by_item} == {
        (soon, "hard"),
        (fading, "soft"),
    }
    by_scope = agent.execute("SELECT * FROM memwarden.ending_soon('40 days', 'scope')").fetchall()
    assert {(row["scope"], row["ending"], row["memories"]) for row in by_scope} == {
        (home, "hard", 1),
        (home, "soft", 3),
    }
    stranger = shared_world.agent("/org/elsewhere")
    assert stranger.execute("SELECT * FROM memwarden.ending_soon('40 days')").fetchall() == []
    for arguments in (("-1 day", "item"), ("5000 years", "item"), ("1 day", "hour")):
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            agent.execute("SELECT * FROM memwarden.ending_soon(%s::interval, %s)", arguments)
