"""Keys of LangGraph's store as earlier releases wrote them, under names that are compared as such.

The adapter of 0.1.0 left more signs as they were, and had no mark at the end of a key. Its import
took prefix and key as they stood. Two keys that differ in what a comparison of names passes over
were one memory then, and its history has the value of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from memwarden._sync.client import Client
from memwarden.results import DatedItem, Item, RecalledItem
from memwarden.transfer.identifiers import Namespace, key_of, namespace_of, predicate_of, subject_of
from memwarden.transfer.records import Record, Unreadable, lasting

Memory = Item | DatedItem | RecalledItem
Place = tuple[Namespace, str]

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.@:")
_FOREVER = 9999
_MOVED = "moved to its key of today"
_SAME = ("layer", "scope", "kind", "confidence", "importance", "classification")


@dataclass(frozen=True, slots=True)
class Moved(Record):
    """The request that writes a memory under its key of today; `ends` is the earlier one."""

    ends: UUID | None = None

    def end(self, memory: Client) -> None:
        """End the earlier one, when the request is carried out."""
        if self.ends is not None:
            memory.expire(self.ends, _MOVED)


def names(namespace: Namespace, key: str) -> list[tuple[str, str]]:
    """The subject and predicate under which earlier releases kept a key."""
    ours = "/".join(map(_written, namespace)), _written(key)
    imported = ".".join(namespace), key
    return [ours] if ours == imported else [ours, imported]


def place_of(item: Memory) -> Place | None:
    """The namespace and key of a memory that an earlier release kept for a store."""
    subject, predicate = item.subject, item.predicate
    if not subject or not predicate or not isinstance(item.content, dict):
        return None
    if any(_is_import(each) for each in item.provenance.get("evidence") or []):
        return None if _is_of_today(subject, predicate) else (tuple(subject.split(".")), predicate)
    # A label has no dot.
    namespace, key = namespace_of(subject), key_of(predicate)
    is_written = (subject, predicate) == names(namespace, key)[0]
    return (namespace, key) if is_written and "." not in subject else None


def read(memory: Client, scope: str, layer: str) -> Iterator[Record | Unreadable]:
    """Yield a request for each earlier key of a scope, and name the keys that had become one."""
    for item in memory.as_of(scopes=[scope], layers=[layer]):
        place = place_of(item)
        if place is None:
            continue
        told = f"{'/'.join(place[0])} {place[1]}"
        for other in _others(memory, item, place):
            why = f"it had become one with {told}, whose history has its value"
            yield Unreadable(f"{'/'.join(other[0])} {other[1]}", why, "TWO_KEYS")
        request = _request(item, place)
        if memory.find_items(request["subject"], request["predicate"], layer=layer, scope=scope):
            memory.expire(item.item_id, _MOVED)
            yield Unreadable(told, "it was put again since: the earlier value ended", "PUT_AGAIN")
        else:
            yield Moved(told, request, ends=item.item_id)


def _request(item: DatedItem, place: Place) -> dict[str, Any]:
    request: dict[str, Any] = {name: getattr(item, name) for name in _SAME}
    request |= {"content": item.content, "idempotency_key": f"moved:{item.version_id}"}
    request |= {"subject": subject_of(place[0]), "predicate": predicate_of(place[1])}
    request["evidence"] = item.provenance.get("evidence") or []
    for name in ("domains", "attributes"):
        if getattr(item, name):
            request[name] = getattr(item, name)
    for name in ("valid_from", "valid_to"):
        at: datetime | None = getattr(item, name)
        if at is not None and 1 < at.year < _FOREVER:
            request[name] = at.isoformat()
    if item.expires_at is not None and item.expires_at > datetime.now(UTC):
        request |= lasting(item.expires_at)
    return {name: each for name, each in request.items() if each is not None}


def _others(memory: Client, item: DatedItem, place: Place) -> list[Place]:
    """The keys that versions of a memory had which is another key's now."""
    if item.version == 1:
        return []
    found = []
    for version in memory.history(item.item_id):
        then = memory.as_of(version.recorded_at, item_id=item.item_id)
        found += [place_of(each) for each in then]
    return [each for each in dict.fromkeys(found) if each is not None and each != place]


def _is_of_today(subject: str, predicate: str) -> bool:
    is_key = predicate_of(key_of(predicate)) == predicate
    return is_key and subject_of(namespace_of(subject)) == subject


def _is_import(evidence: Mapping[str, Any]) -> bool:
    return str(evidence.get("uri", "")).startswith("langgraph:")


def _written(label: str) -> str:
    return "".join(
        each
        if each in _PLAIN
        else "".join(f"%{byte:02x}" for byte in each.encode(errors="surrogatepass"))
        for each in label
    )
