"""The store: LangGraph's operations as calls of the client."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import uuid4

from langgraph.store.base import (
    BaseStore,
    GetOp,
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

from memwarden._sync.client import Client
from memwarden.errors import InvalidArgument, MemwardenError
from memwarden.langgraph.filters import contained, matches, passes
from memwarden.langgraph.namespaces import (
    Namespace,
    NamespaceScopes,
    key_of,
    namespace_of,
    subject_of,
    written,
)
from memwarden.results import DatedItem, RecalledItem, WriteResult
from memwarden.results import Item as MemoryItem

OnRefusal = Literal["raise", "return", "ignore"]
# What a search with a query looks through, when others than the namespace's lie in the scope.
_SEARCHED = 1000
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

    A put that the gates refuse or defer raises `PutRefused` (`on_refusal="raise"`), is in
    `batch`'s answer as a `WriteResult` ("return"), or is passed over ("ignore").

    One call at a time uses the client; the async methods run the same calls in a thread.
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
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        if on_refusal not in ("raise", "return", "ignore"):
            raise InvalidArgument(
                "on_refusal is not known", hint="It is 'raise', 'return' or 'ignore'."
            )
        self._client = client
        self._scopes = NamespaceScopes(scopes or {(): client.whoami().home})
        self._layer = layer
        self._on_refusal = on_refusal
        self.ttl_config = ttl
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
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._list(op)
        return None

    def _get(self, op: GetOp) -> Item | None:
        found = self._entry(op)
        return None if found is None else _item(found)

    def _entry(self, op: GetOp | PutOp) -> MemoryItem | DatedItem | None:
        """The memory of a key; an error where the caller may not see the scope."""
        scope, names = self._scopes.scope(op.namespace), (subject_of(op.namespace), written(op.key))
        found: list[Any] = self._client.find_items(*names, layer=self._layer, scope=scope)
        if not found:
            # The index finds nothing in a scope that is not seen either; this says which.
            found = self._held(scope, *names)
        return next((item for item in found if _is_entry(item)), None)

    def _held(
        self, scope: str, subject: str | None = None, predicate: str | None = None
    ) -> list[DatedItem]:
        """What the store holds in a scope; an error where the caller may not see the scope."""
        items = self._client.as_of(
            scopes=[scope], layers=[self._layer], subject=subject, predicate=predicate
        )
        return [item for item in items if _is_entry(item)]

    def _search(self, op: SearchOp) -> list[SearchItem]:
        prefix = tuple(op.namespace_prefix)
        scope = self._scopes.scope(prefix)
        wanted = op.offset + op.limit
        found: list[SearchItem] = []
        if not op.query:
            found = [_found(item, None) for item in self._held(scope)]
            found = [each for each in found if _fits(each, prefix, op.filter)]
            found.sort(key=lambda each: each.updated_at, reverse=True)
            return found[op.offset : wanted]
        pages = self._client.recall_pages(
            op.query,
            page_size=min(max(wanted, 10), _SEARCHED),
            scopes=[scope],
            layers=[self._layer],
            filter=contained(op.filter),
        )
        seen = 0
        for page in pages:
            seen += len(page)
            hits = [
                _found(item, item.score if item.similarity is None else item.similarity)
                for item in page
                if _is_entry(item)
            ]
            found += [each for each in hits if _fits(each, prefix, op.filter)]
            if len(found) >= wanted or seen >= _SEARCHED:
                break
        return found[op.offset : wanted]

    def _list(self, op: ListNamespacesOp) -> list[Namespace]:
        scope = self._scopes.scope(_fixed_prefix(op))
        names = {namespace_of(item.subject) for item in self._held(scope) if item.subject}
        names = {name for name in names if matches(name, op.match_conditions)}
        if op.max_depth is not None:
            names = {name[: op.max_depth] for name in names}
        return sorted(names)[op.offset : op.offset + op.limit]

    def _put(self, puts: list[tuple[int, PutOp]]) -> list[tuple[int, PutOp, WriteResult]]:
        """Write what has a value, in one call, and end what has none."""
        kept = [(n, op) for n, op in puts if op.value is not None]
        if len(kept) == 1:  # a third cheaper than a batch of one
            results = [self._client.write(**self._arguments(kept[0][1]))]
        else:
            results = self._client.write_many(self._arguments(op) for _, op in kept)
        decided = [(n, op, result) for (n, op), result in zip(kept, results, strict=True)]
        for n, op in puts:
            if op.value is None:
                item = self._entry(op)
                if item is not None:
                    decided.append((n, op, self._client.expire(item.item_id, _ENDED)))
        return decided

    def _in_effect(self, op: PutOp, result: WriteResult) -> bool:
        """Whether the store holds what was put: the same value may be there under that key."""
        if result.stored or result.item_id is None or result.reason not in _SAME:
            return result.stored
        item = self._client.get(result.item_id)
        return item is not None and (item.subject, item.predicate, item.content) == (
            subject_of(op.namespace),
            written(op.key),
            dict(op.value or {}),
        )

    def _arguments(self, op: PutOp) -> dict[str, Any]:
        given: dict[str, Any] = {
            "layer": self._layer,
            # A value that comes back after another one is news, whenever it was put before.
            "idempotency_key": str(uuid4()),
        }
        return (
            given
            | self._defaults
            | {
                "content": dict(op.value or {}),
                "scope": self._scopes.scope(op.namespace),
                "subject": subject_of(op.namespace),
                "predicate": written(op.key),
                "ttl": None if op.ttl is None else timedelta(minutes=op.ttl),
            }
        )


def _is_entry(item: MemoryItem | DatedItem | RecalledItem) -> bool:
    """Whether a memory is one that a store wrote, and no other of that scope and layer."""
    subject, predicate = item.subject, item.predicate
    return (
        bool(subject and predicate)
        and isinstance(item.content, dict)
        and subject_of(namespace_of(subject or "")) == subject
        and written(key_of(predicate or "")) == predicate
    )


def _check_labels(labels: Iterable[Any]) -> None:
    for label in labels:
        if not isinstance(label, str) or not label or "." in label:
            raise InvalidNamespaceError("a label of a namespace is text without dots, not empty")


def _fits(item: SearchItem, prefix: Namespace, filter: Mapping[str, Any] | None) -> bool:
    return item.namespace[: len(prefix)] == prefix and passes(item.value, filter)


def _fixed_prefix(op: ListNamespacesOp) -> Namespace:
    """The labels that every namespace of a listing begins with."""
    for condition in op.match_conditions or ():
        if condition.match_type == "prefix":
            path = tuple(condition.path)
            return path[: path.index("*")] if "*" in path else path
    return ()


def _times(item: MemoryItem | DatedItem | RecalledItem) -> dict[str, Any]:
    record = item.provenance
    return {
        "created_at": datetime.fromisoformat(record["first_recorded_at"]),
        "updated_at": datetime.fromisoformat(record["recorded_at"]),
    }


def _names(item: MemoryItem | DatedItem | RecalledItem) -> dict[str, Any]:
    return {"namespace": namespace_of(item.subject or ""), "key": key_of(item.predicate or "")}


def _item(item: MemoryItem | DatedItem) -> Item:
    return Item(value=item.content, **_names(item), **_times(item))


def _found(item: DatedItem | RecalledItem, score: float | None) -> SearchItem:
    return SearchItem(value=item.content, score=score, **_names(item), **_times(item))
