"""Each answer says how far it may be asserted, and that nothing is known is an answer too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import call, curator, join, name_of, state
from helpers import recall, write, write_many

if TYPE_CHECKING:
    from conftest import World

ORG = "/org/acme"


def recorder(world: World, name: str, type: str, authority: float) -> Connection[DictRow]:
    """Connect as an application that alone speaks for a source, which an administrator declares."""
    application = join(world, ORG, kind="service", role="contributor")
    call(
        curator(world, ORG),
        "define_source",
        uri_pattern=f"{name}:*",
        type=type,
        authority=authority,
        issuer=name_of(application),
    )
    return application


def cite(application: Connection[DictRow], uri: str, words: str, **more: Any) -> dict[str, Any]:
    """Have an application record what it saw, for all of the organisation to cite."""
    [row] = call(application, "record_evidence", uri=uri, excerpt=words, scope=ORG, **more)
    return {"type": "document", "uri": row["record_evidence"]}


@pytest.mark.every_version
def test_standing_follows_who_recorded_the_words(world: World) -> None:
    """A document on record, a person's words on record, a quote, nothing: one sentence for each.

    Proves: N7
    """
    agent = world.agent()
    manual = recorder(world, "manual", "document", 0.95)
    wire = recorder(world, "wire", "document", 0.7)
    tool = recorder(world, "tool", "tool_output", 0.95)

    def said(subject: str, *evidence: dict[str, Any]) -> None:
        done = write(
            agent,
            "semantic",
            {"text": f"The parcel of {subject} weighs nine kilos."},
            evidence=list(evidence),
        )
        assert done["outcome"] == "COMMITTED", {"reason": done["reason"]}

    def words(subject: str) -> str:
        return f"The parcel of {subject} weighs nine kilos."

    said("Ana", cite(manual, "manual:1", words("Ana")))
    said("Bob", cite(wire, "wire:1", words("Bob")))
    said("Cid", cite(tool, "tool:1", words("Cid")))
    said("Dan", {"type": "document", "uri": "manual:2", "excerpt": words("Dan")})
    said("Eve", {"type": "document", "uri": "https://blog.example/1", "excerpt": words("Eve")})
    said("Fay")
    said("Gil", cite(manual, "manual:3", "The parcel of Dan weighs twelve tons."))
    found = {row["text"].split()[3]: row for row in recall(agent, query="parcel weighs")}
    assert {name: row["standing"] for name, row in found.items()} == {
        "Ana": "verified",
        "Bob": "supported",
        "Cid": "supported",
        "Dan": "reported",
        "Eve": "reported",
        "Fay": "inferred",
        "Gil": "reported",
    }
    assert found["Ana"]["hedge"] is None
    today = found["Bob"]["provenance"]["recorded_at"][:10]
    assert found["Bob"]["hedge"] == f"according to {name_of(wire)}, {today}"
    assert found["Eve"]["hedge"] == "reportedly"
    boss = curator(world, ORG)
    call(boss, "set_hedge", standing="inferred", phrase="we guess that")
    call(boss, "set_hedge", standing="supported", phrase="as {source} has it")
    found = {row["text"].split()[3]: row for row in recall(agent, query="parcel weighs")}
    assert found["Fay"]["hedge"] == "we guess that"
    assert found["Cid"]["hedge"] == f"as {name_of(tool)} has it"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        call(agent, "set_hedge", standing="inferred", phrase="x")
    assert state(boss, "set_hedge", standing="sure", phrase="x") == "22023"


def test_an_agent_that_speaks_for_a_source_supports_nothing_of_its_own(world: World) -> None:
    """A declared application supports what it writes itself; an agent that is declared does not.

    Proves: N7
    """
    boss = curator(world, ORG)
    for kind, expected in (("agent", "reported"), ("service", "supported")):
        writer = join(world, ORG, kind=kind, role="contributor")
        words = f"The {kind} of Bob weighs nine kilos."
        uri = f"chat-{kind}:1"
        call(
            boss,
            "define_source",
            uri_pattern=f"chat-{kind}:*",
            type="human_input",
            issuer=name_of(writer),
        )
        write(writer, "semantic", {"text": words}, evidence=[cite(writer, uri, words)])
        (row,) = recall(writer, query=f"{kind} weighs", k=1)
        assert (row["text"], row["standing"]) == (words, expected)


def test_across_a_surface_no_source_is_named(world: World) -> None:
    """Who said it does not cross where internals do not.

    Proves: N7
    """
    agent = world.agent()
    wire = recorder(world, "wire", "document", 0.7)
    words = "The parcel of Bob weighs nine kilos."
    write(agent, "semantic", {"text": words}, evidence=[cite(wire, "wire:1", words)])
    call(curator(world, ORG), "define_surface", name="counter")
    (row,) = recall(agent, query="parcel of Bob", surface="counter")
    assert (row["standing"], row["hedge"]) == ("supported", "reportedly")


def test_the_column_is_told_and_rebuilt(world: World) -> None:
    """What recall tells stands in the head, however it was stored, and follows from the records.

    Proves: N7
    """
    agent = world.agent()
    wire = recorder(world, "wire", "document", 0.7)
    on_record = cite(wire, "wire:1", "The crate holds nine apples.")
    quote = {"type": "document", "uri": "wire:2", "excerpt": "The barrel holds nine apples."}
    write(agent, "episodic", {"text": "The crate holds nine apples."}, evidence=[on_record])
    write(agent, "episodic", {"text": "The barrel holds nine apples."}, evidence=[quote])
    write_many(
        agent,
        [
            {"layer": "episodic", "content": {"text": "The basket holds nine pears."}},
            {"layer": "episodic", "content": {"text": "The jar has plums."}, "evidence": [quote]},
        ],
    )
    heads = "SELECT item_id, standing FROM memwarden_data.item ORDER BY item_id"
    before = world.rows(heads)
    assert sorted(row["standing"] for row in before) == [
        "inferred",
        "reported",
        "reported",
        "supported",
    ]
    told = {
        row["item_id"]: row["standing"] for row in recall(agent, query="nine apples pears plums")
    }
    assert told == {row["item_id"]: row["standing"] for row in before}
    world.admin.execute("SELECT memwarden.rebuild_heads()")
    world.admin.execute("UPDATE memwarden_data.item SET standing = 'verified'")
    assert {row["finding"] for row in call(world.admin, "verify_provenance")} == {"HEAD"}
    world.admin.execute("SELECT memwarden.rebuild_heads(replace => true)")
    assert world.rows(heads) == before


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
def test_a_surface_is_of_its_organisation_alone(shared_world: World) -> None:
    """Nobody else drops it.

    Proves: N7
    """
    ours, theirs = (curator(shared_world, f"/org/{name}") for name in ("standing1", "standing2"))
    call(ours, "define_surface", name="counter")
    assert state(theirs, "drop_surface", name="counter") == "42704"
    call(ours, "drop_surface", name="counter")
