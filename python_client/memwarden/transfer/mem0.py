"""mem0's memories in pgvector: a table of its collection's name, with `id` and `payload`.

The payload holds the memory's words as `data`, whose it is as `user_id`, `agent_id` and `run_id`,
and what metadata the program gave. Vectors are left behind: memwarden makes its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from memwarden.transfer.records import (
    Record,
    Target,
    Unreadable,
    is_gone,
    lasting,
    time_of,
    unpacked,
)
from memwarden_core.written import written

TABLE = "mem0"
COLUMNS = ("id", "payload")
ORDER = ("id",)
_IDS = ("user_id", "agent_id", "run_id")
_OWN = ("data", "hash", "created_at", "updated_at", "text_lemmatized", "expiration_date")


def read(rows: Iterable[dict[str, Any]], target: Target) -> Iterator[Record | Unreadable]:
    """Yield a request for each row; its metadata stays beside its words."""
    for row in rows:
        place = f"mem0 {row.get('id')}"
        payload = unpacked(row.get("payload"))
        words = payload.get("data") if isinstance(payload, dict) else None
        if not isinstance(payload, dict) or not isinstance(words, str) or not words.strip():
            yield Unreadable(place, "its payload has no data")
            continue
        if is_gone(payload):
            yield Unreadable(place, "it was deleted", "DELETED")
            continue
        try:
            request = target.request("mem0", str(row["id"]), payload)
            made = time_of(payload.get("updated_at") or payload.get("created_at"))
            request |= _lifetime(payload.get("expiration_date"))
        except ValueError as error:
            yield Unreadable(place, str(error))
            continue
        more = {name: each for name, each in payload.items() if name not in _OWN}
        request["content"] = {"statement": words} | ({"metadata": more} if more else {})
        whose = next((payload[name] for name in _IDS if payload.get(name)), None)
        if isinstance(whose, str):
            request["subject"] = written(whose)
        if made is not None:
            request["valid_from"] = made
        yield target.record("mem0", place, request)


def _lifetime(last_day: Any) -> dict[str, str]:
    """Return for how long a memory lasts that has a last day.

    Raises:
        ValueError: the day is over, or it is none.
    """
    if not last_day:
        return {}
    end = datetime.fromisoformat(str(last_day)[:10]).replace(tzinfo=UTC) + timedelta(days=1)
    return lasting(end)
