"""A memory as an entry of a store: its namespace, key, value and times."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from langgraph.store.base import Item, SearchItem

from memwarden.results import DatedItem, RecalledItem
from memwarden.results import Item as MemoryItem
from memwarden.transfer.identifiers import key_of, namespace_of, predicate_of, subject_of

Memory = MemoryItem | DatedItem | RecalledItem


def is_entry(item: Memory) -> bool:
    """Whether a memory is one that a store wrote, and no other of that scope and layer."""
    subject, predicate = item.subject, item.predicate
    return (
        bool(subject and predicate)
        and isinstance(item.content, dict)
        and subject_of(namespace_of(subject or "")) == subject
        and predicate_of(key_of(predicate or "")) == predicate
    )


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
    return {
        "namespace": namespace_of(item.subject or ""),
        "key": key_of(item.predicate or ""),
        "created_at": datetime.fromisoformat(item.provenance["first_recorded_at"]),
        "updated_at": updated_at(item),
    }
