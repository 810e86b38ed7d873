"""Gets, searches and listings as calls of the client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from itertools import chain
from typing import Any
from uuid import UUID

from langgraph.store.base import GetOp, Item, ListNamespacesOp, PutOp, SearchItem, SearchOp

from memwarden._async.client import AsyncClient
from memwarden._statements import calls as sql
from memwarden.errors import ConnectionFailed, MemwardenError
from memwarden.langgraph.embedding import aembedded, aembedded_query
from memwarden.langgraph.entries import as_found, as_item, is_of_today, place_of, put_at
from memwarden.langgraph.filters import contained, matches, passes
from memwarden.langgraph.index import FieldIndex, Vector
from memwarden.langgraph.plan import Plan
from memwarden.results import DatedItem, RecalledItem
from memwarden.results import Item as MemoryItem
from memwarden.transfer.earlier import names
from memwarden.transfer.identifiers import Namespace, predicate_of, subject_of

Scored = tuple[DatedItem | RecalledItem, float | None]
# What a search with a query looks through, when others than the namespace's lie in the scope.
_SEARCHED = 1000
# Of how many times as many the nearest fields are compared, where memories have several: the mean
# of their vectors finds a memory and does not rank it.
_WIDER = 5
_NOBODY = UUID(int=0)
_READ = "read through the LangGraph store"


class AsyncReads:
    """Reads what a store holds.

    Everything raises NotFound or NotAllowed where the caller may not see the scope.
    """

    def __init__(self, client: AsyncClient, plan: Plan) -> None:
        self._client = client
        self._plan = plan

    async def get(self, op: GetOp) -> Item | None:
        """The entry of a key."""
        found = await self.entry(op)
        if found is None:
            return None
        if op.refresh_ttl and self._plan.prolongs:
            await self._prolong(found)
        return as_item(found)

    async def entry(self, op: GetOp) -> MemoryItem | None:
        """The memory of a key; where there is none of today, that of an earlier release."""
        return next(iter(await self._of_key(op, everything=False)), None)

    async def entries(self, op: PutOp) -> list[MemoryItem]:
        """The memories of a key; that of an earlier release would be found in place of today's."""
        return await self._of_key(op, everything=True)

    async def _of_key(self, op: GetOp | PutOp, *, everything: bool) -> list[MemoryItem]:
        place = tuple(op.namespace), op.key
        pairs = [(subject_of(place[0]), predicate_of(op.key)), *names(*place)]
        arguments = {
            "subjects": [subject for subject, _ in pairs],
            "predicates": [predicate for _, predicate in pairs],
            "layer": self._plan.layer,
            "scope": self._plan.scope(op.namespace),
            "everything": everything,
        }
        found = await self._client._session.fetch(sql.FIND_KEY, arguments, MemoryItem)
        if not found:
            # Nothing is found in a scope that is not seen either. This says which, and looks at
            # no memory.
            scope, layers = self._plan.scope(op.namespace), [self._plan.layer]
            await self._client.as_of(item_id=_NOBODY, scopes=[scope], layers=layers)
        return [each for each in found if place_of(each) == place]

    async def search(self, op: SearchOp) -> list[SearchItem]:
        """The entries below a prefix: what answers the query best, or else the newest first."""
        found = await self._ranked(op, op.query) if op.query else await self._newest(op)
        found = found[op.offset : op.offset + op.limit]
        if op.refresh_ttl and self._plan.prolongs:
            for item, _ in found:
                await self._prolong(item)
        return [as_found(item, score) for item, score in found]

    async def namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        """The namespaces that have entries."""
        held = await self._held(self._plan.scope(_fixed_prefix(op)))
        found = {place[0] for place in map(place_of, held) if place}
        found = {name for name in found if matches(name, op.match_conditions)}
        if op.max_depth is not None:
            found = {name[: op.max_depth] for name in found}
        return sorted(found)[op.offset : op.offset + op.limit]

    async def vectors(self, index: FieldIndex, texts: Iterable[str]) -> dict[str, Vector | None]:
        """The vectors of texts, from one call of the model for those that are new."""
        wanted = list(dict.fromkeys(texts))
        known = index.known(wanted)
        missing = [text for text in wanted if text not in known]
        if missing:
            made = await aembedded(index, missing)
            known |= index.keep(dict(zip(missing, made, strict=True)))
        return known

    async def _prolong(self, item: MemoryItem | DatedItem | RecalledItem) -> None:
        """Let the life of a memory that was read begin anew, where it has an end.

        Who may not write the memory reads it all the same.
        """
        whole = await self._client.get(item.item_id) if isinstance(item, RecalledItem) else item
        ttl = None if whole is None else self._plan.lives.due(whole)
        if ttl is None:
            return
        try:
            done = await self._client.renew(item.item_id, _READ, ttl)
        except ConnectionFailed:
            raise
        except MemwardenError:
            return
        if done.stored:
            self._plan.lives.renewed(item.item_id)

    async def _held(self, scope: str, filter: Mapping[str, Any] | None = None) -> list[DatedItem]:
        items = await self._client.as_of(
            scopes=[scope], layers=[self._plan.layer], filter=contained(filter)
        )
        today = {place_of(item) for item in items if is_of_today(item)}
        # What was put again since has its value of today.
        known = {None, *today}
        return [item for item in items if is_of_today(item) or place_of(item) not in known]

    async def _was_put_again(self, item: RecalledItem) -> bool:
        """Whether a memory of an earlier release has another of today under its key."""
        place = None if is_of_today(item) else place_of(item)
        return place is not None and bool(
            await self._client.find_items(
                subject_of(place[0]), predicate_of(place[1]), layer=item.layer, scope=item.scope
            )
        )

    async def _newest(self, op: SearchOp) -> list[Scored]:
        held = await self._held(self._plan.scope(op.namespace_prefix), op.filter)
        found = [item for item in held if _fits(item, op)]
        # A life that begins anew is a version. Reading a page must not move it to the front.
        return [(item, None) for item in sorted(found, key=put_at, reverse=True)]

    async def _ranked(self, op: SearchOp, query: str) -> list[Scored]:
        if self._plan.index is not None:
            return await self._nearest(self._plan.index, op, query)
        wanted = op.offset + op.limit
        found: list[Scored] = []
        async for page in self._pages(op, query, wanted):
            found += [(i, i.score if i.similarity is None else i.similarity) for i in page]
            if len(found) >= wanted:
                break
        return found

    async def _nearest(self, index: FieldIndex, op: SearchOp, query: str) -> list[Scored]:
        vector = await aembedded_query(index, query)
        if vector is None:
            return await self._newest(op)  # a query without a word
        asked = {"embedding": vector, "embedding_model": index.model, "weights": {"vector": 1}}
        found: list[Scored] = []
        wanted = op.offset + op.limit
        async for page in self._pages(op, query, wanted * self._wider(index), **asked):
            page = [item for item in page if item.similarity is not None]
            texts = [index.compared(item) for item in page]
            known = await self.vectors(index, chain.from_iterable(texts))
            found += [
                (item, index.score(vector, item, [known[text] for text in each]))
                for item, each in zip(page, texts, strict=True)
            ]
            if len(found) >= wanted * self._wider(index):
                break
        return sorted(found, key=lambda each: each[1] or 0.0, reverse=True)

    def _wider(self, index: FieldIndex) -> int:
        return _WIDER if index.is_several else 1

    async def _pages(
        self, op: SearchOp, query: str, size: int, **asked: Any
    ) -> AsyncIterator[list[RecalledItem]]:
        """What recall finds of the entries that an operation asks for, page by page."""
        seen = 0
        async for page in self._client.recall_pages(
            query,
            page_size=min(max(size, 10), _SEARCHED),
            scopes=[self._plan.scope(op.namespace_prefix)],
            layers=[self._plan.layer],
            filter=contained(op.filter),
            threshold=0,  # a store ranks, and says how near each is
            **asked,
        ):
            fitting = [item for item in page if _fits(item, op)]
            yield [item for item in fitting if not await self._was_put_again(item)]
            seen += len(page)
            if seen >= _SEARCHED:
                return


def _fits(item: DatedItem | RecalledItem, op: SearchOp) -> bool:
    prefix = tuple(op.namespace_prefix)
    place = place_of(item)
    return (
        place is not None and place[0][: len(prefix)] == prefix and passes(item.content, op.filter)
    )


def _fixed_prefix(op: ListNamespacesOp) -> Namespace:
    """The labels that every namespace of a listing begins with."""
    for condition in op.match_conditions or ():
        if condition.match_type == "prefix":
            path = tuple(condition.path)
            return path[: path.index("*")] if "*" in path else path
    return ()
