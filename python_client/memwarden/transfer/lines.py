"""JSON Lines: write requests, or what `memwarden export` wrote."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any

from memwarden.transfer.exported import FORMAT, of_export
from memwarden.transfer.records import (
    MOST_CHARACTERS,
    Record,
    Target,
    TooLarge,
    Unreadable,
    key_of,
    unpacked,
)


def bounded(text: IO[str]) -> Iterator[str | TooLarge]:
    """Yield the lines of a text that say something; of one that is too large, that it is."""
    while line := text.readline(MOST_CHARACTERS):
        size, end = len(line), line
        while end and not end.endswith("\n"):
            end = text.readline(MOST_CHARACTERS)
            size += len(end)
        if size > len(line):
            yield TooLarge()
        elif line.strip():
            yield line


def read(lines: Iterable[str | TooLarge], target: Target) -> Iterator[Record | Unreadable]:
    """Yield the requests of a file; a line that is no JSON as text, which the server refuses."""

    def values() -> Iterator[Any]:
        for line in lines:
            try:
                yield line if isinstance(line, TooLarge) else unpacked(json.loads(line))
            except (RecursionError, ValueError):
                yield line

    return requests(values(), target)


def requests(values: Iterable[Any], target: Target) -> Iterator[Record | Unreadable]:
    """Yield requests from mappings of the names that `write` takes, or from those of an export."""
    seen = Counter[str]()
    for number, value in enumerate(values, 1):
        place = f"request {number}"
        if isinstance(value, dict) and value.get("format") == FORMAT:
            try:
                yield Record(place, of_export(value, target))
            except (KeyError, TypeError, ValueError) as error:
                yield Unreadable(place, f"no record of an export: {error}")
        elif isinstance(value, dict):
            yield Record(place, _keyed(value, target, seen))
        elif isinstance(value, TooLarge):
            yield Unreadable(place, f"it has more than {MOST_CHARACTERS:,} characters")
        else:
            yield Record(place, value)


def _keyed(value: Mapping[str, Any], target: Target, seen: Counter[str]) -> dict[str, Any]:
    """Return the request with a key made of what it says, unless it brings one.

    The key counts how often the same was said before, so that A, B, A stays three writes.
    """
    request = {"layer": target.layer} | dict(value)
    if target.scope is not None:
        request["scope"] = target.scope
    if not request.get("idempotency_key") and not request.get("request_id"):
        text = json.dumps(request, sort_keys=True, default=str, ensure_ascii=True)
        key = key_of("import", text)
        seen[key] += 1
        request["idempotency_key"] = key if seen[key] == 1 else f"{key}:{seen[key]}"
    return request
