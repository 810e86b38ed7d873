"""LangGraph's store over memwarden, judged by the tests of PostgresStore."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("langgraph.store.base", reason="needs memwarden[langgraph]")

from client.langgraph_store import peer
from client.langgraph_store.clock import Clock
from memwarden import Client
from memwarden.langgraph import MemwardenIndexConfig, MemwardenStore, lives

if TYPE_CHECKING:
    from conftest import World

# What these look at is the implementation of PostgresStore. test_equivalents.py asks of memwarden
# what they protect. docs/langgraph.md has the list.
ITS_OWN = {
    "test_store": {
        "test_escape_like_literal": "how it writes a pattern of SQL",
        "test_namespace_match_pattern": "how it writes a pattern of SQL",
        "test_nonnull_migrations": "its migrations",
        "test_omit_expired_disabled_preserves_expired_rows": "rows that are over, before its sweep",
        "test_omit_expired_search_pagination": "writes into its table",
    },
    "test_async_store": {
        "test_no_running_loop": "its loop in the background",
        "test_abatch_uses_single_pool_checkout": "its pool",
        "test_omit_expired_disabled_preserves_expired_rows": "rows that are over, before its sweep",
        "test_omit_expired_search_pagination": "writes into its table",
    },
}
# How many keys and rounds, where a test says it in its body: as many calls as this machine makes in
# a second or two. They are 6,000 and 60,000.
FEWER = {
    "test_large_batches": {100: 4, 10: 5},
    "test_large_batches_async": {1000: 4, 10: 5},
}
MODEL = "characters"
DIMENSION = 500
MODULES = {name: peer.load(name) for name in ITS_OWN}


def listed() -> Iterator[Any]:
    """Every case of every test that concerns the contract."""
    for name, module in MODULES.items():
        for test_name, test in vars(module).items():
            if not test_name.startswith("test_") or test_name in ITS_OWN[name]:
                continue
            for number, case in enumerate(peer.cases(test)):
                yield pytest.param(test, case, id=f"{name}-{test_name}-{number}")


@pytest.fixture(scope="module")
def model(shared_world: World) -> str:
    """The model of the tests, registered once."""
    shared_world.admin.execute(
        "SELECT memwarden.register_embedding_model(%s, %s)", (MODEL, DIMENSION)
    )
    return MODEL


@pytest.fixture
def client(shared_world: World, home: str) -> Iterator[Client]:
    """Yield the client of a new agent."""
    with Client(shared_world.agent(home)) as client:
        yield client


@pytest.mark.parametrize(("test", "case"), list(listed()))
def test_the_store_does_what_the_tests_of_postgres_store_ask(
    monkeypatch: pytest.MonkeyPatch,
    shared_world: World,
    client: Client,
    home: str,
    model: str,
    test: Any,
    case: dict[str, Any],
) -> None:
    """With `on_refusal="raise"`, the default, and the settings of their fixtures.

    Proves: Z11
    """
    clock = Clock(shared_world.admin, home)
    there = test.__globals__
    embeddings = there["CharacterEmbeddings"](dims=DIMENSION)

    def made(*_: Any, text_fields: list[str] | None = None, **__: Any) -> Opened:
        index = MemwardenIndexConfig(
            embed=embeddings, dims=DIMENSION, model=model, fields=text_fields
        )
        return Opened(client, ttl={"default_ttl": 2, "refresh_on_read": True}, index=index)

    monkeypatch.setitem(there, "_create_vector_store", made)
    for name in peer.HELPERS.keys() & there.keys():
        monkeypatch.setitem(there, name, peer.HELPERS[name](clock))
    monkeypatch.setattr(lives, "time", clock)
    given = {
        "store": Opened(client, ttl={"default_ttl": 0.1, "refresh_on_read": True}),
        "vector_store": made(),
        "fake_embeddings": embeddings,
        "request": None,
        # Its one likeness is the cosine.
        "distance_type": "cosine",
        "vector_type": "vector",
    } | case
    arguments = {name: given[name] for name in inspect.signature(test).parameters}
    answer = peer.with_fewer(test, FEWER.get(test.__name__, {}))(**arguments)
    if inspect.isawaitable(answer):
        asyncio.run(_finish(answer))


class Opened(MemwardenStore):
    """The store as the tests open it: in a context, and with a sweep that the server does."""

    def start_ttl_sweeper(self) -> Done:
        """Nothing starts."""
        return Done()

    def stop_ttl_sweeper(self) -> Done:
        """Nothing stops."""
        return Done()

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    async def __aenter__(self) -> Opened:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


class Done:
    """What may be awaited, and need not."""

    def __await__(self) -> Iterator[None]:
        return iter(())


async def _finish(answer: Any) -> None:
    await answer
