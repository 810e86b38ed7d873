"""Ids of other systems are compared to the letter, in a store as `memwarden init` leaves it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from psycopg.conninfo import make_conninfo

from memwarden import Client
from memwarden.mem0 import Memory
from memwarden.transfer.identifiers import key_of, namespace_of, predicate_of, subject_of
from memwarden_core.fingerprint import (
    fingerprint,
    key_hash,
    normalised_name,
    normalised_predicate,
)
from memwarden_core.written import written
from shipped import Shipped

if TYPE_CHECKING:
    from conftest import World

# Each of a line is another one; what compares names takes most of them for one.
TWINS = [
    ("john-doe", "john_doe", "john doe", "John-Doe", "john--doe", "johndoe"),
    ("-5", "5", "5-", "#5"),
    ("x", "X", " x", "x ", "\uff58", "\u200bx", "x.", "x:", "%58"),
    ("caf\u00e9", "cafe\u0301", "cafe", "CAF\u00c9"),
    ("\u212b", "\u00c5", "A\u030a"),
    ("a/b", "a b", "a~b", "a%2fb"),
]
TOLD = ("My favourite colour is red", "My phone number is 555 1234")
NEXT = ("My favourite colour is blue", "My phone number is 555 9999")


@pytest.fixture
def world(shipped: Shipped) -> World:
    """Return the store as `memwarden init` leaves it."""
    return shipped.world


@pytest.fixture
def client(shipped: Shipped) -> Iterator[Client]:
    """Yield the client of the agent that init made."""
    with Client.connect(make_conninfo(shipped.world.dsn, user=shipped.agent.info.user)) as client:
        yield client


def told(memory: Memory, identifier: str, name: str = "user_id") -> list[str]:
    """What is remembered of an id."""
    found = memory.get_all(filters={name: identifier})["results"]
    return sorted(each["memory"] for each in found)


@pytest.mark.every_version
def test_no_two_ids_of_mem0_are_one(client: Client) -> None:
    """What one user, agent or run is told of neither hides nor replaces what another is.

    Proves: Z11
    """
    memory = Memory(client)
    for line in TWINS[:4]:
        for place, each in enumerate(line):
            said = TOLD if place == 0 else NEXT if place == 1 else TOLD
            memory.add([{"role": "user", "content": text} for text in said], user_id=each)
            memory.add("The shop opens at nine", user_id=f"of {line[0]}", agent_id=each)
            memory.add("The shop opens at nine", user_id=f"of {line[0]}", run_id=each)
        for place, each in enumerate(line):
            assert told(memory, each) == sorted(NEXT if place == 1 else TOLD), each
            for name in ("agent_id", "run_id"):
                assert told(memory, each, name) == ["The shop opens at nine"], (name, each)
    memory.delete_all(user_id="x")
    assert told(memory, "x") == []
    assert told(memory, "X") == sorted(NEXT)


def test_an_id_is_erased_to_the_letter(shipped: Shipped, client: Client) -> None:
    """All of that one and nothing of another, where the call says that the subject is an id.

    Proves: Z11
    """
    langgraph = pytest.importorskip("memwarden.langgraph", reason="needs memwarden[langgraph]")
    memory, store = Memory(client), langgraph.MemwardenStore(client)
    ids = [each for line in TWINS for each in line]
    for each in ids:
        memory.add("likes tea", user_id=each)
        store.put(("users", each), "drink", {"likes": "tea"}) if "." not in each else None
    with Client.connect(shipped.world.dsn) as admin:
        for gone in ("john-doe", "X", "cafe\u0301", "%58", "John-Doe"):
            admin.erase_subject(f"id:{gone}", "asked for", org="acme")
            ids.remove(gone)
            assert told(memory, gone) == []
            assert [each for each in ids if not told(memory, each)] == []
        kept = {item.namespace[1] for item in store.search(("users",), limit=100)}
        assert kept == {each for line in TWINS for each in line if "." not in each}
        for gone in ("john-doe", "a b"):
            admin.erase_subject(f"id:users/{gone}", "asked for", org="acme")
            assert store.get(("users", gone), "drink") is None
        now = {item.namespace[1] for item in store.search(("users",), limit=100)}
        assert now == kept - {"john-doe", "a b"}
        # A registered identifier is found in a name, however that is written there.
        found = admin.find_subject("nobody", identifiers=["John-Doe"], org="acme")
        assert len(found) == 1
        admin.register_subject("Ms Doe", {"adapter": ["John-Doe"]}, org="acme")
        admin.erase_subject("Ms Doe", "asked for", org="acme")
        assert store.get(("users", "John-Doe"), "drink") is None
        assert store.get(("users", "john_doe"), "drink") is not None
        assert told(memory, "john_doe") == ["likes tea"]


names = st.text(st.characters(exclude_categories=())) | st.text(
    "aA-_ .:~%/=\u00e9e\u0301\u0130i", max_size=4
)


@given(names, names)
@example("a-b", "a_b")
@example("-a", "2da")
@example("ana", "anna")
@example("\u0130", "i\u0307")
@example("\ud800", "\ud801")
def test_no_two_keys_are_written_alike(one: str, other: str) -> None:
    """Under no comparison of names, and each is read back as it was.

    Proves: Z11
    """
    assert key_of(predicate_of(one)) == one
    assert namespace_of(subject_of((one, other))) == (one, other)
    if one == other:
        return
    assert normalised_predicate(predicate_of(one)) != normalised_predicate(predicate_of(other))
    assert predicate_of(one).lower() != predicate_of(other).lower()
    for make in (
        written,
        lambda label: subject_of((label, "k")),
        lambda label: subject_of(("k", label)),
    ):
        assert normalised_name(make(one)) != normalised_name(make(other)) or not (one and other)
        assert make(one).lower() != make(other).lower()
    # What an organisation takes for equal is none of its keys.
    equal = {one: other, other.strip() or "x": "y"}
    if one and other:
        assert key_hash(subject_of((one,)), "k=", equal) != key_hash(
            subject_of((other,)), "k=", equal
        )
        assert key_hash("k", predicate_of(one), equal) != key_hash("k", predicate_of(other), equal)
    if (one + other).isprintable():
        told = [fingerprint({"text": "x", "agent_id": each}, "u", None) for each in (one, other)]
        assert told[0] != told[1]


def test_an_id_is_no_word_of_a_memory(shipped: Shipped, client: Client) -> None:
    """Neither words nor vectors find it; the subject still says whose the memory is.

    Proves: Z11
    """
    langgraph = pytest.importorskip("memwarden.langgraph", reason="needs memwarden[langgraph]")
    memory, store = Memory(client), langgraph.MemwardenStore(client)
    for each in ("petra", "Bo Quist", "u-4711"):
        memory.add("I drink oolong tea in the morning", user_id=each)
        store.put(("people", each), "note of petra", {"likes": "walnut cake"})
    texts = shipped.agent.execute("SELECT DISTINCT text FROM memwarden.items").fetchall()
    assert {row["text"] for row in texts} == {
        "I drink oolong tea in the morning",
        "likes walnut cake",
    }
    for name in ("petra", "Quist", "u-4711", "people"):
        found = shipped.agent.execute("SELECT item_id FROM memwarden.recall(%s)", (name,))
        assert [row for row in found if row["item_id"]] == [], name
    assert told(memory, "petra") == ["I drink oolong tea in the morning"]
    assert store.get(("people", "Bo Quist"), "note of petra") is not None
    of_petra = shipped.agent.execute("SELECT subject FROM memwarden.recall(subject => 'petra')")
    assert [row["subject"] for row in of_petra] == ["petra"]
    with Client.connect(shipped.world.dsn) as admin:
        admin.erase_subject("id:petra", "asked for", org="acme")
    assert told(memory, "petra") == []
    assert told(memory, "Bo Quist") == ["I drink oolong tea in the morning"]


def test_no_synonym_or_entity_makes_two_keys_one(shipped: Shipped, client: Client) -> None:
    """Names of people may be equal or mean one; keys of a store stay apart.

    Proves: Z11
    """
    langgraph = pytest.importorskip("memwarden.langgraph", reason="needs memwarden[langgraph]")
    admin = shipped.world.admin
    admin.execute(
        """
        SELECT memwarden.set_synonyms('acme', '{"jon": "john", "fav": "favourite"}');
        SELECT memwarden.define_entity_type('person');
        SELECT memwarden.register_entity('person:ana', 'person', aliases => '{Ana, Anna}', scope => '/org/acme');
        """  # noqa: E501
    )
    store = langgraph.MemwardenStore(client)
    places = [(name, "fav_tea") for name in ("jon-doe", "john-doe", "ana", "anna")]
    places += [("ana", "favourite_tea")]
    for place, (name, key) in enumerate(places):
        store.put((name,), key, {"text": f"number {place}"})
    found = [store.get((name,), key) for name, key in places]
    assert [each and each.value["text"] for each in found] == [
        f"number {place}" for place in range(len(places))
    ]


def test_a_hold_on_an_id_keeps_that_id_alone(shipped: Shipped, client: Client) -> None:
    """Its erasure waits, and that of another id does not. Proves: Z11."""
    memory = Memory(client)
    for each in TWINS[0]:
        memory.add("likes tea", user_id=each)
    with Client.connect(shipped.world.dsn) as admin:
        assert admin.hold("case 7", subject="id:John-Doe", org="acme").items == 1
        done = [
            admin.erase_subject(f"id:{each}", "asked for", org="acme").status
            for each in ("john-doe", "John-Doe")
        ]
    assert done == ["COMPLETED", "BLOCKED"]
    assert told(memory, "John-Doe") == ["likes tea"]
