"""Gets, searches and listings as calls of the client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from langgraph.store.base import GetOp, Item, ListNamespacesOp, PutOp, SearchItem, SearchOp

from memwarden._sync.client import Client
from memwarden.langgraph.entries import as_found, as_item, is_entry, put_at, updated_at
from memwarden.langgraph.filters import contained, matches, passes
from memwarden.langgraph.index import FieldIndex
from memwarden.langgraph.lives import Lives
from memwarden.langgraph.namespaces import (
    Namespace,
    NamespaceScopes,
    namespace_of,
    subject_of,
    written,
)
from memwarden.results import DatedItem, RecalledItem
from memwarden.results import Item as MemoryItem

Scored = tuple[DatedItem | RecalledItem, float | None]
# What a search with a query looks through, when others than the namespace's lie in the scope.
_SEARCHED = 1000
# Of how many times as many the nearest fields are compared, where memories have several: the mean
# of their vectors finds a memory and does not rank it.
_WIDER = 5
_NOBODY = UUID(int=0)


class Reads:
    """Reads what a store holds.

    Everything raises NotFound or NotAllowed where the caller may not see the scope. `lives` is None
    where reads prolong no life.
    """

    def __init__(
        self,
        client: Client,
        scopes: NamespaceScopes,
        layer: str,
        index: FieldIndex | None,
        lives: Lives | None,
    ) -> None:
        self._client = client
        self._scopes = scopes
        self._layer = layer
        self._index = index
        self._lives = lives

    def get(self, op: GetOp) -> Item | None:
        """The entry of a key."""
        found = self.entry(op)
        if found is None:
            return None
        if op.refresh_ttl and self._lives is not None:
            self._lives.read(found)
        return as_item(found)

    def entry(self, op: GetOp | PutOp) -> MemoryItem | None:
        """The memory of a key."""
        scope = self._scopes.scope(op.namespace)
        found = self._client.find_items(
            subject_of(op.namespace), written(op.key), layer=self._layer, scope=scope
        )
        if not found:
            # Nothing is found in a scope that is not seen either. This says which, and looks at
            # no memory.
            self._client.as_of(item_id=_NOBODY, scopes=[scope], layers=[self._layer])
        return next((item for item in found if is_entry(item)), None)

    def search(self, op: SearchOp) -> list[SearchItem]:
        """The entries below a prefix: what answers the query best, or else the newest first."""
        found = self._ranked(op, op.query) if op.query else self._newest(op)
        found = found[op.offset : op.offset + op.limit]
        if op.refresh_ttl and self._lives is not None:
            for item, _ in found:
                self._lives.read(item)
        return [as_found(item, score) for item, score in found]

    def namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        """The namespaces that have entries."""
        held = self._held(self._scopes.scope(_fixed_prefix(op)))
        names = {namespace_of(item.subject) for item in held if item.subject}
        names = {name for name in names if matches(name, op.match_conditions)}
        if op.max_depth is not None:
            names = {name[: op.max_depth] for name in names}
        return sorted(names)[op.offset : op.offset + op.limit]

    def _held(self, scope: str, filter: Mapping[str, Any] | None = None) -> list[DatedItem]:
        items = self._client.as_of(scopes=[scope], layers=[self._layer], filter=contained(filter))
        return [item for item in items if is_entry(item)]

    def _newest(self, op: SearchOp) -> list[Scored]:
        held = self._held(self._scopes.scope(tuple(op.namespace_prefix)), op.filter)
        found = [item for item in held if _fits(item, op)]
        # A life that begins anew is a version. Reading a page must not move it to the front.
        order = updated_at if self._lives is None else put_at
        return [(item, None) for item in sorted(found, key=order, reverse=True)]

    def _ranked(self, op: SearchOp, query: str) -> list[Scored]:
        if self._index is not None:
            return self._nearest(self._index, op, query)
        wanted = op.offset + op.limit
        found: list[Scored] = []
        for page in self._pages(op, query, wanted):
            found += [(i, i.score if i.similarity is None else i.similarity) for i in page]
            if len(found) >= wanted:
                break
        return found

    def _nearest(self, index: FieldIndex, op: SearchOp, query: str) -> list[Scored]:
        vector = index.query(query)
        if vector is None:
            return self._newest(op)  # a query without a word
        asked = {"embedding": vector, "embedding_model": index.model, "weights": {"vector": 1}}
        found: list[Scored] = []
        wanted = op.offset + op.limit
        for page in self._pages(op, query, wanted * (_WIDER if index.is_several else 1), **asked):
            page = [item for item in page if item.similarity is not None]
            found += zip(page, index.scores(vector, page), strict=True)
            if len(found) >= wanted * (_WIDER if index.is_several else 1):
                break
        return sorted(found, key=lambda each: each[1] or 0.0, reverse=True)

    def _pages(
        self, op: SearchOp, query: str, size: int, **asked: Any
    ) -> Iterator[list[RecalledItem]]:
        """What recall finds of the entries that an operation asks for, page by page."""
        seen = 0
        for page in self._client.recall_pages(
            query,
            page_size=min(max(size, 10), _SEARCHED),
            scopes=[self._scopes.scope(tuple(op.namespace_prefix))],
            layers=[self._layer],
            filter=contained(op.filter),
            **asked,
        ):
            yield [item for item in page if is_entry(item) and _fits(item, op)]
            seen += len(page)
            if seen >= _SEARCHED:
                return


def _fits(item: DatedItem | RecalledItem, op: SearchOp) -> bool:
    prefix = tuple(op.namespace_prefix)
    namespace = namespace_of(item.subject or "")
    return namespace[: len(prefix)] == prefix and passes(item.content, op.filter)


def _fixed_prefix(op: ListNamespacesOp) -> Namespace:
    """The labels that every namespace of a listing begins with."""
    for condition in op.match_conditions or ():
        if condition.match_type == "prefix":
            path = tuple(condition.path)
            return path[: path.index("*")] if "*" in path else path
    return ()
