"""What stands in for names of LangGraph's test modules: time, tables, `mocker`, and stores.

Time passes in the database alone, and the helpers that look into the table of PostgresStore look
into memwarden's.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, patch

from client.langgraph_store.clock import Clock
from memwarden import Client
from memwarden.langgraph import AsyncMemwardenStore, MemwardenStore

POOL = {"min_size": 1, "max_size": 10}


def names(dsn: str, clock: Clock, stack: ExitStack) -> dict[str, Any]:
    """Of each name that a test module may have, what it stands for here."""

    def row_exists(_: Any, namespace: tuple[str, ...], key: str) -> bool:
        return clock.ends(namespace, key) is not None

    def expire(_: Any, namespace: tuple[str, ...], key: str) -> None:
        clock.expire(namespace, key)

    def ends(_: Any, namespace: tuple[str, ...], key: str) -> Any:
        return clock.ends(namespace, key)

    return {
        "time": clock,
        "asyncio": SimpleNamespace(**{**vars(asyncio), "sleep": _sleeping(clock)}),
        "_expire_now": expire,
        "_aexpire_now": _awaited(expire),
        "_row_exists": row_exists,
        "_arow_exists": _awaited(row_exists),
        "_stored_expires_at": ends,
        "_astored_expires_at": _awaited(ends),
        "_create_pool_store": lambda: AsyncMemwardenStore.from_conn_string(dsn, pool_config=POOL),
        "InMemoryStore": in_memory(dsn, stack),
    }


def in_memory(dsn: str, stack: ExitStack) -> type[MemwardenStore]:
    """A class that is opened as InMemoryStore is: without a connection, and with nothing in it."""

    class Memory(MemwardenStore):
        def __init__(self, **settings: Any) -> None:
            super().__init__(stack.enter_context(Client.connect(dsn)), **settings)
            for item in super().search((), limit=1000):
                self.delete(item.namespace, item.key)

    return Memory


@contextmanager
def sync_store(dsn: str, **settings: Any) -> Iterator[MemwardenStore]:
    """A store as the fixtures of the suite leave it."""
    with MemwardenStore.from_conn_string(dsn, **settings) as store:
        store.setup()
        store.start_ttl_sweeper()
        yield store
        store.stop_ttl_sweeper()


@asynccontextmanager
async def async_store(dsn: str, **settings: Any) -> AsyncIterator[AsyncMemwardenStore]:
    """The same for asyncio."""
    async with AsyncMemwardenStore.from_conn_string(dsn, **settings) as store:
        await store.setup()
        await store.start_ttl_sweeper()
        yield store
        await store.stop_ttl_sweeper()


class Mocker:
    """As much of pytest-mock as the suites use."""

    stub = staticmethod(Mock)

    def __enter__(self) -> Mocker:
        self._patches: list[Any] = []
        return self

    def spy(self, target: Any, name: str) -> Any:
        """Have the calls of a method counted."""
        method = getattr(target, name)
        self._patches.append(patch.object(target, name, autospec=True, side_effect=method))
        return self._patches[-1].start()

    def __exit__(self, *_: object) -> None:
        for each in self._patches:
            each.stop()


def _sleeping(clock: Clock) -> Callable[[float], Any]:
    async def sleep(seconds: float) -> None:
        if seconds < 1:  # a turn of the loop, and no time that passes in the store
            await asyncio.sleep(seconds)
        else:
            clock.sleep(seconds)

    return sleep


def _awaited(function: Callable[..., Any]) -> Callable[..., Any]:
    async def called(*arguments: Any) -> Any:
        return function(*arguments)

    return called
