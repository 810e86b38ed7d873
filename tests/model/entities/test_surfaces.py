"""What is found by an entity, a decision or a workflow is told as what is recalled is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from access import call, curator, join, name_of, state
from helpers import recall
from model.entities.conftest import HOME, ORG, Acme, attribute, register, say
from recall.surfaces.conftest import visitor

if TYPE_CHECKING:
    from conftest import World

SAME = ("content", "subject", "predicate", "scope", "standing", "hedge", "suspicious", "origin")


def told(rows: list[dict[str, Any]]) -> str:
    """What is said in some rows, but for their numbers."""
    return str(
        [{k: v for k, v in row.items() if k not in ("item_id", "version_id")} for row in rows]
    )


def people(acme: Acme) -> Any:
    """Ana, who works for Globex, and what is remembered of both."""
    register(acme.curator, "person:ana", "Ana")
    register(acme.curator, "company:globex", "Globex Holding")
    attribute(acme.curator, "company:globex", "contract", "KX-99817", classification="confidential")
    call(acme.world.admin, "set_sensitivity_action", kind="pii", action="allow")
    clerk = acme.member(clearance="confidential")
    work = {"origin": {"workflow": "sales", "decision": "d-1"}}
    rows = [
        say(clerk, "Ana", "writes from", "ana@example.org", **work),
        say(clerk, "Ana", "works for", "Globex Holding", **work),
        say(clerk, "Ana", "earns", "little", classification="confidential", **work),
        say(clerk, "Globex Holding", "sells", "boats, see https://globex.example.org", **work),
    ]
    assert {row["outcome"] for row in rows} == {"COMMITTED"}, rows
    return clerk


def test_it_is_told_as_a_recall_tells_it(acme: Acme) -> None:
    """Standing, hedge and screening without a surface; stripped and capped across one.

    Proves: N7, Z3
    """
    clerk = people(acme)
    boss = curator(acme.world, ORG)
    call(boss, "define_surface", name="chat")
    for surface in (None, "chat"):
        recalled = {
            row["item_id"]: row for row in recall(clerk, query="Ana boats", k=50, surface=surface)
        }
        found = call(clerk, "recall_entity", entity="person:ana", depth=1, surface=surface)
        keyed = call(clerk, "recall_keyed", workflow="sales", surface=surface)
        assert {row["item_id"] for row in found} == {row["item_id"] for row in keyed}
        assert len(found) == (4 if surface is None else 3)
        for row in (*found, *keyed):
            for name in SAME:
                assert row[name] == recalled[row["item_id"]][name], (surface, name)
            assert row["hedge"] == "presumably"
        assert ("earns" in told(found)) == (surface is None)
        for secret in ("ana@", "https", "Globex", "globex", name_of(clerk), HOME):
            for rows in (found, keyed):
                assert (secret in told(rows)) == (surface is None), (surface, secret)
    call(boss, "define_surface", name="desk", strip=["pii"])
    rows = call(clerk, "recall_entity", entity="person:ana", depth=1, surface="desk")
    assert {row["entity"] for row in rows} == {"person:ana", "company:globex"}
    assert state(clerk, "recall_entity", entity="person:ana", surface="nowhere") == "42704"
    assert state(clerk, "recall_keyed", surface="nowhere") == "42704"


def test_who_reads_through_a_surface_alone_finds_what_that_tells(acme: Acme) -> None:
    """By the entities and scopes that it reaches there; by another surface there are none.

    Proves: N7
    """
    people(acme)
    boss = curator(acme.world, ORG)
    call(boss, "define_surface", name="customer_chat", strip=["pii"])
    call(boss, "define_surface", name="desk", strip=[], max_classification="restricted")
    guest = visitor(acme.world, boss, "customer_chat")
    rows = call(guest, "recall_entity", entity="person:ana", depth=1, surface="customer_chat")
    assert len(rows) == 3
    assert "ana@" not in told(rows)
    assert len(call(guest, "recall_keyed", decision="d-1", surface="customer_chat")) == 3
    for surface in (None, "desk"):
        assert state(guest, "recall_entity", entity="person:ana", surface=surface) == "42704"
        assert call(guest, "recall_keyed", decision="d-1", surface=surface) == []


def test_an_entity_above_the_surface_leads_nowhere(acme: Acme) -> None:
    """Neither is it found, nor is what lies behind it.

    Proves: N7
    """
    clerk = people(acme)
    boss = curator(acme.world, ORG)
    register(boss, "person:spy", "Bo", classification="confidential")
    assert say(clerk, "Bo", "works for", "Ana")["outcome"] == "COMMITTED"
    assert say(clerk, "Bo", "likes", "rum")["outcome"] == "COMMITTED"
    call(boss, "define_surface", name="chat", strip=["pii"])
    assert len(call(clerk, "recall_entity", entity="person:ana", depth=2)) > 4
    across = {"entity": "person:ana", "depth": 2, "surface": "chat"}
    assert "rum" not in told(call(clerk, "recall_entity", **across))
    assert state(clerk, "recall_entity", entity="person:spy", surface="chat") == "42704"


def test_it_is_screened_by_the_rules_of_today(world: World, acme: Acme) -> None:
    """Redacted and withheld as a recall has it.

    Proves: Z3
    """
    register(acme.curator, "person:ana", "Ana")
    agent = join(world, HOME)
    work = {"origin": {"workflow": "w"}}
    assert say(agent, "Ana", "has badge", "AB-12345", **work)["outcome"] == "COMMITTED"
    for action, content in (("flag", "AB-12345"), ("redact", "[pii.badge]"), ("block", None)):
        call(
            world.admin,
            "define_sensitivity_rule",
            rule="badge",
            kind="pii.badge",
            definition=Jsonb({"pattern": r"\bAB-[0-9]{5}\b"}),
            tests=Jsonb({"positive": ["AB-12345"], "negative": ["AB-1"]}),
            level="suspicious",
            action=action,
        )
        (found,) = call(agent, "recall_entity", entity="person:ana")
        (keyed,) = call(agent, "recall_keyed", workflow="w")
        for row in (found, keyed):
            assert (row["content"], row["suspicious"]) == (content, ["pii.badge"])
