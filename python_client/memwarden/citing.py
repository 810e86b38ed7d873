"""How evidence names what was captured, and what is remembered already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias
from urllib.parse import quote
from uuid import UUID

from memwarden.errors import InvalidArgument


class Remembered(Protocol):
    """What names a version of a memory: a recalled item, an item, the result of a write."""

    @property
    def item_id(self) -> UUID | None:
        """The memory."""
        ...

    @property
    def version_id(self) -> UUID | None:
        """What it said then."""
        ...


Source: TypeAlias = str | Mapping[str, Any] | Remembered


def captured(capture_id: UUID, excerpt: str | None = None) -> dict[str, str]:
    """Return the reference to a capture, for `evidence` of a write.

    `excerpt` says where to look: words of the capture. What it says beyond that has no weight.
    """
    return _reference(str(capture_id), excerpt)


def captured_as(
    recorder: str, source: str, external_id: str, excerpt: str | None = None
) -> dict[str, str]:
    """Return the reference to the capture that an agent recorded by this id of its source."""
    return _reference("/".join(quote(p, safe="") for p in (recorder, source, external_id)), excerpt)


def references(source: Source | Sequence[Source] | None) -> list[Mapping[str, Any]]:
    """Return as `evidence` whatever may be given as the source of a memory, one thing or several.

    Raises:
        InvalidArgument: something names neither a capture, nor a memory, nor a URI.
    """
    if source is None:
        return []
    if isinstance(source, Sequence) and not isinstance(source, str):
        return [reference for each in source for reference in references(each)]
    if isinstance(source, str):
        return [{"uri": source}]
    if isinstance(source, Mapping):
        return [source]
    item_id, version_id = getattr(source, "item_id", None), getattr(source, "version_id", None)
    if item_id is None or version_id is None:
        raise InvalidArgument(
            f"source: no memory and no URI, but {type(source).__name__}",
            hint="Give what heard() returned, a URI, or a memory that is stored.",
        )
    return [{"uri": f"memwarden:item/{item_id}", "version_id": str(version_id)}]


def _reference(name: str, excerpt: str | None) -> dict[str, str]:
    reference = {"uri": f"memwarden:capture/{name}"}
    return reference if excerpt is None else reference | {"excerpt": excerpt}
