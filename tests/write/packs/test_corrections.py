"""A correction takes the place of what it corrects, and tells those who learn from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from access import call, curator, join, name_of
from helpers import write

if TYPE_CHECKING:
    from conftest import World

HOME = "/org/acme/user/ana"
KEY = {"subject": "pump 7", "predicate": "state"}
CORRECTION = {"class": "correction"}


@pytest.mark.parametrize(
    "conflict", ["review", "coexist", "auto_resolve", "latest_wins", "ask_firmer"]
)
def test_it_outranks_the_prior_whatever_policy_and_confidence_say(
    world: World, conflict: str
) -> None:
    """Of the same key: a version of the same memory, with its history.

    Proves: F5 (outranks the prior on the same key)
    """
    world.admin.execute(
        "UPDATE memwarden_data.layer SET conflict = %s WHERE layer = 'semantic'", (conflict,)
    )
    agent, operator = world.agent(HOME), join(world, HOME, role="correction_writer")
    colleague = world.agent(HOME)
    old = write(agent, "semantic", "The valve is open", confidence=0.99, **KEY)
    right = write(
        operator, "semantic", "The valve is not open", confidence=0.2, **KEY, **CORRECTION
    )
    assert (right["outcome"], right["item_id"]) == ("COMMITTED", old["item_id"]), right
    assert [row["version"] for row in call(agent, "history", item_id=old["item_id"])] == [2, 1]
    asked = "SELECT verdict FROM memwarden_data.write_request WHERE request_id = %s"
    assert world.value(asked, right["request_id"]) == "superseded"
    assert world.value(asked, old["request_id"]) == "no_conflict"
    # What it set right nobody without its rank turns back, nor beside it.
    for who in (agent, colleague):
        back = write(who, "semantic", "The valve is wide open", confidence=1, **KEY)
        assert back["outcome"] in ("REJECTED", "DEFERRED"), back
    again = write(operator, "semantic", "The valve is shut", confidence=0.1, **KEY, **CORRECTION)
    assert (again["outcome"], again["item_id"]) == ("COMMITTED", old["item_id"])


def test_it_waits_where_its_policy_says_so(world: World) -> None:
    """And carries out what it says once somebody else has agreed.

    Proves: F5, W3 (approval per write class)
    """
    call(
        world.admin,
        "set_approval_policy",
        layer="semantic",
        approval="always",
        **{"class": "correction"},
    )
    agent, operator = world.agent(HOME), join(world, HOME, role="correction_writer")
    old = write(agent, "semantic", "The valve is open", **KEY)
    waits = write(operator, "semantic", "The valve is shut", **KEY, **CORRECTION)
    assert waits["outcome"] == "DEFERRED"
    assert world.rows("SELECT * FROM memwarden_data.signal") == []
    person = join(world, HOME, "reviewer", role="reviewer", kind="human")
    [done] = call(person, "approve", proposal_id=waits["request_id"])
    assert (done["outcome"], done["item_id"]) == ("COMMITTED", old["item_id"]), done
    assert len(world.rows("SELECT * FROM memwarden_data.signal")) == 1


def test_an_approved_write_may_take_the_place_of_a_correction(world: World) -> None:
    """A human has said so.

    Proves: F5
    """
    agent, operator = world.agent(HOME), join(world, HOME, role="correction_writer")
    right = write(operator, "semantic", "The valve is shut", **KEY, **CORRECTION)
    refused = write(agent, "semantic", "The valve is half open", **KEY)
    assert (refused["outcome"], refused["reason"]) == ("REJECTED", "OUTRANKED")
    assert refused["detail"] == {"item_id": str(right["item_id"]), "class": "correction"}
    call(world.admin, "set_approval_policy", layer="semantic", approval="always")
    waits = write(agent, "semantic", "The valve is half open", **KEY)
    person = join(world, HOME, "reviewer", role="reviewer", kind="human")
    [done] = call(person, "approve", proposal_id=waits["request_id"])
    assert (done["outcome"], done["item_id"]) == ("COMMITTED", right["item_id"]), done


def test_it_emits_its_signal_to_whoever_sees_the_memory(world: World) -> None:
    """Old and new version and whose it was, and how often later memories rest on it; no words.

    Proves: F5 (emits a learning signal), Q7 (adoption of corrections)
    """
    agent, operator = world.agent(HOME), join(world, HOME, role="correction_writer")
    stranger = world.agent("/org/acme/user/bo")
    listener = world.connect()
    listener.execute("LISTEN memwarden_signal")
    old = write(agent, "semantic", "The valve is open", **KEY)
    right = write(operator, "semantic", "The valve is shut", **KEY, **CORRECTION)
    [note] = list(listener.notifies(timeout=5, stop_after=1))
    assert note.payload == str(right["version_id"])
    [signal] = agent.execute("SELECT * FROM memwarden.learning_signals").fetchall()
    assert signal["corrected_version_id"] == old["version_id"]
    assert signal["version_id"] == right["version_id"]
    assert signal["corrected_agent"] == name_of(agent)
    assert signal["corrected_by"] == name_of(operator)
    assert (signal["stands"], signal["adopted"]) == (True, 0)
    assert stranger.execute("SELECT * FROM memwarden.learning_signals").fetchall() == []
    write(
        agent,
        "semantic",
        "Water can not pass",
        evidence=[{"uri": f"memwarden:item/{right['item_id']}"}],
    )
    [rate] = agent.execute("SELECT * FROM memwarden.correction_adoption").fetchall()
    assert (rate["corrections"], rate["standing"], rate["adopted"]) == (1, 1, 1)
    assert rate["adoption_rate"] == 1.0
    world.grant_tables(agent.info.user, stranger.info.user)
    assert len(agent.execute("SELECT * FROM memwarden_data.signal").fetchall()) == 1
    assert stranger.execute("SELECT * FROM memwarden_data.signal").fetchall() == []
    with pytest.raises(psycopg.Error, match="append"):
        world.admin.execute("DELETE FROM memwarden_data.signal")
    call(
        curator(world, "/org/acme"),
        "erase_subject",
        subject="pump 7",
        reason="asked for",
        dry_run=False,
    )
    assert world.rows("SELECT * FROM memwarden_data.signal") == []


def test_a_write_that_corrects_nothing_tells_nobody(world: World) -> None:
    """Nor does one that is no correction.

    Proves: F5
    """
    agent, operator = world.agent(HOME), join(world, HOME, role="correction_writer")
    write(operator, "semantic", "The valve is shut", **KEY, **CORRECTION)
    write(agent, "semantic", "tea", subject="Ana", predicate="drinks")
    write(agent, "semantic", "coffee", subject="Ana", predicate="drinks")
    assert world.rows("SELECT * FROM memwarden_data.signal") == []
