"""The form in which memories are exported: one flat record each, with where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from memwarden._sync.client import Client
from memwarden.results import DatedItem, Provenance
from memwarden.transfer.records import Target, lasting

FORMAT = "memwarden/1"
_SAME = (
    *("layer", "scope", "kind", "subject", "predicate", "content", "confidence", "importance"),
    *("valid_from", "valid_to", "classification", "domains", "attributes"),
)
_TIMES = ("recorded_at", "valid_from", "valid_to", "expires_at")
NAMES = ("format", "item_id", "version", *_SAME, "recorded_at", "expires_at", "evidence", "origin")
"""The names of a record, in order; behind them stands `provenance`."""


def export(
    memory: Client,
    *,
    scope: str | None = None,
    layers: list[str] | None = None,
    only: set[UUID] | None = None,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield every memory that the caller may see as it stands now, each with how many there are.

    `scope`: that one and its ancestors. `only`: of these memories. `provenance` holds the signed
    record of each version.
    """
    items = memory.as_of(scope=scope, layers=layers)
    items = [item for item in items if only is None or item.item_id in only]
    for item in items:
        yield len(items), record(item, memory.provenance(item.item_id))


def record(item: DatedItem, provenance: list[Provenance]) -> dict[str, Any]:
    """Return one memory as JSON values."""
    current = next((each for each in provenance if each.version_id == item.version_id), None)
    told: dict[str, Any] = {"format": FORMAT, "item_id": str(item.item_id), "version": item.version}
    told |= {name: getattr(item, name) for name in _SAME}
    told["recorded_at"], told["expires_at"] = item.recorded_at, item.expires_at
    for name in _TIMES:
        told[name] = _instant(told[name])
    told["evidence"] = item.provenance.get("evidence") or []
    told["origin"] = (current.record.get("origin") if current else None) or {}
    told["provenance"] = [
        {
            "version": each.version,
            "record": each.record,
            "key_id": each.key_id,
            "signature": None if each.signature is None else each.signature.hex(),
        }
        for each in provenance
    ]
    return told


def of_export(value: Mapping[str, Any], target: Target) -> dict[str, Any]:
    """Return the write request that brings an exported memory back.

    Its provenance is that of the import: who imports it vouches for it.

    Raises:
        KeyError, TypeError, ValueError: it is no such record, or its time is over.
    """
    request = {name: value[name] for name in _SAME if value.get(name) is not None}
    for name in ("content", "layer", "item_id", "version"):
        if name not in value:
            raise ValueError(f"{name} is missing")
    if target.scope is not None:
        request["scope"] = target.scope
    for name in ("domains", "attributes"):
        if not request.get(name):
            request.pop(name, None)
    request["content"] = value["content"]
    request["evidence"] = value.get("evidence") or []
    if value.get("origin"):
        request["origin"] = value["origin"]
    if value.get("expires_at"):
        request |= lasting(datetime.fromisoformat(value["expires_at"]))
    request["idempotency_key"] = f"memwarden:{value['item_id']}:{value['version']}"
    return request


def _instant(value: datetime | None) -> str | None:
    if value is None:
        return None
    if value.year == datetime.max.year:
        return "infinity"
    return "-infinity" if value.year == datetime.min.year else value.isoformat()
