"""The store for asyncio: on an async connection, without threads."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

import psycopg
from langgraph.store.base import BaseStore, IndexConfig, Op, Result, TTLConfig

from memwarden._async.client import AsyncClient
from memwarden.errors import InvalidArgument, MemwardenError, NotIdentified
from memwarden.langgraph._async.work import AsyncWork
from memwarden.langgraph.index import MemwardenIndexConfig
from memwarden.langgraph.outcomes import OnRefusal, Outcome, answered, known
from memwarden.langgraph.plan import planned
from memwarden.langgraph.sweeper import pause
from memwarden.pooling import async_memory_pool
from memwarden.transfer.identifiers import Namespace

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

_log = logging.getLogger("memwarden")
_Call = tuple[list[Op], "asyncio.Future[list[Outcome]]"]


class AsyncMemwardenStore(BaseStore):
    """`MemwardenStore` for asyncio, opened as `AsyncPostgresStore` is.

    Calls that are made in the same turn of the event loop are carried out together: equal reads are
    one, and of a key the last put counts. Each call gets its own answer or error. Other threads may
    use the methods without `a`; in the loop they raise `asyncio.InvalidStateError`.
    """

    supports_ttl = True
    MIGRATIONS: Sequence[str] = ()

    def __init__(
        self,
        conn: AsyncClient | psycopg.AsyncConnection[Any] | AsyncConnectionPool[Any],
        *,
        scopes: Mapping[Namespace, str] | None = None,
        layer: str = "semantic",
        on_refusal: OnRefusal = "raise",
        ttl: TTLConfig | None = None,
        index: IndexConfig | MemwardenIndexConfig | None = None,
        defaults: Mapping[str, Any] | None = None,
        pipe: None = None,
        deserializer: None = None,
    ) -> None:
        super().__init__()
        if isinstance(conn, str):
            raise InvalidArgument(
                "conn is a text, and no connection",
                hint="A connection string is for from_conn_string().",
            )
        self._on_refusal = known(on_refusal)
        unused = {"pipe": pipe, "deserializer": deserializer}
        self._plan = planned(scopes, layer, index, defaults, ttl, unused)
        self.conn = conn
        self._pool: Any = None if isinstance(conn, AsyncClient | psycopg.AsyncConnection) else conn
        self._client: Any = AsyncClient(conn) if isinstance(conn, psycopg.AsyncConnection) else conn
        self._turn = asyncio.Lock()
        self._loop = asyncio.get_running_loop()
        self._waiting: list[_Call] = []
        self._carrying: asyncio.Task[None] | None = None
        self.ttl_config: TTLConfig | None = ttl
        self.index_config = index
        self._sweeper: asyncio.Task[None] | None = None

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls,
        conn_string: str,
        *,
        pipeline: bool = False,  # noqa: ARG003
        pool_config: Mapping[str, Any] | None = None,
        index: IndexConfig | MemwardenIndexConfig | None = None,
        ttl: TTLConfig | None = None,
        **settings: Any,
    ) -> AsyncIterator[Self]:
        """Open a store as `MemwardenStore.from_conn_string` does."""
        async with (
            await AsyncClient.connect(conn_string)
            if pool_config is None
            else async_memory_pool(conn_string, **{"max_size": None, **pool_config}) as conn,
            cls(conn, index=index, ttl=ttl, **settings) as store,
        ):
            # A login that is no agent may set up all the same.
            with suppress(NotIdentified):
                async with store._work() as work:
                    await work.open()
            yield store

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop_ttl_sweeper()

    @property
    def profile(self) -> str | None:
        """What memwarden asks of writes; None before the first call."""
        return self._plan.profile

    async def setup(self) -> None:
        """Do as `MemwardenStore.setup` does."""
        async with self._work() as work:
            await work.set_up()

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do as `MemwardenStore.batch` does, together with what is asked at the same time."""
        if self._plan.profile is None:
            async with self._work() as work:
                await work.open()
        ops = list(ops)
        for op in ops:
            self._plan.check(op)
        future: asyncio.Future[list[Outcome]] = self._loop.create_future()
        self._waiting.append((ops, future))
        if self._carrying is None or self._carrying.done():
            self._carrying = self._loop.create_task(self._carry_out())
        return answered(ops, await future, self._on_refusal)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do as `abatch` does, for another thread than the event loop's.

        Raises:
            asyncio.InvalidStateError: it is called in the event loop, which it would hold up.
        """
        with suppress(RuntimeError):
            if asyncio.get_running_loop() is self._loop:
                raise asyncio.InvalidStateError(
                    "in the event loop of the store, await aget, aput, asearch or abatch"
                )
        return asyncio.run_coroutine_threadsafe(self.abatch(ops), self._loop).result()

    async def sweep_ttl(self) -> int:
        """Do as `MemwardenStore.sweep_ttl` does."""
        async with self._work() as work:
            return await work.sweep()

    async def start_ttl_sweeper(
        self, sweep_interval_minutes: float | None = None
    ) -> asyncio.Task[None]:
        """Sweep every so many minutes; return the task, which may be cancelled.

        A store without `ttl` sweeps nothing, and the task is soon done.
        """
        if not self.ttl_config:
            return self._loop.create_task(asyncio.sleep(0))
        if self._sweeper is None or self._sweeper.done():
            sweeping = self._sweep_every(pause(sweep_interval_minutes, self.ttl_config))
            self._sweeper = self._loop.create_task(sweeping, name="ttl_sweeper")
        return self._sweeper

    async def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop sweeping; whether it came to its end within `timeout` seconds."""
        if self._sweeper is None:
            return True
        self._sweeper.cancel()
        done, _ = await asyncio.wait({self._sweeper}, timeout=timeout)
        return bool(done)

    async def _sweep_every(self, seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await self.sweep_ttl()
            except MemwardenError:
                _log.exception("LangGraph: a sweep failed")

    async def _carry_out(self) -> None:
        """Carry out what waits, until nothing does; whoever gave up waiting is passed over."""
        while self._waiting:
            calls = [call for call in self._waiting if not call[1].done()]
            self._waiting.clear()
            try:
                async with self._work() as work:
                    outcomes = iter(await work.carry_out([op for ops, _ in calls for op in ops]))
            except Exception as error:  # each caller gets it
                for _, future in calls:
                    if not future.done():
                        future.set_exception(error)
                continue
            except asyncio.CancelledError:
                for _, future in calls:
                    future.cancel()
                raise
            for ops, future in calls:
                answer = [next(outcomes) for _ in ops]
                if not future.done():
                    future.set_result(answer)

    @asynccontextmanager
    async def _work(self) -> AsyncIterator[AsyncWork]:
        if self._pool is not None:
            async with self._pool.connection() as connection:
                yield AsyncWork(AsyncClient(connection), self._plan)
        else:
            async with self._turn:
                yield AsyncWork(self._client, self._plan)
