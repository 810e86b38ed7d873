"""How memories age and end, and the jobs that see to it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from memwarden._async.session import AsyncSession
from memwarden._statements import lifecycle as sql
from memwarden.results import (
    Collected,
    EndedMemories,
    HygieneFinding,
    Job,
    RelevancePart,
    RetentionRule,
    StorageUse,
    WriteResult,
)


class AsyncAging:
    """Says how memories age, renews them, collects them, and shows and pauses jobs."""

    _session: AsyncSession

    async def renew(self, item_id: UUID, reason: str, ttl: timedelta | None = None) -> WriteResult:
        """Say that a memory still holds: its lifetimes begin anew, as a new version.

        `ttl`: as long as the layer or class says, where left out. It never ends sooner than before.

        Raises:
            NotFound: there is no active item of that id that the caller may see.
            NotAllowed: the caller may not write it.
        """
        arguments = {"item_id": item_id, "reason": reason, "ttl": ttl}
        rows = await self._session.fetch(sql.RENEW, arguments, WriteResult, repeatable=False)
        return rows[0]

    async def explain_relevance(self, item_id: UUID) -> list[RelevancePart]:
        """Return how relevant a memory still is, and each part of the figure.

        Raises:
            NotFound: there is no active item of that id that the caller may see.
        """
        return await self._session.fetch(sql.EXPLAIN_RELEVANCE, {"item_id": item_id}, RelevancePart)

    async def explain_retention(self, item_id: UUID) -> list[RetentionRule]:
        """Return each rule about how long a memory is kept, and which of them decides.

        Raises:
            NotFound: there is no item of that id that the caller may see.
        """
        return await self._session.fetch(sql.EXPLAIN_RETENTION, {"item_id": item_id}, RetentionRule)

    async def set_retention(
        self,
        *,
        classification: str | None = None,
        layer: str | None = None,
        class_: str | None = None,
        keep_at_most: timedelta | str | None = None,
        keep_at_least: timedelta | str | None = None,
        afterwards: str | None = None,
        counted_from: str | None = None,
        expected: int | None = None,
        org: str | None = None,
    ) -> int:
        """Set how long memories of a classification, layer or class may and must be kept.

        Name one of the three. A time is a timedelta, or text as in SQL ("1 year", "infinity").
        What is left out stays as it is. Returns how many memories that ends now; where there are
        any, `expected` must be that number.

        Raises:
            InvalidArgument: an argument is malformed, or `expected` is missing or wrong.
            NotFound: there is no such classification, layer, class or organisation.
            NotAllowed: the caller does not administer the organisation.
        """
        arguments = {
            "classification": classification,
            "layer": layer,
            "class_": class_,
            "keep_at_most": keep_at_most,
            "keep_at_least": keep_at_least,
            "afterwards": afterwards,
            "counted_from": counted_from,
            "expected": expected,
            "org": org,
        }
        rows = await self._session.fetch(
            sql.SET_RETENTION, arguments, EndedMemories, repeatable=False
        )
        return rows[0].items

    async def run_gc(
        self,
        layer: str | None = None,
        *,
        dry_run: bool = True,
        expected: int | None = None,
        org: str | None = None,
        max_items: int = 200,
    ) -> list[Collected]:
        """Collect memories by the rules of their layers; by default only show what that would be.

        `expected`: how many may go at most, as the dry run counted them without KEEP. `max_items`:
        how many this call takes at most.

        Raises:
            NotAllowed: the caller administers neither the organisation nor the layer.
            NotFound: there is no such layer or organisation, or nothing of what was expected.
            NotReady: more would go than expected.
        """
        arguments = {
            "layer": layer,
            "dry_run": dry_run,
            "expected": expected,
            "org": org,
            "max_items": max_items,
        }
        return await self._session.fetch(sql.RUN_GC, arguments, Collected, repeatable=dry_run)

    async def run_hygiene(
        self,
        layer: str | None = None,
        *,
        dry_run: bool = True,
        expected: int | None = None,
        org: str | None = None,
    ) -> list[HygieneFinding]:
        """Look for duplicates, contradictions, stale and sensitive memories; end the surely worse.

        By default it only shows what that would be. `expected`: how many of each layer may be
        superseded at most.

        Raises:
            NotAllowed: the caller administers neither the organisation nor the layer.
            NotFound: there is no such layer or organisation.
            NotReady: more would go than expected.
        """
        arguments = {"layer": layer, "dry_run": dry_run, "expected": expected, "org": org}
        return await self._session.fetch(
            sql.RUN_HYGIENE, arguments, HygieneFinding, repeatable=dry_run
        )

    async def jobs(self) -> list[Job]:
        """Return every job: its schedule, last and next run, last error, and whether it is late.

        Raises:
            NotAllowed: the caller is neither an administrator nor an auditor.
        """
        return await self._session.fetch(sql.JOBS, {}, Job)

    async def pause_job(self, name: str) -> None:
        """Keep a job from running until `resume_job`.

        Raises:
            NotFound: there is no such job.
            NotAllowed: the caller is no administrator of the database.
        """
        await self._session.fetch(sql.PAUSE_JOB, {"name": name}, dict[str, Any])

    async def resume_job(self, name: str) -> None:
        """Let a paused job run again; it is due at once when a turn has passed meanwhile.

        Raises:
            NotFound: there is no such job.
            NotAllowed: the caller is no administrator of the database.
        """
        await self._session.fetch(sql.RESUME_JOB, {"name": name}, dict[str, Any])

    async def storage(self) -> list[StorageUse]:
        """Return the bytes of each table, organisation and layer, and how fast they grow.

        Raises:
            NotAllowed: the caller is neither an administrator nor an auditor.
        """
        return await self._session.fetch(sql.STORAGE, {}, StorageUse)
