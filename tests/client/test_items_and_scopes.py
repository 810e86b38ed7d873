"""What an item bears, and what can be done with items and scopes through the client."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from psycopg.conninfo import make_conninfo

from memwarden import Client, InvalidArgument, InvalidContent, NotAllowed, NotFound, WriteRequest

if TYPE_CHECKING:
    from conftest import World

FACT = {"statement": "Ana drinks green tea"}
LABEL: dict[str, Any] = {
    "classification": "confidential",
    "domains": ["health", "diet"],
    "attributes": {"source": "clinic"},
}


@pytest.fixture
def agent(shared_world: World, home: str) -> str:
    """Return the name, and login, of an agent that is cleared for all and holds two domains."""
    name = shared_world.register(home)
    org = home.split("/")[2]
    shared_world.admin.execute(
        "SELECT memwarden.change_agent(%s, clearance => 'restricted', role => 'curator',"
        " domains => '{health,diet}')",
        (name,),
    )
    shared_world.admin.execute(
        "SELECT memwarden.define_attribute('item', 'source', 'text', '[\"clinic\"]', %s)", (org,)
    )
    return name


@pytest.fixture
def memory(shared_world: World, agent: str) -> Iterator[Client]:
    """Yield the client of that agent."""
    with Client.connect(make_conninfo(shared_world.dsn, user=agent)) as client:
        yield client


def test_a_label_that_is_written_is_read_back(memory: Client) -> None:
    """By one call and by many.

    Proves: A3
    """
    one = memory.write("semantic", FACT, subject="Ana", **LABEL)
    [many] = memory.write_many([{"layer": "semantic", "content": {"n": 1}} | LABEL])
    for result in (one, many):
        assert result.committed, result
        assert result.item_id is not None
        item = memory.get(result.item_id)
        assert item is not None
        assert item.classification == "confidential"
        assert sorted(item.domains) == ["diet", "health"]
        assert item.attributes == {"source": "clinic"}
    for found in memory.recall("tea"):
        assert (found.classification, sorted(found.domains)) == (
            "confidential",
            ["diet", "health"],
        )


def test_without_a_label_an_item_is_internal(memory: Client) -> None:
    """And lies in no domain."""
    item_id = memory.write("semantic", FACT).item_id
    assert item_id is not None
    item = memory.get(item_id)
    assert item is not None
    assert (item.classification, item.domains, item.attributes) == ("internal", [], {})


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        ({"classification": "cosmic"}, "UNKNOWN_CLASSIFICATION"),
        ({"domains": ["finance"]}, "DOMAIN_NOT_HELD"),
        ({"attributes": {"colour": "red"}}, "ATTRIBUTES_INVALID"),
        ({"attributes": {"source": math.nan}}, None),
    ],
    ids=["classification", "domain", "attribute", "attribute that is not JSON"],
)
def test_a_label_that_the_writer_may_not_give_is_refused(
    memory: Client, label: dict[str, Any], reason: str | None
) -> None:
    """In a batch it harms no other."""
    request = WriteRequest(layer="semantic", content={"n": 1}, **label)
    refused, other = memory.write_many([request, {"layer": "semantic", "content": {"n": 2}}])
    assert refused.rejected
    assert other.committed
    if reason is None:
        with pytest.raises(InvalidContent):
            memory.write("semantic", FACT, **label)
    else:
        assert refused.reason == reason
        assert memory.write("semantic", FACT, **label).reason == reason


def test_an_agent_learns_who_it_is_and_what_it_may(memory: Client, agent: str, home: str) -> None:
    """The role with its permissions, the clearance, the scopes."""
    me = memory.whoami()
    assert (me.agent, me.home, me.kind, me.role) == (agent, home, "agent", "curator")
    assert (me.clearance, me.domains, me.validated) == ("restricted", ["health", "diet"], True)
    assert (me.writes, me.anchor_required, me.anchor_nullable) == ([home], [], None)
    assert {each["operation"] for each in me.permissions} >= {"READ", "WRITE", "DELETE"}


def test_an_item_is_promoted_by_copy(memory: Client, home: str) -> None:
    """Proves: A5."""
    task = f"{home}/task/trip"
    assert memory.create_scope(task, timedelta(days=1)) == memory.create_scope(task)
    original = memory.write("semantic", FACT, scope=task, **LABEL).item_id
    assert original is not None
    promoted = memory.promote(original, layer="episodic")
    assert promoted.committed, promoted
    assert promoted.item_id is not None
    copy = memory.get(promoted.item_id)
    assert copy is not None
    assert (copy.scope, copy.layer, copy.content) == (home, "episodic", FACT)
    assert copy.classification == "confidential"
    with pytest.raises(InvalidArgument):
        memory.promote(original, target=f"{home}/task/other")
    with pytest.raises(NotFound):
        memory.promote(uuid4())


def test_a_closed_scope_promotes_what_is_named_and_releases_the_rest(
    memory: Client, home: str
) -> None:
    """Proves: A10."""
    task = f"{home}/task/trip"
    memory.create_scope(task)
    kept, lost = (
        memory.write("semantic", {"n": number}, scope=task).item_id for number in range(2)
    )
    assert kept is not None
    assert lost is not None
    closed = {each.item_id: each for each in memory.close_scope(task, promote=[kept])}
    assert (closed[kept].disposition, closed[kept].outcome) == ("promoted", "COMMITTED")
    assert (closed[lost].disposition, closed[lost].outcome) == ("released", None)
    assert [item.scope for item in memory.recall("n")] == [home]
    assert memory.write("semantic", {"n": 3}, scope=task).rejected


def test_a_scope_that_is_not_the_agents_to_make_or_close_is_refused(
    memory: Client, home: str
) -> None:
    """Scopes that are no tasks are for administrators."""
    for call in (lambda: memory.create_scope(f"{home}-2"), lambda: memory.close_scope(home)):
        with pytest.raises(NotAllowed) as caught:
            call()
        assert caught.value.detail


def test_a_retracted_item_is_kept_in_its_history_with_the_reason(memory: Client) -> None:
    """And retracting it twice is an error."""
    item_id = memory.write("semantic", FACT).item_id
    assert item_id is not None
    memory.retract(item_id, "said in jest")
    assert memory.recall("tea") == []
    assert memory.history(item_id)[0].status == "RETRACTED"
    with pytest.raises(NotFound) as caught:
        memory.retract(item_id, "said in jest")
    assert caught.value.sqlstate == "42704"


def test_a_verdict_on_an_item_is_an_item_too(memory: Client) -> None:
    """As secret as what it is about."""
    item_id = memory.write("semantic", FACT, **LABEL).item_id
    assert item_id is not None
    noted = memory.annotate(item_id, "doubted", "she said coffee")
    assert noted.item_id is not None
    note = memory.get(noted.item_id)
    assert note is not None
    assert (note.kind, note.classification) == ("annotation", "confidential")
    assert note.content["verdict"] == "doubted"
    assert memory.annotate(item_id, "perhaps").rejected


def test_access_is_explained_rule_by_rule(memory: Client, agent: str) -> None:
    """One rule decides."""
    item_id = memory.write("semantic", FACT).item_id
    assert item_id is not None
    rules = memory.explain_access(agent, item_id)
    assert [rule.step for rule in rules] == list(range(1, len(rules) + 1))
    assert all(rule.allowed and rule.explanation for rule in rules)
    assert [rule.decisive for rule in rules].count(True) == 1
    denied = memory.explain_access(agent, item_id, "ADMIN")
    assert [rule.allowed for rule in denied if rule.decisive] in ([True], [False])
    with pytest.raises(NotFound):
        memory.explain_access("nobody", item_id)
    with pytest.raises(InvalidArgument):
        memory.explain_access(agent, item_id, "LOOK")
