"""Keys that earlier releases wrote are found and moved, in a store as `memwarden init` makes it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from psycopg.conninfo import make_conninfo

pytest.importorskip("langgraph.store.base", reason="needs memwarden[langgraph]")

from client.test_import_export import imported
from memwarden import Client
from memwarden.langgraph import AsyncMemwardenStore, MemwardenStore
from shipped import SCOPE, Shipped

if TYPE_CHECKING:
    from conftest import World

USERS = ("users", "Ana")


@pytest.fixture
def world(shipped: Shipped) -> World:
    """Return the store as `memwarden init` leaves it."""
    return shipped.world


@pytest.fixture
def dsn(shipped: Shipped) -> str:
    """Return how the agent connects that init made."""
    return make_conninfo(shipped.world.dsn, user=shipped.agent.info.user)


@pytest.fixture
def client(dsn: str) -> Iterator[Client]:
    """Yield its client, over what earlier releases wrote of two users, and what is no entry."""
    with Client.connect(dsn) as client:
        for subject, predicate, text in (
            ("users/%41na", "tea", "green"),
            ("users/%41na", "job-title", "gardener"),
            ("users/%41na", "job_title", "florist"),
            ("users/%41na", "%48ome", "Ghent"),
            ("users/bo", "tea", "black"),
            ("Ana", "likes", "rain"),
        ):
            written = client.write("semantic", {"text": text}, subject=subject, predicate=predicate)
            assert written.stored, written
        evidence = [{"type": "document", "uri": "langgraph:users.Ana/last seen"}]
        assert client.write(
            *("semantic", {"text": "in May"}),
            subject="users.Ana",
            predicate="last seen",
            evidence=evidence,
        ).stored
        yield client


@pytest.mark.every_version
def test_earlier_keys_are_read_and_ended(client: Client, dsn: str) -> None:
    """By get, search, listing and delete; a later put takes the place of the earlier value.

    Proves: Z11
    """
    store = MemwardenStore(client)
    values = {"tea": "green", "job_title": "florist", "Home": "Ghent", "last seen": "in May"}
    for key, text in values.items():
        found = store.get(USERS, key)
        assert found is not None
        assert (found.namespace, found.key, found.value) == (USERS, key, {"text": text})
    assert store.get(USERS, "job-title") is None
    for query in (None, "green tea of the florist in Ghent in May"):
        assert {each.key: each.value["text"] for each in store.search(USERS, query=query)} == values
    assert store.list_namespaces() == [USERS, ("users", "bo")]
    store.put(USERS, "tea", {"text": "white"})
    for query in (None, "green tea, white tea"):
        found_now = [each for each in store.search(USERS, query=query) if each.key == "tea"]
        assert [each.value["text"] for each in found_now] == ["white"]
    store.delete(USERS, "tea")
    store.delete(USERS, "Home")
    assert store.get(USERS, "tea") is None
    assert {each.key for each in store.search(USERS)} == {"job_title", "last seen"}

    async def read() -> None:
        async with AsyncMemwardenStore.from_conn_string(dsn) as there:
            found = await there.aget(("users", "bo"), "tea")
            assert found is not None
            assert len(await there.asearch(("users",))) == 3

    asyncio.run(read())


def test_earlier_keys_are_moved_and_two_that_were_one_are_named(
    client: Client, dsn: str, tmp_path: Path
) -> None:
    """By one command, which changes nothing when it is run again.

    Proves: Z11
    """
    store = MemwardenStore(client)
    store.put(("users", "bo"), "tea", {"text": "none"})
    before = {(each.namespace, each.key): each.value for each in store.search((), limit=100)}
    assert len(before) == 5
    report = tmp_path / "report.json"
    told = imported(SCOPE, "--from", "earlier-keys", dsn=dsn, report=report)
    assert (told["accepted"], told["refused"]) == (4, {"TWO_KEYS": 1, "PUT_AGAIN": 1})
    named = [each for each in told["problems"] if "had become one" in each["reason"]]
    assert [each["record"] for each in named] == ["users/Ana job-title"]
    now = {(each.namespace, each.key): each.value for each in store.search((), limit=100)}
    assert now == before
    entries = [item for item in client.as_of() if item.subject != "Ana"]
    assert all((item.predicate or "").endswith("=") for item in entries)
    assert len(entries) == 5
    told = imported(SCOPE, "--from", "earlier-keys", dsn=dsn, report=report)
    assert (told["accepted"], told["problems"]) == (0, [])
