"""The operations of a store, carried out over one client."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from datetime import timedelta
from itertools import chain
from typing import Any
from uuid import UUID, uuid4

from langgraph.store.base import GetOp, Op, PutOp, Result, SearchOp
from psycopg import sql

from memwarden._async.client import AsyncClient
from memwarden._async.vectors import AsyncVectors
from memwarden.errors import (
    AlreadyExists,
    ConnectionFailed,
    MemwardenError,
    NotAllowed,
    NotFound,
    NotIdentified,
    NotReady,
)
from memwarden.langgraph._async.reads import AsyncReads
from memwarden.langgraph.embedding import aembedded_query
from memwarden.langgraph.index import FieldIndex, Vector, mean, named
from memwarden.langgraph.lives import lifetime
from memwarden.langgraph.outcomes import Outcome
from memwarden.langgraph.plan import Plan
from memwarden.results import WriteResult
from memwarden.transfer.identifiers import predicate_of, subject_of

_SAME = ("EXACT_DUPLICATE", "STRUCTURAL_DUPLICATE")
_ENDED = "deleted through the LangGraph store"
_PUT_AGAIN = "put again through the LangGraph store"


class AsyncWork:
    """Carries out operations: the reads, then the puts; of equal ones one, of a key the last."""

    def __init__(self, client: AsyncClient, plan: Plan) -> None:
        if plan.index is not None:
            # An embedder of the client's makes no vector of what is put with index=False.
            client = copy(client)
            client._vectors = AsyncVectors(client._session, None)
        self._client = client
        self._plan = plan
        self._reads = AsyncReads(client, plan)

    async def open(self) -> None:
        """Learn who the caller is, and whether the index can be.

        Raises:
            NotIdentified: the login is bound to nobody.
            InvalidArgument: the vectors of the index are not as it says.
        """
        self._plan.learn(await self._client.whoami())
        index = self._plan.index
        if index is not None and index.distance != "cosine":
            await aembedded_query(index, "memwarden")

    async def set_up(self) -> None:
        """See that the storage is there and the model of the index known; register it if allowed.

        Raises:
            NotReady: something is missing; the hint says who does what.
        """
        index = self._plan.index
        if index is None or index.model is None or index.dims is None:
            await self._client.whoami()
            return
        probe = [1.0] + [0.0] * (index.dims - 1)
        try:
            await self._client.recall(embedding=probe, embedding_model=index.model, k=1)
        except (NotFound, NotIdentified):
            await self._register(index.model, index.dims)

    async def _register(self, model: str, dims: int) -> None:
        try:
            await self._client.register_embedding_model(model, dims)
        except AlreadyExists:
            return
        except NotAllowed as error:
            raise NotReady(
                f"the model {model} of the index is not registered",
                hint="An administrator runs once: SELECT memwarden.register_embedding_model("
                f"{sql.Literal(model).as_string()}, {dims});",
            ) from error

    async def sweep(self) -> int:
        """Collect what is over, where the caller may; return how many lives that ended.

        The other rules of the layer are applied as well, as the server's own job does.
        """
        try:
            collected = await self._client.run_gc(self._plan.layer, dry_run=False)
        except NotAllowed:
            return 0
        return sum(each.done for each in collected if each.reason == "TTL_OVER")

    async def carry_out(self, ops: Sequence[Op]) -> list[Outcome]:
        """What each operation gave.

        Raises:
            NotIdentified: the login is no agent.
            ConnectionFailed: the connection broke.
        """
        if self._plan.profile is None:
            await self.open()
        reads: dict[str, Outcome] = {}
        for op in ops:
            if not isinstance(op, PutOp) and repr(op) not in reads:
                reads[repr(op)] = await self._read(op)
        puts = {(tuple(op.namespace), op.key): op for op in ops if isinstance(op, PutOp)}
        decided = dict(zip(puts, await self._put_all(list(puts.values())), strict=True))
        return [
            decided[tuple(op.namespace), op.key] if isinstance(op, PutOp) else reads[repr(op)]
            for op in ops
        ]

    async def _read(self, op: Op) -> Outcome:
        try:
            return await self._answer(op)
        except ConnectionFailed:
            raise
        except Exception as error:  # of the embedder as well: it fails this call alone
            return error

    async def _answer(self, op: Any) -> Result:
        if isinstance(op, GetOp):
            return await self._reads.get(op)
        if isinstance(op, SearchOp):
            return await self._reads.search(op)
        return await self._reads.namespaces(op)

    async def _put_all(self, puts: Sequence[PutOp]) -> list[Outcome]:
        try:
            return await self._put(puts)
        except ConnectionFailed:
            raise
        except Exception as error:  # it fails no read
            return [error] * len(puts)

    async def _put(self, puts: Sequence[PutOp]) -> list[Outcome]:
        """Write what has a value, in one call, and end what has none."""
        kept = [op for op in puts if op.value is not None]
        vectors = await self._vectors(kept)
        requests = [self._arguments(op, each) for op, each in zip(kept, vectors, strict=True)]
        if len(requests) == 1:  # a third cheaper than a batch of one
            results = [await self._client.write(**requests[0])]
        else:
            results = await self._client.write_many(requests)
        written_down = iter(results)
        return [
            await self._end(op)
            if op.value is None
            else await self._unless_in_effect(op, next(written_down))
            for op in puts
        ]

    async def _end(self, op: PutOp) -> Outcome:
        try:
            for item in await self._reads.entries(op):
                result = await self._client.expire(item.item_id, _ENDED)
                if not result.stored:
                    return result
        except ConnectionFailed:
            raise
        except MemwardenError as error:
            return error
        return None

    async def _unless_in_effect(self, op: PutOp, result: WriteResult) -> Outcome:
        """The result, or None where the store holds what was put.

        The same value may be there under that key.
        """
        if result.stored:
            return None
        if result.item_id is None or result.reason not in _SAME:
            return result
        item = await self._client.get(result.item_id)
        if item is None or (item.subject, item.predicate, item.content) != (
            subject_of(op.namespace),
            predicate_of(op.key),
            dict(op.value or {}),
        ):
            return result
        if op.ttl is None or await self._live_on(item.item_id, op.ttl):
            return None
        return result

    async def _live_on(self, item_id: UUID, minutes: float) -> bool:
        """Let the life of a memory begin anew whose value was put once more; whether it did."""
        try:
            ttl = timedelta(minutes=minutes)
            return (await self._client.renew(item_id, _PUT_AGAIN, ttl)).stored
        except ConnectionFailed:
            raise
        except MemwardenError:
            return False

    async def _vectors(self, puts: Sequence[PutOp]) -> list[Vector | None]:
        index: FieldIndex | None = self._plan.index
        if index is None:
            return [None] * len(puts)
        texts = [index.texts(op.value or {}, op.index) for op in puts]
        known = await self._reads.vectors(index, chain.from_iterable(texts))
        return [mean([known[text] for text in each]) for each in texts]

    def _arguments(self, op: PutOp, vector: Vector | None) -> dict[str, Any]:
        plan = self._plan
        given: dict[str, Any] = {
            "layer": plan.layer,
            # A value that comes back after another one is news, whenever it was put before.
            "idempotency_key": str(uuid4()),
            **plan.defaults,
            "content": dict(op.value or {}),
            "scope": plan.scope(op.namespace),
            "subject": subject_of(op.namespace),
            "predicate": predicate_of(op.key),
            "ttl": lifetime(op.ttl),
        }
        if plan.index is None or vector is None:
            return given
        origin = dict(given.get("origin") or {})
        if task := named(op.index, origin.get("task")):
            given["origin"] = origin | {"task": task}
        return given | {"embedding": vector, "embedding_model": plan.index.model}
