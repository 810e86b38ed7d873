"""What a metric is of: its layer, its agent, its subject area; and which tier found duplicates."""

from __future__ import annotations

import json
from typing import Any

import pytest

from access import call
from helpers import write, write_many
from operations.metrics.conftest import History, acme
from shipped import Shipped


@pytest.fixture
def history(shipped: Shipped) -> History:
    """The organisation of a store as `memwarden init` leaves it."""
    return acme(shipped.world)


def writers(history: History) -> tuple[Any, Any]:
    """One that writes much of the kitchen, twice each, and one that writes little."""
    world = history.world
    busy = world.agent("/org/acme/user/ana", domains=["kitchen"])
    quiet = world.agent("/org/acme/user/ana")
    for n in range(2):
        write_many(
            busy,
            [
                {
                    "layer": "episodic",
                    "content": f"{word} in the pan",
                    "domains": ["kitchen"],
                    "idempotency_key": f"{word}{n}",
                }
                for word in [
                    "rice",
                    "kale",
                    "leek",
                    "corn",
                    "fish",
                    "soup",
                    "beef",
                    "tofu",
                    "plum",
                    "pear",
                    "figs",
                    "mint",
                ]
            ],
        )
    write(quiet, "episodic", "the sky is blue")
    return busy, quiet


@pytest.mark.every_version
def test_a_metric_says_of_whom_and_of_what_it_is(history: History) -> None:
    """Of agents with twenty decided writes and of subject areas, beside layers and all.

    Proves: Q10
    """
    busy, _ = writers(history)
    world = history.world
    number = world.value(
        "SELECT principal_id FROM memwarden_data.principal WHERE name = %s", busy.info.user
    )
    history.measure()
    rows = world.rows(
        "SELECT part, layer, agent_id, topic_domain, value, state FROM memwarden.metrics"
        " WHERE metric = 'duplicate_rate' AND org = 'acme'"
    )
    told = {(row["layer"], row["agent_id"], row["topic_domain"]): row for row in rows}
    assert {key: round(row["value"], 4) for key, row in told.items()} == {
        (None, None, None): round(12 / 25, 4),
        ("episodic", None, None): round(12 / 25, 4),
        (None, number, None): 0.5,
        (None, None, "kitchen"): 0.5,
    }
    # No range is judged of an agent or a subject area, where the same value is a warning.
    states = {key: row["state"] for key, row in told.items()}
    assert states[None, None, None] == states["episodic", None, None] == "WARNING"
    assert states[None, number, None] == states[None, None, "kitchen"] == "OK"
    assert told[None, number, None]["part"] == f"* {busy.info.user}"


def test_a_gate_is_no_layer(history: History) -> None:
    """And what is of a layer and an agent, or of a way of writing, is told so."""
    parts = ("semantic 17", "05_identity", "45_theirs", "semantic alone", "* set", "* #a b", "*")
    rows = [
        history.world.admin.execute(
            "SELECT layer, agent_id, topic_domain FROM memwarden_internal.metric_dimensions(%s)",
            (part,),
        ).fetchone()
        for part in parts
    ]
    assert [tuple(row.values()) for row in rows if row] == [
        ("semantic", 17, None),
        (None, None, None),
        (None, None, None),
        ("semantic", None, None),
        (None, None, None),
        (None, None, "a b"),
        (None, None, None),
    ]


def test_an_alert_says_of_which_layer_it_is(history: History) -> None:
    """In the message that it sends.

    Proves: Q10
    """
    writers(history)
    history.measure()
    admin = history.world.admin
    admin.execute("SELECT memwarden.set_metric_range('duplicate_rate', alert_high => 0.1)")
    admin.execute("LISTEN memwarden_alert")
    history.measure()
    said = [json.loads(each.payload) for each in admin.notifies(timeout=5, stop_after=1)]
    said += [json.loads(each.payload) for each in admin.notifies(timeout=0)]
    admin.execute("UNLISTEN *")
    of_it = [each for each in said if each["metric"] == "duplicate_rate"]
    assert {each.get("layer") for each in of_it} == {None, "episodic"}


TIERS = (
    "SELECT layer, tier, reason, duplicates, share, expected FROM memwarden.duplicate_tiers"
    " WHERE layer IN ('*', 'episodic', 'procedural') AND org = 'acme' ORDER BY layer, tier"
)


def test_the_tiers_of_duplicates_stand_beside_what_is_expected(history: History) -> None:
    """By organisation and layer; without a duplicate nothing is known, and a retry is none.

    Proves: D8
    """
    world = history.world
    agent, other = (world.agent("/org/acme/user/ana") for _ in range(2))
    expected = [
        ("EXACT_DUPLICATE", 0.70),
        ("STRUCTURAL_DUPLICATE", 0.25),
        ("SEMANTIC_DUPLICATE", 0.05),
    ]
    unknown = world.rows(TIERS)
    assert [(row["reason"], row["expected"]) for row in unknown] == expected * 3
    assert {(row["duplicates"], row["share"]) for row in unknown} == {(0, None)}
    first = write(agent, "episodic", "Ana owns a dog", idempotency_key="a")
    assert first["outcome"] == "COMMITTED"
    assert write(agent, "episodic", "Ana owns a dog", idempotency_key="a")["outcome"] == (
        "ALREADY_COMMITTED"
    )
    for text in ("Ana owns a dog", "Ana owns a dog", "Ana owns a dog", "ana OWNS a  dog"):
        assert write(other, "episodic", text)["reason"] in {
            "EXACT_DUPLICATE",
            "STRUCTURAL_DUPLICATE",
        }
    history.measure()
    shown = {(row["layer"], row["tier"]): row["share"] for row in world.rows(TIERS)}
    assert shown == {
        **{("*", tier): share for tier, share in enumerate((0.75, 0.25, 0.0), 1)},
        **{("episodic", tier): share for tier, share in enumerate((0.75, 0.25, 0.0), 1)},
        **{("procedural", tier): None for tier in (1, 2, 3)},
    }


def test_a_duplicate_that_was_merged_was_found_by_a_tier(history: History) -> None:
    """What says more is found by its likeness, fields of the same key by the key.

    Proves: D8
    """
    world = history.world
    agent = world.agent("/org/acme/user/ana")
    call(
        world.admin,
        "define_schema",
        layer="episodic",
        kind="lamp",
        schema={"type": "object"},
        merge_policy={"watt": "max"},
        org="acme",
    )
    world.admin.execute(
        """SELECT memwarden.configure_layer('episodic', '{"same_key": "new_version"}')"""
    )
    vector = [1.0] + [0.0] * 383
    for text, outcome in (("Ana owns a dog", "COMMITTED"), ("Ana owns a large dog", "MERGED")):
        assert write(agent, "episodic", text, embedding=vector)["outcome"] == outcome
    for n, content in enumerate(({"name": "Lumo"}, {"watt": 5}, {"watt": 7}, {"watt": 9})):
        lamp = write(agent, "episodic", content, kind="lamp", subject="lamp 7", predicate="is")
        assert lamp["outcome"] == ("MERGED" if n else "COMMITTED"), lamp
    history.measure()
    shown = {row["tier"]: row["share"] for row in world.rows(TIERS) if row["layer"] == "episodic"}
    assert shown == {1: 0, 2: 0.75, 3: 0.25}
