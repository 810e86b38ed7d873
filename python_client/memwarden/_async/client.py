"""The client. Method and argument names are those of the SQL API."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self
from uuid import UUID

import psycopg

from memwarden._async.aging import AsyncAging
from memwarden._async.calls import AsyncCalls
from memwarden._async.capturing import AsyncCapturing
from memwarden._async.consolidating import AsyncConsolidating
from memwarden._async.erasing import AsyncErasing
from memwarden._async.external import AsyncExternal
from memwarden._async.governing import AsyncGoverning
from memwarden._async.history import AsyncHistory
from memwarden._async.injecting import AsyncInjecting
from memwarden._async.keeping import AsyncKeeping
from memwarden._async.lexicon import AsyncLexicon
from memwarden._async.models import AsyncModels
from memwarden._async.observing import AsyncObserving
from memwarden._async.recall_log import AsyncRecallLog
from memwarden._async.review_life import AsyncReviewLife
from memwarden._async.reviewing import AsyncReviewing
from memwarden._async.session import AsyncSession
from memwarden._async.undo import AsyncUndo
from memwarden._async.vectors import AsyncVectors
from memwarden._async.working import AsyncWorking
from memwarden._json import strict_json
from memwarden._lists import listed
from memwarden._offload import in_thread
from memwarden._request_id import new_request_id
from memwarden._statements import memory as sql
from memwarden._tokens import AsyncTokenSource
from memwarden.citing import Source, references
from memwarden.embedders import Embedder, embedding_texts
from memwarden.errors import InvalidArgument
from memwarden.requests import (
    WriteRequest,
    in_batches,
    payloads,
    sent_anyway,
    single_precision,
    sql_arguments,
)
from memwarden.rerankers import Reranker, reordered
from memwarden.rerankers import load as load_reranker
from memwarden.results import Context, ContextItem, RecalledItem, WriteResult
from memwarden.telemetry import traced


@traced
class AsyncClient(
    AsyncCalls,
    AsyncHistory,
    AsyncUndo,
    AsyncKeeping,
    AsyncAging,
    AsyncErasing,
    AsyncConsolidating,
    AsyncReviewLife,
    AsyncReviewing,
    AsyncRecallLog,
    AsyncGoverning,
    AsyncCapturing,
    AsyncExternal,
    AsyncModels,
    AsyncLexicon,
    AsyncObserving,
    AsyncInjecting,
    AsyncWorking,
):
    """Writes to memory and recalls from it.

    Made by `connect`, or around a psycopg connection of yours (from a pool, or inside a
    transaction), which then stays yours to commit and close. With an `embedder`, writes and
    recalls that bring no embedding get one here. Without, recalls get one of the model that the
    store goes by, where the extra `embed` brings that model, and the server makes all others.

    With a `token`, each call is a transaction that acts for the agent whom the token was issued
    for, at no further round trip, so that many agents share one login and one pool. It is text, an
    `IssuedToken`, or a callable that returns one: text is asked for with each call, an
    `IssuedToken` again before it expires, and both once more when the server refuses them.
    """

    def __init__(
        self,
        connection: psycopg.AsyncConnection[Any] | None = None,
        *,
        dsn: str | None = None,
        embedder: Embedder | None = None,
        token: AsyncTokenSource | None = None,
    ) -> None:
        self._session = AsyncSession(None if connection else dsn or "", connection, token)
        self._vectors = AsyncVectors(self._session, embedder)

    @classmethod
    async def connect(
        cls,
        dsn: str = "",
        *,
        embedder: Embedder | None = None,
        token: AsyncTokenSource | None = None,
    ) -> Self:
        """Connect to the database that a libpq connection string or the PG* environment names.

        Raises:
            ConnectionFailed: no server there, or it does not let us in.
        """
        client = cls(dsn=dsn, embedder=embedder, token=token)
        await client._session.open()
        return client

    async def close(self) -> None:
        """Close the connection, unless it was handed over."""
        await self._session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def write(
        self,
        layer: str,
        content: Any,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        scope: str | None = None,
        confidence: float | None = None,
        evidence: Sequence[Mapping[str, Any]] = (),
        embedding: Sequence[float] | None = None,
        ttl: timedelta | None = None,
        deadline: datetime | None = None,
        idempotency_key: str | None = None,
        request_id: UUID | None = None,
        kind: str | None = None,
        importance: float | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        embedding_model: str | None = None,
        trace_id: str | None = None,
        classification: str | None = None,
        domains: Sequence[str] | None = None,
        attributes: Mapping[str, Any] | None = None,
        origin: Mapping[str, Any] | None = None,
        write_class: str | None = None,
        justification: str | None = None,
        corrects: UUID | None = None,
        wait: bool = False,
        timeout: timedelta | float | None = None,
    ) -> WriteResult:
        """Ask for one thing to be remembered, and return what the gates decided.

        `WriteRequest` says what the arguments mean. A refusal is a result, not an exception. With
        `wait`, a request that is deferred is waited for as `await_decision` does, no longer than
        `timeout`.

        Raises:
            InvalidContent: content, evidence, attributes or origin are not JSON; nothing was sent.
            NotIdentified, NotReady, NotAllowed, WrongIsolation, ConnectionFailed: see `errors`.
        """
        request = WriteRequest(
            layer=layer,
            content=content,
            subject=subject,
            predicate=predicate,
            scope=scope,
            confidence=confidence,
            evidence=evidence,
            embedding=embedding,
            ttl=ttl,
            deadline=deadline,
            idempotency_key=idempotency_key,
            request_id=request_id or new_request_id(),
            kind=kind,
            importance=importance,
            valid_from=valid_from,
            valid_to=valid_to,
            embedding_model=embedding_model,
            trace_id=trace_id,
            classification=classification,
            domains=domains,
            attributes=attributes,
            origin=origin,
            write_class=write_class,
            justification=justification,
            corrects=corrects,
        )
        result = await self._decide(request)
        if not wait or not result.deferred:
            return result
        return await self._settled(result, timeout)

    async def remember(
        self,
        text: str,
        *,
        source: Source | Sequence[Source] | None = None,
        about: str | None = None,
        layer: str = "semantic",
        scope: str | None = None,
        ttl: timedelta | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        wait: bool = False,
        timeout: timedelta | float | None = None,
    ) -> WriteResult:
        """Ask for a sentence to be remembered, and return what the gates decided.

        `source` is what it rests on: what `heard` returned, a URI, a memory (recalled, read or just
        written), or several of them. `about` names whom it is about, as `subject` of `write`,
        which has more arguments. A refusal is a result, not an exception.

        Raises:
            InvalidArgument: `source` is none of these.
            NotIdentified, NotReady, NotAllowed, WrongIsolation, ConnectionFailed: see `errors`.
        """
        return await self.write(
            layer,
            text,
            subject=about,
            evidence=references(source),
            scope=scope,
            ttl=ttl,
            valid_from=valid_from,
            valid_to=valid_to,
            wait=wait,
            timeout=timeout,
        )

    async def _settled(self, result: WriteResult, timeout: timedelta | float | None) -> WriteResult:
        """Wait for a deferred request; its result as it is then."""
        status = await self.await_decision(result.request_id, timeout)
        if status is None:
            return result
        return replace(
            result,
            outcome=status.outcome,
            item_id=status.item_id,
            version_id=status.version_id,
            gate=status.gate,
            reason=status.reason,
            detail=status.detail,
            retry_after=status.retry_after,
        )

    async def _decide(self, request: WriteRequest) -> WriteResult:
        [request] = await self._embedded([request])
        arguments = sql_arguments(request)
        rows = await self._session.fetch(sql.WRITE, arguments, WriteResult, [request.request_id])
        return rows[0]

    async def write_many(
        self,
        requests: Iterable[WriteRequest | Mapping[str, Any]],
        *,
        batch_size: int = 1000,
        progress: Callable[[Sequence[WriteResult]], object] | None = None,
    ) -> list[WriteResult]:
        """Write any number of requests and return their results in the same order.

        Each batch is one call and one transaction; `progress` gets its results when it is done.
        A bad request harms no other: one whose content is not JSON is sent all the same, for the
        server to refuse and record.

        Raises:
            InvalidArgument: a mapping has an unknown name; earlier batches are written.
            ConnectionFailed: with the ids of the batch whose outcome is not known.
        """
        results: list[WriteResult] = []
        for batch in in_batches(requests, batch_size):
            for part, payload in payloads(await self._embedded(batch)):
                decided = await self._decide_many(part, payload, len(results))
                results += decided
                if progress is not None:
                    progress(decided)
        return results

    async def write_all(
        self,
        requests: Iterable[WriteRequest | Mapping[str, Any]],
        *,
        batch_size: int = 500,
        patience: timedelta | float = 60,
    ) -> AsyncIterator[WriteResult]:
        """Write any number of requests; yield their results in the same order, batch by batch.

        Each batch is one call and one transaction, so other writers wait no longer than it takes.
        Nothing is lost for one bad request: also one with an unknown name, and what is no request
        at all, is sent, for the server to refuse and record.

        The server tries a request again by itself that was DEFERRED because another writer held
        the scope (SCOPE_BUSY). For those of a batch this waits at most `patience` (seconds, or a
        timedelta) and yields what became of them; with 0, and in a transaction of yours, not.

        Raises:
            ConnectionFailed: with the ids of the batch whose outcome is not known. What was
                yielded is decided.
        """
        if isinstance(patience, timedelta):
            patience = patience.total_seconds()
        count = 0
        for batch in in_batches(requests, batch_size, sent_anyway):
            for part, payload in payloads(await self._embedded(batch)):
                decided = await self._decide_many(part, payload, count)
                count += len(decided)
                end = time.monotonic() + (0 if self._session.in_transaction() else patience)
                for result in decided:
                    left = end - time.monotonic()
                    busy = result.deferred and result.reason == "SCOPE_BUSY" and patience > 0
                    yield await self._settled(result, max(left, 0)) if busy else result

    async def _decide_many(
        self, part: list[WriteRequest], payload: str, offset: int
    ) -> list[WriteResult]:
        return await self._session.fetch(
            sql.WRITE_MANY,
            {"requests": payload, "offset": offset},
            WriteResult,
            [request.request_id for request in part],
        )

    async def recall(
        self,
        query: str | None = None,
        *,
        embedding: Sequence[float] | None = None,
        k: int = 10,
        layers: Sequence[str] | None = None,
        scope: str | None = None,
        scopes: Sequence[str] | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        kind: str | None = None,
        filter: Mapping[str, Any] | None = None,
        min_confidence: float | None = None,
        valid_at: datetime | None = None,
        weights: Mapping[str, float] | None = None,
        fusion: str = "weighted",
        embedding_model: str | None = None,
        threshold: float | None = None,
        exclude: Sequence[UUID] | None = None,
        classification: str | None = None,
        surface: str | None = None,
        task: str | None = None,
        rerank: str | Reranker | None = None,
    ) -> list[RecalledItem]:
        """Return the `k` items that answer best, best first.

        `scope` searches that scope and its ancestors, `scopes` exactly those named, neither all
        that the caller may see. `filter` is a piece of JSON that the content must contain.
        `weights` sets vector, keyword, recency, importance, confidence and authority; `fusion` is
        weighted or rrf. Nothing of less relevance than `threshold`; without one nothing, where not
        even the best answers the question, and 0 gives whatever is nearest. Nothing above
        `classification`, nothing that says what the items of `exclude` say. `surface`: which
        boundary the answer crosses; `task`: what it is for, recorded. `rerank`, a reranker or the
        name of one (`memwarden.rerankers`), looks at up to five times as many and picks the best.

        Raises:
            InvalidArgument: there is no such reranker, or no query for it.
        """
        reranker = load_reranker(rerank) if isinstance(rerank, str) else rerank
        if reranker is not None and query is None:
            raise InvalidArgument("a reranker needs a query")
        embedding, embedding_model = await self._vectors.of_query(query, embedding, embedding_model)
        items = await self._session.fetch(
            sql.RECALL,
            {
                "query": query,
                "embedding": None if embedding is None else single_precision(embedding),
                "k": k,
                "layers": listed("layers", layers),
                "scope": scope,
                "scopes": listed("scopes", scopes),
                "subject": subject,
                "predicate": predicate,
                "kind": kind,
                "filter": None if filter is None else strict_json(filter),
                "min_confidence": min_confidence,
                "valid_at": valid_at,
                "weights": None if weights is None else strict_json(weights),
                "fusion": fusion,
                "embedding_model": embedding_model,
                "threshold": threshold,
                "exclude": listed("exclude", exclude),
                "classification": classification,
                "surface": surface,
                "task": task,
                "rerank": None if reranker is None else reranker.name,
            },
            RecalledItem,
        )
        if reranker is None or query is None:
            return items
        return await in_thread(reordered, reranker, query, items, k)

    async def recall_pages(
        self,
        query: str | None = None,
        *,
        page_size: int = 10,
        exclude: Sequence[UUID] | None = None,
        **arguments: Any,
    ) -> AsyncIterator[list[RecalledItem]]:
        """Yield what `recall` answers page by page, until there is nothing left.

        `arguments` are those of `recall`. Whatever is written meanwhile, no memory comes twice; one
        that is new comes if it belongs further down. At most 10,000 items in all.
        """
        given = listed("exclude", exclude) or []
        while True:
            page = await self.recall(query, k=page_size, exclude=given, **arguments)
            if page:
                yield page
            if len(page) < page_size:
                return
            given += [item.item_id for item in page]

    async def context(
        self,
        query: str,
        *,
        embedding: Sequence[float] | None = None,
        token_budget: int = 2000,
        scope: str | None = None,
        scopes: Sequence[str] | None = None,
        layers: Sequence[str] | None = None,
        classification: str | None = None,
        freshness: timedelta | None = None,
        min_confidence: float | None = None,
        include_low_confidence: bool = True,
        valid_at: datetime | None = None,
        embedding_model: str | None = None,
        candidates: int = 100,
        threshold: float | None = None,
        surface: str | None = None,
        include_instructions: bool = False,
    ) -> Context:
        """Return what a model should read about a query: as much as fits `token_budget`.

        Best first, each memory a line of JSON that its words cannot break out of. Nothing above
        `classification`, nothing older than `freshness`; what lies below `min_confidence` is
        marked, and left out only where `include_low_confidence` is false. Nothing of less relevance
        than `threshold`, and nothing but what crosses `surface`. What looks like an instruction to
        its reader is there only where `include_instructions` is true.
        """
        scopes, layers = listed("scopes", scopes), listed("layers", layers)
        embedding, embedding_model = await self._vectors.of_query(query, embedding, embedding_model)
        items = await self._session.fetch(
            sql.CONTEXT,
            {
                "query": query,
                "embedding": None if embedding is None else single_precision(embedding),
                "token_budget": token_budget,
                "scope": scope,
                "scopes": scopes,
                "layers": layers,
                "classification": classification,
                "freshness": freshness,
                "min_confidence": min_confidence,
                "include_low_confidence": include_low_confidence,
                "valid_at": valid_at,
                "embedding_model": embedding_model,
                "candidates": candidates,
                "threshold": threshold,
                "surface": surface,
                "include_instructions": include_instructions,
            },
            ContextItem,
        )
        lines = {"lines": [item.line for item in items]}
        rendered = await self._session.fetch(sql.RENDER_CONTEXT, lines, dict[str, str])
        # The line that says that nothing is known stands for no memory.
        known = [item for item in items if item.standing != "unknown"]
        return Context(text=rendered[0]["text"], items=known)

    async def _embedded(self, batch: list[WriteRequest]) -> list[WriteRequest]:
        """Give an embedding to the requests of a batch that lack one and have a text."""
        embedder = self._vectors.given
        if embedder is None:
            return batch
        texts = embedding_texts(batch)
        if not texts:
            return batch
        vectors = await in_thread(embedder.embed, list(texts.values()))
        batch = list(batch)
        for index, vector in zip(texts, vectors, strict=True):
            if vector is not None:
                batch[index] = replace(
                    batch[index], embedding=vector, embedding_model=embedder.name
                )
        return batch
