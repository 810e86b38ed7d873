"""Every version has a record of where it comes from, complete and readable by who sees the item."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from conftest import World
from helpers import recall, write

ORIGIN = {
    "kind": "user_stated",
    "agent_version": "2.1.0",
    "task": "plan the trip",
    "session": "s-7",
    "trigger": "explicit_feedback",
    "retrieval_query": "where to go",
    "retrieval_scores": [0.9, 0.4],
}


def records(agent: Connection[DictRow], item_id: Any) -> list[DictRow]:
    """The provenance of an item, as its reader sees it."""
    return agent.execute("SELECT * FROM memwarden.provenance(%s)", (item_id,)).fetchall()


def test_a_write_leaves_the_complete_record(world: World) -> None:
    """Who, with which evidence, how sure, when, after what: each field of the contract.

    Proves: P1, P2
    """
    agent = world.agent()
    first = write(agent, "semantic", "Rome", subject="ana", predicate="goes to", origin=ORIGIN)
    second = write(agent, "semantic", "Oslo", subject="ana", predicate="goes to", confidence=0.7)
    newer, older = records(agent, first["item_id"])
    assert (older["version"], newer["version"]) == (1, 2)
    assert older["source_agent"] == agent.info.user
    assert older["source_agent_version"] == "2.1.0"
    assert (older["source_task"], older["source_session"]) == ("plan the trip", "s-7")
    assert (older["origin"], older["write_trigger"]) == ("user_stated", "explicit_feedback")
    assert older["retrieval_query"] == "where to go"
    assert older["retrieval_scores"] == [0.9, 0.4]
    assert (older["evidence"], older["evidence_quality"]) == ([], "INFERRED")
    assert older["approval_state"] == "NOT_REQUIRED"
    assert older["record"]["request_id"] == str(first["request_id"])
    assert (older["supersedes"], older["superseded_by"]) == (None, second["version_id"])
    assert (newer["supersedes"], newer["superseded_by"]) == (first["version_id"], None)
    assert older["superseded_at"] == newer["recorded_at"]
    assert newer["agent_confidence"] == 0.7
    stored = world.rows(
        "SELECT content_hash FROM memwarden_data.version WHERE version_id = %s",
        first["version_id"],
    )
    assert older["content_hash"] == stored[0]["content_hash"]
    assert older["record"]["content_hash"] == older["content_hash"].hex()
    assert older["key_id"] is not None
    assert len(older["signature"]) == 32


def test_the_kind_of_origin_sets_the_confidence(world: World) -> None:
    """What the user says counts 1, a conclusion 0.6, a pattern 0.4; a number given goes before.

    Proves: D7
    """
    agent = world.agent()

    def confidence(**arguments: Any) -> float:
        row = write(agent, "episodic", f"seen {arguments}", **arguments)
        (record,) = records(agent, row["item_id"])
        return float(record["agent_confidence"])

    assert confidence(origin={"kind": "user_stated"}) == 1.0
    assert confidence(origin={"kind": "agent_inferred"}) == 0.6
    assert confidence(origin={"kind": "pattern"}) == 0.4
    assert confidence(origin={"kind": "pattern"}, confidence=0.9) == 0.9


def test_adjusted_confidence_weighs_the_agent_little(world: World) -> None:
    """By the layer's weights, which are 0.15, 0.30, 0.25 and 0.30 until somebody sets others.

    Proves: P3, V6
    """
    agent = world.agent()
    (shipped,) = records(agent, write(agent, "episodic", "sure of it", confidence=1.0)["item_id"])
    assert shipped["adjusted_confidence"] == pytest.approx(0.15)
    assert shipped["validation_score"] == pytest.approx(0.2 + 0.3)
    world.admin.execute(
        "SELECT memwarden.configure_layer('episodic', %s)",
        (
            Jsonb(
                {
                    "confidence_weights": [0.7, 0.1, 0.1, 0.1],
                    "validation_weights": [0.5, 0.25, 0.25],
                }
            ),
        ),
    )
    (changed,) = records(
        agent, write(agent, "episodic", "sure of another", confidence=1.0)["item_id"]
    )
    assert changed["adjusted_confidence"] == pytest.approx(0.7)
    assert changed["validation_score"] == pytest.approx(0.75)


@pytest.mark.parametrize(
    "settings",
    [
        {"confidence_weights": [0.2, 0.2, 0.2, 0.2]},
        {"confidence_weights": [1.2, -0.2, 0, 0]},
        {"confidence_weights": [0.5, 0.5]},
        {"confidence_weights": ["NaN", 0, 0, 1]},
        {"validation_weights": [0.5, 0.5, 0.5]},
    ],
)
def test_weights_that_do_not_sum_to_one_are_refused(
    shared_world: World, settings: dict[str, Any]
) -> None:
    """Nor do negative ones and NaN pass.

    Proves: P3, V6
    """
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        shared_world.admin.execute(
            "SELECT memwarden.configure_layer('episodic', %s)", (Jsonb(settings),)
        )


def test_readers_are_told_what_a_memory_is_worth(world: World) -> None:
    """recall(), get() and as_of() name adjusted confidence and authority.

    Proves: P1
    """
    agent = world.agent()
    row = write(agent, "episodic", "The harbour is closed", confidence=0.8)
    (got,) = agent.execute("SELECT * FROM memwarden.get(%s)", (row["item_id"],)).fetchall()
    (found,) = recall(agent, query="harbour")
    (then,) = agent.execute("SELECT * FROM memwarden.as_of()").fetchall()
    for provenance in (got["provenance"], found["provenance"], then["provenance"]):
        assert provenance["adjusted_confidence"] == pytest.approx(0.12)
        assert provenance["authority"] == 0


def test_a_version_that_says_again_names_the_record_it_repeats(world: World) -> None:
    """After a rollback the item is worth what it was worth before, and says why.

    Proves: P1
    """
    agent = world.agent(role="curator")
    key = {"subject": "ana", "predicate": "drinks"}
    first = write(agent, "semantic", "tea", confidence=0.9, **key)
    write(agent, "semantic", "gin", confidence=0.2, **key)
    agent.execute("SELECT memwarden.rollback(%s, 'she does not')", (first["item_id"],))
    restated, _, original = records(agent, first["item_id"])
    assert restated["event"] == "RESTATE"
    assert restated["record"]["restates"] == [str(original["provenance_id"])]
    assert restated["adjusted_confidence"] == original["adjusted_confidence"]
    assert world.value(
        "SELECT adjusted_confidence FROM memwarden_data.item WHERE item_id = %s", first["item_id"]
    ) == pytest.approx(0.15 * 0.9)
    assert world.rows("SELECT * FROM memwarden.verify_provenance()") == []


def test_a_merged_item_has_the_provenance_of_both(world: World) -> None:
    """Evidence of both, the greater of each score.

    Proves: P1
    """
    agent = world.agent(role="curator")
    one = write(agent, "episodic", "A cat was seen", confidence=0.3)
    other = write(agent, "episodic", "Somebody saw a cat", confidence=0.9)
    agent.execute("SELECT memwarden.merge(%s, %s, 'the same')", (one["item_id"], other["item_id"]))
    merged = records(agent, one["item_id"])[0]
    sources = world.rows(
        "SELECT provenance_id::text AS id FROM memwarden_data.provenance "
        "WHERE version_id = ANY (%s)",
        [one["version_id"], other["version_id"]],
    )
    assert set(merged["record"]["restates"]) == {row["id"] for row in sources}
    assert merged["adjusted_confidence"] == pytest.approx(0.15 * 0.9)
    assert world.rows("SELECT * FROM memwarden.verify_provenance()") == []


def test_who_does_not_see_an_item_sees_no_provenance_of_it(world: World) -> None:
    """Neither through the function nor from the table, had a DBA granted it.

    Proves: P1, A3
    """
    ana, bob = world.agent(), world.agent("/org/other/user/bob")
    item = write(ana, "episodic", "between us")["item_id"]
    assert len(records(ana, item)) == 1
    assert records(bob, item) == []
    world.grant_tables(ana.info.user, bob.info.user)
    count = "SELECT count(*) AS n FROM memwarden_data.provenance"
    assert ana.execute(count).fetchone() == {"n": 1}
    assert bob.execute(count).fetchone() == {"n": 0}
    assert bob.execute("SELECT count(*) AS n FROM memwarden_data.signing_key").fetchone() == {
        "n": 0
    }
