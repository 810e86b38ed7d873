"""What was known when: reading memory and its log at another time than now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from memwarden._async.session import AsyncSession
from memwarden._json import strict_json
from memwarden._lists import listed
from memwarden._statements import history as sql
from memwarden.results import (
    ChangedItem,
    DatedItem,
    Difference,
    LineageStep,
    LogFinding,
    Provenance,
    ProvenanceFinding,
    Version,
)


class AsyncHistory:
    """Reads what memory held at a moment, how it came to that, and whether the log is whole."""

    _session: AsyncSession

    async def as_of(
        self,
        system_time: datetime | None = None,
        valid_time: datetime | None = None,
        *,
        item_id: UUID | None = None,
        scope: str | None = None,
        scopes: Sequence[str] | None = None,
        layers: Sequence[str] | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        kind: str | None = None,
        filter: Mapping[str, Any] | None = None,
        min_confidence: float | None = None,
        query: str | None = None,
    ) -> list[DatedItem]:
        """Return what memory held at a moment: `system_time`, or now.

        With `valid_time` only what was held true at that time in the world. The other arguments
        narrow it as those of `recall` do, but `query`, which is a web search: all its words, "a
        phrase", or, -not. What the caller may see of an item today, it sees of its past.

        Raises:
            NotFound: there is no such scope or layer that the caller may see.
        """
        arguments = {
            "system_time": system_time,
            "valid_time": valid_time,
            "item_id": item_id,
            "scope": scope,
            "scopes": listed("scopes", scopes),
            "layers": listed("layers", layers),
            "subject": subject,
            "predicate": predicate,
            "kind": kind,
            "filter": None if filter is None else strict_json(filter),
            "min_confidence": min_confidence,
            "query": query,
        }
        return await self._session.fetch(sql.AS_OF, arguments, DatedItem)

    async def history(self, item_id: UUID) -> list[Version]:
        """Return every version of an item, newest first; nothing where it cannot be seen."""
        return await self._session.fetch(sql.HISTORY, {"item_id": item_id}, Version)

    async def provenance(self, item_id: UUID) -> list[Provenance]:
        """Return where each version of an item comes from, newest first."""
        return await self._session.fetch(sql.PROVENANCE, {"item_id": item_id}, Provenance)

    async def verify_provenance(self, since: datetime | None = None) -> list[ProvenanceFinding]:
        """Return every provenance record that was altered or is missing. For administrators."""
        arguments = {"since": since}
        return await self._session.fetch(sql.VERIFY_PROVENANCE, arguments, ProvenanceFinding)

    async def diff(self, item_id: UUID, version_a: int, version_b: int) -> list[Difference]:
        """Return in what two versions of an item differ, path by path.

        Raises:
            NotFound: there is no such item or version that the caller may see.
        """
        arguments = {"item_id": item_id, "version_a": version_a, "version_b": version_b}
        return await self._session.fetch(sql.DIFF, arguments, Difference)

    async def diff_store(
        self,
        since: datetime,
        until: datetime | None = None,
        *,
        scope: str | None = None,
        layers: Sequence[str] | None = None,
    ) -> list[ChangedItem]:
        """Return the items that became different between two moments; `until` is now by default.

        `scope` looks at that scope and its ancestors, by default at all that the caller may see.

        Raises:
            InvalidArgument: `since` is after `until`.
            NotFound: there is no such scope or layer that the caller may see.
        """
        arguments = {
            "since": since,
            "until": until,
            "scope": scope,
            "layers": listed("layers", layers),
        }
        return await self._session.fetch(sql.DIFF_STORE, arguments, ChangedItem)

    async def lineage(
        self, item_id: UUID, direction: str = "sources", depth: int | None = None
    ) -> list[LineageStep]:
        """Return what an item rests on, or what rests on it (`direction` derived), nearest first.

        Raises:
            NotFound: there is no item of that id that the caller may see.
        """
        arguments = {"item_id": item_id, "direction": direction, "depth": depth}
        return await self._session.fetch(sql.LINEAGE, arguments, LineageStep)

    async def verify_log(
        self, since: int | None = None, head: Mapping[str, Any] | None = None
    ) -> list[LogFinding]:
        """Return whatever does not fit what was sealed; nothing means intact. For administrators.

        `since` is the segment to begin with, where those before it were verified. `head` is what
        `log_head` returned once and was kept elsewhere: the log must still have it.

        Raises:
            NotAllowed: the caller is no member of memwarden_admin.
            InvalidArgument: there is no such segment, or that is no head.
        """
        arguments = {"since": since, "head": None if head is None else strict_json(head)}
        return await self._session.fetch(sql.VERIFY_LOG, arguments, LogFinding)

    async def log_head(self) -> dict[str, Any] | None:
        """Return the signed head of the log, to be kept elsewhere; None before it is sealed."""
        rows = await self._session.fetch(sql.LOG_HEAD, {}, dict[str, Any])
        head: dict[str, Any] | None = rows[0]["head"]
        return head

    async def log_proof(
        self, item_id: UUID, log_seq: int | None = None, segment: int | None = None
    ) -> dict[str, Any]:
        """Return the proof that an entry is in the log that a head stands for.

        `log_seq` is a number that `history` gives, by default the item's latest that is sealed;
        `segment` the one that the exported head names, by default the latest.
        `tools/check_inclusion` checks proof and head without the server.

        Raises:
            NotFound: there is no such item or entry that the caller may see.
            NotReady: the entry is not sealed yet.
        """
        arguments = {"item_id": item_id, "log_seq": log_seq, "segment": segment}
        rows = await self._session.fetch(sql.LOG_PROOF, arguments, dict[str, Any])
        proof: dict[str, Any] = rows[0]["proof"]
        return proof
