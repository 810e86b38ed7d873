"""mem0's calls as calls of the client."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from types import TracebackType
from typing import Any, Self
from uuid import UUID, uuid4

from memwarden._sync.client import Client
from memwarden.errors import InvalidArgument, InvalidContent
from memwarden.mem0.configuration import arguments, configured_extraction, connected
from memwarden.mem0.filters import IDS, Filters
from memwarden.mem0.given import (
    UNSET,
    MemoryNotFound,
    Message,
    as_day,
    as_messages,
    as_uuid,
    check_search,
    given_ids,
    lifetime,
    not_here,
    of_metadata,
)
from memwarden.mem0.shapes import (
    as_changes,
    as_content,
    as_found,
    as_memory,
    as_outcome,
    as_told,
    is_ours,
)
from memwarden.rerankers import Reranker
from memwarden.results import DatedItem, Item, RecalledItem, WriteResult
from memwarden_core.written import written

_log = logging.getLogger("memwarden")
_PATH_PART = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_GONE = "deleted through mem0's API"
# The largest page of a recall.
_PAGE = 1000


class Memory:
    """mem0's `Memory` in memwarden.

    Without a client it makes one, as MEMWARDEN_DSN or libpq's PG* variables say, and `close` ends
    it; a client that was handed over stays open.

    `scope` is the path that memories belong to, and may name an id: `/org/acme/user/{user_id}`;
    by default the caller's home. `extract` finds in messages what is to be kept; without one it is
    the model that MEMWARDEN_EXTRACT_URL and MEMWARDEN_EXTRACT_MODEL name, and without those
    messages are stored as they are, as mem0 does with `infer=False`. `reranker` is what
    `search(rerank=True)` asks, by default `llm`. `defaults` are arguments of every write, for
    instance `evidence`.

    `profile` is what the store asks of writes.

    What mem0 passes over in silence has an outcome here: each result has `outcome` and `reason`,
    and its `event` is ADD, UPDATE for a memory that grew or gave way, NONE for what is known
    already, REFUSED or DEFERRED. Where mem0 raises a ValueError, so does this.
    """

    def __init__(
        self,
        client: Client | None = None,
        *,
        scope: str | None = None,
        layer: str = "semantic",
        extract: Callable[[Sequence[Message]], Iterable[str]] | None = None,
        reranker: str | Reranker = "llm",
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(client, Client | None):
            raise InvalidArgument(
                "Memory takes a client of memwarden", hint="Give a configuration to from_config()."
            )
        self._extract = extract or configured_extraction()
        self._own: Client | None = None
        if client is None:
            client = self._own = connected()
        self._client = client
        try:
            me = self._client.whoami()
        except BaseException:
            self.close()
            raise
        self.profile = me.profile
        _log.info("mem0: %s", me.asks)
        self._path = scope or me.home
        self._layer = layer
        self._reranker = reranker
        self._defaults = dict(defaults or {})

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Make one of a configuration of mem0; docs/mem0.md says what of it counts.

        Raises:
            InvalidArgument: it asks for what is not here; the message names it.
        """
        dsn, given = arguments(config_dict)
        client = connected(dsn)
        try:
            memory = cls(client, **given)
        except BaseException:
            client.close()
            raise
        memory._own = client
        return memory

    def close(self) -> None:
        """Close the connection, unless the client was handed over."""
        if self._own is not None:
            self._own.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def add(
        self,
        messages: str | Message | Sequence[Message],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: None = None,
        expiration_date: str | date | None = None,
        infer: bool | None = None,
        memory_type: None = None,
        prompt: None = None,
    ) -> dict[str, Any]:
        """Ask for memories to be kept; `{"results": [...]}` has one outcome for each.

        After the day `expiration_date` they end.

        Raises:
            InvalidArgument: no id is given, a message has no text, the day is over, `infer` without
                a model, or an argument is given that is not here.
            NotFound, NotAllowed: there is no such scope that the caller may use.
            NotReady: the model that extracts does not answer.
        """
        not_here(timestamp=timestamp, memory_type=memory_type, prompt=prompt)
        ids = given_ids({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        given = as_messages(messages)
        day = as_day(expiration_date)
        if infer and self._extract is None:
            raise InvalidArgument(
                "infer=True needs a model that extracts",
                hint="Set MEMWARDEN_EXTRACT_URL and MEMWARDEN_EXTRACT_MODEL, name it in"
                " from_config({'llm': ...}), give Memory(extract=...), or infer=False.",
            )
        if self._extract is not None and infer is not False and given:
            given = [{"content": text} for text in self._extract(given)]
        contents = [as_content(message, ids, metadata, day) for message in given]
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
        rerank: bool = False,
        explain: bool = False,
        reference_date: None = None,
        show_expired: bool = False,
        user_id: None = None,
        agent_id: None = None,
        run_id: None = None,
    ) -> dict[str, Any]:
        """Return the memories that answer best, best first, as `{"results": [...]}`.

        `filters` names one of user_id, agent_id and run_id at least; docs/mem0.md has the
        operators. What the server cannot test is tested here, page by page until there are `top_k`
        memories, among the 10,000 that answer best. `score` is the relevance, and `threshold` cuts
        by it. With `explain` each has its `score_details`.

        Raises:
            InvalidArgument: the filters name no id, or an operator that is not known; there is no
                reranker, or an argument is given that is not here.
            NotFound, NotAllowed: there is no such scope that the caller may use.
        """
        not_here(
            reference_date=reference_date,
            show_expired=show_expired,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
        )
        wanted = Filters(filters)
        check_search(query, top_k, threshold)
        found: list[RecalledItem] = []
        pages = self._client.recall_pages(
            query,
            # What is left of a page is not known.
            page_size=min(top_k if wanted.is_exact else max(100, 5 * top_k), _PAGE),
            scopes=[self._scope(wanted.ids)],
            layers=[self._layer],
            filter=wanted.contained,
            threshold=threshold,
            rerank=self._reranker if rerank else None,
        )
        for page in pages if top_k else ():
            found += [item for item in page if is_ours(item) and wanted.passes(item.content)]
            if len(found) >= top_k:
                break
        return {"results": [as_found(item, explain=explain) for item in found[:top_k]]}

    def get(self, memory_id: str | UUID) -> dict[str, Any] | None:
        """Return a memory, or None: there is none that the caller may see, or it was deleted."""
        item = self._held_now(memory_id)
        return None if item is None else as_memory(item) | {"score": None}

    def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        user_id: None = None,
        agent_id: None = None,
        run_id: None = None,
    ) -> dict[str, Any]:
        """Return the newest memories that the filters let through, as `{"results": [...]}`.

        `filters` as those of `search`.
        """
        not_here(show_expired=show_expired, user_id=user_id, agent_id=agent_id, run_id=run_id)
        wanted = Filters(filters)
        check_search("", top_k, None)
        held = self._held(self._scope(wanted.ids), wanted.contained)
        found = [item for item in held if wanted.passes(item.content)]
        return {"results": [as_memory(item) for item in found[:top_k]]}

    def update(
        self,
        memory_id: str | UUID,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: str | date | None = UNSET,
        data: str | None = None,
    ) -> dict[str, Any]:
        """Replace a memory's text, metadata or last day by a new version; ids stay as they are.

        `data` is the earlier name of `text`; `expiration_date=None` takes the last day away.

        Look at `outcome`: a refused update leaves the memory as it was.

        Raises:
            InvalidArgument: none of them is given, or the day is over.
            NotFound: there is no such memory that the caller may see, or it was deleted.
        """
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is UNSET:
            raise InvalidArgument("text, metadata or expiration_date must be given")
        item = self._required(memory_id)
        content = dict(item.content)
        if text is not None:
            content["text"] = text
        if metadata is not None:
            content["metadata"] = {**content.get("metadata", {}), **of_metadata(metadata)}
        if expiration_date is not UNSET:
            content["expiration_date"] = as_day(expiration_date)
            content = {name: each for name, each in content.items() if each is not None}
        request = self._request(content, item.scope, content) | {"corrects": item.item_id}
        del request["subject"]  # it stays, as its predicate does
        [result] = self._write([request])
        return as_told(result, "Memory updated successfully!")

    def delete(self, memory_id: str | UUID) -> dict[str, Any]:
        """End a memory; its history stays. Look at `outcome`: it may wait for a person.

        Raises:
            NotFound: there is no such memory that the caller may see, or it was deleted.
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
        ids = given_ids({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        return self._end(self._held(self._scope(ids), ids))

    def history(self, memory_id: str | UUID) -> list[dict[str, Any]]:
        """Return the changes of a memory, the oldest first."""
        return as_changes(str(memory_id), self._client.history(as_uuid(memory_id)))

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

    def _held_now(self, memory_id: str | UUID) -> Item | None:
        item = self._client.get(as_uuid(memory_id))
        return item if item is not None and item.status == "ACTIVE" and is_ours(item) else None

    def _required(self, memory_id: str | UUID) -> Item:
        item = self._held_now(memory_id)
        if item is None:
            raise MemoryNotFound("there is no such memory that the caller may see")
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
            # Erasing a person finds them by the subject.
            "subject": written(next(str(ids[name]) for name in IDS if ids.get(name))),
            **lifetime(content.get("expiration_date")),
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
