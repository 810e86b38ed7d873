"""The registry of sources: administrators say what evidence is worth, and writers do not."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from access import call, curator, state
from write.evidence.conftest import DOCS, TEA, Office, cite

if TYPE_CHECKING:
    from conftest import World

TYPES = {
    "document": 1.0,
    "human_input": 1.0,
    "api_response": 0.95,
    "code_execution": 0.9,
    "memory_item": 0.9,
    "tool_output": 0.8,
    "agent_reasoning": 0.3,
}


def test_every_type_of_evidence_has_an_authority_of_its_own(shipped: World) -> None:
    """Official documentation 1.0 down to model output 0.3.

    Proves: V9, P2
    """
    rows = shipped.rows("SELECT type, authority FROM memwarden_data.source_type")
    assert {row["type"]: row["authority"] for row in rows} == TYPES


def worth(office: Office, uri: str) -> tuple[str, float]:
    """Type and authority of a reference, read from a write into a layer that asks for nothing."""
    # What waits for a person would answer for another write of the same words.
    answer = office.write({"n": f"{uri} {uuid.uuid4()}"}, cite(uri, TEA), layer="episodic")
    told = (
        office.grounds(answer)[0]
        if answer["outcome"] == "COMMITTED"
        else answer["detail"]["evidence"][0]
    )
    return told["type"], told["authority"]


@pytest.mark.parametrize(
    ("uri", "authority"),
    [
        (f"{DOCS}a", 1.0),
        (f"{DOCS}api/x", 0.9),
        (f"{DOCS}api/v1/x", 0.4),
        (f"{DOCS}api/v1/x?y=1#z", 0.4),
        ("HTTPS://DOCS.example.ORG/a", 1.0),
        ("https://docs.example.org/API/x", 1.0),
        ("https://docs.example.org", 0.3),
        ("https://docs.example.org.evil.example/api/x", 0.3),
        ("https://docs.example.org@evil.example/", 0.3),
        ("https://evil.example/?https://docs.example.org/a", 0.3),
        ("https://evil.example@docs.example.org/a", 0.3),
        (f"{DOCS}../a", 0.3),
        (f"{DOCS}x/%2e%2e/api", 0.3),
        (f"{DOCS}x/..", 0.3),
        (f"{DOCS}a\\b", 0.3),
        (f"{DOCS}a b", 0.3),
        (f"{DOCS}100%", 1.0),
        ("http://docs.example.org/a", 0.3),
        (f" {DOCS}", 0.3),
        (f"{DOCS}a_b%25", 1.0),
    ],
)
def test_the_most_specific_source_speaks_for_a_uri(
    office: Office, uri: str, authority: float
) -> None:
    """The pattern with the most characters; what only looks like a uri of the source is none.

    Proves: V9
    """
    office.source(f"{DOCS}api/*", authority=0.9)
    office.source(f"{DOCS}api/*/x*", authority=0.4)
    assert worth(office, uri)[1] == authority


def test_wildcards_of_sql_are_plain_characters(office: Office) -> None:
    """Only * stands for anything."""
    office.source("tool:a_b%c", "tool_output")
    assert worth(office, "tool:a_b%c") == ("tool_output", 0.8)
    assert worth(office, "tool:axbyyc") == ("agent_reasoning", 0.3)


def test_an_organisation_speaks_for_itself(office: Office) -> None:
    """Its own word before that of all for the same pattern, and never for another organisation.

    Proves: V9
    """
    other = Office(office.world)
    pattern = f"https://{office.org}.example/*"
    call(office.world.admin, "define_source", uri_pattern=pattern, type="document")
    office.source(pattern, "tool_output", authority=0.5)
    uri = f"https://{office.org}.example/1"
    assert worth(office, uri) == ("tool_output", 0.5)
    assert worth(other, uri) == ("document", 1.0)
    call(office.world.admin, "drop_source", uri_pattern=pattern, org=office.org)
    assert worth(office, uri) == ("document", 1.0)


@pytest.mark.parametrize(
    "arguments",
    [
        {"uri_pattern": "*"},
        {"uri_pattern": "https://*"},
        {"uri_pattern": "https:*"},
        {"uri_pattern": "https:/*"},
        {"uri_pattern": "https://docs.example.org*"},
        {"uri_pattern": "https://*.example.org/"},
        {"uri_pattern": "docs"},
        {"uri_pattern": "a:" + "*" * 5},
        {"uri_pattern": "memwarden:item/*"},
        {"uri_pattern": "MemWarden:*"},
        {"uri_pattern": "u:a b"},
        {"uri_pattern": "u:" + "x" * 1000},
        {"uri_pattern": ""},
        {"uri_pattern": None},
        {"uri_pattern": "https:///x"},
        {"type": "rumour"},
        {"type": "memory_item"},
        {"type": None},
        {"authority": 1.1},
        {"authority": float("nan")},
        {"authority": -0.1},
        {"weight": 0},
        {"weight": 101},
        {"weight": float("nan")},
        {"weight": None},
        {"half_life": "0"},
        {"half_life": "-1 day"},
        {"half_life": "2000 years"},
        {"description": "x" * 1001},
    ],
)
def test_a_source_that_cannot_be_meant_is_refused(
    office: Office, arguments: dict[str, Any]
) -> None:
    """Patterns that match more than they seem to, and numbers out of range."""
    named = {"uri_pattern": "u:x", "type": "document", "org": office.org} | arguments
    assert state(office.world.admin, "define_source", **named) == "22023"


def test_only_administrators_define_sources(office: Office) -> None:
    """An agent cannot; who administers an organisation can, for that organisation.

    Proves: V9
    """
    boss = curator(office.world, f"/org/{office.org}")
    arguments = {"uri_pattern": "u:x", "type": "document"}
    assert state(office.writer, "define_source", **arguments) == "42501"
    assert state(office.writer, "define_source", **arguments, org="global") == "42501"
    assert state(office.writer, "drop_source", uri_pattern=f"{DOCS}*") == "42501"
    assert state(boss, "define_source", **arguments, org="global") == "42501"
    assert state(boss, "define_source", **arguments, org=Office(office.world).org) == "42501"
    call(boss, "define_source", **arguments)
    assert worth(office, "u:x") == ("document", 1.0)
    call(boss, "drop_source", uri_pattern="u:x")
    assert worth(office, "u:x") == ("agent_reasoning", 0.3)
    assert state(boss, "drop_source", uri_pattern="u:x") == "42704"
    assert state(boss, "define_source", **arguments, issuer="nobody") == "42704"


def test_agents_see_the_sources_that_speak_for_them(office: Office) -> None:
    """Their organisation's and those of all, with what each is worth; no other organisation's."""
    other = Office(office.world)
    call(
        office.world.admin,
        "define_source",
        uri_pattern=f"all:{office.org}",
        type="document",
        issuer=other.broker_name,
    )
    rows = {
        row["uri_pattern"]: row
        for row in office.writer.execute("SELECT * FROM memwarden.sources").fetchall()
    }
    assert rows[f"{DOCS}*"]["authority"] == 1
    assert rows["chat:*"]["issuer"] == office.broker_name
    assert {row["org"] for row in rows.values()} == {office.org, "global"}
    assert rows[f"all:{office.org}"]["issuer"] == "(another organisation's)"
    changes = office.world.rows(
        "SELECT action FROM memwarden_data.access_log WHERE detail ->> 'uri_pattern' = %s",
        f"all:{office.org}",
    )
    assert [row["action"] for row in changes] == ["define_source"]
