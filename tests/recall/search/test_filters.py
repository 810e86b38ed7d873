"""Each filter of recall keeps what it says and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write

from .conftest import Remember

HOME = "/org/filters/user/ana"
TASK = f"{HOME}/task/t1"
ORG = "/org/filters"

# name: arguments of write(); what it is filtered by below.
MEMORIES: dict[str, dict[str, Any]] = {
    "plain": {"layer": "semantic"},
    "episode": {"layer": "episodic"},
    "draft": {"layer": "working", "kind": "sketch"},
    "keyed": {"layer": "semantic", "subject": "Ana", "predicate": "Lives In"},
    "likes": {"layer": "semantic", "subject": "Ana", "predicate": "likes"},
    "bob": {"layer": "semantic", "subject": "Bob", "predicate": "likes"},
    "typed": {"layer": "semantic", "kind": "note"},
    "nested": {"layer": "semantic", "more": {"tags": ["red", "blue"], "size": {"cm": 5}}},
    "doubtful": {"layer": "semantic", "confidence": 0.3},
    "certain": {"layer": "semantic", "confidence": 1.0},
    "past": {"layer": "semantic", "valid_from": "2001-01-01Z", "valid_to": "2010-01-01Z"},
    "future": {"layer": "semantic", "valid_from": "2100-01-01Z"},
    "in task": {"layer": "semantic", "scope": TASK},
    "in org": {"layer": "semantic", "scope": ORG},
}
EVERYTHING = set(MEMORIES)
NOW = {"valid_at": "2050-01-01Z"}

CASES: list[tuple[dict[str, Any], set[str]]] = [
    ({}, EVERYTHING),
    ({"layers": ["episodic"]}, {"episode"}),
    ({"layers": ["episodic", "working"]}, {"episode", "draft"}),
    ({"layers": ["episodic", "episodic"]}, {"episode"}),
    ({"layers": []}, set()),
    ({"layers": ["durable"]}, set()),
    ({"scope": HOME}, EVERYTHING - {"in task"}),
    ({"scope": TASK}, EVERYTHING),
    ({"scope": ORG}, {"in org"}),
    ({"scope": "/global"}, set()),
    ({"scopes": [TASK]}, {"in task"}),
    ({"scopes": [TASK, ORG, TASK]}, {"in task", "in org"}),
    ({"scopes": []}, set()),
    ({"subject": "Ana"}, {"keyed", "likes"}),
    ({"subject": "aNA"}, {"keyed", "likes"}),
    ({"subject": "An"}, set()),
    ({"predicate": "LIKES"}, {"likes", "bob"}),
    ({"subject": "ana", "predicate": "lives in"}, {"keyed"}),
    ({"subject": ""}, set()),
    ({"kind": "note"}, {"typed"}),
    ({"kind": "sketch"}, {"draft"}),
    ({"kind": "Note"}, set()),
    ({"filter": {"name": "plain"}}, {"plain"}),
    ({"filter": {"tags": ["blue"]}}, {"nested"}),
    ({"filter": {"size": {"cm": 5}}}, {"nested"}),
    ({"filter": {"size": {"cm": 6}}}, set()),
    ({"filter": {}}, EVERYTHING),
    ({"filter": []}, set()),
    ({"min_confidence": 0.5}, EVERYTHING - {"doubtful"}),
    ({"min_confidence": 1}, {"certain"}),
    ({"min_confidence": 0}, EVERYTHING),
    ({"valid_at": "2005-06-01Z"}, {"past"}),
    ({"valid_at": "2001-01-01Z"}, {"past"}),
    ({"valid_at": "2010-01-01Z"}, set()),
    (NOW, EVERYTHING - {"past", "future"}),
    ({"valid_at": "2150-01-01Z"}, EVERYTHING - {"past"}),
    ({"subject": "Ana", "min_confidence": 0.5, "layers": ["semantic"]} | NOW, {"keyed", "likes"}),
    ({"query": "bob", "subject": "Ana"}, {"keyed", "likes"}),
]


@pytest.fixture(scope="module")
def role(shared_world: World) -> str:
    """An agent that remembers one thing of each sort."""
    shared_world.admin.execute("SELECT memwarden.define_schema('semantic', 'note', '{}')")
    for scope in (TASK, ORG):
        shared_world.scope(scope)
    role = shared_world.register(HOME, descendants=True)
    shared_world.admin.execute("SELECT memwarden.grant_scope(%s, %s, true)", (role, ORG))
    agent = shared_world.connect(role)
    for name, arguments in MEMORIES.items():
        options = dict(arguments)
        content = {"name": name} | options.pop("more", {})
        row = write(agent, options.pop("layer"), content, **options)
        assert row["outcome"] == "COMMITTED", row
    return role


@pytest.fixture
def names(shared_world: World, role: str) -> Callable[..., list[str]]:
    """Recall, and return the names of what came back."""
    agent = shared_world.connect(role)
    return lambda **how: [
        row["content"]["name"]
        for row in recall(agent, **({"k": 100, "threshold": 0} | how))
        if row["item_id"]
    ]


@pytest.mark.parametrize(("how", "expected"), CASES, ids=[repr(how)[:60] for how, _ in CASES])
def test_a_filter_keeps_exactly_what_it_names(
    names: Callable[..., list[str]], how: dict[str, Any], expected: set[str]
) -> None:
    """By itself, with a query, and under both fusions.

    Proves: L6 (structured filters), L7 (basic)
    """
    for more in ({}, {"query": "plain keyed bob"}, {"fusion": "rrf"}):
        found = names(**(more | how))
        assert sorted(found) == sorted(expected), more


def test_what_has_expired_is_never_returned(
    shared_world: World, reader: Connection[DictRow], remember: Remember
) -> None:
    """Neither by recall nor by get, the view or its key; its history stays."""
    kept = remember("kept for a day", ttl="1 day")
    gone = remember("kept for an hour", ttl="1 hour")
    shared_world.admin.execute(
        "UPDATE memwarden_data.item SET expires_at = now() - interval '1 s' WHERE item_id = %s",
        (gone,),
    )
    found = recall(reader, query="hour", k=100, threshold=0)
    assert [row["item_id"] for row in found] == [kept]
    # What is gone does not stretch the scale of what remains, either.
    assert found[0]["keyword_score"] == 0
    assert reader.execute("SELECT * FROM memwarden.get(%s)", (gone,)).fetchall() == []
    view = reader.execute("SELECT item_id FROM memwarden.items").fetchall()
    assert [row["item_id"] for row in view] == [kept]
    history = reader.execute("SELECT * FROM memwarden.history(%s)", (gone,)).fetchall()
    assert len(history) == 1


def test_only_what_is_active_is_returned(
    shared_world: World, reader: Connection[DictRow], remember: Remember
) -> None:
    """A draft, and what was superseded or retracted, are no answers."""
    items = {status: remember(f"a fact, {status}") for status in ("DRAFT", "RETRACTED", "ACTIVE")}
    for status, item in items.items():
        shared_world.admin.execute(
            "UPDATE memwarden_data.item SET status = %s WHERE item_id = %s", (status, item)
        )
    found = recall(reader, query="a fact", k=100)
    assert [row["item_id"] for row in found] == [items["ACTIVE"]]


def test_low_confidence_and_contradiction_are_marked_not_dropped(
    shared_world: World, reader: Connection[DictRow], remember: Remember
) -> None:
    """Below the floor of the layer, which is a setting; at the floor is not below it.

    Proves: L7 (basic)
    """
    floor = shared_world.value(
        "SELECT confidence_floor FROM memwarden_data.layer WHERE layer = 'episodic'"
    )
    low = remember("a rumour", confidence=floor - 0.01)
    at_floor = remember("a report", confidence=floor)
    disputed = remember("a claim", confidence=0.9)
    shared_world.admin.execute(
        "UPDATE memwarden_data.item SET contradicted = true WHERE item_id = %s", (disputed,)
    )
    # By another that stands, though only one of them is told of it.
    shared_world.admin.execute(
        "INSERT INTO memwarden_data.dispute"
        " SELECT i.org_id, i.scope_id, i.item_id, i.content_hash, o.item_id, o.content_hash, now()"
        "   FROM memwarden_data.item AS i, memwarden_data.item AS o"
        "  WHERE i.item_id = %s AND o.item_id = %s",
        (disputed, low),
    )
    found = {row["item_id"]: row for row in recall(reader)}
    assert {item: row["low_confidence"] for item, row in found.items()} == {
        low: True,
        at_floor: False,
        disputed: False,
    }
    assert {item for item, row in found.items() if row["contradicted"]} == {disputed}
