"""LangGraph's store over memwarden, judged by the tests of PostgresStore."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

pytest.importorskip("langgraph.store.base", reason="needs memwarden[langgraph]")

from client.langgraph_store import peer
from memwarden import Client
from memwarden.langgraph import MemwardenStore

if TYPE_CHECKING:
    from conftest import World

# What the tests of PostgresStore say of its tables, pools, loops and vector indexes is its own:
# memwarden has none of them. docs/langgraph.md says what differs instead.
ITS_OWN = {
    "test_store": {
        "test_escape_like_literal": "how it writes a pattern of SQL",
        "test_namespace_match_pattern": "how it writes a pattern of SQL",
        "test_nonnull_migrations": "its migrations",
        "test_omit_expired_filters_read_paths": "writes into its table",
        "test_omit_expired_disabled_preserves_expired_rows": "writes into its table",
        "test_omit_expired_refresh_ttl_only_refreshes_live_rows": "writes into its table",
        "test_omit_expired_search_pagination": "writes into its table",
        "test_store_ttl": "a read prolongs a life; in memwarden only a write does",
        "test_vector_update_with_embedding": "index=False; words find a memory without a vector",
        "test_vector_search_with_filters": "the order of a vector index alone",
        "test_vector_store_initialization": "its settings of a vector index",
        "test_embed_with_path_sync": "a vector for each field; memwarden has one for each memory",
        "test_embed_with_path_operation_config": "a vector for each field",
        "test_scores": "the distance is its score",
    },
    "test_async_store": {
        "test_no_running_loop": "its loop in the background",
        "test_large_batches": "its loop in the background; 6,000 calls",
        "test_large_batches_async": "its loop in the background; 60,000 calls",
        "test_abatch_uses_single_pool_checkout": "its pool",
        "test_omit_expired_filters_read_paths": "writes into its table",
        "test_omit_expired_disabled_preserves_expired_rows": "writes into its table",
        "test_omit_expired_refresh_ttl_only_refreshes_live_rows": "writes into its table",
        "test_omit_expired_search_pagination": "writes into its table",
        "test_vector_update_with_embedding": "index=False; words find a memory without a vector",
        "test_vector_search_with_filters": "the order of a vector index alone",
        "test_vector_store_initialization": "its settings of a vector index",
        "test_embed_with_path": "a vector for each field; memwarden has one for each memory",
        "test_store_ttl": "a read prolongs a life; in memwarden only a write does",
    },
}
MODULES = {name: peer.load(name) for name in ITS_OWN}


def listed() -> Iterator[Any]:
    """Every case of every test that concerns the contract."""
    for name, module in MODULES.items():
        for test_name, test in vars(module).items():
            if not test_name.startswith("test_") or test_name in ITS_OWN[name]:
                continue
            for number, case in enumerate(peer.cases(test)):
                yield pytest.param(test, case, id=f"{name}-{test_name}-{number}")


@pytest.fixture
def store(shared_world: World, home: str) -> Iterator[MemwardenStore]:
    """Yield the store of a new agent that logs in as itself."""
    name = shared_world.register(home)
    with Client.connect(make_conninfo(shared_world.dsn, user=name)) as client:
        yield MemwardenStore(client)


@pytest.mark.parametrize(("test", "case"), list(listed()))
def test_the_store_does_what_the_tests_of_postgres_store_ask(
    monkeypatch: pytest.MonkeyPatch, store: MemwardenStore, test: Any, case: dict[str, Any]
) -> None:
    """With `on_refusal="raise"`, the default.

    Proves: Z11
    """
    given = dict.fromkeys(inspect.signature(test).parameters)
    given |= {"store": store, "vector_store": store} | case
    monkeypatch.setitem(test.__globals__, "_create_vector_store", lambda *_, **__: _Open(store))
    arguments = {name: given[name] for name in inspect.signature(test).parameters}
    answer = test(**arguments)
    if inspect.isawaitable(answer):
        asyncio.run(_finish(answer))


class _Open:
    """A context in which the store is open."""

    def __init__(self, store: MemwardenStore) -> None:
        self.store = store

    def __enter__(self) -> MemwardenStore:
        return self.store

    def __exit__(self, *_: object) -> None:
        pass

    async def __aenter__(self) -> MemwardenStore:
        return self.store

    async def __aexit__(self, *_: object) -> None:
        pass


async def _finish(answer: Any) -> None:
    await answer
