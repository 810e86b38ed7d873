"""The store of LangGraph in PostgreSQL: table `store` with prefix, key, value and expires_at.

A namespace becomes the subject and a key the predicate, as `MemwardenStore` has them: it finds what
was imported, and a later value replaces an earlier one. The parts of the namespace fill {0}, {1}
... of a scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from memwarden.transfer.identifiers import predicate_of, subject_of
from memwarden.transfer.records import Record, Target, Unreadable, lasting, time_of, unpacked

TABLE = "store"
COLUMNS = ("prefix", "key", "value", "updated_at", "expires_at")
ORDER = ("prefix", "key")


def read(rows: Iterable[dict[str, Any]], target: Target) -> Iterator[Record | Unreadable]:
    """Yield a request for each row; one whose time is over is no longer a memory."""
    for row in rows:
        place = f"langgraph {row.get('prefix')} {row.get('key')}"
        parts = str(row["prefix"]).split(".")
        try:
            request = target.request(
                "langgraph",
                f"{row['prefix']}/{row['key']}",
                {str(n): part for n, part in enumerate(parts)} | {"namespace": row["prefix"]},
            )
            made = time_of(row.get("updated_at"))
            if row.get("expires_at") is not None:
                request |= lasting(row["expires_at"])
        except ValueError as error:
            yield Unreadable(place, str(error))
            continue
        request |= {"content": unpacked(row["value"]), "subject": subject_of(tuple(parts))}
        request["predicate"] = predicate_of(str(row["key"]))
        if made is not None:
            request["valid_from"] = made
        yield target.record("langgraph", place, request)
