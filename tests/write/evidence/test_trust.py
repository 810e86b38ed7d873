"""Trust never rises through derivation: what rests on memories has the least of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from helpers import recall
from reviewing import ask, decide, reviewer
from write.evidence.conftest import DOCS, TEA, Office, cite, item

if TYPE_CHECKING:
    from psycopg.rows import DictRow


def trust(office: Office, answer: DictRow) -> float:
    """The adjusted confidence of a memory, as its head and its record have it."""
    assert answer["outcome"] == "COMMITTED", answer
    head = office.world.value(
        "SELECT adjusted_confidence FROM memwarden_data.item WHERE item_id = %s", answer["item_id"]
    )
    query = (
        "SELECT record ->> 'adjusted_confidence' FROM memwarden_data.whole_provenance WHERE "
        "version_id = %s"
    )
    assert float(office.world.value(query, answer["version_id"])) == head
    return float(head)


def fact(office: Office, subject: str, *evidence: dict[str, Any], **arguments: Any) -> DictRow:
    """Write that somebody prefers green tea, with full confidence."""
    return office.write(
        {"drink": "green tea"},
        *evidence,
        subject=subject,
        predicate="prefers",
        confidence=1,
        **arguments,
    )


def poor(office: Office) -> DictRow:
    """A memory of another agent that is worth little."""
    office.source("weak:*", authority=0.85)
    other = office.world.connect(office.world.register(office.home))
    return fact(office, "Ana", cite("weak:1", TEA), by=other)


def test_a_derived_memory_is_believed_no_more_than_its_origin(office: Office) -> None:
    """Though a document that the writer quotes itself stands beside it.

    Proves: Z2
    """
    origin = poor(office)
    assert 0 < trust(office, origin) < 0.63
    alone = fact(office, "Ana", cite(DOCS, TEA), layer="durable")
    derived = fact(office, "Ana", cite(DOCS, TEA), item(origin), layer="procedural")
    assert trust(office, alone) > trust(office, origin) == trust(office, derived)


def test_the_least_of_several_origins_counts(office: Office) -> None:
    """Not their mean.

    Proves: Z2
    """
    low = poor(office)
    high = fact(office, "Ana", cite(DOCS, TEA), layer="durable")
    derived = fact(office, "Ana", cite(DOCS, TEA), item(high), item(low), layer="procedural")
    assert trust(office, derived) == trust(office, low) < trust(office, high)


def test_trust_does_not_rise_along_a_chain(office: Office) -> None:
    """Five memories, each citing the one before and a document.

    Proves: Z2
    """
    levels = []
    last = poor(office)
    # Names that tell nothing: each is a memory of its own, and all say the same.
    for name in ("text", "value", "fact", "note", "content"):
        levels.append(trust(office, last))
        content = {name: "green tea"}
        last = office.write(
            content,
            cite(DOCS, TEA),
            item(last),
            layer="episodic",
            subject="Ana",
            predicate="prefers",
            confidence=1,
        )
    levels.append(trust(office, last))
    assert levels == sorted(levels, reverse=True)


def test_an_independent_source_raises_it(office: Office) -> None:
    """Seen by another agent, which the source belongs to, and bearing the claim out.

    Proves: Z2
    """
    origin = poor(office)
    raised = fact(office, "Ana", cite(office.record(TEA)), item(origin), layer="procedural")
    assert trust(office, raised) > trust(office, origin)


def test_a_persons_approval_raises_it(office: Office) -> None:
    """Who approves answers for the memory, whatever it was derived from.

    Proves: Z2 (a human)
    """
    origin = poor(office)
    ask(office.world, "procedural", org=office.org)
    waiting = fact(office, "Ana", cite(DOCS, TEA), item(origin), layer="procedural")
    assert waiting["outcome"] == "DEFERRED"
    person = reviewer(office.world, scope=f"/org/{office.org}")
    approved = decide(person, "approve", str(waiting["request_id"]))
    assert trust(office, approved) > trust(office, origin)


@pytest.mark.parametrize("case", ["recorded by itself", "says little", "is a tool's"])
def test_nothing_else_does(office: Office, case: str) -> None:
    """Evidence that the writer recorded, that says something else, or is of no external type.

    Proves: Z2
    """
    origin = poor(office)
    writer = office.broker if case == "recorded by itself" else office.writer
    office.source("tool:*", "tool_output", issuer=office.broker_name, authority=1)
    excerpt = "Ana prefers something." if case == "says little" else TEA
    uri = office.record(excerpt, uri="tool:1" if case == "is a tool's" else "chat:1")
    evidence = [
        cite(DOCS, f"Well, {TEA}"),
        cite(f"{DOCS}2", f"Yes, {TEA}"),
        cite(f"{DOCS}3", f"Oh, {TEA}"),
        cite(uri),
        item(origin),
    ]
    office.source(f"{DOCS}*", weight=100)
    derived = fact(office, "Ana", *evidence, by=writer, layer="durable")
    assert trust(office, derived) == trust(office, origin)


def test_readers_see_it(office: Office) -> None:
    """recall() returns the adjusted confidence, bounded by that of the origin.

    Proves: Z2
    """
    origin = poor(office)
    derived = fact(office, "Ana", cite(DOCS, TEA), item(origin), layer="procedural")
    # They say the same: of all layers one of them would be told.
    found = {
        row["item_id"]: row
        for layer in ("semantic", "procedural")
        for row in recall(office.writer, query="green tea", layers=[layer])
    }
    assert (
        found[derived["item_id"]]["confidence_score"]
        <= found[origin["item_id"]]["confidence_score"]
    )
