"""A request keeps its gates and its risk in few bytes, and tells them as it always did."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from conftest import World
from helpers import write

TRAILS: dict[str, list[dict[str, Any]]] = {
    "nothing": [],
    "accepted": [
        {"gate": "05_identity", "decision": "ACCEPT", "us": 490, "reason": None},
        {"gate": "06_access", "decision": "ACCEPT", "us": 0, "reason": None},
    ],
    "decided as a set": [
        {"gate": "05_identity", "decision": "DECIDED_AS_SET", "us": 490, "reason": None},
        {"gate": "06_access", "decision": "DECIDED_AS_SET", "us": None, "reason": None},
    ],
    "refused by a person": [
        {"gate": "80_approval", "decision": "REJECT", "us": None, "reason": "REVIEW_REJECTED"},
    ],
    "reasons": [
        {"gate": "35_reference", "decision": "ACCEPT", "us": 12, "reason": "CANONICAL_COPY"},
        {"gate": "50_duplicate", "decision": "REJECT", "us": 3, "reason": "EXACT_DUPLICATE"},
    ],
    # Where an administrator has moved a gate, and one of theirs that begins as a built-in one.
    "moved": [
        {"gate": "07_known", "decision": "ACCEPT", "us": 12, "reason": None},
        {"gate": "50_duplicate_of_ours", "decision": "ACCEPT", "us": 3, "reason": None},
        {"gate": "50_duplicate", "decision": "ACCEPT", "us": 3, "reason": None},
        {"gate": "90_commit", "decision": "ACCEPT", "us": 3, "reason": None},
    ],
    "hostile": [
        {"gate": "45_theirs", "decision": "DEFER", "us": -1, "reason": 'a "b"\n05_x 1 R \\ é '},
        {"gate": "46_theirs", "decision": "REJECT", "us": 2, "reason": ""},
        {"gate": "47_theirs", "decision": "DEFER", "us": 2, "reason": None},
        {"gate": "48_theirs", "decision": "REJECT", "us": 2, "reason": None},
    ],
}
EARLIER = {"auto": True, "risk": 0.2, "factors": {"layer": {"value": 0.3, "weight": 0.25}}}


@pytest.mark.parametrize("trail", TRAILS.values(), ids=TRAILS.keys())
def test_what_gates_said_comes_back_as_it_went_in(
    shared_world: World, trail: list[dict[str, Any]]
) -> None:
    """A line each; whatever a gate of others gives as its reason stays within its line."""
    lines = shared_world.value("SELECT memwarden_internal.gates_text(%s)", Jsonb(trail))
    assert len(str(lines).splitlines()) == len(trail)
    assert shared_world.value("SELECT memwarden_internal.gates_of(%s)", lines) == trail


def test_a_plain_write_names_its_gates_by_number(world: World) -> None:
    """The names that nearly every write has are not kept with each; everybody is told them."""
    agent = world.agent()
    done = write(agent, "episodic", "Ana moved to Lisbon")
    kept = world.value(
        "SELECT gates FROM memwarden_data.write_request WHERE request_id = %s", done["request_id"]
    )
    numbers = [line.split()[0] for line in str(kept).splitlines()]
    assert all(number.isdigit() for number in numbers)
    (told,) = agent.execute(
        "SELECT gates FROM memwarden.request_status(%s)", (done["request_id"],)
    ).fetchall()
    names = [entry["gate"] for entry in told["gates"]]
    assert [name[:2] for name in names] == numbers
    placed = world.rows(
        "SELECT lpad(position::text, 2, '0') || '_' || gate AS gate FROM memwarden.pipeline"
    )
    assert set(names) <= {row["gate"] for row in placed}


@pytest.mark.parametrize("outcome", ["COMMITTED", "REJECTED", "DEFERRED", "DEADLINE_EXCEEDED"])
@pytest.mark.parametrize("reason", [None, "CODE", 'a "b"\n05_x 1 R \\ é '])
def test_a_gate_says_what_it_decided(shared_world: World, outcome: str, reason: str | None) -> None:
    """The line that a gate adds, read back."""
    told = shared_world.value(
        "SELECT memwarden_internal.gates_of(substr(memwarden_internal.gate_entry("
        "    'gate_40_evidence', %s, %s, now()), 2))",
        outcome,
        reason,
    )
    decision = {"COMMITTED": "ACCEPT", "DEFERRED": "DEFER"}.get(outcome, "REJECT")
    assert [(e["gate"], e["decision"], e["reason"]) for e in told] == [
        ("40_evidence", decision, reason)
    ]
    assert told[0]["us"] >= 0


def test_a_write_that_nobody_was_asked_about_tells_its_risk(world: World) -> None:
    """Risk and all six factors, each with its weight, from the few bytes that are kept."""
    agent = world.agent()
    world.admin.execute("SELECT memwarden.set_approval_policy('episodic', approval => 'by_risk')")
    done = write(agent, "episodic", "Ana moved to Lisbon")
    (event,) = agent.execute(
        "SELECT event, detail FROM memwarden.review_history(%s)", (done["request_id"],)
    ).fetchall()
    assert event["event"] == "auto_approved"
    assert set(event["detail"]) == {"risk", "factors"}
    factors = event["detail"]["factors"]
    assert set(factors) == {
        "layer",
        "contradiction",
        "evidence",
        "confidence_gap",
        "blast_radius",
        "novelty",
    }
    assert set(factors["blast_radius"]) == {"value", "weight", "recalls", "consumers", "readers"}
    weighed = sum(f["value"] * f["weight"] for f in factors.values())
    assert event["detail"]["risk"] == pytest.approx(weighed, abs=1e-3)


def test_what_earlier_releases_kept_of_it_is_told_too(shared_world: World) -> None:
    """They kept the whole object."""
    told = shared_world.value("SELECT memwarden_internal.told_of_auto(%s)", Jsonb(EARLIER))
    assert told == {name: value for name, value in EARLIER.items() if name != "auto"}
