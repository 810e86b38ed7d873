"""Two contents of one thing become one, field by field, as the schema of their kind says."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import call, curator, join
from helpers import write
from races import together
from replay import check_store

if TYPE_CHECKING:
    from conftest import World

POLICY = {
    "name": "conflict",
    "tags": "union",
    "seen": "max",
    "since": "min",
    "note": "concatenate",
    "state": "replace",
    "made_by": "keep",
}
KEY = {"kind": "lamp", "subject": "lamp 7", "predicate": "is"}
VECTOR = [1.0] + [0.0] * 383


def define(world: World, policy: Any = None, **schema: Any) -> None:
    """Have the semantic layer know what a lamp is, and how two lamps become one."""
    call(
        world.admin,
        "define_schema",
        layer="semantic",
        kind="lamp",
        schema={"type": "object"} | schema,
        merge_policy=POLICY if policy is None else policy,
    )


def current(world: World, item_id: Any) -> DictRow:
    """The version of an item that holds."""
    (row,) = world.rows(
        "SELECT v.*, i.created_at, i.adjusted_confidence FROM memwarden_data.item AS i"
        "  JOIN memwarden_data.version AS v USING (org_id, version_id) WHERE i.item_id = %s",
        item_id,
    )
    return row


def test_every_field_follows_its_rule(world: World, home: str) -> None:
    """And what only one of them has stays.

    Proves: D4
    """
    define(world)
    agent = world.agent(home)
    one = {"name": "Lumo", "tags": ["old", "Red"], "seen": 3, "since": "2020-01-05", "note": "dim"}
    two = {"name": "LUMO", "tags": ["red", "hot"], "seen": 2, "since": "2019-01-05", "note": "loud"}
    one |= {"state": "on", "made_by": "ACME", "shade": "oak"}
    two |= {"state": "off", "made_by": "Acme Inc", "watt": 5}
    first = write(agent, "semantic", one, **KEY)
    second = write(agent, "semantic", two, **KEY)
    assert (second["outcome"], second["item_id"]) == ("MERGED", first["item_id"])
    merged = current(world, first["item_id"])["content"]
    assert merged == one | two | {
        "name": "Lumo",
        "tags": ["old", "Red", "hot"],
        "seen": 3,
        "since": "2019-01-05",
        "note": "dim\nloud",
        "state": "off",
        "made_by": "ACME",
    }
    assert second["detail"]["merged"]["fields"] == {
        "tags": "union",
        "since": "min",
        "note": "concatenate",
        "state": "replace",
        "watt": "added",
    }


def test_the_merged_version_names_both_it_came_from(world: World, home: str) -> None:
    """All evidence, the greater confidence, the old beginning; the record is signed and true.

    Proves: D4
    """
    define(world)
    one, two = ([{"uri": f"doc:{n}", "excerpt": "lamp 7 is on"}] for n in "12")
    first = write(
        world.agent(home), "semantic", {"tags": ["a"]}, **KEY, evidence=one, confidence=0.9
    )
    agent = world.agent(home)
    before = current(world, first["item_id"])
    second = write(agent, "semantic", {"tags": ["b"]}, **KEY, evidence=two, confidence=0.3)
    after = current(world, first["item_id"])
    assert second["outcome"] == "MERGED"
    assert after["previous_version_id"] == first["version_id"]
    assert after["request_id"] == second["request_id"]
    assert second["detail"]["merged"]["version_id"] == str(first["version_id"])
    assert {e["uri"] for e in after["evidence"]} == {"doc:1", "doc:2"}
    assert (after["confidence"], after["created_at"]) == (0.9, before["created_at"])
    assert after["adjusted_confidence"] <= before["adjusted_confidence"]
    (record,) = world.rows(
        "SELECT record FROM memwarden_data.whole_provenance WHERE version_id = %s",
        after["version_id"],
    )
    assert record["record"]["merged"]["version_id"] == str(first["version_id"])
    assert record["record"]["content_hash"] == after["content_hash"].hex()
    assert world.rows("SELECT * FROM memwarden.verify_provenance()") == []
    check_store(world.admin)


def test_nothing_new_is_a_duplicate_and_says_who(world: World, home: str) -> None:
    """A part of what is there, in whatever spelling, adds no version.

    Proves: D3
    """
    define(world)
    first = write(world.agent(home), "semantic", {"name": "Lumo", "seen": 3}, **KEY)
    again = write(world.agent(home), "semantic", {"name": " LUMO"}, **KEY)
    assert (again["outcome"], again["reason"]) == ("REJECTED", "STRUCTURAL_DUPLICATE")
    assert (again["item_id"], again["version_id"]) == (first["item_id"], first["version_id"])
    assert world.value("SELECT times FROM memwarden_data.sighting") == 1


@pytest.mark.parametrize(
    ("conflict", "confidence", "answer"),
    [
        ("review", 0.9, ("DEFERRED", "CONTRADICTION_REVIEW")),
        ("review", 0.6, ("REJECTED", "CONTRADICTION")),
        ("accumulate", 0.9, ("DEFERRED", "CONTRADICTION_REVIEW")),
        ("coexist", 0.6, ("REJECTED", "CONTRADICTION")),
        ("auto_resolve", 0.9, ("MERGED", None)),
        ("auto_resolve", 0.7, ("DEFERRED", "CONTRADICTION_REVIEW")),
        ("latest_wins", 0.1, ("MERGED", None)),
    ],
)
def test_what_the_policy_does_not_settle_is_a_conflict(
    world: World, home: str, conflict: str, confidence: float, answer: tuple[str, str | None]
) -> None:
    """As the layer resolves conflicts, never in silence; a field without a rule is one, too.

    Proves: D3, D4
    """
    define(world, {"tags": "union"})
    call(world.admin, "configure_layer", layer="semantic", settings=Jsonb({"conflict": conflict}))
    first = write(
        world.agent(home), "semantic", {"name": "Lumo", "tags": [1]}, **KEY, confidence=0.6
    )
    other = write(
        world.agent(home),
        "semantic",
        {"name": "Nox", "tags": [2]},
        **KEY,
        confidence=confidence,
        embedding=VECTOR,
    )
    assert (other["outcome"], other["reason"]) == answer
    content = current(world, first["item_id"])["content"]
    if answer[0] == "MERGED":
        assert content == {"name": "Nox", "tags": [1, 2]}
    else:
        assert other["detail"]["contradicts"][0]["fields"] == ["name"]
        assert content == {"name": "Lumo", "tags": [1]}


@pytest.mark.parametrize(
    ("rule", "old", "new"),
    [
        ("union", [1], "1"),
        ("max", 1, "2"),
        ("min", True, 0),
        ("concatenate", ["a"], "b"),
        ("concatenate", "a" * 5000, "b" * 5000),
    ],
)
def test_values_that_a_rule_is_not_for_are_in_conflict(
    world: World, home: str, rule: str, old: Any, new: Any
) -> None:
    """Proves: D4."""
    define(world, {"*": rule})
    agent = world.agent(home)
    write(agent, "semantic", {"x": old}, **KEY)
    assert write(agent, "semantic", {"x": new}, **KEY)["reason"] == "CONTRADICTION"


def test_what_comes_of_it_keeps_to_the_schema_and_holds_nothing_sensitive(
    world: World, home: str
) -> None:
    """Two halves of a secret are none; together they are.

    Proves: D4 (validated again)
    """
    define(world, {"*": "concatenate", "tags": "union"}, properties={"tags": {"maxItems": 2}})
    agent = world.agent(home)
    head, tail = (
        "-----BEGIN RSA PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEA75\n-----END RSA PRIVATE KEY-----",
    )
    write(agent, "semantic", {"tags": ["a", "b"], "note": head}, **KEY)
    for more, where in (({"tags": ["c"]}, "errors"), ({"note": tail}, "sensitive")):
        answer = write(agent, "semantic", more, **KEY)
        assert (answer["outcome"], answer["reason"]) == ("REJECTED", "MERGE_INVALID")
        assert answer["detail"][where]
        assert "MIIE" not in str(answer["detail"])


def test_a_memory_without_a_key_grows_by_the_policy(world: World, home: str) -> None:
    """Where it says all that the memory says, and more; each field by its rule.

    Proves: D4
    """
    define(world, {"text": "replace", "tags": "union"})
    call(
        world.admin,
        "configure_layer",
        layer="semantic",
        settings=Jsonb({"duplicate_similarity": 0.9}),
    )
    agent = world.agent(home)
    one = {"text": "Ana owns a dog", "tags": ["pets"]}
    two = {"text": "Ana owns a large dog", "tags": ["pets"]}
    first = write(agent, "semantic", one, kind="lamp", embedding=VECTOR)
    second = write(agent, "semantic", two, kind="lamp", embedding=VECTOR)
    assert (second["outcome"], second["item_id"]) == ("MERGED", first["item_id"])
    assert second["detail"]["merged"]["fields"] == {"text": "replace"}
    assert current(world, first["item_id"])["content"] == two


def test_without_a_policy_the_newer_takes_the_place_of_the_older(world: World, home: str) -> None:
    """And so it does where the write says of when it is.

    Proves: D5
    """
    agent = world.agent(home)
    first = write(agent, "semantic", {"a": 1}, subject="x", predicate="is")
    write(agent, "semantic", {"b": 2}, subject="x", predicate="is")
    assert current(world, first["item_id"])["content"] == {"b": 2}
    define(world)
    first = write(agent, "semantic", {"tags": [1]}, **KEY)
    now = world.value("SELECT clock_timestamp()")
    second = write(agent, "semantic", {"seen": 2}, **KEY, valid_from=now)
    assert second["outcome"] == "COMMITTED"
    assert current(world, first["item_id"])["content"] == {"seen": 2}


def test_nothing_flows_from_what_the_writer_may_not_read_or_change(world: World, home: str) -> None:
    """Hidden: a memory of its own. Readable, but not its to change: refused as ever, not copied.

    Proves: A4 (merging)
    """
    define(world)
    high = join(world, home, clearance="restricted")
    hidden = write(high, "semantic", {"tags": ["secret"]}, **KEY, classification="restricted")
    low = write(world.agent(home), "semantic", {"tags": ["open"]}, **KEY)
    assert (low["outcome"], low["detail"]) == ("COMMITTED", None)
    assert current(world, low["item_id"])["content"] == {"tags": ["open"]}
    assert current(world, hidden["item_id"])["content"] == {"tags": ["secret"]}


def test_writers_at_once_lose_nothing(world: World, home: str) -> None:
    """Twelve at once: one memory with what all of them said.

    Proves: D4 (concurrently)
    """
    define(world)
    patient = Jsonb({"lock_wait": "2 minutes"})
    call(world.admin, "configure_layer", layer="semantic", settings=patient)
    writers = [world.agent(home) for _ in range(12)]
    answers = together(
        [
            partial(write, writer, "semantic", {"tags": [number], "seen": number}, **KEY)
            for number, writer in enumerate(writers)
        ]
    )
    assert {answer["outcome"] for answer in answers} == {"COMMITTED", "MERGED"}
    (item_id,) = {answer["item_id"] for answer in answers}
    row = current(world, item_id)
    assert sorted(row["content"]["tags"]) == list(range(12))
    assert (row["content"]["seen"], row["version"]) == (11, 12)
    check_store(world.admin)


@pytest.mark.parametrize("policy", [{}, {"a": "guess"}, {"a": 1}])
def test_a_malformed_policy_is_refused(world: World, policy: Any) -> None:
    """22023."""
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        define(world, policy)


def test_what_comes_of_it_is_asked_by_the_rules_of_the_pack(world: World, home: str) -> None:
    """Two halves of what a pack in force finds are refused as one; without it they are merged.

    Proves: D4 (validated again)
    """
    define(world, {"*": "concatenate"})
    owner = curator(world, "/".join(home.split("/")[:3]))
    rule = {
        "rule": "badge",
        "kind": "pii.badge",
        "pattern": r"BADGE-\s*[0-9]{6}",
        "action": "block",
        "tests": {"positive": ["BADGE-123456"], "negative": ["BADGE-1"]},
    }
    call(owner, "define_pack", name="house", definition=Jsonb({"redaction_rules": [rule]}))
    call(owner, "use_pack", pack="house")
    agent = world.agent(home)
    first = write(agent, "semantic", {"note": "the parcel is for BADGE-"}, **KEY)
    assert first["outcome"] == "COMMITTED"
    answer = write(agent, "semantic", {"note": "123456"}, **KEY)
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "MERGE_INVALID")
    assert answer["detail"]["sensitive"][0]["kind"] == "pii.badge"
    call(owner, "use_pack", pack=None)
    again = write(agent, "semantic", {"note": " 123456"}, **KEY)
    assert again["outcome"] in ("COMMITTED", "MERGED")
