"""The store: LangGraph's operations as calls of the client."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

import psycopg
from langgraph.store.base import BaseStore, IndexConfig, Op, Result, TTLConfig

from memwarden._sync.client import Client
from memwarden.errors import InvalidArgument, NotIdentified
from memwarden.langgraph._sync.work import Work
from memwarden.langgraph.index import MemwardenIndexConfig
from memwarden.langgraph.outcomes import OnRefusal, answered, known
from memwarden.langgraph.plan import planned
from memwarden.langgraph.sweeper import Sweeper, pause
from memwarden.pooling import memory_pool
from memwarden.transfer.identifiers import Namespace

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool


class MemwardenStore(BaseStore):
    """A LangGraph store in memwarden, opened as `PostgresStore` is.

    A namespace and a key are the subject and predicate of one memory; a put of another value is
    its next version, a delete ends it, and its history stays. `scopes` says which scope a
    namespace belongs to; by default all belong to the caller's home. `defaults` are arguments of
    every write, for instance `evidence` and `confidence`.

    With `index`, a query is answered by the likeness of the indexed fields alone, and what was put
    with `index=False` is not found by one. Without, `recall` decides, and a put's `index` is
    ignored. With `ttl`, a read prolongs the life of what it returns, unless `refresh_on_read` or
    `refresh_ttl` is false. Without, reads change nothing.

    A put that a gate refuses raises `PutRefused`, and one that waits for a person `PutDeferred`
    (`on_refusal="raise"`); or it is in `batch`'s answer as a `WriteResult` ("return"), or is passed
    over ("ignore").

    `conn` is a client, a connection of psycopg or a pool of them, which stays yours to close. A
    client is used by one call at a time.
    """

    supports_ttl = True
    # PostgresStore's tables have some. memwarden's storage is made by `memwarden init`.
    MIGRATIONS: Sequence[str] = ()

    def __init__(
        self,
        conn: Client | psycopg.Connection[Any] | ConnectionPool[Any],
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
        if self._plan.index is not None and self._plan.index.is_async:
            raise InvalidArgument(
                "embed is an async function",
                hint="Open an AsyncMemwardenStore, or give a function, Embeddings or an embedder.",
            )
        self.conn = conn
        self._pool: Any = None if isinstance(conn, Client | psycopg.Connection) else conn
        self._client: Any = Client(conn) if isinstance(conn, psycopg.Connection) else conn
        self._turn = threading.Lock()
        self.ttl_config: TTLConfig | None = ttl
        self.index_config = index
        self._sweeper: Sweeper | None = None
        # A login that is no agent may set up all the same.
        with suppress(NotIdentified), self._work() as work:
            work.open()

    @classmethod
    @contextmanager
    def from_conn_string(
        cls,
        conn_string: str,
        *,
        pipeline: bool = False,  # noqa: ARG003
        pool_config: Mapping[str, Any] | None = None,
        index: IndexConfig | MemwardenIndexConfig | None = None,
        ttl: TTLConfig | None = None,
        **settings: Any,
    ) -> Iterator[Self]:
        """Open a store, and close its connections when the block ends.

        `pool_config` has `min_size`, `max_size` and other settings of a pool of connections; they
        need memwarden[pool]. `settings` are others of this class. `pipeline` changes nothing: a
        batch of puts is one call in any case.
        """
        with (
            Client.connect(conn_string)
            if pool_config is None
            else memory_pool(conn_string, **{"max_size": None, **pool_config}) as conn
        ):
            store = cls(conn, index=index, ttl=ttl, **settings)
            try:
                yield store
            finally:
                store.stop_ttl_sweeper()

    @property
    def profile(self) -> str | None:
        """What memwarden asks of writes; None where the login is no agent."""
        return self._plan.profile

    def setup(self) -> None:
        """See that memwarden is there, and register the model of the index where that is allowed.

        `memwarden init` makes the storage.

        Raises:
            NotReady: something is missing; the hint says who does what.
        """
        with self._work() as work:
            work.set_up()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out the reads, then the puts; a key that is put twice keeps the last.

        Raises:
            InvalidNamespaceError: a namespace cannot be; nothing was done.
            InvalidArgument: a namespace belongs to no scope, or a value is not JSON; nothing was
                done.
            PutRefused, PutDeferred: a put is not in effect, with on_refusal="raise".
            NotFound, NotAllowed: there is no such scope that the caller may use.
        """
        ops = list(ops)
        for op in ops:
            self._plan.check(op)
        with self._work() as work:
            outcomes = work.carry_out(ops)
        return answered(ops, outcomes, self._on_refusal)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do as `batch` does, in a thread. `AsyncMemwardenStore` needs none."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Collect what is over; return how many lives that ended.

        0 where the caller does not administer the layer. The server's own job collects too, and
        what is over is never returned.
        """
        with self._work() as work:
            return work.sweep()

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        """Sweep every so many minutes in a thread; return what ends with it, or may be cancelled.

        By default as often as `ttl` says in `sweep_interval_minutes`, or every five minutes. A
        store without `ttl` sweeps nothing, and what is returned is done.
        """
        if not self.ttl_config:
            nothing: Future[None] = Future()
            nothing.set_result(None)
            return nothing
        if self._sweeper is None or self._sweeper.ends.done():
            self._sweeper = Sweeper(self.sweep_ttl, pause(sweep_interval_minutes, self.ttl_config))
        return self._sweeper.ends

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop sweeping; whether it came to its end within `timeout` seconds."""
        return self._sweeper is None or self._sweeper.stop(timeout)

    @contextmanager
    def _work(self) -> Iterator[Work]:
        if self._pool is not None:
            with self._pool.connection() as connection:
                yield Work(Client(connection), self._plan)
        else:
            with self._turn:
                yield Work(self._client, self._plan)
