"""merge() of memories whose kind has a merge policy: field by field, as a write would grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from access import call, refusal
from helpers import recall, write
from history.versions.past import check_timeline, contents, history
from memwarden_core.merging import merge as united
from replay import check_store

if TYPE_CHECKING:
    from psycopg.rows import DictRow

    from conftest import World
    from history.versions.past import Agent

POLICY = {
    "name": "conflict",
    "tags": "union",
    "seen": "max",
    "since": "min",
    "note": "concatenate",
    "state": "replace",
    "made_by": "keep",
}
VECTOR = [1.0] + [0.0] * 383


def define(world: World, policy: dict[str, str] | None = None, **schema: Any) -> None:
    """Have the semantic layer know what a lamp is, and how two lamps become one."""
    call(
        world.admin,
        "define_schema",
        layer="semantic",
        kind="lamp",
        schema={"type": "object"} | schema,
        merge_policy=POLICY if policy is None else policy,
    )


def lamp(agent: Agent, content: dict[str, Any], **arguments: Any) -> UUID:
    """Write one; return the item."""
    row = write(agent, "semantic", content, kind="lamp", **arguments)
    assert row["outcome"] == "COMMITTED", row
    item: UUID = row["item_id"]
    return item


def merge(agent: Agent, item: UUID, absorbed: UUID) -> None:
    """Make one of two."""
    call(agent, "merge", item_id=item, absorbed=absorbed, reason="one lamp")


def head(world: World, item_id: UUID) -> DictRow:
    """The head of an item with its version."""
    (row,) = world.rows(
        "SELECT v.*, i.created_at, i.updated_at, i.adjusted_confidence, i.fingerprint"
        "  FROM memwarden_data.item AS i"
        "  JOIN memwarden_data.version AS v USING (org_id, version_id)"
        " WHERE i.item_id = %s",
        item_id,
    )
    return row


@pytest.fixture
def curator(world: World, home: str) -> Agent:
    """Somebody who may merge what others wrote."""
    return world.agent(home, role="curator")


@pytest.mark.parametrize("younger", [False, True])
def test_every_field_follows_its_rule(world: World, curator: Agent, younger: bool) -> None:
    """Whichever of the two goes on: the older is what was recorded first.

    Proves: D4
    """
    define(world)
    one = {"tags": ["old"], "seen": 3, "since": "2020", "note": "dim", "state": "on"}
    two = {"tags": ["hot", "OLD"], "seen": 2, "since": "2019", "note": "loud", "state": "off"}
    one |= {"made_by": "ACME", "name": "Lumo"}
    two |= {"made_by": "Other", "watt": 5}
    cited = [[{"type": "document", "uri": f"https://example.org/{n}"}] for n in "12"]
    first = lamp(curator, one, confidence=0.4, importance=0.9, evidence=cited[0])
    second = lamp(curator, two, confidence=0.8, importance=0.2, evidence=cited[1])
    born, before = head(world, first)["created_at"], head(world, second)
    item, absorbed = (second, first) if younger else (first, second)
    merge(curator, item, absorbed)
    after = head(world, item)
    assert after["content"] == one | two | {
        "tags": ["old", "hot"],
        "seen": 3,
        "since": "2019",
        "note": "dim\nloud",
        "state": "off",
        "made_by": "ACME",
    }
    assert (after["confidence"], after["importance"]) == (0.8, 0.9)
    assert {e["uri"] for e in after["evidence"]} == {c[0]["uri"] for c in cited}
    assert after["created_at"] == born
    assert after["updated_at"] > before["updated_at"]
    assert after["previous_version_id"] is not None
    assert after["absorbed_version_id"] == head(world, absorbed)["version_id"]
    assert [row["item_id"] for row in recall(curator, query="loud dim")] == [item]
    (record,) = world.rows(
        "SELECT record FROM memwarden_data.whole_provenance WHERE version_id = %s",
        after["version_id"],
    )
    assert record["record"]["merged"]["item_id"] == str(absorbed)
    assert record["record"]["content_hash"] == after["content_hash"].hex()
    assert len(record["record"]["restates"]) == 2
    assert after["adjusted_confidence"] <= before["adjusted_confidence"]
    assert world.rows("SELECT * FROM memwarden.verify_provenance()") == []
    assert world.rows("SELECT * FROM memwarden.verify_log()") == []
    check_store(world.admin)
    check_timeline(world)


def test_both_come_back_and_merge_again(world: World, curator: Agent) -> None:
    """A rollback gives each its words and its beginning; a rollback of that unites them again.

    Proves: D4, T5
    """
    define(world)
    first = lamp(curator, {"tags": ["a"], "state": "on"}, embedding=VECTOR)
    second = lamp(curator, {"tags": ["b"], "state": "off"})
    before = [head(world, item) for item in (first, second)]
    then = world.value("SELECT clock_timestamp()")
    merge(curator, second, first)
    merged = head(world, second)
    assert merged["content"] == {"tags": ["a", "b"], "state": "off"}
    call(curator, "rollback", item_id=second, reason="two after all")
    for item, was in zip((first, second), before, strict=True):
        now = head(world, item)
        for name in ("content", "content_hash", "search_text", "created_at", "fingerprint"):
            assert now[name] == was[name], name
    check_store(world.admin)
    call(curator, "rollback", item_id=second, reason="one after all")
    again = head(world, second)
    for name in ("content", "content_hash", "search_text", "created_at", "schema_id"):
        assert again[name] == merged[name], name
    assert sorted(said["state"] for said in contents(curator, then)) == ["off", "on"]
    told = {r["operation"]: r["content"] for r in history(curator, second) if r["version"] == 2}
    assert told["UPDATE"] == merged["content"]
    check_store(world.admin)
    check_timeline(world)
    world.admin.execute("SELECT memwarden.rebuild_heads()")
    world.admin.execute("SELECT memwarden.rebuild_heads(replace => true)")
    assert head(world, second) == again
    check_store(world.admin)


def test_what_the_policy_does_not_settle_is_refused(world: World, curator: Agent) -> None:
    """22023 with the names of the fields; nothing has changed. As a rule for other values is.

    Proves: D4
    """
    define(world)
    first = lamp(curator, {"name": "Lumo", "seen": 1, "odd": 1})
    second = lamp(curator, {"name": "Other", "seen": "often", "odd": 1})
    raised = refusal(curator, "merge", item_id=first, absorbed=second, reason="r")
    assert raised.sqlstate == "22023"
    assert raised.diag.message_detail == "name, seen"
    assert {head(world, item)["status"] for item in (first, second)} == {"ACTIVE"}
    check_store(world.admin)


def test_what_comes_of_it_keeps_to_all_rules(world: World, curator: Agent) -> None:
    """The schema of their kind, the longest text of the layer, and the look for secrets: 22023.

    Proves: D4
    """
    tags = {"properties": {"tags": {"maxItems": 2}}}
    define(world, POLICY, **tags)
    many = [lamp(curator, {"tags": [f"{n}a", f"{n}b"]}) for n in range(2)]
    raised = refusal(curator, "merge", item_id=many[0], absorbed=many[1], reason="r")
    assert raised.sqlstate == "22023"
    assert "tags" in str(raised.diag.message_detail)
    long = [lamp(curator, {"note": letter * 60}) for letter in "xy"]
    call(world.admin, "configure_layer", layer="semantic", settings=Jsonb({"max_text_length": 100}))
    raised = refusal(curator, "merge", item_id=long[0], absorbed=long[1], reason="r")
    assert (raised.sqlstate, raised.diag.message_detail) == ("22023", "max_text_length")
    halves = "-----BEGIN RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEA75\n-----END RSA PRIVATE KEY-----"
    secret = [lamp(curator, {"note": half}) for half in halves]
    raised = refusal(curator, "merge", item_id=secret[0], absorbed=secret[1], reason="r")
    assert raised.sqlstate == "22023"
    assert "MIIE" not in str(raised)
    check_store(world.admin)


def test_without_a_policy_or_fields_it_keeps_its_words(world: World, curator: Agent) -> None:
    """As it always did; and with a policy where one of them is a plain text.

    Proves: D4
    """
    call(world.admin, "define_schema", layer="semantic", kind="lamp", schema={})
    first, second = lamp(curator, {"n": 1}), lamp(curator, {"n": 2})
    merge(curator, first, second)
    assert head(world, first)["content"] == {"n": 1}
    call(
        world.admin, "define_schema", layer="semantic", kind="lamp", schema={}, merge_policy=POLICY
    )
    row = write(curator, "semantic", "a plain text", kind="lamp")
    merge(curator, first, row["item_id"])
    assert head(world, first)["content"] == {"n": 1}
    check_store(world.admin)


VALUES = st.one_of(
    st.integers(-3, 3), st.sampled_from(["a", "A", "b", "1"]), st.lists(st.sampled_from("abc"))
)
CONTENTS = st.dictionaries(st.sampled_from("pqr"), VALUES, min_size=1, max_size=3)
RULES = st.sampled_from(["keep", "replace", "union", "max", "min", "concatenate", "conflict"])


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    policy=st.dictionaries(st.sampled_from("pqr*"), RULES, min_size=1),
    texts=st.lists(CONTENTS, min_size=3, max_size=3),
)
def test_it_is_what_the_policy_makes_of_them(
    shared_world: World, policy: dict[str, str], texts: list[dict[str, Any]]
) -> None:
    """Of three, one after another: the same fields as the rules alone give, or the same conflict.

    Proves: D4
    """
    policy = policy | {"id": "keep"}
    define(shared_world, policy)
    with shared_world.agent(f"/org/{uuid4().hex[:12]}/user/ana", role="curator") as agent:
        said = [content | {"id": number} for number, content in enumerate(texts)]
        items = [lamp(agent, content) for content in said]
        expected = said[0]
        for number in (1, 2):
            # What came of the first merge is younger than the third of them.
            pair = (expected, said[1]) if number == 1 else (said[2], expected)
            done = united(*pair, policy)
            if done.conflicts:
                asked = {"item_id": items[0], "absorbed": items[number], "reason": "r"}
                raised = refusal(agent, "merge", **asked)
                told = str(raised.diag.message_detail).split(", ")
                assert sorted(told) == sorted(done.conflicts)
                return
            merge(agent, items[0], items[number])
            expected = done.content
            assert head(shared_world, items[0])["content"] == expected
