"""LangGraph's store over memwarden, judged by the store tests of LangGraph's own packages."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from client.langgraph_store.clock import Clock
from conformance import langgraph_names, sdists
from memwarden.langgraph import lives
from shipped import SCOPE, Shipped

POSTGRES = sdists.sources(
    "langgraph-checkpoint-postgres",
    "3.2.0",
    "dffef0e6822d7c614019f7f2c4bdbef42859746aee2d3e6d9d9747cf3744ca90",
)
BASE = sdists.sources(
    "langgraph-checkpoint",
    "4.3.2",
    "fcab8468c7e965d7055e2a35c253d73a145624ef4728b150ca7c361f4afca286",
)
MODULES = {
    "postgres": sdists.load(POSTGRES / "tests", "test_store"),
    "postgres_async": sdists.load(POSTGRES / "tests", "test_async_store"),
    "base": sdists.load(BASE / "tests", "test_store"),
}
# Named tests that differ. The list can only shrink: one that passes is an error too.
DIFFERS = {
    "postgres-test_omit_expired_disabled_preserves_expired_rows": "what is over is never returned",
    "postgres_async-test_omit_expired_disabled_preserves_expired_rows": "the same",
    "postgres-test_omit_expired_search_pagination": "writes into the table of PostgresStore",
    "postgres_async-test_omit_expired_search_pagination": "the same",
    "postgres_async-test_abatch_uses_single_pool_checkout": "counts calls of its own pool",
    "base-test_embed_with_path": "InMemoryStore lists what is not indexed; PostgresStore does not",
}
assert len(DIFFERS) <= 6
# How many keys, where a test says it in its body: 600 and 3,000 calls, and not 6,000 and 60,000.
FEWER = {"test_large_batches": {100: 10}, "test_large_batches_async": {1000: 50}}
DIMENSION = 500
TTL = {"default_ttl": 0.1, "refresh_on_read": True, "sweep_interval_minutes": 0.05}
# The cases of the fixtures of the suites.
STORES: list[dict[str, Any]] = [{}, {"pipeline": True}, {"pool_config": langgraph_names.POOL}]
VECTORS = [
    (kind, distance)
    for kind in ("vector", "halfvec")
    for distance in ("l2", "inner_product", "cosine")
]


def listed() -> Iterator[Any]:
    """Every case of every test, with the cases of its fixtures."""
    for module_name, module in MODULES.items():
        for name, test in sdists.tests(module):
            fixtures: list[Any] = [None]
            asked = inspect.signature(test).parameters
            if "store" in asked:
                fixtures = STORES
            if "vector_store" in asked:
                fixtures = VECTORS
            known = f"{module_name}-{name}"
            marks = [
                pytest.mark.xfail(strict=True, reason=DIFFERS[each])
                for each in (known,)
                if each in DIFFERS
            ]
            for number, (case, fixture) in enumerate(
                (case, fixture) for case in sdists.cases(test) for fixture in fixtures
            ):
                yield pytest.param(test, case, fixture, id=f"{known}-{number}", marks=marks)


def test_each_test_that_differs_is_there() -> None:
    """A name that is gone from the suites goes from the list."""
    there = {f"{name}-{test}" for name in MODULES for test, _ in sdists.tests(MODULES[name])}
    assert DIFFERS.keys() <= there


@pytest.mark.parametrize(("test", "case", "fixture"), list(listed()))
def test_the_store_does_what_the_tests_of_langgraph_ask(
    monkeypatch: pytest.MonkeyPatch, shipped: Shipped, test: Any, case: Any, fixture: Any
) -> None:
    """In a store as `memwarden init` leaves it, where an administrator registered their model.

    Proves: Z11
    """
    shipped.world.admin.execute(
        "SELECT memwarden.register_embedding_model('langgraph-500', %s)", (DIMENSION,)
    )
    dsn = make_conninfo(shipped.world.dsn, user=shipped.agent.info.user)
    there, asked = test.__globals__, inspect.signature(test).parameters
    embeddings = there["CharacterEmbeddings"](dims=DIMENSION)
    is_async = inspect.iscoroutinefunction(test)
    opened = langgraph_names.async_store if is_async else langgraph_names.sync_store

    def vectors(kind: str, distance: str, *_: Any, text_fields: Any = None) -> Any:
        index = {"dims": DIMENSION, "embed": embeddings, "fields": text_fields}
        index |= {"ann_index_config": {"vector_type": kind}, "distance_type": distance}
        return opened(dsn, index=index, ttl={"default_ttl": 2, "refresh_on_read": True})

    clock = Clock(shipped.world.admin, SCOPE)
    monkeypatch.setattr(lives, "time", clock)
    with ExitStack() as stack:
        mocker = stack.enter_context(langgraph_names.Mocker())
        stands_for = langgraph_names.names(dsn, clock, stack) | {"_create_vector_store": vectors}
        for name in stands_for.keys() & there.keys():
            monkeypatch.setitem(there, name, stands_for[name])
        known = {"fake_embeddings": embeddings, "request": None, "mocker": mocker}
        known |= {"monkeypatch": monkeypatch, **case}
        given = {name: known[name] for name in asked if name in known}
        called = sdists.with_fewer(test, FEWER.get(test.__name__, {}))
        stores: dict[str, Any] = {}
        if "store" in asked:
            stores["store"] = opened(dsn, ttl=dict(TTL), **fixture)
        if "vector_store" in asked:
            stores["vector_store"] = vectors(*fixture)
        if is_async:
            asyncio.run(_run(called, given, stores))
        else:
            called(**given, **{name: stack.enter_context(stores[name]) for name in stores})


async def _run(test: Any, given: dict[str, Any], stores: dict[str, Any]) -> None:
    async with AsyncExitStack() as stack:
        opened = {name: await stack.enter_async_context(stores[name]) for name in stores}
        await test(**given, **opened)
