"""Recorded evidence: kept by who saw it, cited by others, changed by nobody."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from access import call, state
from write.evidence.conftest import DOCS, TEA, Office, cite

if TYPE_CHECKING:
    from conftest import World

FACT: dict[str, Any] = {"content": {"drink": "green tea"}, "subject": "Ana", "predicate": "prefers"}


def remember(office: Office, *evidence: dict[str, Any]) -> Any:
    """Write a fact with that evidence."""
    return office.write(FACT["content"], *evidence, subject="Ana", predicate="prefers")


def test_an_agent_cites_what_the_issuer_recorded(office: Office) -> None:
    """Type, place, time, authority, excerpt hash and issuer are on the record of the memory.

    Proves: P2, V9
    """
    office.source("chat:*", "human_input", issuer=office.broker_name, half_life="100 years")
    uri = office.record(TEA, source_version="7", accessed_at="2026-01-02T03:04:05Z")
    answer = remember(office, cite(uri))
    (ground,) = office.grounds(answer)
    assert ground["type"] == "human_input"
    assert (ground["uri"], ground["version"]) == ("chat:ana/1", "7")
    assert ground["accessed_at"].startswith("2026-01-02T03:04:05")
    assert (ground["authority"], ground["support"], ground["external"]) == (1, 1, True)
    assert ground["excerpt_hash"] == hashlib.sha256(TEA.encode()).hexdigest()
    assert ground["issuer"] == office.broker_name
    assert uri.endswith(ground["evidence_id"])


def test_only_the_issuer_speaks_for_its_source(office: Office) -> None:
    """Another agent's word for it is its own reasoning, and it cannot record.

    Proves: V9
    """
    refused = remember(office, cite("chat:ana/1", TEA, type="human_input"))
    assert refused["reason"] == "SELF_REFERENTIAL"
    assert state(office.writer, "record_evidence", uri="chat:ana/1", excerpt=TEA) == "42501"
    assert state(office.writer, "record_evidence", uri=f"{DOCS}1", excerpt=TEA) == "42501"
    assert state(office.broker, "record_evidence", uri="nowhere:1", excerpt=TEA) == "42501"
    by_itself = office.write(
        FACT["content"],
        cite("chat:ana/1", TEA),
        by=office.broker,
        subject="Ana",
        predicate="prefers",
    )
    assert by_itself["outcome"] == "COMMITTED"


def test_the_writer_cannot_add_to_what_was_recorded(office: Office) -> None:
    """An excerpt, type or time beside the uri of recorded evidence changes nothing.

    Proves: V9
    """
    uri = office.record("Ana prefers coffee.")
    refused = remember(
        office, cite(uri, TEA, type="document", accessed_at="2020-01-01", version="9")
    )
    assert (refused["reason"], refused["detail"]["fact_score"]) == ("EVIDENCE_UNCLEAR", 0)


@pytest.mark.every_version
def test_a_source_that_is_dropped_or_passed_on_no_longer_stands_behind_its_evidence(
    office: Office,
) -> None:
    """The registry is asked when the evidence is used."""
    uri = office.record(TEA)
    call(office.world.admin, "drop_source", uri_pattern="chat:*", org=office.org)
    assert remember(office, cite(uri))["reason"] == "SELF_REFERENTIAL"
    office.source("chat:*", "human_input", issuer=office.writer_name)
    assert remember(office, cite(uri))["reason"] == "SELF_REFERENTIAL"
    call(office.world.admin, "drop_source", uri_pattern="chat:*", org=office.org)
    office.source("chat:*", "human_input", issuer=office.broker_name)
    assert remember(office, cite(uri))["outcome"] == "COMMITTED"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"excerpt": None}, "22023"),
        ({"excerpt": "  "}, "22023"),
        ({"excerpt": "x" * 8193}, "22023"),
        ({"excerpt": "the key is ghp_" + "aZ3k9Q" * 6}, "22023"),
        ({"uri": None}, "22023"),
        ({"uri": "chat:a b"}, "22023"),
        ({"uri": "chat:" + "x" * 2000}, "22023"),
        ({"source_version": ""}, "22023"),
        ({"source_version": "x" * 201}, "22023"),
        ({"accessed_at": "2999-01-01"}, "22023"),
        ({"accessed_at": "1969-01-01"}, "22023"),
        ({"accessed_at": "infinity"}, "22023"),
        ({"scope": "/org/nowhere"}, "42704"),
        ({"scope": "/global"}, "42704"),
        ({"type": "rumour"}, "22023"),
        ({"type": "memory_item"}, "22023"),
        ({"uri": f"{DOCS}1"}, "42501"),
    ],
)
def test_what_cannot_be_evidence_is_not_recorded(
    office: Office, arguments: dict[str, Any], expected: str
) -> None:
    """Sizes, times, scopes and types."""
    assert (
        state(
            office.broker, "record_evidence", **({"uri": "chat:ana/1", "excerpt": TEA} | arguments)
        )
        == expected
    )


def test_an_issuer_may_say_that_it_was_less(office: Office) -> None:
    """Never more than its source is registered for.

    Proves: V9
    """
    uri = office.record(TEA, type="tool_output")
    answer = office.write(
        FACT["content"], cite(uri), layer="episodic", subject="Ana", predicate="prefers"
    )
    assert [(g["type"], g["authority"]) for g in office.grounds(answer)] == [("tool_output", 0.8)]
    office.source("tool:*", "tool_output", issuer=office.broker_name)
    assert (
        state(office.broker, "record_evidence", uri="tool:x", excerpt=TEA, type="document")
        == "22023"
    )


def test_recorded_evidence_is_seen_by_who_reads_its_scope_and_is_never_changed(
    office: Office,
) -> None:
    """And the table itself shows no more than the view.

    Proves: P2
    """
    uri = office.record(TEA)
    stranger = Office(office.world)
    office.world.grant_tables(office.writer_name, stranger.writer_name)
    for connection, rows in ((office.writer, 1), (stranger.writer, 0)):
        assert (
            len(
                connection.execute(
                    "SELECT * FROM memwarden.evidence WHERE evidence = %s", (uri,)
                ).fetchall()
            )
            == rows
        )
        found = connection.execute(
            "SELECT * FROM memwarden_data.evidence WHERE excerpt = %s", (TEA,)
        ).fetchall()
        assert len(found) == rows
    for statement in (
        "UPDATE memwarden_data.evidence SET excerpt = 'x'",
        "DELETE FROM memwarden_data.evidence",
        "TRUNCATE memwarden_data.evidence",
    ):
        with pytest.raises(psycopg.Error):
            office.world.admin.execute(statement)


def test_tampering_is_noticed_when_it_is_cited_and_by_the_sweep(world: World) -> None:
    """Past all guards, with the hash made to fit: the seal does not.

    Proves: P2
    """
    world.ship_layers()
    office = Office(world)
    office.source("chat:*", "human_input", issuer=office.broker_name)
    kept = office.record(TEA)
    changes = (
        f"excerpt = '{TEA}', excerpt_hash = sha256('{TEA}')",
        f"excerpt = '{TEA}'",
        "uri = 'chat:other'",
        "type = 'document'",
        "accessed_at = now()",
        "issuer_id = issuer_id + 1",
        "seal = NULL",
    )
    for change in changes:
        assert world.rows("SELECT * FROM memwarden.verify_evidence()") == []
        uri = office.record("Ana prefers coffee.")
        with world.admin.transaction():
            world.admin.execute("SET LOCAL session_replication_role = replica")
            world.admin.execute(
                f"UPDATE memwarden_data.evidence SET {change} WHERE evidence_id::text = %s",
                (uri.split("/")[1],),
            )
        found = world.rows("SELECT finding, evidence FROM memwarden.verify_evidence()")
        assert found == [
            {"finding": "UNSEALED" if "seal" in change else "ALTERED", "evidence": uri}
        ]
        refused = remember(office, cite(uri))
        assert refused["outcome"] == "REJECTED"
        assert refused["detail"]["evidence"][0]["support"] == 0
        with world.admin.transaction():
            world.admin.execute("SET LOCAL session_replication_role = replica")
            world.admin.execute(
                "DELETE FROM memwarden_data.evidence WHERE evidence_id::text = %s",
                (uri.split("/")[1],),
            )
    assert remember(office, cite(kept))["outcome"] == "COMMITTED"
