"""How new a write is, is a matter of degree: measured against the most like memory there."""

from __future__ import annotations

from typing import Any

import pytest

from helpers import write, write_many
from shipped import SCOPE, Shipped

PROFILES = ("open", "balanced", "strict")
FOX = "The red fox crosses the garden behind the mill every evening before the church bells ring."
NEAR = "The red cat crosses the garden behind the mill every evening before the church bells ring."
FAR = "Invoices are due within thirty days."


@pytest.fixture(params=PROFILES)
def by_risk(shipped: Shipped, request: pytest.FixtureRequest) -> Shipped:
    """A profile, under which somebody has a person asked by the risk."""
    admin = shipped.world.admin
    admin.execute("SELECT memwarden.use_profile(%s, 'acme')", (request.param,))
    admin.execute(
        "SELECT memwarden.set_approval_policy("
        "'semantic', approval => 'by_risk', auto_below => 0.3, sync_from => 0.7, org => 'acme')"
    )
    return shipped


def noted(store: Shipped, text: str, **said: Any) -> Any:
    """Write what Ana said, word for word and for sure."""
    return write(
        store.agent,
        "semantic",
        text,
        scope=SCOPE,
        confidence=1,
        evidence=[store.heard("Ana", text)],
        **said,
    )


def novelty(store: Shipped, row: Any) -> float:
    """What was measured of a request."""
    measures = store.world.value(
        "SELECT coalesce(memwarden_internal.told_of_auto(r.review) -> 'factors',"
        " v.factors) #>> '{novelty,value}' FROM memwarden_data.write_request AS r"
        " LEFT JOIN memwarden_data.review AS v ON v.request_id = r.request_id"
        " WHERE r.request_id = %s",
        row["request_id"],
    )
    return float(measures)


def test_a_risk_lets_something_pass_under_each_profile(by_risk: Shipped) -> None:
    """What is wholly new waits; what tells of something known, and is borne out, does not.

    Proves: Z12.
    """
    first = noted(by_risk, FOX)
    assert (first["outcome"], first["reason"]) == ("DEFERRED", "AWAITING_APPROVAL")
    assert novelty(by_risk, first) == 1
    by_risk.approve(first)
    near = noted(by_risk, NEAR)
    assert near["outcome"] == "COMMITTED", near["detail"]
    assert novelty(by_risk, near) < 0.7
    far = noted(by_risk, FAR)
    assert (far["outcome"], far["reason"]) == ("DEFERRED", "AWAITING_APPROVAL")
    assert 0.7 < novelty(by_risk, far) <= 1


def test_it_is_the_same_alone_in_a_set_and_gate_by_gate(shipped: Shipped) -> None:
    """Of the rows of one call each is as new as if it were alone. Proves: Z12."""
    admin = shipped.world.admin
    admin.execute("SELECT memwarden.use_profile('balanced', 'acme')")
    found: dict[str, list[float]] = {}
    for way in ("alone", "set", "gates", "set of gates"):
        scope = f"{SCOPE}/task/{way.replace(' ', '-')}"
        admin.execute("SELECT memwarden.create_scope(%s)", (scope,))
        if way == "gates":
            # A pipeline that is not the one that is shipped is asked gate by gate.
            admin.execute("SELECT memwarden.disable_gate('noise')")
        write(shipped.agent, "semantic", FOX, scope=scope)
        asked = [{"layer": "semantic", "scope": scope, "content": text} for text in (NEAR, FAR)]
        rows = (
            write_many(shipped.agent, asked)
            if way.startswith("set")
            else [write(shipped.agent, **each) for each in asked]
        )
        assert [row["outcome"] for row in rows] == ["COMMITTED"] * 2
        found[way] = [novelty(shipped, row) for row in rows]
    assert len({tuple(each) for each in found.values()}) == 1, found


def test_what_the_writer_does_not_read_makes_nothing_less_new(shipped: Shipped) -> None:
    """Else the risk would tell of it. Proves: Z12."""
    world = shipped.world
    world.admin.execute("SELECT memwarden.use_profile('balanced', 'acme')")
    high = world.agent(SCOPE, clearance="restricted")
    secret = write(high, "semantic", FOX, scope=SCOPE, classification="restricted")
    assert secret["outcome"] == "COMMITTED"
    assert novelty(shipped, write(shipped.agent, "semantic", NEAR, scope=SCOPE)) == 1
    # Who reads it is told.
    known = write(high, "semantic", f"{FOX} Twice.", scope=SCOPE, classification="restricted")
    assert novelty(shipped, known) < 0.2
