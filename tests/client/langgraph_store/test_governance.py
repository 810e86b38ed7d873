"""What the gates refuse, and what a login may not reach, through LangGraph's store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from psycopg.conninfo import make_conninfo

pytest.importorskip("langgraph.store.base", reason="needs memwarden[langgraph]")

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from memwarden import Client, InvalidArgument, NotAllowed, NotFound
from memwarden.langgraph import MemwardenStore, PutRefused
from memwarden.results import WriteResult

if TYPE_CHECKING:
    from conftest import World

NS = ("notes",)
GOOD = PutOp(NS, "good", {"text": "green tea"})
EMPTY = PutOp(NS, "empty", {})


@pytest.fixture
def client(shared_world: World, home: str) -> Iterator[Client]:
    """Yield the client of a new agent."""
    with Client(shared_world.agent(home)) as client:
        yield client


def test_a_refused_put_is_raised_returned_or_passed_over(client: Client) -> None:
    """The others of its batch are stored in each case.

    Proves: Z11
    """
    store = MemwardenStore(client)
    with pytest.raises(PutRefused, match="CONTENT_EMPTY") as caught:
        store.batch([EMPTY, GOOD])
    [(namespace, key, result)] = caught.value.refused
    assert (namespace, key, result.reason) == (NS, "empty", "CONTENT_EMPTY")
    assert store.get(NS, "good") is not None
    with pytest.raises(PutRefused):
        asyncio.run(store.aput(NS, "empty", {}))
    returned = MemwardenStore(client, on_refusal="return").batch([GOOD, EMPTY])
    assert returned[0] is None
    assert isinstance(returned[1], WriteResult)
    assert returned[1].rejected
    ignoring = MemwardenStore(client, on_refusal="ignore")
    assert ignoring.batch([GOOD, EMPTY]) == [None, None]
    assert ignoring.get(NS, "empty") is None
    with pytest.raises(InvalidArgument):
        MemwardenStore(client, on_refusal="perhaps")


def test_keys_differ_in_case_and_a_delete_leaves_the_history(client: Client) -> None:
    """Names are kept to the letter; a value comes back after another; what is deleted can be read.

    Proves: Z11
    """
    store = MemwardenStore(client)
    for value in ("one", "two", "one"):
        store.put(("Users", "Ää"), "Key 1/%", {"v": value})
    store.put(("users", "ää"), "key 1/%", {"v": "other"})
    found = store.get(("Users", "Ää"), "Key 1/%")
    assert found is not None
    assert found.value == {"v": "one"}
    assert found.namespace == ("Users", "Ää")
    assert store.list_namespaces() == [("Users", "Ää"), ("users", "ää")]
    subjects = {item.subject for item in client.as_of()}
    [item] = client.find_items(next(s for s in subjects if s and s.startswith("%")))
    store.delete(("Users", "Ää"), "Key 1/%")
    assert store.get(("Users", "Ää"), "Key 1/%") is None
    assert [each.content["v"] for each in client.history(item.item_id) if each.content][-3:] == [
        "one",
        "two",
        "one",
    ]


def test_a_store_shows_no_memory_but_those_that_a_store_wrote(client: Client) -> None:
    """Other memories of the same scope and layer are no entries."""
    client.write("semantic", {"drink": "tea"}, subject="Ana", predicate="prefers")
    store = MemwardenStore(client)
    assert store.search(()) == []
    assert store.search((), query="tea") == []


def test_a_namespace_that_is_no_scope_of_the_callers_is_an_error(
    shared_world: World, client: Client, home: str
) -> None:
    """Each operation, as a real login: never an empty answer, and nothing is written.

    Proves: Z11
    """
    other = home.replace("/ana", "/bo")
    name = shared_world.register(other)
    with Client.connect(make_conninfo(shared_world.dsn, user=name)) as bo:
        MemwardenStore(bo).put(("x",), "secret", {"text": "the safe is behind the picture"})
    users = home.rsplit("/", 1)[0]
    store = MemwardenStore(client, scopes={("users", "{user}"): f"{users}/{{user}}"})
    own, foreign, nowhere = ("users", "ana"), ("users", "bo"), ("users", "nobody")
    store.put(own, "k", {"v": 1})
    assert [item.value for item in store.search(own)] == [{"v": 1}]
    for namespace in (foreign, nowhere):
        prefix = (MatchCondition("prefix", namespace),)
        for op in (
            GetOp(namespace, "secret"),
            SearchOp(namespace),
            SearchOp(namespace, query="safe"),
            ListNamespacesOp(prefix),
            PutOp(namespace, "secret", None),
        ):
            with pytest.raises((NotFound, NotAllowed)):
                store.batch([op])
        with pytest.raises((PutRefused, NotFound, NotAllowed)):
            store.put(namespace, "k", {"v": 2})
    none: tuple[tuple[str, ...], ...] = (
        ("else",),
        ("users",),
        (),
        ("users", "../bo"),
        ("users", "ana/bo"),
    )
    for wrong in none:
        with pytest.raises((InvalidArgument, InvalidNamespaceError)):
            store.search(wrong)
    with pytest.raises(InvalidArgument):
        store.list_namespaces()
    stored = shared_world.value(
        "SELECT count(*) FROM memwarden_data.item JOIN memwarden_data.scope AS s USING (scope_id)"
        " WHERE s.path = %s",
        other,
    )
    assert stored == 1
