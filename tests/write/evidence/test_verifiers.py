"""Verdicts of verifiers outside the database take the place of the support that the rules find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from access import call
from write.evidence.conftest import DOCS, TEA, Office, cite

if TYPE_CHECKING:
    from psycopg.rows import DictRow

    from conftest import World


@pytest.fixture
def asked(shipped: World) -> Office:
    """An organisation whose semantic layer has two judges of one kind vote."""
    office = Office(shipped)
    office.source(f"{DOCS}*")
    call(
        shipped.admin,
        "require_verifier",
        org=office.org,
        layer="semantic",
        purpose="verify",
        plugin="judge",
        quorum=2,
    )
    return office


def ask(office: Office, excerpt: str = "Ana is fond of sencha.") -> DictRow:
    """Write a fact that only somebody who knows tea finds in the excerpt."""
    return office.write(
        {"drink": "green tea"}, cite(DOCS, excerpt), subject="Ana", predicate="prefers"
    )


def answer(office: Office, request: DictRow, *verdicts: tuple[str, float]) -> DictRow:
    """Give the verdicts, in place of a worker, and send the request through the gates again."""
    admin = office.world.admin
    for part, (decision, score) in enumerate(verdicts, start=1):
        admin.execute(
            "INSERT INTO memwarden_data.verdict (org_id, request_id, purpose, plugin, part, "
            "plugin_version, decision, score, detail, given_at, given_by)"
            " SELECT r.org_id, r.request_id, 'verify', 'judge', %s, '1', %s, %s, '{}', "
            "now(), 'test' FROM memwarden_data.write_request AS r WHERE r.request_id = %s",
            (part, decision, score, request["request_id"]),
        )
    admin.execute(
        "UPDATE memwarden_data.write_request SET attempt = attempt + 1 WHERE request_id = %s",
        (request["request_id"],),
    )
    return office.world.rows(
        "SELECT * FROM memwarden_data.write_request WHERE request_id = %s", request["request_id"]
    )[0]


def test_a_write_waits_for_its_verifiers(asked: Office) -> None:
    """They are shown the claim and its evidence, and no more of it.

    Proves: V3 (a request waits for its verdict)
    """
    request = ask(asked)
    assert (request["outcome"], request["reason"]) == ("DEFERRED", "AWAITING_VERDICT")
    payload = asked.world.rows(
        "SELECT payload FROM memwarden_data.job WHERE request_id = %s", request["request_id"]
    )[0]["payload"]
    assert payload["claim"] == "Ana prefers green tea"
    assert (payload["subject"], payload["predicate"], payload["content"], payload["layer"]) == (
        "Ana",
        "prefers",
        {"drink": "green tea"},
        "semantic",
    )
    assert [set(e) for e in payload["evidence"]] == [{"type", "uri", "excerpt", "accessed_at"}]


def test_their_mean_is_the_support(asked: Office) -> None:
    """What the rules could not see, they can; both are on the record.

    Proves: V2, V3 (multi-model consensus)
    """
    done = answer(asked, ask(asked), ("accept", 0.9), ("accept", 0.8))
    assert done["outcome"] == "COMMITTED"
    record = asked.world.rows(
        "SELECT record FROM memwarden_data.whole_provenance WHERE version_id = %s",
        done["version_id"],
    )[0]["record"]
    assert record["fact_score"] == pytest.approx(0.85, abs=1e-6)
    assert record["evidence"][0]["support"] == pytest.approx(0.85)
    assert record["verified_by"] == [
        {"verifier": "judge", "version": "1", "score": score, "looked": False}
        for score in (0.9, 0.8)
    ]


def test_a_low_mean_waits_for_a_person(asked: Office) -> None:
    """Accepted without conviction: neither borne out nor denied, so a person decides.

    Proves: V2, H2
    """
    done = answer(asked, ask(asked), ("accept", 0.7), ("accept", 0.8))
    assert (done["outcome"], done["reason"]) == ("DEFERRED", "EVIDENCE_UNCLEAR")
    assert done["detail"]["fact_score"] == pytest.approx(0.75, abs=1e-6)


@pytest.mark.parametrize(
    "verdicts", [[("reject", 0.1), ("reject", 0.2)], [("accept", 1.0), ("reject", 0.0)]]
)
def test_a_vote_against_it_refuses(asked: Office, verdicts: list[tuple[str, float]]) -> None:
    """All of them, or half.

    Proves: V3 (multi-model consensus)
    """
    done = answer(asked, ask(asked), *verdicts)
    assert (done["outcome"], done["reason"]) == ("REJECTED", "VERIFICATION_FAILED")
    assert [v["decision"] for v in done["detail"]["verdicts"]] == [
        decision for decision, _ in verdicts
    ]


def test_no_verdict_makes_up_for_a_contradiction(asked: Office) -> None:
    """What the rules find to say the contrary supports nothing, whoever likes it.

    Proves: V3 (source cross-reference)
    """
    done = answer(
        asked, ask(asked, "Ana does not prefer green tea."), ("accept", 1.0), ("accept", 1.0)
    )
    assert (done["reason"], done["detail"]["fact_score"]) == ("INSUFFICIENT_EVIDENCE", 0)


def test_without_a_verdict_in_time_it_is_refused(asked: Office) -> None:
    """Or decided without, where the administrator said so."""
    request = ask(asked)
    asked.world.admin.execute(
        "UPDATE memwarden_data.job SET created_at = created_at - interval '1 hour', run_at = "
        "run_at - interval '1 hour', deadline = now() - interval '1 second' "
        "WHERE request_id = %s",
        (request["request_id"],),
    )
    assert answer(asked, request)["reason"] == "VERDICT_TIMEOUT"


def test_what_is_refused_anyway_is_not_asked(asked: Office) -> None:
    """Verifiers cost: a write without evidence, or on its own word, is none of their business."""
    for evidence in ([], [cite("thought:1", TEA)]):
        request = asked.write({"drink": "green tea"}, *evidence)
        assert request["outcome"] == "REJECTED"
        query = "SELECT count(*) FROM memwarden_data.job WHERE request_id = %s"
        assert asked.world.value(query, request["request_id"]) == 0


def test_payloads_hold_nothing_that_the_writer_may_not_read(asked: Office) -> None:
    """A hidden memory among the references has no excerpt there."""
    other = Office(asked.world)
    asked.world.admin.execute(
        "SELECT memwarden.configure_layer('semantic', %s)", (Jsonb({"min_authority": 0}),)
    )
    other.source(f"{DOCS}*")
    secret = other.write(
        {"drink": "poison"},
        cite(DOCS, "Bo prefers poison."),
        layer="durable",
        subject="Bo",
        predicate="prefers",
    )
    request = asked.write(
        {"drink": "green tea"}, cite(DOCS, TEA), {"uri": f"memwarden:item/{secret['item_id']}"}
    )
    asked.world.ship_layers()
    payload: Any = asked.world.rows(
        "SELECT payload FROM memwarden_data.job WHERE request_id = %s", request["request_id"]
    )[0]["payload"]
    assert "poison" not in str(payload)
