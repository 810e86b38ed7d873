"""The store: LangGraph's operations as calls of the client."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal
from uuid import uuid4

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from memwarden._json import strict_json
from memwarden._sync.client import Client
from memwarden.errors import InvalidArgument, MemwardenError
from memwarden.langgraph.index import FieldIndex, MemwardenIndexConfig, Vector, named
from memwarden.langgraph.lives import Lives
from memwarden.langgraph.namespaces import Namespace, NamespaceScopes, subject_of, written
from memwarden.langgraph.reads import Reads
from memwarden.results import WriteResult

_log = logging.getLogger("memwarden")
OnRefusal = Literal["raise", "return", "ignore"]
_SAME = ("EXACT_DUPLICATE", "STRUCTURAL_DUPLICATE")
_ENDED = "deleted through the LangGraph store"


class PutRefused(MemwardenError):
    """A put or delete did not take effect; all others of its batch did.

    Attributes:
        refused: for each, namespace, key and the result that says which gate, and why.
    """

    def __init__(self, refused: Sequence[tuple[Namespace, str, WriteResult]]) -> None:
        reasons = sorted({str(result.reason or result.outcome) for _, _, result in refused})
        super().__init__(
            f"memwarden did not carry out {len(refused)} of the puts: {', '.join(reasons)}",
            hint="reasons() explains each; on_refusal='return' gives results instead.",
        )
        self.refused = list(refused)


class MemwardenStore(BaseStore):
    """A LangGraph store in memwarden.

    A namespace and a key are the subject and predicate of one memory; a put of another value is
    its next version, a delete ends it, and its history stays. `scopes` says which scope a
    namespace belongs to; by default all belong to the caller's home. `defaults` are arguments of
    every write, for instance `evidence` and `confidence`.

    With `index`, a query is answered by the likeness of the indexed fields alone, and what was put
    with `index=False` is not found by one. Without, `recall` decides, and a put's `index` is
    ignored. With `ttl`, a read prolongs the life of what it returns, unless `refresh_on_read` or
    `refresh_ttl` is false. Without, reads change nothing.

    A put that the gates refuse or defer raises `PutRefused` (`on_refusal="raise"`), is in
    `batch`'s answer as a `WriteResult` ("return"), or is passed over ("ignore").

    `profile` is what memwarden asks of writes. One call at a time uses the client; the async
    methods run the same calls in a thread.
    """

    supports_ttl = True

    def __init__(
        self,
        client: Client,
        *,
        scopes: Mapping[Namespace, str] | None = None,
        layer: str = "semantic",
        on_refusal: OnRefusal = "raise",
        ttl: TTLConfig | None = None,
        index: IndexConfig | MemwardenIndexConfig | None = None,
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        if on_refusal not in ("raise", "return", "ignore"):
            raise InvalidArgument(
                "on_refusal is not known", hint="It is 'raise', 'return' or 'ignore'."
            )
        self._client = client
        me = client.whoami()
        self.profile = me.profile
        _log.info("LangGraph: %s", me.asks)
        self._scopes = NamespaceScopes(scopes or {(): me.home})
        self._layer = layer
        self._on_refusal = on_refusal
        self.ttl_config = ttl
        self.index_config = index
        self._index = None if index is None else FieldIndex(index)
        self._lives = Lives(client)
        prolonged = None if ttl is None else self._lives
        self._reads = Reads(client, self._scopes, layer, self._index, prolonged)
        self._defaults = dict(defaults or {})
        self._turn = threading.Lock()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out the reads, then the puts; a key that is put twice keeps the last.

        Raises:
            InvalidNamespaceError: a namespace cannot be; nothing was done.
            InvalidArgument: a namespace belongs to no scope; nothing was done.
            PutRefused: a put did not take effect, with on_refusal="raise".
            NotFound, NotAllowed: there is no such scope that the caller may use.
        """
        ops = list(ops)
        for op in ops:
            self._check(op)
        last = {(op.namespace, op.key): n for n, op in enumerate(ops) if isinstance(op, PutOp)}
        puts = [(n, op) for n, op in enumerate(ops) if isinstance(op, PutOp)]
        puts = [(n, op) for n, op in puts if last[op.namespace, op.key] == n]
        with self._turn:
            results: list[Any] = [self._read(op) for op in ops]
            refused = [each for each in self._put(puts) if not self._in_effect(*each[1:])]
        if refused and self._on_refusal == "raise":
            raise PutRefused([(op.namespace, op.key, result) for _, op, result in refused])
        if self._on_refusal == "return":
            for n, _, result in refused:
                results[n] = result
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do as `batch` does, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _check(self, op: Op) -> None:
        """Refuse what cannot be a namespace, and what belongs to no scope, before any call."""
        if isinstance(op, ListNamespacesOp):
            for condition in op.match_conditions or ():
                _check_labels(condition.path)
            return
        if isinstance(op, SearchOp):
            _check_labels(op.namespace_prefix)
            self._scopes.scope(tuple(op.namespace_prefix))
            return
        _check_labels(op.namespace)
        if not op.namespace:
            raise InvalidNamespaceError("a namespace has at least one label")
        self._scopes.scope(tuple(op.namespace))

    def _read(self, op: Op) -> Item | list[SearchItem] | list[Namespace] | None:
        if isinstance(op, GetOp):
            return self._reads.get(op)
        if isinstance(op, SearchOp):
            return self._reads.search(op)
        if isinstance(op, ListNamespacesOp):
            return self._reads.namespaces(op)
        return None

    def _put(self, puts: list[tuple[int, PutOp]]) -> list[tuple[int, PutOp, WriteResult]]:
        """Write what has a value, in one call, and end what has none."""
        kept = [(n, op) for n, op in puts if op.value is not None]
        vectors: list[Vector | None] = [None] * len(kept)
        if self._index is not None:
            vectors = self._index.vectors((op.value or {}, op.index) for _, op in kept)
        requests = [self._arguments(op, each) for (_, op), each in zip(kept, vectors, strict=True)]
        if len(requests) == 1 and "content" in requests[0]:  # a third cheaper than a batch of one
            results = [self._client.write(**requests[0])]
        else:
            results = self._client.write_many(requests)
        decided = [(n, op, result) for (n, op), result in zip(kept, results, strict=True)]
        for n, op in puts:
            if op.value is None:
                item = self._reads.entry(op)
                if item is not None:
                    decided.append((n, op, self._client.expire(item.item_id, _ENDED)))
        return decided

    def _in_effect(self, op: PutOp, result: WriteResult) -> bool:
        """Whether the store holds what was put: the same value may be there under that key."""
        if result.stored or result.item_id is None or result.reason not in _SAME:
            return result.stored
        item = self._client.get(result.item_id)
        if item is None or (item.subject, item.predicate, item.content) != (
            subject_of(op.namespace),
            written(op.key),
            dict(op.value or {}),
        ):
            return False
        return op.ttl is None or self._lives.put_again(item.item_id, op.ttl)

    def _arguments(self, op: PutOp, vector: Vector | None) -> dict[str, Any]:
        given: dict[str, Any] = {
            "layer": self._layer,
            # A value that comes back after another one is news, whenever it was put before.
            "idempotency_key": str(uuid4()),
            **self._defaults,
            "content": dict(op.value or {}),
            "scope": self._scopes.scope(op.namespace),
            "subject": subject_of(op.namespace),
            "predicate": written(op.key),
            "ttl": None if op.ttl is None else timedelta(minutes=op.ttl),
        }
        if self._index is None:
            return given
        if vector is None:
            # As text, so that a client with an embedder makes no vector of it.
            return given | {"content_text": strict_json(given.pop("content"))}
        origin = dict(given.get("origin") or {})
        if task := named(op.index, origin.get("task")):
            given["origin"] = origin | {"task": task}
        return given | {"embedding": vector, "embedding_model": self._index.model}


def _check_labels(labels: Iterable[Any]) -> None:
    for label in labels:
        if not isinstance(label, str) or not label or "." in label:
            raise InvalidNamespaceError("a label of a namespace is text without dots, not empty")
