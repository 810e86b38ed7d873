"""mem0's calls as calls of the client."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

from memwarden._sync.client import Client
from memwarden.errors import InvalidArgument, InvalidContent, NotFound
from memwarden.mem0.filters import IDS, Filters
from memwarden.mem0.shapes import (
    Message,
    as_changes,
    as_content,
    as_memory,
    as_messages,
    as_outcome,
    as_told,
    is_ours,
)
from memwarden.results import DatedItem, Item, RecalledItem, WriteResult

_log = logging.getLogger("memwarden")
_PATH_PART = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_GONE = "deleted through mem0's API"
# The largest page of a recall.
_PAGE = 1000


class Memory:
    """mem0's `Memory` in memwarden.

    `scope` is the path that memories belong to, and may name an id: `/org/acme/user/{user_id}`;
    by default the caller's home. Without `extract`, messages are stored as they are, as mem0 does
    with `infer=False`. `defaults` are arguments of every write, for instance `evidence`.

    `profile` is what the store asks of writes.

    What mem0 passes over in silence has an outcome here: each result has `outcome` and `reason`,
    and its `event` is ADD, NONE for what is known already, REFUSED or DEFERRED.
    """

    def __init__(
        self,
        client: Client,
        *,
        scope: str | None = None,
        layer: str = "semantic",
        extract: Callable[[Sequence[Message]], Iterable[str]] | None = None,
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        self._client = client
        me = client.whoami()
        self.profile = me.profile
        _log.info("mem0: %s", me.asks)
        self._path = scope or me.home
        self._layer = layer
        self._extract = extract
        self._defaults = dict(defaults or {})

    def add(
        self,
        messages: str | Message | Sequence[Message],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        infer: bool | None = None,
    ) -> dict[str, Any]:
        """Ask for memories to be kept; `{"results": [...]}` has one outcome for each.

        Raises:
            InvalidArgument: no id is given, a message has no text, or `infer` without `extract`.
            NotFound, NotAllowed: there is no such scope that the caller may use.
        """
        ids = _ids({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        given = as_messages(messages)
        if infer and self._extract is None:
            raise InvalidArgument(
                "infer=True needs a model", hint="Give Memory(extract=...), or infer=False."
            )
        if self._extract is not None and infer is not False:
            given = [{"content": text} for text in self._extract(given)]
        contents = [as_content(message, ids, metadata) for message in given]
        scope = self._scope(ids)
        results = self._write([self._request(content, scope, ids) for content in contents])
        pairs = zip(contents, results, strict=True)
        return {"results": [as_outcome(content, result) for content, result in pairs]}

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
    ) -> dict[str, Any]:
        """Return the memories that answer best, best first, as `{"results": [...]}`.

        `filters` names one of user_id, agent_id and run_id at least; docs/mem0.md has the
        operators. What the server cannot test is tested here, page by page until there are `top_k`
        memories, among the 10,000 that answer best. `threshold` is of relevance.

        Raises:
            InvalidArgument: the filters name no id, or an operator that is not known.
            NotFound, NotAllowed: there is no such scope that the caller may use.
        """
        wanted = Filters(filters)
        found: list[RecalledItem] = []
        pages = self._client.recall_pages(
            query,
            # What is left of a page is not known.
            page_size=min(top_k if wanted.is_exact else max(100, 5 * top_k), _PAGE),
            scopes=[self._scope(wanted.ids)],
            layers=[self._layer],
            filter=wanted.contained,
            threshold=threshold,
        )
        for page in pages:
            found += [item for item in page if is_ours(item) and wanted.passes(item.content)]
            if len(found) >= top_k:
                break
        return {"results": [as_memory(item) | {"score": item.score} for item in found[:top_k]]}

    def get(self, memory_id: str | UUID) -> dict[str, Any] | None:
        """Return a memory, or None where there is none that the caller may see."""
        item = self._client.get(_uuid(memory_id))
        return as_memory(item) if item is not None and is_ours(item) else None

    def get_all(
        self, *, filters: Mapping[str, Any] | None = None, top_k: int = 20
    ) -> dict[str, Any]:
        """Return the newest memories that the filters let through, as `{"results": [...]}`.

        `filters` as those of `search`.
        """
        wanted = Filters(filters)
        held = self._held(self._scope(wanted.ids), wanted.contained)
        found = [item for item in held if wanted.passes(item.content)]
        return {"results": [as_memory(item) for item in found[:top_k]]}

    def update(
        self,
        memory_id: str | UUID,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        data: str | None = None,
    ) -> dict[str, Any]:
        """Replace a memory's text or metadata by a new version; ids stay as they are.

        `data` is the earlier name of `text`.

        Look at `outcome`: a refused update leaves the memory as it was.

        Raises:
            InvalidArgument: neither is given.
            NotFound: there is no such memory that the caller may see.
        """
        text = data if text is None else text
        if text is None and metadata is None:
            raise InvalidArgument("text or metadata must be given")
        item = self._required(memory_id)
        content = dict(item.content)
        if text is not None:
            content["text"] = text
        if metadata is not None:
            content["metadata"] = {**content.get("metadata", {}), **metadata}
        request = self._request(content, item.scope, content)
        [result] = self._write([request | {"predicate": item.predicate, "subject": item.subject}])
        return as_told(result, "Memory updated successfully!")

    def delete(self, memory_id: str | UUID) -> dict[str, Any]:
        """End a memory; its history stays. Look at `outcome`: it may wait for a person.

        Raises:
            NotFound: there is no such memory that the caller may see.
            NotAllowed: the caller may not delete it.
        """
        result = self._client.expire(self._required(memory_id).item_id, _GONE)
        return as_told(result, "Memory deleted successfully!")

    def delete_all(
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> dict[str, Any]:
        """End all memories of a user, agent or run; `results` has the outcome of each."""
        ids = _ids({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        return self._end(self._held(self._scope(ids), ids))

    def history(self, memory_id: str | UUID) -> list[dict[str, Any]]:
        """Return the changes of a memory, the oldest first."""
        return as_changes(str(memory_id), self._client.history(_uuid(memory_id)))

    def reset(self) -> dict[str, Any]:
        """End every memory of the scope, which must name no id; others' scopes stay untouched."""
        return self._end(self._held(self._scope({}), None))

    def _end(self, items: Iterable[DatedItem]) -> dict[str, Any]:
        ended = [(item, self._client.expire(item.item_id, _GONE)) for item in items]
        results = [
            {"id": str(item.item_id), "outcome": result.outcome, "reason": result.reason}
            for item, result in ended
        ]
        done = all(result.stored for _, result in ended)
        message = "Memories deleted successfully!" if done else "Not all memories were deleted"
        return {"message": message, "results": results}

    def _held(self, scope: str, wanted: Mapping[str, Any] | None) -> list[DatedItem]:
        found = self._client.as_of(scopes=[scope], layers=[self._layer], filter=wanted)
        ours = [item for item in found if is_ours(item)]
        return sorted(ours, key=lambda item: item.recorded_at, reverse=True)

    def _required(self, memory_id: str | UUID) -> Item:
        item = self._client.get(_uuid(memory_id))
        if item is None or not is_ours(item):
            raise NotFound("there is no such memory that the caller may see", sqlstate="42704")
        return item

    def _write(self, requests: list[dict[str, Any]]) -> list[WriteResult]:
        if len(requests) == 1:  # a third cheaper than a batch of one
            # What is no JSON is sent below, for the server to refuse.
            with suppress(InvalidContent):
                return [self._client.write(**requests[0])]
        return self._client.write_many(requests)

    def _request(
        self, content: Mapping[str, Any], scope: str, ids: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {
            "layer": self._layer,
            "idempotency_key": str(uuid4()),
            **self._defaults,
            "content": dict(content),
            "scope": scope,
            # Erasing a person finds them by the subject. The predicate makes it one memory that an
            # update can replace.
            "subject": next(str(ids[name]) for name in IDS if ids.get(name)),
            "predicate": f"memory {uuid4()}",
        }

    def _scope(self, ids: Mapping[str, Any]) -> str:
        path = self._path
        for name in IDS:
            if f"{{{name}}}" not in path:
                continue
            label = ids.get(name)
            if not isinstance(label, str) or not _PATH_PART.fullmatch(label):
                raise InvalidArgument(
                    f"the scope needs {name}, and it is missing or cannot be part of a path",
                    hint="Use a-z, 0-9, - and _ in ids that name a scope.",
                )
            path = path.replace(f"{{{name}}}", label)
        return path


def _ids(given: Mapping[str, Any]) -> dict[str, str]:
    ids = {name: str(given[name]).strip() for name in IDS if given.get(name) is not None}
    if not ids or not all(ids.values()):
        raise InvalidArgument("at least one of user_id, agent_id and run_id must be given")
    return ids


def _uuid(memory_id: str | UUID) -> UUID:
    try:
        return memory_id if isinstance(memory_id, UUID) else UUID(memory_id)
    except (ValueError, AttributeError, TypeError):
        raise InvalidArgument("the id of a memory is a UUID") from None
