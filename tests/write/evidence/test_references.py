"""The form of references and origins: what is wrong is named, no claim of worth is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from helpers import write
from write.evidence.conftest import DOCS, TEA, Office, cite

if TYPE_CHECKING:
    from psycopg.rows import DictRow

    from conftest import World

FACT: dict[str, Any] = {"content": {"drink": "green tea"}, "subject": "Ana", "predicate": "prefers"}


def paths(answer: DictRow) -> list[str]:
    """Where a refused request is wrong."""
    assert answer["outcome"] == "REJECTED"
    return [error["path"] for error in answer["detail"]["errors"]]


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        ("x", ""),
        ({}, ".uri"),
        ({"uri": " "}, ".uri"),
        ({"uri": 7}, ".uri"),
        ({"uri": "u:" + "x" * 2000}, ".uri"),
        (cite("u:x", type="rumour"), ".type"),
        (cite("u:x", type=1), ".type"),
        (cite("u:x", version=""), ".version"),
        (cite("u:x", version="v" * 201), ".version"),
        (cite("u:x", "x" * 8193), ".excerpt"),
        ({"uri": "u:x", "excerpt": ["x"]}, ".excerpt"),
        (cite("u:x", accessed_at="NaN"), ".accessed_at"),
        (cite("u:x", accessed_at="now"), ".accessed_at"),
        (cite("u:x", accessed_at="infinity"), ".accessed_at"),
        (cite("u:x", accessed_at="2999-01-01"), ".accessed_at"),
        (cite("u:x", accessed_at="1969-12-31"), ".accessed_at"),
        (cite("u:x", accessed_at="2024-02-30"), ".accessed_at"),
        (cite("u:x", accessed_at="2024-01-01 10:00:00"), ".accessed_at"),
        (cite("u:x", accessed_at=1700000000), ".accessed_at"),
    ],
)
def test_what_is_wrong_with_a_reference_is_named(office: Office, reference: Any, path: str) -> None:
    """By its place and field, beside a reference that is well formed.

    Proves: P2
    """
    answer = office.write(FACT["content"], cite(DOCS, TEA), reference)
    assert (answer["reason"], paths(answer)) == ("EVIDENCE_INVALID", [f"evidence.1{path}"])


def test_all_that_is_wrong_is_named_at_once(office: Office) -> None:
    """Of several references, and of the origin beside them."""
    answer = write(
        office.writer,
        "semantic",
        FACT["content"],
        evidence=[{"uri": 1}, cite("u:x", type="rumour", version="")],
        origin={"kind": "guess"},
    )
    assert answer["reason"] == "MULTIPLE_VIOLATIONS"
    assert paths(answer) == [
        "evidence.0.uri",
        "evidence.1.type",
        "evidence.1.version",
        "origin.kind",
    ]


@pytest.mark.parametrize(
    "accessed_at",
    ["2024-05-01", "2024-05-01T10:00:00Z", "2024-05-01T10:00:00.5+02:00", "2024-05-01 10:00:00+00"],
)
def test_a_time_is_read_as_rfc_3339_writes_it(office: Office, accessed_at: str) -> None:
    """And the record has it in UTC, whatever the session's zone."""
    office.writer.execute("SET timezone = 'Pacific/Kiritimati'")
    office.source(f"{DOCS}old/*", half_life="100 years")
    answer = office.write(
        {"drink": "green tea"},
        cite(f"{DOCS}old/1", TEA, accessed_at=accessed_at),
        subject="Ana",
        predicate="prefers",
    )
    assert office.grounds(answer)[0]["accessed_at"].startswith("2024-05-01T")


@pytest.mark.parametrize(
    ("origin", "path"),
    [
        ([], ""),
        ("x", ""),
        ({"mood": "good"}, ""),
        ({"task": "x" * 5000}, ""),
        ({"kind": "hearsay"}, ".kind"),
        ({"kind": 1}, ".kind"),
        ({"trigger": "whim"}, ".trigger"),
        ({"agent_version": "x" * 101}, ".agent_version"),
        ({"agent_version": 2}, ".agent_version"),
        ({"task": ""}, ".task"),
        ({"session": 5}, ".session"),
        ({"retrieval_query": []}, ".retrieval_query"),
        ({"retrieval_scores": ["0.5"]}, ".retrieval_scores"),
        ({"retrieval_scores": 1}, ".retrieval_scores"),
        ({"retrieval_scores": [[0.5]]}, ".retrieval_scores"),
    ],
)
def test_what_is_wrong_with_an_origin_is_named(office: Office, origin: Any, path: str) -> None:
    """Names, kinds, triggers and sizes.

    Proves: D7
    """
    answer = write(office.writer, "working", {"x": 1}, origin=origin)
    assert answer["reason"] == "ORIGIN_INVALID"
    assert f"origin{path}" in paths(answer)


@pytest.mark.parametrize(
    "trigger",
    [
        *("learning_summary", "explicit_feedback", "fact_discovery", "configuration_change"),
        "consolidation",
    ],
)
@pytest.mark.parametrize(
    ("kind", "confidence"), [("user_stated", 1.0), ("agent_inferred", 0.6), ("pattern", 0.4)]
)
def test_kind_and_trigger_are_recorded_and_the_kind_sets_the_confidence(
    office: Office, trigger: str, kind: str, confidence: float
) -> None:
    """The kinds of origin and the four triggers of the documents.

    Proves: D7
    """
    origin = {
        "kind": kind,
        "trigger": trigger,
        "agent_version": "1.2",
        "retrieval_query": "tea",
        "retrieval_scores": [0.5, 1],
    }
    answer = write(office.writer, "working", {"x": 1}, origin=origin)
    assert answer["outcome"] == "COMMITTED"
    found = office.world.rows(
        "SELECT record FROM memwarden_data.whole_provenance WHERE version_id = %s",
        answer["version_id"],
    )[0]["record"]
    assert (found["origin"], found["agent_confidence"]) == (origin, confidence)


def test_without_a_type_a_reference_claims_that_of_its_origin(office: Office) -> None:
    """Recorded as a claim; what it counts as, the registry says.

    Proves: D7
    """
    answer = office.write(
        {"drink": "green tea"},
        cite(f"{DOCS}1", TEA),
        subject="Ana",
        predicate="prefers",
        origin={"kind": "user_stated"},
    )
    ground = office.grounds(answer)[0]
    assert (ground["type"], ground["claimed_type"]) == ("document", "human_input")


@pytest.mark.parametrize(
    "forged",
    [
        {"authority": 1},
        {"support": 1},
        {"weight": 100},
        {"freshness": 1},
        {"external": True},
        {"registered": True},
        {"issuer": "the pope"},
        {"type": "human_input"},
        {"type": "document"},
        {"excerpt_hash": "00"},
        {"evidence_id": "01a1fcee-488e-7d98-a9d3-e48e8e977ab4"},
        {"believed": True, "counted": True},
    ],
)
def test_what_a_writer_claims_of_its_evidence_is_not_believed(
    office: Office, forged: dict[str, Any]
) -> None:
    """A uri that no source matches is the agent's own reasoning, worth 0.3, whatever it says.

    Proves: V9
    """
    answer = office.write(
        FACT["content"],
        cite("https://elsewhere.example/1", TEA, **forged),
        subject="Ana",
        predicate="prefers",
    )
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "SELF_REFERENTIAL")
    (told,) = answer["detail"]["evidence"]
    assert (told["type"], told["authority"], told["registered"]) == ("agent_reasoning", 0.3, False)


def test_against_itself_a_writer_is_believed(office: Office) -> None:
    """Who says that it only reasoned is not asked whether it read a document."""
    answer = office.write(FACT["content"], cite(DOCS, TEA, type="agent_reasoning"))
    assert answer["reason"] == "SELF_REFERENTIAL"


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
things = texts | st.sampled_from([None, 7, "", " ", "document", "2024-01-01", ["x"], {"a": "b"}])
references = things | st.dictionaries(
    st.sampled_from(["uri", "excerpt", "type", "version", "accessed_at", "more"]), things
)


@given(evidence=st.lists(references, max_size=4) | references)
@example(evidence=[{"uri": "u:x"}] * 101)
@example(evidence=[{"uri": "u"}] * 101)
@example(evidence=[[{"uri": "u:x"}]])
@example(evidence={"uri": "u:x"})
@settings(max_examples=200, deadline=None)
def test_a_quick_look_passes_nothing_that_is_wrong(shared_world: World, evidence: Any) -> None:
    """What the gate does not look through is well formed."""
    query = (
        "SELECT memwarden_internal.is_plain_evidence(%s) AS is_plain,"
        " memwarden_internal.evidence_violations(%s, now()) AS violations"
    )
    seen = shared_world.rows(query, Jsonb(evidence), Jsonb(evidence))[0]
    assert not seen["is_plain"] or seen["violations"] == []


def test_a_quick_look_passes_what_is_usual(shared_world: World) -> None:
    """Otherwise every write would pay for the long one."""
    usual = Jsonb([cite(DOCS, TEA), cite("u:x", TEA), {"uri": "u:y"}])
    query = "SELECT memwarden_internal.is_plain_evidence(%s) AS is_plain"
    assert shared_world.rows(query, usual)[0]["is_plain"]
