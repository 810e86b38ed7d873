"""The arguments of mem0's calls, read: what they mean here, and which are not here."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from memwarden.errors import InvalidArgument, NotFound
from memwarden.mem0.filters import IDS

_log = logging.getLogger("memwarden")
Message = Mapping[str, Any]
UNSET: Any = object()
"""An argument that was not given, where None means something."""

_INSTEAD = {
    "timestamp": "The client's write takes valid_from.",
    "memory_type": "Memory(layer='procedural') keeps how something is done.",
    "prompt": "Give Memory(extract=...) a function that asks a model your way.",
    "llm": "Give AsyncMemory(extract=...) a function that asks a model your way.",
    "reference_date": "The client's recall takes valid_at.",
    "show_expired": "A memory after its last day has ended: history() shows it.",
} | {name: f"Name it in the filters: filters={{'{name}': ...}}." for name in IDS}


class MemoryNotFound(NotFound, ValueError):
    """There is no such memory; mem0 raises a ValueError."""


def not_here(**given: Any) -> None:
    """Raise InvalidArgument for the first argument that is given."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise InvalidArgument(f"{name} is not taken here", hint=_INSTEAD[name])


def given_ids(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the ids that a call names; there has to be one."""
    ids = {name: str(given[name]) for name in IDS if given.get(name) is not None}
    if not ids or not all(each.strip() for each in ids.values()):
        raise InvalidArgument("at least one of user_id, agent_id and run_id must be given")
    return ids


def as_uuid(memory_id: str | UUID) -> UUID:
    """Return the id of a memory."""
    try:
        return memory_id if isinstance(memory_id, UUID) else UUID(memory_id)
    except (ValueError, AttributeError, TypeError):
        raise InvalidArgument("the id of a memory is a UUID") from None


def as_messages(messages: Any) -> list[Message]:
    """The messages of an add: a text, a message, or several."""
    given = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    given = [given] if isinstance(given, Mapping) else given
    if not isinstance(given, list | tuple) or not all(isinstance(each, Mapping) for each in given):
        raise InvalidArgument("messages must be a text, a message, or a list of messages")
    # As mem0: what the system says is no memory, nor is a call of a tool.
    said = [
        each
        for each in given
        if each.get("role") != "system" and ("content" not in each or each["content"] is not None)
    ]
    if not all(isinstance(each.get("content"), str) for each in said):
        raise InvalidArgument("the content of each message must be a text")
    return said


def of_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata without names that say whose a memory is: only arguments say that."""
    if not isinstance(metadata, Mapping):
        raise InvalidArgument("metadata must be a mapping")
    own = sorted({*IDS, "actor_id"}.intersection(metadata))
    if own:
        _log.warning("mem0: metadata cannot name %s: left out", ", ".join(own))
    return {name: each for name, each in metadata.items() if name not in own}


def as_day(given: str | date | None) -> str | None:
    """Return the last day of a memory, as YYYY-MM-DD."""
    if given is None:
        return None
    try:
        if isinstance(given, datetime):
            given = given.date()
        return (given if isinstance(given, date) else date.fromisoformat(given)).isoformat()
    except (TypeError, ValueError):
        raise InvalidArgument("expiration_date is a day such as 2026-12-31") from None


def lifetime(day: str | None) -> dict[str, timedelta]:
    """Return for how long a memory lasts that has a last day, in UTC."""
    if day is None or day == date.max.isoformat():
        return {}
    end = datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(days=1)
    left = end - datetime.now(UTC)
    if left <= timedelta(0):
        raise InvalidArgument("the day of expiration_date is over")
    return {"ttl": left}


def check_search(query: Any, top_k: Any, threshold: Any) -> None:
    """Raise InvalidArgument for what no search takes."""
    if not isinstance(query, str):
        raise InvalidArgument("the query must be a text")
    if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 0:
        raise InvalidArgument("top_k must be a whole number, 0 or more")
    if threshold is not None and (
        isinstance(threshold, bool)
        or not isinstance(threshold, int | float)
        or not 0 <= threshold <= 1
    ):
        raise InvalidArgument("threshold must be a number from 0 to 1")
