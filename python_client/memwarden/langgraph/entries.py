"""A memory as an entry of a store: its namespace, key, value and times."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from langgraph.store.base import Item, SearchItem

from memwarden.results import DatedItem, RecalledItem
from memwarden.results import Item as MemoryItem
from memwarden.transfer import earlier
from memwarden.transfer.earlier import Memory, Place
from memwarden.transfer.identifiers import key_of, namespace_of, predicate_of, subject_of


def is_of_today(item: Memory) -> bool:
    """Whether a memory is one that a store of this release wrote."""
    subject, predicate = item.subject, item.predicate
    return (
        bool(subject and predicate)
        and isinstance(item.content, dict)
        and subject_of(namespace_of(subject or "")) == subject
        and predicate_of(key_of(predicate or "")) == predicate
    )


def place_of(item: Memory) -> Place | None:
    """The namespace and key of what a store wrote; None of other memories of scope and layer."""
    if is_of_today(item):
        return namespace_of(item.subject or ""), key_of(item.predicate or "")
    return earlier.place_of(item)


def updated_at(item: Memory) -> datetime:
    """When the version was recorded that stands."""
    return datetime.fromisoformat(item.provenance["recorded_at"])


def put_at(item: Memory) -> UUID:
    """The request that put the value: a UUIDv7, so that requests sort by time."""
    return UUID(item.provenance["request_id"] or str(item.item_id))


def as_item(item: MemoryItem) -> Item:
    """What a get returns."""
    return Item(value=item.content, **_told(item))


def as_found(item: DatedItem | RecalledItem, score: float | None) -> SearchItem:
    """What a search returns."""
    return SearchItem(value=item.content, score=score, **_told(item))


def _told(item: Memory) -> dict[str, Any]:
    namespace, key = place_of(item) or ((), "")
    return {
        "namespace": namespace,
        "key": key,
        "created_at": datetime.fromisoformat(item.provenance["first_recorded_at"]),
        "updated_at": updated_at(item),
    }
