"""promote(): a copy further up, through every gate there, which names the original."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from conftest import World
from helpers import recall, write
from scope_calls import get, organisation_of, promote, remember

VECTOR = [0.5, -0.25, *[0.0] * 381, 1.0]


@pytest.fixture
def task(home: str) -> str:
    """The path of a task in the home."""
    return f"{home}/task/t"


@pytest.fixture
def agent(shared_world: World, home: str, task: str) -> Connection[DictRow]:
    """An agent that writes its task, its home and the organisation."""
    made = shared_world.agent(home, descendants=True)
    shared_world.scope(task)
    shared_world.admin.execute(
        "SELECT memwarden.grant_scope(%s, %s, true)", (made.info.user, organisation_of(home))
    )
    return made


def evidence(agent: Connection[DictRow], item_id: UUID) -> list[dict[str, Any]]:
    """What an item gives as its evidence."""
    return list(get(agent, item_id)["provenance"]["evidence"])


def test_a_memory_goes_up_one_place_or_two(
    agent: Connection[DictRow], home: str, task: str
) -> None:
    """Task to user, user to organisation, task to organisation; the original stays where it is.

    Proves: A5
    """
    item = remember(agent, task, {"lesson": "tests first"})
    organisation = organisation_of(home)
    up = promote(agent, item)
    assert (up["outcome"], get(agent, up["item_id"])["scope"]) == ("COMMITTED", home)
    top = promote(agent, up["item_id"])
    assert get(agent, top["item_id"])["scope"] == organisation
    other = remember(agent, task, {"lesson": "measure"})
    direct = promote(agent, other, target=organisation)
    assert get(agent, direct["item_id"])["scope"] == organisation
    for original in (item, other, up["item_id"]):
        assert get(agent, original)["status"] == "ACTIVE"
        assert get(agent, original)["version"] == 1
    chain = evidence(agent, top["item_id"])
    assert [reference["uri"] for reference in chain] == [
        f"memwarden:item/{item}",
        f"memwarden:item/{up['item_id']}",
    ]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_by_default_it_goes_to_the_nearest_scope_that_lasts(
    shared_world: World, agent: Connection[DictRow], home: str, depth: int
) -> None:
    """Tasks in tasks are passed over; of several that last the nearest is taken.

    Proves: A5
    """
    domain = f"{home}/domain/d"
    tasks = domain + "".join(f"/task/t{n}" for n in range(depth))
    shared_world.scope(tasks)
    up = promote(agent, remember(agent, tasks, {"lesson": depth}))
    assert get(agent, up["item_id"])["scope"] == domain


def test_the_copy_says_what_the_original_says(shared_world: World, home: str, task: str) -> None:
    """Content, key, numbers, kind, valid time, classification, domains, attributes and vector.

    Proves: A5, A3
    """
    shared_world.admin.execute(
        "SELECT memwarden.define_schema('semantic', 'note', %s)", (Jsonb({"type": "object"}),)
    )
    shared_world.admin.execute("SELECT memwarden.define_attribute('item', 'draft', 'boolean')")
    shared_world.scope(task)
    agent = shared_world.agent(
        home, descendants=True, clearance="restricted", domains=["law", "medicine"]
    )
    cited = [{"type": "document", "uri": "file:a", "page": 7}]
    item = remember(
        agent,
        task,
        {"café": "Ωμέγα", "n": 1.5e-30, "deep": [None, {"a": True}]},
        kind="note",
        subject="Ana",
        predicate="prefers",
        confidence=0.125,
        importance=0.75,
        evidence=cited,
        embedding=VECTOR,
        valid_from="2020-02-29 12:00Z",
        valid_to="2021-01-01Z",
        classification="confidential",
        domains=["medicine", "law"],
        attributes={"draft": True},
    )
    up = promote(agent, item)
    assert up["outcome"] == "COMMITTED"
    original, copy = get(agent, item), get(agent, up["item_id"])
    own = {"item_id", "version_id", "scope", "created_at", "updated_at", "provenance"}
    own |= {"last_seen_at"}
    assert {name for name, value in copy.items() if value != original[name]} == own
    link = {"type": "memory_item", "uri": f"memwarden:item/{item}"}
    link["version_id"] = str(original["version_id"])
    assert evidence(agent, up["item_id"]) == [*cited, link]
    vectors = shared_world.rows(
        "SELECT e.embedding::text, m.name FROM memwarden_data.embedding AS e"
        "  JOIN memwarden_data.embedding_model AS m USING (model_id) WHERE item_id = ANY (%s)",
        [item, up["item_id"]],
    )
    assert len(vectors) == 2
    assert vectors[0] == vectors[1]
    assert vectors[0]["name"] == "default"
    (row,) = recall(agent, embedding=VECTOR, scopes=[home])
    assert row["similarity"] == pytest.approx(1)


def test_a_model_that_was_registered_here_keeps_its_vector(
    shared_world: World, agent: Connection[DictRow], home: str, task: str
) -> None:
    """Its name goes along; what words can be embedded from is embedded anew.

    Proves: A5
    """
    shared_world.admin.execute("SELECT memwarden.register_embedding_model('tiny', 2)")
    tiny = remember(agent, task, "small", embedding=[0.5, 2.0], embedding_model="tiny")
    words = remember(agent, task, "only words")
    for item in (tiny, words):
        assert promote(agent, item)["outcome"] == "COMMITTED"
    found = shared_world.rows(
        "SELECT i.item_id, m.name, e.embedding::text AS numbers FROM memwarden_data.item AS i"
        "  JOIN memwarden_data.embedding AS e USING (org_id, scope_id, item_id)"
        "  JOIN memwarden_data.embedding_model AS m USING (model_id)"
        "  JOIN memwarden_data.scope AS s USING (scope_id) WHERE s.path = %s ORDER BY m.name",
        home,
    )
    assert [row["name"] for row in found] == ["lexical", "tiny"]
    assert found[1]["numbers"] == "[0.5,2]"


@pytest.mark.parametrize(
    ("valid_from", "valid_to"),
    [
        ("-infinity", "infinity"),
        ("-infinity", "2001-01-01Z"),
        ("2001-01-01Z", None),
        ("2999-01-01Z", "2999-01-02Z"),
        ("4713-01-01 BC", "294276-01-01Z"),
    ],
)
def test_valid_time_goes_along_whatever_it_is(
    shared_world: World, agent: Connection[DictRow], task: str, valid_from: str, valid_to: str
) -> None:
    """Long past, far ahead, since ever and for ever.

    Proves: A5
    """
    item = remember(agent, task, "once", valid_from=valid_from, valid_to=valid_to)
    up = promote(agent, item)
    assert up["outcome"] == "COMMITTED"
    times = shared_world.rows(
        "SELECT DISTINCT valid_during::text FROM memwarden_data.item WHERE item_id = ANY (%s)",
        [item, up["item_id"]],
    )
    assert len(times) == 1


def test_what_is_promoted_is_the_current_version(agent: Connection[DictRow], task: str) -> None:
    """And again when there is a newer one: a new version at the target, of the same key.

    Proves: A5
    """
    key = {"subject": "Ana", "predicate": "drinks"}
    item = remember(agent, task, "tea", **key)
    first = promote(agent, item)
    assert write(agent, "semantic", "coffee", scope=task, **key)["item_id"] == item
    second = promote(agent, item)
    assert (second["item_id"], get(agent, second["item_id"])["version"]) == (first["item_id"], 2)
    assert get(agent, first["item_id"])["content"] == "coffee"
    link = evidence(agent, first["item_id"])[-1]
    assert link["version_id"] == str(get(agent, item)["version_id"])


def test_promoting_again_changes_nothing(agent: Connection[DictRow], home: str, task: str) -> None:
    """The same caller is told of the copy; what the target holds already is a duplicate.

    Proves: A5, N3 (no duplicate at the border)
    """
    item = remember(agent, task, {"lesson": 1})
    first = promote(agent, item)
    again = promote(agent, item)
    assert (again["outcome"], again["item_id"]) == ("ALREADY_COMMITTED", first["item_id"])
    known = remember(agent, home, {"fact": 2})
    twin = remember(agent, task, {"fact": 2}, confidence=0.9)
    assert promote(agent, twin)["outcome"] in ("ALREADY_COMMITTED", "REJECTED")
    assert promote(agent, twin)["item_id"] == known
