"""The factual score is the formula of the documents, computed again here."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from access import call
from conftest import World
from write.evidence.conftest import TEA, Office, cite

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SOURCES: list[dict[str, Any]] = [
    {"authority": 1.0, "half_life": None, "weight": 1.0},
    {"authority": 0.85, "half_life": "30 days", "weight": 2.0},
    {"authority": 0.5, "half_life": "2 hours", "weight": 0.25},
    {"authority": 0.0, "half_life": "1 day", "weight": 10.0},
]
HALF_LIVES = {
    None: timedelta(days=100),
    "30 days": timedelta(days=30),
    "2 hours": timedelta(hours=2),
    "1 day": timedelta(days=1),
}


@pytest.fixture(scope="module")
def weighing(shared_world: World) -> Office:
    """An organisation with sources of different worth."""
    office = Office(shared_world)
    for number, source in enumerate(SOURCES):
        office.source(f"s{number}:*", **source)
    return office


def weigh(office: Office, evidence: list[dict[str, Any]]) -> Any:
    """What the gate makes of the evidence of a fixed claim, at a fixed time, half-life 100 days."""
    query = (
        "SELECT w.* FROM memwarden_data.principal AS p,"
        " memwarden_internal.evidence_sources(p.principal_id, p.org_id, %s, %s) AS known,"
        " memwarden_internal.weigh('Ana', 'prefers', '{\"drink\":\"green tea\"}', %s, known,"
        " p.principal_id, NULL, '{document}', 8640000, memwarden_internal.utc_text(%s), false) AS w"
        " WHERE p.name = %s"
    )
    given = Jsonb(evidence)
    return office.world.rows(query, given, NOW, given, NOW, office.writer_name)[0]


@given(
    pieces=st.lists(
        st.tuples(st.integers(0, 3), st.booleans(), st.floats(0, 400)), min_size=1, max_size=6
    )
)
@settings(max_examples=60, deadline=None)
def test_the_score_is_the_weighted_mean_of_support_authority_and_freshness(
    weighing: Office, pieces: list[tuple[int, bool, float]]
) -> None:
    """(1/n) sum of alpha x support x authority x freshness, the alphas summing to n.

    Freshness is exp(-ln 2 x age / half-life).

    Proves: V2
    """
    evidence, terms, weights = [], [], []
    for place, (number, supported, days) in enumerate(pieces):
        source = SOURCES[number]
        at = NOW - timedelta(days=days)
        text = TEA if supported else "Ana hates green tea."
        evidence.append(
            cite(f"s{number}:{place}", f"{'Yes, ' * place}{text}", accessed_at=at.isoformat())
        )
        freshness = math.exp(-math.log(2) * ((NOW - at) / HALF_LIVES[source["half_life"]]))
        terms.append(supported * source["authority"] * freshness)
        weights.append(source["weight"])
    alphas = [w * len(weights) / sum(weights) for w in weights]
    expected = sum(a * t for a, t in zip(alphas, terms, strict=True)) / len(terms)
    found = weigh(weighing, evidence)
    assert found["fact_score"] == pytest.approx(expected, abs=1e-9)
    assert found["authority"] == max(SOURCES[n]["authority"] for n, _, _ in pieces)
    assert found["least_authority"] == min(SOURCES[n]["authority"] for n, _, _ in pieces)


def test_evidence_is_ordered_by_authority(weighing: Office) -> None:
    """On the record the best comes first.

    Proves: P1
    """
    found = weigh(weighing, [cite(f"s{n}:1", f"{'Yes, ' * n}{TEA}") for n in (2, 0, 3, 1)])
    assert [g["authority"] for g in found["grounds"]] == [1, 0.85, 0.5, 0]
    assert [g["index"] for g in found["grounds"]] == [1, 3, 0, 2]


def test_the_same_again_is_one_piece_of_evidence(weighing: Office) -> None:
    """The same words under two uris, or the same uri twice, lift nothing and count once.

    Proves: X2
    """
    once = weigh(weighing, [cite("s0:1", TEA), cite("s1:1", "Ana hates green tea.")])
    again = weigh(
        weighing,
        [
            cite("s0:1", TEA),
            cite("s0:2", TEA),
            cite("s0:1#top", TEA),
            cite("s1:1", "Ana hates green tea."),
        ],
    )
    assert once["fact_score"] == again["fact_score"]
    assert once["external"] == again["external"] == 2
    assert weigh(weighing, [cite("s0:1#a", TEA), cite("s0:1#b", f"Yes: {TEA}")])["external"] == 1


def test_old_evidence_does_not_underflow(weighing: Office) -> None:
    """Fifty years at a half-life of two hours is next to nothing, and no fault."""
    assert weigh(weighing, [cite("s2:1", TEA, accessed_at="1971-01-01")])["fact_score"] < 1e-50


def test_a_source_may_say_how_fast_its_evidence_ages(weighing: Office) -> None:
    """Otherwise the layer's evidence_half_life counts."""
    old = (NOW - timedelta(days=100)).isoformat()
    assert weigh(weighing, [cite("s0:1", TEA, accessed_at=old)])["fact_score"] == pytest.approx(0.5)
    call(
        weighing.world.admin,
        "define_source",
        uri_pattern="slow:*",
        type="document",
        half_life="200 days",
        org=weighing.org,
    )
    assert weigh(weighing, [cite("slow:1", TEA, accessed_at=old)])["fact_score"] == pytest.approx(
        0.5**0.5
    )
