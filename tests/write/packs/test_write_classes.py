"""What class a write is of decides how long it lasts, how secret it is, and who may write it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from access import call, curator, join, name_of, state
from helpers import write, write_many

if TYPE_CHECKING:
    from conftest import World

HOME = "/org/acme/user/ana"
SHIPPED = {
    "evidence_link",
    "preference",
    "decision_outcome",
    "correction",
    "task_learning",
    "entity_fact",
}


def test_the_shipped_classes_are_there_from_the_first(world: World) -> None:
    """With what each asks, for every member of the organisation to see.

    Proves: F5, G9 (lifetimes by category)
    """
    agent = world.agent(HOME)
    rows = agent.execute("SELECT * FROM memwarden.write_classes").fetchall()
    assert {row["class"] for row in rows} == SHIPPED
    [correction] = [row for row in rows if row["class"] == "correction"]
    assert correction["roles"] == ["correction_writer", "curator"]
    assert correction["precedence"] > 0
    assert correction["signals"]
    ages = {row["class"]: (row["soft_ttl"], row["decay"]) for row in rows}
    assert ages["preference"] == (timedelta(days=90), None)
    assert ages["task_learning"] == (timedelta(days=30), None)
    assert ages["entity_fact"] == (timedelta(days=180), "exempt")


def test_the_class_stays_with_the_memory(world: World) -> None:
    """Alone or in a batch; the log vouches for it.

    Proves: F5 (kept with each version)
    """
    agent = world.agent(HOME)
    one = write(
        agent, "semantic", "the pump was chosen for its price", **{"class": "evidence_link"}
    )
    assert one["outcome"] == "COMMITTED", one
    [two] = write_many(
        agent, [{"layer": "episodic", "content": "it was bought", "class": "decision_outcome"}]
    )
    assert call(agent, "get", item_id=one["item_id"])[0]["class"] == "evidence_link"
    assert call(agent, "get", item_id=two["item_id"])[0]["class"] == "decision_outcome"
    assert world.rows("SELECT * FROM memwarden.verify_log()") == []
    world.admin.execute("SET session_replication_role = replica")
    world.admin.execute("UPDATE memwarden_data.version SET class = 'correction'")
    assert {row["finding"] for row in world.rows("SELECT * FROM memwarden.verify_log()")} >= {
        "SNAPSHOT"
    }


def test_a_class_that_is_not_there_is_refused_and_its_name_not_kept(world: World) -> None:
    """It is the caller's text.

    Proves: F5
    """
    agent = world.agent(HOME)
    refused = write(agent, "semantic", "it is so", **{"class": "secret of ana"})
    assert (refused["outcome"], refused["reason"]) == ("REJECTED", "UNKNOWN_CLASS")
    assert world.value("SELECT class FROM memwarden_data.write_request") is None


def test_an_ordinary_agent_corrects_nothing(world: World) -> None:
    """Alone, in a batch or by a copy; who bears the role does.

    Proves: F5 (a correction needs its role)
    """
    agent = world.agent(HOME)
    operator = join(world, HOME, role="correction_writer")
    asked = write(agent, "semantic", "the pump is red", **{"class": "correction"})
    assert (asked["outcome"], asked["reason"]) == ("REJECTED", "CLASS_NOT_PERMITTED")
    [asked] = write_many(
        agent, [{"layer": "semantic", "content": "the pump is red", "class": "correction"}]
    )
    assert asked["reason"] == "CLASS_NOT_PERMITTED"
    written = write(operator, "semantic", "the pump is red", **{"class": "correction"})
    assert written["outcome"] == "COMMITTED", written
    world.scope("/org/acme")
    call(world.admin, "grant_scope", agent=name_of(agent), scope="/org/acme", writes=True)
    [copied] = call(agent, "promote", item_id=written["item_id"], target="/org/acme")
    assert copied["reason"] == "CLASS_NOT_PERMITTED"
    # Nor where it would be no memory that lasts.
    refused = write(operator, "working", "the pump is red", **{"class": "correction"})
    assert refused["reason"] == "CLASS_NOT_HERE"


def test_a_class_of_the_organisation_goes_before_the_shipped(world: World) -> None:
    """With its own retention and classification; other organisations keep theirs.

    Proves: F5 (each with retention, classification), G9 (lifetimes per class)
    """
    agent, other = world.agent(HOME), world.agent("/org/umbrella")
    call(
        curator(world, "/org/acme"),
        "define_write_class",
        **{"class": "decision_outcome", "layers": ["episodic"], "classification": "confidential"},
        default_ttl=timedelta(days=30),
        max_ttl=timedelta(days=60),
    )
    low = write(agent, "episodic", "we bought it", **{"class": "decision_outcome"})
    assert low["reason"] == "CLEARANCE_TOO_LOW"
    cleared = join(world, HOME, clearance="confidential")
    kept = write(cleared, "episodic", "we bought it", **{"class": "decision_outcome"})
    [row] = call(cleared, "get", item_id=kept["item_id"])
    assert row["classification"] == "confidential"
    assert row["expires_at"] - row["created_at"] == timedelta(days=30)
    long = write(
        cleared, "episodic", "and more", ttl=timedelta(days=61), **{"class": "decision_outcome"}
    )
    assert long["reason"] == "TTL_OUT_OF_RANGE"
    elsewhere = write(other, "semantic", "we bought it", **{"class": "decision_outcome"})
    assert elsewhere["outcome"] == "COMMITTED"


@pytest.mark.parametrize(
    ("arguments", "sqlstate"),
    [
        ({"class": "Not a name"}, "22023"),
        ({"class": "a", "consent_missing": "shrug"}, "22023"),
        ({"class": "a", "precedence": 1001}, "22023"),
        ({"class": "a", "roles": []}, "22023"),
        ({"class": "a", "max_ttl": timedelta(0)}, "22023"),
        ({"class": "a", "soft_ttl": timedelta(days=-1)}, "22023"),
        ({"class": "a", "soft_ttl": timedelta(days=400_000)}, "22023"),
        ({"class": "a", "decay": "slow"}, "22023"),
        ({"class": "a", "layers": ["nowhere"]}, "42704"),
        ({"class": "a", "classification": "unheard_of"}, "42704"),
        ({"class": "a", "org": "umbrella"}, "42501"),
    ],
)
def test_what_no_class_can_be_is_refused(
    shared_world: World, arguments: dict[str, object], sqlstate: str
) -> None:
    """With a reason; nothing of another organisation.

    Proves: F5
    """
    shared_world.scope("/org/umbrella")
    assert state(curator(shared_world, "/org/acme"), "define_write_class", **arguments) == sqlstate
