"""What mem0 takes and gives back, made of what memwarden has."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from memwarden.mem0.filters import IDS
from memwarden.mem0.given import Message, of_metadata
from memwarden.results import DatedItem, Item, Outcome, RecalledItem, Version, WriteResult


def as_content(
    message: Message,
    ids: Mapping[str, str],
    metadata: Mapping[str, Any] | None,
    day: str | None = None,
) -> dict[str, Any]:
    """What a memory holds."""
    content: dict[str, Any] = {"text": message["content"], **ids}
    if message.get("role"):
        content["role"] = message["role"]
    if message.get("name"):
        content["actor_id"] = message["name"]
    if metadata and (kept := of_metadata(metadata)):
        content["metadata"] = kept
    if day is not None:
        content["expiration_date"] = day
    return content


def as_outcome(content: Mapping[str, Any], result: WriteResult) -> dict[str, Any]:
    """What became of one memory of an add."""
    if result.outcome == Outcome.MERGED or (result.committed and result.reason == "REPLACED"):
        event = "UPDATE"
    elif result.committed:
        event = "ADD"
    elif result.deferred:
        event = "DEFERRED"
    else:
        event = "REFUSED" if result.item_id is None else "NONE"
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


def as_told(result: WriteResult, message: str) -> dict[str, Any]:
    """What became of an update or a delete."""
    done = result.stored
    return {
        "message": message if done else "Nothing was changed: look at outcome and reason",
        "outcome": result.outcome,
        "reason": result.reason,
    }


def is_ours(item: DatedItem | Item | RecalledItem) -> bool:
    """Whether a memory is one that was written through mem0's calls."""
    content = item.content
    return isinstance(content, dict) and "text" in content and any(n in content for n in IDS)


def as_memory(item: DatedItem | Item | RecalledItem) -> dict[str, Any]:
    """One memory of an answer."""
    content, record = item.content, item.provenance
    names = (*IDS, "role", "actor_id", "expiration_date")
    return {
        "id": str(item.item_id),
        "memory": content["text"],
        # mem0's mark of a text that has changed.
        "hash": hashlib.md5(content["text"].encode(), usedforsecurity=False).hexdigest(),
        "metadata": content.get("metadata"),
        "created_at": record["first_recorded_at"],
        "updated_at": record["recorded_at"],
        **{name: content[name] for name in names if name in content},
    }


def as_found(item: RecalledItem, *, explain: bool) -> dict[str, Any]:
    """One memory that a search found."""
    found = as_memory(item) | {"score": item.relevance}
    if item.rerank_score is not None:
        found["rerank_score"] = item.rerank_score
    if explain:
        found["score_details"] = {
            "semantic_score": item.similarity,
            "bm25_score": item.keyword_score,
            "final_score": item.relevance,
            **{name: getattr(item, name) for name in _PARTS},
        }
    return found


# What else its place among the others was made of.
_PARTS = (
    "score",
    "vector_score",
    "keyword_score",
    "recency_score",
    "importance_score",
    "confidence_score",
    "authority_score",
    "freshness_score",
)


def as_changes(memory_id: str, versions: Sequence[Version]) -> list[dict[str, Any]]:
    """The history of a memory, the oldest change first; `versions` has the newest first."""
    changes: list[dict[str, Any]] = []
    before: str | None = None
    for version in reversed(versions):
        ended = version.status != "ACTIVE" and version.superseded_at is None
        content = version.content if isinstance(version.content, Mapping) else {}
        text = None if ended else content.get("text")
        at = version.recorded_at.isoformat()
        changes.append(
            {
                "id": str(version.version_id),
                "memory_id": memory_id,
                "old_memory": before,
                "new_memory": text,
                "event": "DELETE" if ended else "UPDATE" if changes else "ADD",
                "created_at": at,
                "updated_at": at,
                "is_deleted": ended,
                "actor_id": version.actor,
                "role": content.get("role"),
                "reason": version.reason,
            }
        )
        before = text
    return changes
