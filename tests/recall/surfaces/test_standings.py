"""Each answer says how far it may be asserted, and that nothing is known is an answer too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.types.json import Jsonb

from access import call, curator, state
from helpers import recall, write

if TYPE_CHECKING:
    from conftest import World

ORG = "/org/acme"


@pytest.mark.every_version
def test_standing_follows_evidence_authority_and_confidence(world: World) -> None:
    """Several registered sources, one, none; the rules are data that an organisation sets.

    Proves: N7
    """
    boss = curator(world, ORG)
    agent = world.agent()
    for name, authority in (("manual", 0.95), ("wire", 0.7), ("press", 0.7)):
        uri = f"https://{name}.example.org/*"
        call(boss, "define_source", uri_pattern=uri, type="document", authority=authority)

    def said(subject: str, *sources: str, confidence: float = 0.9) -> None:
        text = f"the parcel of {subject} weighs nine kilos"
        done = write(
            agent,
            "semantic",
            {"text": text},
            subject=subject,
            predicate="weighs",
            confidence=confidence,
            evidence=[
                {
                    "type": "document",
                    "uri": f"https://{each}.example.org/{subject}",
                    "excerpt": text,
                }
                for each in sources
            ],
        )
        assert done["outcome"] == "COMMITTED", {"reason": done["reason"]}

    said("dan", "blog")
    said("eve")
    # Where a layer asks for evidence it is weighed.
    world.admin.execute("UPDATE memwarden_data.layer SET fact_threshold = 0.01")
    said("ana", "manual")
    said("bob", "wire", "press")
    said("cid", "wire")
    found = {row["subject"]: row for row in recall(agent, query="parcel weighs")}
    assert {name: row["standing"] for name, row in found.items()} == {
        "ana": "verified",
        "bob": "supported",
        "cid": "reported",
        "dan": "inferred",
        "eve": "inferred",
    }
    assert found["ana"]["hedge"] is None
    assert found["cid"]["hedge"] == "reportedly"
    call(
        boss,
        "set_standing_rule",
        standing="verified",
        min_confidence=0.1,
        min_authority=0.6,
        min_sources=1,
    )
    call(boss, "set_hedge", standing="inferred", phrase="we guess that")
    found = {row["subject"]: row for row in recall(agent, query="parcel weighs")}
    assert found["cid"]["standing"] == "verified"
    assert found["eve"]["hedge"] == "we guess that"
    rows = agent.execute("SELECT org, standing FROM memwarden.standings").fetchall()
    assert {row["org"] for row in rows} == {"global", "acme"}
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        call(agent, "set_hedge", standing="inferred", phrase="x")
    assert state(boss, "set_hedge", standing="sure", phrase="x") == "22023"
    wrong = {"standing": "verified", "min_confidence": 2, "min_authority": 0, "min_sources": 0}
    assert state(boss, "set_standing_rule", **wrong) == "22023"


def test_what_is_contradicted_or_over_is_said_to_be(world: World) -> None:
    """Disputed goes before outdated, and both before any evidence.

    Proves: N7, F9
    """
    agent = world.agent()
    old = write(
        agent,
        "semantic",
        {"text": "tea is at five"},
        valid_from="2010-01-01",
        valid_to="2020-01-01",
    )
    assert old["outcome"] == "COMMITTED", {"reason": old["reason"]}
    first = write(agent, "semantic", {"text": "tea is at four"}, subject="tea a")
    other = write(agent, "semantic", {"text": "tea is never served"}, subject="tea b")
    world.admin.execute(
        "SELECT memwarden_internal.record_disputes(i.org_id, i.scope_id, i.item_id, %s)"
        "  FROM memwarden_data.item AS i WHERE i.item_id = %s",
        ([other["item_id"]], first["item_id"]),
    )
    found = {row["item_id"]: row["standing"] for row in recall(agent, query="tea")}
    assert found == {
        old["item_id"]: "outdated",
        first["item_id"]: "disputed",
        other["item_id"]: "disputed",
    }


def test_below_the_threshold_the_answer_is_that_nothing_is_known(world: World) -> None:
    """One row without an item: how much came near, and nothing of it. Without a threshold, none.

    Proves: N7
    """
    agent = world.agent()
    assert recall(agent, query="volcanoes") == []
    (row,) = recall(agent, query="volcanoes", threshold=0.5)
    assert (row["item_id"], row["standing"], row["hedge"]) == (None, "unknown", "I don't know")
    assert row["provenance"]["unknown"] == {
        "threshold": 0.5,
        "near": 0,
        "nearest": None,
        "coverage": "none",
    }
    for n in range(3):
        write(agent, "semantic", {"text": f"the parcel {n} was sent on a Monday"})
    (row,) = recall(agent, query="volcanoes of Iceland", threshold=0.5)
    gap = row["provenance"]["unknown"]
    assert (gap["near"], gap["coverage"]) == (3, "below")
    assert gap["nearest"] < 0.5
    assert len(recall(agent, query="parcel sent Monday", threshold=0.2)) == 3
    (row,) = recall(agent, query="parcel", subject="nobody", threshold=0.1)
    assert row["provenance"]["unknown"]["coverage"] == "none"
    # Others' memories do not count.
    (row,) = recall(world.agent("/org/umbrella/user/ana"), query="parcel", threshold=0.5)
    assert row["provenance"]["unknown"]["near"] == 0
    # Nor is the last page of several an ignorance.
    seen = [each["item_id"] for each in recall(agent, query="parcel", threshold=0.1)]
    assert recall(agent, query="parcel", threshold=0.1, exclude=seen) == []
    (item,) = call(agent, "compile_context", query="volcanoes of Iceland", threshold=0.5)
    assert (item["item_id"], item["standing"]) == (None, "unknown")
    assert '"standing": "unknown"' in item["line"]


def test_a_surface_speaks_its_own_language(world: World) -> None:
    """Its phrases go before those of the language, and these before English.

    Proves: N7
    """
    boss = curator(world, ORG)
    agent = world.agent()
    call(
        boss,
        "define_surface",
        name="theke",
        language="de",
        floor=0.9,
        hedges=Jsonb({"unknown": "da muss ich nachfragen"}),
    )
    call(boss, "define_surface", name="comptoir", language="fr", floor=0.9)
    call(boss, "define_surface", name="elsewhere", language="nl", floor=0.9)
    said = {
        name: recall(agent, query="tea", surface=name)[0]["hedge"]
        for name in ("theke", "comptoir", "elsewhere")
    }
    assert said == {
        "theke": "da muss ich nachfragen",
        "comptoir": "je ne sais pas",
        "elsewhere": "I don't know",
    }


@pytest.mark.every_version
def test_a_rule_and_a_surface_are_of_their_organisation_alone(shared_world: World) -> None:
    """Nobody else is told of them, or drops them.

    Proves: N7
    """
    ours, theirs = (curator(shared_world, f"/org/{name}") for name in ("standing1", "standing2"))
    lowest = {"min_confidence": 0.1, "min_authority": 0.6, "min_sources": 1}
    call(ours, "set_standing_rule", standing="verified", **lowest)
    asked = "SELECT org FROM memwarden.standings WHERE standing = 'verified' ORDER BY org"
    assert [row["org"] for row in ours.execute(asked)] == ["global", "standing1"]
    assert [row["org"] for row in theirs.execute(asked)] == ["global"]
    call(ours, "define_surface", name="counter")
    assert state(theirs, "drop_surface", name="counter") == "42704"
    call(ours, "drop_surface", name="counter")
