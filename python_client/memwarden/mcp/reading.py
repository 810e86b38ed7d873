"""Memories by what they are, and what may be cited: reads that only these tools make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, LiteralString
from uuid import UUID

from memwarden._async.client import AsyncClient
from memwarden.mcp.answers import brief
from memwarden_core.normalise import normalise

_LIST: Final[LiteralString] = r"""
SELECT count(*) OVER () AS total, i.item_id, i.version, i.layer, i.scope, i.kind, i.subject,
       i.predicate, i.content, i.confidence, i.recorded_at AS updated_at, i.valid_from, i.valid_to
FROM memwarden.as_of(
    scope => %(scope)s::text, layers => %(layers)s::text[], kind => %(kind)s::text,
    predicate => %(predicate)s::text, query => %(words)s::text) AS i
WHERE (%(item_ids)s::uuid[] IS NULL OR i.item_id = ANY (%(item_ids)s::uuid[]))
  AND (%(about)s::text IS NULL
       OR i.item_id IN (SELECT a.item_id FROM memwarden.as_of(
              scope => %(scope)s::text, subject => %(about)s::text) AS a)
       OR i.item_id = ANY (%(named)s::uuid[])
       OR jsonb_typeof(i.content) = 'string' AND lower(i.content #>> '{}') = lower(%(about)s::text))
  AND (%(value)s::text IS NULL OR lower(i.content #>> '{}') = lower(%(value)s::text))
ORDER BY i.recorded_at DESC, i.item_id
LIMIT %(most)s::int
"""

_VALUES: Final[LiteralString] = r"""
SELECT i.item_id, i.content #>> '{}' AS value
FROM memwarden.as_of(scope => %(scope)s::text, query => %(about)s::text) AS i
WHERE jsonb_typeof(i.content) = 'string'
"""
"""What may be called so in another spelling: its words are those of the name."""

_CAPTURES: Final[LiteralString] = """
SELECT uri, recorder, source, external_id, speakers, scope, captured_at
FROM memwarden.citable(max_rows => %(most)s::int)
"""

_EVIDENCE: Final[LiteralString] = """
SELECT evidence AS uri, uri AS origin, type, scope, excerpt, issuer, recorded_at
FROM memwarden.evidence ORDER BY recorded_at DESC LIMIT %(most)s::int
"""

# What another issues, its issuer alone may cite, or record for others.
_SOURCES: Final[LiteralString] = """
SELECT s.uri_pattern, s.type, s.authority, s.description
FROM memwarden.sources AS s
WHERE s.issuer IS NULL OR s.issuer = (SELECT w.agent FROM memwarden.whoami() AS w)
ORDER BY s.authority DESC, s.uri_pattern LIMIT %(most)s::int
"""


@dataclass(frozen=True)
class Wanted:
    """Which memories are meant: those that meet all that is given."""

    about: str | None
    predicate: str | None
    value: str | None
    words: str | None
    layer: str | None
    kind: str | None
    scope: str | None
    item_ids: Sequence[UUID] | None = None


async def listed(
    memory: AsyncClient, wanted: Wanted, most: int
) -> tuple[int, list[dict[str, Any]]]:
    """Return how many memories are meant, and at most so many of them, newest first."""
    layers = None if wanted.layer is None else [wanted.layer]
    arguments = asdict(wanted) | {"layers": layers, "most": most, "named": None}
    if wanted.about is not None:
        values = await memory._session.fetch(_VALUES, arguments, dict[str, Any])
        name = normalise(wanted.about)
        arguments["named"] = [row["item_id"] for row in values if normalise(row["value"]) == name]
    rows = await memory._session.fetch(_LIST, arguments, dict[str, Any])
    total = rows[0]["total"] if rows else 0
    return total, [{n: v for n, v in row.items() if n != "total"} for row in rows]


async def sources(memory: AsyncClient, most: int) -> dict[str, Any]:
    """Return what the caller may cite: captures, recorded evidence, and registered sources."""
    found = {}
    for name, statement in (
        ("captures", _CAPTURES),
        ("evidence", _EVIDENCE),
        ("sources", _SOURCES),
    ):
        found[name] = brief(await memory._session.fetch(statement, {"most": most}, dict[str, Any]))
    return found
