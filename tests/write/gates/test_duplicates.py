"""The same again, in this or another spelling, is recognised; a new value is a new version."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write, write_many
from replay import check_store

if TYPE_CHECKING:
    from conftest import World

FULL = ["episodic", "semantic", "procedural", "durable"]
TEA = {"drink": "Green tea", "times": 3}
KEY = {"subject": "Ana", "predicate": "prefers drink"}


@pytest.mark.parametrize("layer", FULL)
def test_the_same_content_is_an_exact_duplicate(shared_world: World, home: str, layer: str) -> None:
    """Whoever writes it; the answer names the item that is there, and nothing is written.

    Proves: D1
    """
    first = write(shared_world.agent(home), layer, TEA, **KEY)
    answers = write_many(
        shared_world.agent(home),
        [KEY | {"layer": layer, "content_text": '{"times":3.0, "drink" : "Green tea"}'}],
    )
    assert (answers[0]["outcome"], answers[0]["reason"]) == ("REJECTED", "EXACT_DUPLICATE")
    assert (answers[0]["item_id"], answers[0]["version_id"]) == (
        first["item_id"],
        first["version_id"],
    )
    assert (
        shared_world.value(
            "SELECT count(*) FROM memwarden_data.version WHERE item_id = %s", first["item_id"]
        )
        == 1
    )


@pytest.mark.parametrize(
    "other",
    [
        {"content": {"drink": "GREEN TEA", "times": 3}},
        {"content": {"drink": "  green \n\t tea ", "times": 3}},
        {"content": {"drink": "“Green tea”.", "times": 3}},
        {
            "content": {
                "drink": "\uff47\uff52\uff45\uff45\uff4e\u00a0\uff54\uff45\uff41",
                "times": 3,
            }
        },
        {"content": {"drink": "gre\u00aden\u200b tea\ufeff", "times": 3}},
        {"subject": "ANA"},
        {"subject": " ana "},
        {"predicate": "Prefers   drink!"},
        {"subject": "Àna", "content": TEA, "first_subject": "A\u0300na"},
    ],
)
def test_another_spelling_is_a_structural_duplicate(
    agent: Connection[DictRow], room: str, other: dict[str, Any]
) -> None:
    """Unicode composition and width, case, white space, invisible signs and ornament do not count.

    Proves: D1, D2
    """
    key = KEY | {"subject": other.get("first_subject", "Ana"), "scope": room}
    first = write(agent, "semantic", TEA, **key)
    changed = {name: value for name, value in other.items() if name != "first_subject"}
    answer = write(agent, **({"layer": "semantic", "content": TEA} | key | changed))
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "STRUCTURAL_DUPLICATE")
    assert answer["item_id"] == first["item_id"]


@pytest.mark.parametrize(
    "other",
    [
        {"content": {"drink": "Green teas", "times": 3}},
        {"content": {"drink": "not green tea", "times": 3}},
        {"content": {"drink": "green tea?", "times": 3}},
        {"content": {"drink": "Green tea", "times": -3}},
        {"content": {"drink": "Green tea", "times": "3"}},
        {"content": {"drink": "Green tea", "times": 3, "hot": None}},
        {"content": {"Drink": "Green tea", "times": 3}},
        {"subject": "Anna"},
        {"subject": None},
        {"subject": "prefers drink", "predicate": "Ana"},
    ],
)
def test_another_meaning_is_no_duplicate(
    agent: Connection[DictRow], room: str, other: dict[str, Any]
) -> None:
    """A word, a sign, a type, a name or who it is about: what tells things apart is never dropped.

    Proves: D1, D2
    """
    key = KEY | {"scope": room}
    write(agent, "episodic", TEA, **key)
    answer = write(agent, **({"layer": "episodic", "content": TEA} | key | other))
    assert answer["outcome"] == "COMMITTED"


def test_another_scope_layer_or_organisation_holds_its_own(
    shared_world: World, agent: Connection[DictRow], room: str
) -> None:
    """A duplicate is one within a scope and layer; what others hold is not even hinted at.

    Proves: D1, A4
    """
    other_room = f"{room}/task/next"
    shared_world.scope(other_room)
    stranger = shared_world.agent(f"/org/{uuid.uuid4().hex[:12]}")
    answers = [
        write(agent, "semantic", TEA, scope=room),
        write(agent, "semantic", TEA, scope=other_room),
        write(agent, "durable", TEA, scope=room),
        write(stranger, "semantic", TEA),
    ]
    assert [answer["outcome"] for answer in answers] == ["COMMITTED"] * 4
    assert len({answer["item_id"] for answer in answers}) == 4


@pytest.mark.parametrize("layer", ["session", "semantic", "procedural", "durable"])
def test_a_new_value_is_a_new_version_of_the_item(
    shared_world: World, agent: Connection[DictRow], room: str, layer: str
) -> None:
    """One row per key, however the key is spelt; the values before stay in its history.

    Proves: D5, T1, T2
    """
    values = ["tea", "coffee", "tea", "water"]
    spellings = ["Ana", "ANA", "ana ", "Ana."]
    answers = [
        write(agent, layer, value, scope=room, subject=name, predicate="prefers")
        for value, name in zip(values, spellings, strict=True)
    ]
    assert [answer["outcome"] for answer in answers] == ["COMMITTED"] * 4
    assert len({answer["item_id"] for answer in answers}) == 1
    history = agent.execute(
        "SELECT * FROM memwarden.history(%s)", (answers[0]["item_id"],)
    ).fetchall()
    assert [row["content"] for row in history] == values[::-1]
    assert [row["version"] for row in history] == [4, 3, 2, 1]
    assert [row["status"] for row in history] == ["ACTIVE"] + ["SUPERSEDED"] * 3
    assert [row["operation"] for row in history] == ["UPDATE"] * 3 + ["INSERT"]
    assert [row["superseded_at"] for row in history[1:]] == [
        row["recorded_at"] for row in history[:-1]
    ]
    assert [row["request_id"] for row in history] == [a["request_id"] for a in answers[::-1]]
    items = agent.execute("SELECT * FROM memwarden.items WHERE scope = %s", (room,)).fetchall()
    assert [(row["content"], row["version"], row["subject"]) for row in items] == [
        ("water", 4, "Ana.")
    ]
    vectors = "SELECT count(*) FROM memwarden_data.embedding WHERE item_id = %s"
    assert shared_world.value(vectors, answers[0]["item_id"]) == 1


@pytest.mark.parametrize("layer", ["working", "episodic"])
def test_where_values_accumulate_each_is_an_item(
    agent: Connection[DictRow], room: str, layer: str
) -> None:
    """What happened again happened twice.

    Proves: D5
    """
    key = KEY | {"scope": room}
    answers = [write(agent, layer, {"drink": d}, **key) for d in ("tea", "coffee", "water")]
    assert [answer["outcome"] for answer in answers] == ["COMMITTED"] * 3
    items = agent.execute(
        "SELECT version FROM memwarden.items WHERE scope = %s", (room,)
    ).fetchall()
    assert [row["version"] for row in items] == [1, 1, 1]


@pytest.mark.parametrize("names", [{"subject": "Ana"}, {"predicate": "prefers"}, {}])
def test_half_a_key_is_no_key(agent: Connection[DictRow], room: str, names: dict[str, str]) -> None:
    """Without both subject and predicate every value is an item of its own.

    Proves: D5
    """
    answers = [write(agent, "semantic", v, scope=room, **names) for v in ("tea", "coffee")]
    assert [answer["outcome"] for answer in answers] == ["COMMITTED"] * 2
    assert len({answer["item_id"] for answer in answers}) == 2


def test_a_value_that_was_replaced_may_return(agent: Connection[DictRow], room: str) -> None:
    """Only what the scope holds now is a duplicate, not what it held once.

    Proves: D1, D5
    """
    key = KEY | {"scope": room}
    for n, value in enumerate(["on", "off", "on", "off"]):
        answer = write(agent, "semantic", value, **key, idempotency_key=str(n))
        assert answer["outcome"] == "COMMITTED"
    repeated = write(agent, "semantic", "OFF", **key, idempotency_key="again")
    assert repeated["reason"] == "STRUCTURAL_DUPLICATE"


def test_a_duplicate_whose_item_the_writer_may_not_read_cannot_exist(
    shared_world: World, home: str
) -> None:
    """Only the scope itself is compared with: an ancestor's and a descendant's items do not count.

    Proves: D1, A4
    """
    org = home.partition("/user")[0]
    below = shared_world.agent(home)
    above = shared_world.agent(org)
    first = write(below, "semantic", TEA)
    second = write(above, "semantic", TEA)
    assert (first["outcome"], second["outcome"]) == ("COMMITTED", "COMMITTED")
    with pytest.raises(psycopg.errors.UndefinedObject):
        above.execute("SELECT * FROM memwarden.recall(scope => %s)", (home,))


def test_the_store_is_what_its_log_says(shared_world: World) -> None:
    """After everything that the tests of this module wrote into one database.

    Proves: T1, T2
    """
    check_store(shared_world.admin)


def test_a_bare_value_that_is_there_under_a_name_is_known(agent: Connection[DictRow]) -> None:
    """It says less, so it takes the place of nothing; more words, and other values, do.

    Proves: D1
    """
    key = {"subject": f"Ana {uuid.uuid4().hex}", "predicate": "lives in"}
    named = write(agent, "semantic", {"city": "Lisbon"}, **key)
    assert named["outcome"] == "COMMITTED"
    for same in ("Lisbon", " LISBON. "):
        again = write(agent, "semantic", same, **key)
        assert (again["outcome"], again["reason"]) == ("REJECTED", "STRUCTURAL_DUPLICATE")
        assert (again["item_id"], again["version_id"]) == (named["item_id"], named["version_id"])
    for other in ("Porto", {"city": "Porto"}, {"city": "Porto", "since": 2020}, "Porto", "Lisbon"):
        row = write(agent, "semantic", other, **key)
        known = other == "Porto" and row["reason"] == "EXACT_DUPLICATE"
        assert known or row["outcome"] == "COMMITTED", (other, row)
