"""mem0's calls as calls of the client."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from memwarden._sync.client import Client
from memwarden.errors import InvalidArgument, NotFound
from memwarden.requests import WriteRequest
from memwarden.results import DatedItem, Item, RecalledItem, WriteResult

IDS = ("user_id", "agent_id", "run_id")
Message = Mapping[str, Any]
_PATH_PART = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_GONE = "deleted through mem0's API"
_ALL = 10_000


class Memory:
    """mem0's `Memory` in memwarden.

    `scope` is the path that memories belong to, and may name an id: `/org/acme/user/{user_id}`;
    by default the caller's home. Without `extract`, messages are stored as they are, as mem0 does
    with `infer=False`. `defaults` are arguments of every write, for instance `evidence`.

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
        self._path = scope or client.whoami().home
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
        given = _messages(messages)
        if infer and self._extract is None:
            raise InvalidArgument(
                "infer=True needs a model", hint="Give Memory(extract=...), or infer=False."
            )
        if self._extract is not None and infer is not False:
            given = [{"content": text} for text in self._extract(given)]
        contents = [_content(message, ids, metadata) for message in given]
        scope = self._scope(ids)
        results = self._client.write_many(
            self._request(content, scope, ids) for content in contents
        )
        pairs = zip(contents, results, strict=True)
        return {"results": [_outcome(content, result) for content, result in pairs]}

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
    ) -> dict[str, Any]:
        """Return the memories that answer best, best first, as `{"results": [...]}`.

        `filters` names one of user_id, agent_id and run_id, and metadata by equality. `threshold`
        is of relevance.
        """
        ids, wanted = _filters(filters)
        items = self._client.recall(
            query,
            k=top_k,
            scopes=[self._scope(ids)],
            layers=[self._layer],
            filter=wanted,
            threshold=threshold,
        )
        return {"results": [_shape(item) | {"score": item.score} for item in items]}

    def get(self, memory_id: str | UUID) -> dict[str, Any] | None:
        """Return a memory, or None where there is none that the caller may see."""
        item = self._client.get(_uuid(memory_id))
        return _shape(item) if item is not None and _is_ours(item) else None

    def get_all(
        self, *, filters: Mapping[str, Any] | None = None, top_k: int = 20
    ) -> dict[str, Any]:
        """Return the newest memories that the filters let through, as `{"results": [...]}`."""
        ids, wanted = _filters(filters)
        return {"results": [_shape(item) for item in self._held(self._scope(ids), wanted)[:top_k]]}

    def update(
        self,
        memory_id: str | UUID,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Replace a memory's text or metadata by a new version; ids stay as they are.

        Look at `outcome`: a refused update leaves the memory as it was.

        Raises:
            InvalidArgument: neither is given.
            NotFound: there is no such memory that the caller may see.
        """
        if text is None and metadata is None:
            raise InvalidArgument("text or metadata must be given")
        item = self._required(memory_id)
        content = dict(item.content)
        if text is not None:
            content["text"] = text
        if metadata is not None:
            content["metadata"] = {**content.get("metadata", {}), **metadata}
        request = self._request(content, item.scope, content)
        [result] = self._client.write_many(
            [{**_fields(request), "predicate": item.predicate, "subject": item.subject}]
        )
        return _told(result, "Memory updated successfully!")

    def delete(self, memory_id: str | UUID) -> dict[str, Any]:
        """End a memory; its history stays. Look at `outcome`: it may wait for a person.

        Raises:
            NotFound: there is no such memory that the caller may see.
            NotAllowed: the caller may not delete it.
        """
        result = self._client.expire(self._required(memory_id).item_id, _GONE)
        return _told(result, "Memory deleted successfully!")

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
        changes: list[dict[str, Any]] = []
        before: str | None = None
        for version in reversed(self._client.history(_uuid(memory_id))):
            ended = version.status != "ACTIVE" and version.superseded_at is None
            text = None if ended or not version.content else version.content.get("text")
            changes.append(
                {
                    "id": str(version.version_id),
                    "memory_id": str(memory_id),
                    "old_memory": before,
                    "new_memory": text,
                    "event": "DELETE" if ended else "UPDATE" if changes else "ADD",
                    "created_at": version.recorded_at.isoformat(),
                    "is_deleted": ended,
                    "actor_id": version.actor,
                    "reason": version.reason,
                }
            )
            before = text
        return changes

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
        ours = [item for item in found if _is_ours(item)]
        return sorted(ours, key=lambda item: item.recorded_at, reverse=True)

    def _required(self, memory_id: str | UUID) -> Item:
        item = self._client.get(_uuid(memory_id))
        if item is None or not _is_ours(item):
            raise NotFound("there is no such memory that the caller may see", sqlstate="42704")
        return item

    def _request(
        self, content: Mapping[str, Any], scope: str, ids: Mapping[str, Any]
    ) -> WriteRequest:
        owner = next(str(ids[name]) for name in IDS if ids.get(name))
        return WriteRequest(
            **{"layer": self._layer, "idempotency_key": str(uuid4())}
            | self._defaults
            | {
                "content": dict(content),
                "scope": scope,
                # Erasing a person finds them by the subject. The predicate makes it one memory
                # that an update can replace.
                "subject": owner,
                "predicate": f"memory {uuid4()}",
            }
        )

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


def _fields(request: WriteRequest) -> dict[str, Any]:
    return {name: getattr(request, name) for name in request.__dataclass_fields__}


def _ids(given: Mapping[str, Any]) -> dict[str, str]:
    ids = {name: str(given[name]).strip() for name in IDS if given.get(name) is not None}
    if not ids or not all(ids.values()):
        raise InvalidArgument("at least one of user_id, agent_id and run_id must be given")
    return ids


def _filters(filters: Mapping[str, Any] | None) -> tuple[dict[str, str], dict[str, Any]]:
    ids = _ids(filters or {})
    rest = {name: value for name, value in (filters or {}).items() if name not in IDS}
    if any(
        isinstance(value, (Mapping, list)) or name in ("AND", "OR", "NOT", "*")
        for name, value in rest.items()
    ):
        raise InvalidArgument(
            "a filter of metadata is an equality", hint="Other operators of mem0 are not here."
        )
    return ids, {**ids, **({"metadata": rest} if rest else {})}


def _messages(messages: Any) -> list[Message]:
    given = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    given = [given] if isinstance(given, Mapping) else list(given)
    if not all(
        isinstance(each, Mapping) and isinstance(each.get("content"), str) for each in given
    ):
        raise InvalidArgument("messages must be a text, or messages with a text as content")
    # As mem0: what the system says is no memory.
    return [each for each in given if each.get("role") != "system"]


def _content(
    message: Message, ids: Mapping[str, str], metadata: Mapping[str, Any] | None
) -> dict[str, Any]:
    content: dict[str, Any] = {"text": message["content"], **ids}
    if message.get("role"):
        content["role"] = message["role"]
    if message.get("name"):
        content["actor_id"] = message["name"]
    if metadata:
        content["metadata"] = dict(metadata)
    return content


def _outcome(content: Mapping[str, Any], result: WriteResult) -> dict[str, Any]:
    event = "ADD" if result.committed else "DEFERRED" if result.deferred else "REFUSED"
    if not result.committed and result.item_id is not None and not result.deferred:
        event = "NONE"
    return {
        "id": None if result.item_id is None else str(result.item_id),
        "memory": content["text"],
        "event": event,
        "role": content.get("role"),
        "actor_id": content.get("actor_id"),
        "outcome": result.outcome,
        "reason": result.reason,
        "request_id": str(result.request_id),
    }


def _told(result: WriteResult, message: str) -> dict[str, Any]:
    done = result.stored
    return {
        "message": message if done else "Nothing was changed: look at outcome and reason",
        "outcome": result.outcome,
        "reason": result.reason,
    }


def _is_ours(item: DatedItem | Item | RecalledItem) -> bool:
    content = item.content
    return isinstance(content, dict) and "text" in content and any(n in content for n in IDS)


def _shape(item: DatedItem | Item | RecalledItem) -> dict[str, Any]:
    content, record = item.content, item.provenance
    names = (*IDS, "role", "actor_id", "metadata")
    return {
        "id": str(item.item_id),
        "memory": content["text"],
        "created_at": record["first_recorded_at"],
        "updated_at": record["recorded_at"],
        **{name: content[name] for name in names if name in content},
    }


def _uuid(memory_id: str | UUID) -> UUID:
    try:
        return memory_id if isinstance(memory_id, UUID) else UUID(memory_id)
    except (ValueError, AttributeError, TypeError):
        raise InvalidArgument("the id of a memory is a UUID") from None
