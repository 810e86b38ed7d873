"""What the layers ask of evidence as they are shipped, and with which reason they refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from access import call, curator
from helpers import write
from write.evidence.conftest import DOCS, TEA, Office, cite, item

if TYPE_CHECKING:
    from conftest import World

DURABLE = ["semantic", "procedural", "durable"]


def ask(office: Office, layer: str, *evidence: dict[str, Any], **arguments: Any) -> Any:
    """Write a fact into a layer."""
    return office.write(
        {"drink": "green tea"},
        *evidence,
        layer=layer,
        subject="Ana",
        predicate="prefers",
        **arguments,
    )


def test_the_figures_of_the_documents_are_shipped(shipped: World) -> None:
    """0.6, 0.8 and 0.9; one external source; nothing self-made where it lasts.

    Proves: V2, X2
    """
    rows = shipped.rows(
        "SELECT layer, fact_threshold, min_external, min_authority, self_reference FROM "
        "memwarden_data.layer ORDER BY ordinal"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("working", 0, 0, 0, "allow"),
        ("session", 0, 0, 0, "allow"),
        ("episodic", 0.6, 1, 0, "not_all"),
        ("semantic", 0.8, 1, 0.3, "refuse"),
        ("procedural", 0.9, 1, 0.3, "refuse"),
        ("durable", 0.8, 1, 0.3, "refuse"),
    ]


@pytest.mark.parametrize(
    ("layer", "threshold"),
    [("episodic", 0.6), ("semantic", 0.8), ("procedural", 0.9), ("durable", 0.8)],
)
def test_a_layer_takes_what_reaches_its_threshold(
    office: Office, layer: str, threshold: float
) -> None:
    """A source just good enough, and one just not.

    Proves: V2, X2
    """
    office.source("good:*", authority=threshold + 0.001)
    office.source("poor:*", authority=threshold - 0.001)
    asked = ask(office, layer, cite("poor:1", TEA))
    assert (asked["outcome"], asked["reason"]) == ("DEFERRED", "EVIDENCE_UNCLEAR")
    assert asked["detail"]["threshold"] == threshold
    assert asked["detail"]["fact_score"] == pytest.approx(threshold - 0.001, abs=1e-6)
    taken = ask(office, layer, cite("good:1", TEA), idempotency_key="good")
    assert office.score(taken) == pytest.approx(threshold + 0.001, abs=1e-6)


@pytest.mark.parametrize("layer", ["episodic", *DURABLE])
def test_without_evidence_the_score_is_zero(office: Office, layer: str) -> None:
    """No reference, or an empty list, in every layer that asks for any.

    Proves: V9
    """
    for answer in (ask(office, layer), write(office.writer, layer, {"x": 1}, subject="x")):
        assert (answer["outcome"], answer["reason"]) == ("REJECTED", "INSUFFICIENT_EVIDENCE")
        assert answer["detail"] == {
            "fact_score": 0,
            "threshold": answer["detail"]["threshold"],
            "evidence": [],
        }


@pytest.mark.parametrize("layer", ["working", "session"])
def test_short_lived_layers_ask_for_none(office: Office, layer: str) -> None:
    """What an agent has at hand needs no source."""
    assert ask(office, layer)["outcome"] == "COMMITTED"


@pytest.mark.parametrize("layer", DURABLE)
def test_durable_layers_refuse_the_agent_s_own_word(office: Office, layer: str) -> None:
    """Alone, or beside a document.

    Proves: X2
    """
    for evidence in ([cite("thought:1", TEA)], [cite(DOCS, TEA), cite("thought:1", TEA)]):
        refused = ask(office, layer, *evidence)
        assert refused["reason"] == "SELF_REFERENTIAL"
        assert refused["detail"]["self_made"] == [len(evidence) - 1]


def test_episodes_refuse_it_only_where_there_is_nothing_else(office: Office) -> None:
    """not_all: one self-made reference beside a good one is taken.

    Proves: X2
    """
    assert ask(office, "episodic", cite("thought:1", TEA))["reason"] == "SELF_REFERENTIAL"
    office.source("tool:*", "tool_output", weight=10)
    assert (
        ask(office, "episodic", cite("thought:1", TEA), cite("tool:1", f"Yes, {TEA}"))["outcome"]
        == "COMMITTED"
    )


def test_a_layer_may_ask_nothing_of_the_kind(world: World) -> None:
    """Every demand can be turned off by itself; then the next one speaks.

    Proves: V2, X2
    """
    world.ship_layers()
    office = Office(world)
    office.source("weak:*", authority=0.2)
    told: list[str | None] = []
    for settings in (
        {},
        {"self_reference": "allow"},
        {"min_authority": 0},
        {"min_external": 0},
        {"fact_threshold": 0},
    ):
        world.admin.execute("SELECT memwarden.configure_layer('semantic', %s)", (Jsonb(settings),))
        told.append(
            ask(
                office,
                "semantic",
                item(ask(office, "working")),
                cite("thought:1", TEA),
                idempotency_key=str(len(told)),
            )["reason"]
        )
    assert told == [
        "SELF_REFERENTIAL",
        "AUTHORITY_TOO_LOW",
        "NO_EXTERNAL_EVIDENCE",
        "EVIDENCE_UNCLEAR",
        None,
    ]


def test_one_weak_source_spoils_the_write(office: Office) -> None:
    """The least authority counts, not the mean.

    Proves: X2
    """
    office.source("weak:*", authority=0.29)
    refused = ask(office, "semantic", cite(DOCS, TEA), cite("weak:1", f"Yes, {TEA}"))
    assert refused["reason"] == "AUTHORITY_TOO_LOW"
    assert (refused["detail"]["authority"], refused["detail"]["min_authority"]) == (0.29, 0.3)


@pytest.mark.parametrize(
    ("layer", "type", "outcome"),
    [
        ("semantic", "document", "COMMITTED"),
        ("semantic", "api_response", "COMMITTED"),
        ("semantic", "human_input", "COMMITTED"),
        ("semantic", "tool_output", "REJECTED"),
        ("semantic", "code_execution", "REJECTED"),
        ("episodic", "tool_output", "COMMITTED"),
        ("episodic", "code_execution", "COMMITTED"),
    ],
)
def test_which_types_count_as_external_is_a_setting_of_the_layer(
    office: Office, layer: str, type: str, outcome: str
) -> None:
    """Tools and programs are witnesses of what happened, not of what is true.

    Proves: X2
    """
    office.source("it:*", type, authority=1)
    answer = ask(office, layer, cite("it:1", TEA))
    assert (answer["outcome"], answer["reason"]) == (
        outcome,
        None if outcome == "COMMITTED" else "NO_EXTERNAL_EVIDENCE",
    )


def test_a_memory_is_never_an_external_source(office: Office) -> None:
    """Though it rests on one.

    Proves: X2
    """
    first = ask(office, "semantic", cite(DOCS, TEA))
    refused = ask(office, "durable", item(first))
    assert (refused["reason"], refused["detail"]["external"]) == ("NO_EXTERNAL_EVIDENCE", 0)


def test_more_than_one_source_can_be_asked_for(world: World) -> None:
    """Different ones: the same page twice is one.

    Proves: X2
    """
    world.ship_layers()
    office = Office(world)
    office.source(f"{DOCS}*")
    world.admin.execute("""SELECT memwarden.configure_layer('durable', '{"min_external": 2}')""")
    refused = ask(office, "durable", cite(f"{DOCS}a#1", TEA), cite(f"{DOCS}a#2", f"Yes, {TEA}"))
    assert (refused["reason"], refused["detail"]["external"]) == ("NO_EXTERNAL_EVIDENCE", 1)
    assert (
        ask(office, "durable", cite(f"{DOCS}a", TEA), cite(f"{DOCS}b", f"Yes, {TEA}"))["outcome"]
        == "COMMITTED"
    )


def test_a_memory_that_is_over_supports_nothing(office: Office) -> None:
    """Superseded, retracted, expired, of another time, or resting on one that was taken back.

    Proves: V3 (temporal validity)
    """

    def fact(predicate: str, **arguments: Any) -> Any:
        return office.write(
            "green tea",
            cite(f"{DOCS}{predicate}", f"Ana {predicate} green tea."),
            subject="Ana",
            predicate=predicate,
            **arguments,
        )

    text = {"text": "Ana sells green tea"}
    current = fact("sells")
    old = {"uri": f"memwarden:item/{current['item_id']}", "version_id": str(current["version_id"])}
    assert office.write(text, old)["detail"]["evidence"][0]["support"] == 1
    office.write("matcha", cite(f"{DOCS}m", "Ana sells matcha."), subject="Ana", predicate="sells")
    assert office.write(text, old)["detail"]["evidence"][0]["support"] == 0
    passed = fact("sold", valid_from="2020-01-01", valid_to="2021-01-01")
    assert (
        office.write({"text": "Ana sold green tea"}, item(passed))["detail"]["evidence"][0][
            "support"
        ]
        == 0
    )
    gone = fact("drops")
    derived = office.write(
        {"text": "Ana drops green tea"}, cite(f"{DOCS}d", "Yes, Ana drops green tea."), item(gone)
    )
    assert derived["outcome"] == "COMMITTED", derived
    assert (
        office.write({"text": "Ana drops green tea"}, item(derived), layer="durable")["detail"][
            "evidence"
        ][0]["support"]
        == 1
    )
    call(
        curator(office.world, f"/org/{office.org}"),
        "retract",
        item_id=gone["item_id"],
        reason="wrong",
    )
    assert (
        office.write({"text": "Ana drops green tea"}, item(gone), layer="durable")["detail"][
            "evidence"
        ][0]["support"]
        == 0
    )
    assert (
        office.write({"text": "Ana drops green tea"}, item(derived), layer="durable")["detail"][
            "evidence"
        ][0]["support"]
        == 0
    )


def test_a_memory_is_worth_no_more_than_what_it_rests_on(office: Office) -> None:
    """The authority of a cited memory is its own, and at most 0.9.

    Proves: Z2, V9
    """
    office.source("weak:*", authority=0.85)
    poor = ask(office, "semantic", cite("weak:1", TEA))
    good = office.write(
        {"drink": "milk"}, cite(DOCS, "Bo prefers milk."), subject="Bo", predicate="prefers"
    )
    for cited, authority in ((poor, 0.85), (good, 0.9)):
        answer = office.write({"x": 1}, item(cited))
        assert answer["detail"]["evidence"][0]["authority"] == authority


def test_a_memory_of_its_own_that_nothing_bears_out_is_the_agent_s_own_word(office: Office) -> None:
    """One that rests on an outside source is not, and another agent's is not.

    Proves: X2
    """
    colleague = office.world.connect(office.world.register(office.home))
    mine, hers = (
        write(by, "session", {"note": TEA + by.info.user}, subject=by.info.user, predicate="notes")
        for by in (office.writer, colleague)
    )
    grounded = ask(office, "semantic", cite(DOCS, TEA))
    told = {}
    for name, cited in (("mine", mine), ("hers", hers), ("grounded", grounded)):
        told[name] = office.write(
            {"drink": "green tea"}, cite(DOCS, TEA), item(cited), subject="Ana", predicate="likes"
        )["reason"]
    assert told["mine"] == "SELF_REFERENTIAL"
    assert told["hers"] == "AUTHORITY_TOO_LOW"
    assert told["grounded"] != "SELF_REFERENTIAL"


def test_what_somebody_says_of_a_memory_needs_no_source(office: Office) -> None:
    """An annotation rests on who gives it; a fact under its kind does not pass for one.

    Proves: X2
    """
    memory = ask(office, "semantic", cite(DOCS, TEA))
    answer = call(
        office.writer, "annotate", item_id=memory["item_id"], verdict="doubted", note="says who?"
    )[0]
    assert answer["outcome"] == "COMMITTED"
    content = {
        "item_id": str(memory["item_id"]),
        "version_id": str(memory["version_id"]),
        "verdict": "confirmed",
    }
    forged = office.write(
        content,
        item(memory),
        layer="episodic",
        kind="annotation",
        subject="Ana",
        predicate="prefers",
    )
    assert forged["outcome"] == "REJECTED"


def test_a_fact_with_its_sources_can_be_promoted(office: Office) -> None:
    """The copy cites the original beside what the original rests on.

    Proves: X2
    """
    office.world.scope(f"{office.home}/task/s1")
    agent = office.world.connect(office.world.register(office.home, descendants=True))
    made = office.write(
        {"drink": "green tea"},
        cite(DOCS, TEA),
        by=agent,
        scope=f"{office.home}/task/s1",
        subject="Ana",
        predicate="prefers",
    )
    assert made["outcome"] == "COMMITTED", made
    copy = call(agent, "promote", item_id=made["item_id"])[0]
    assert copy["outcome"] == "COMMITTED", copy
    assert [g["type"] for g in office.grounds(copy)] == ["document", "memory_item"]
