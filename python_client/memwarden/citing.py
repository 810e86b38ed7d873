"""How evidence names what was captured."""

from __future__ import annotations

from urllib.parse import quote
from uuid import UUID


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


def _reference(name: str, excerpt: str | None) -> dict[str, str]:
    reference = {"uri": f"memwarden:capture/{name}"}
    return reference if excerpt is None else reference | {"excerpt": excerpt}
