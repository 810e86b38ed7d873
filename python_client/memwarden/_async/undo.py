"""Taking changes back, and the others that a curator makes to items as they stand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from memwarden._async.session import AsyncSession
from memwarden._lists import listed
from memwarden._statements import undo as sql
from memwarden.results import PlannedUndo, UndoneItem, WriteResult


class AsyncUndo:
    """Undoes changes, ends items and brings them back.

    A connection that breaks in one of these raises `ConnectionFailed`: sent twice, the second would
    undo the first or could not tell what it did. `history` tells. `preview_rollback` only reads.
    """

    _session: AsyncSession

    async def rollback(
        self,
        item_id: UUID,
        reason: str,
        *,
        version_id: UUID | None = None,
        to_version: int | None = None,
        restore: Sequence[UUID] | None = None,
    ) -> list[UndoneItem]:
        """Undo the last change of an item, whatever it was; of a merge, on both items.

        `version_id` is the version that is bad: with it, nothing happens when another has come
        since. `to_version` goes back to that version. `restore` names the only items, of those
        concerned, that get back what stood before: `()` retracts and restores nothing.

        Raises:
            ChangedSince: `version_id` is no longer current.
            NotFound: there is no such item or version that the caller may see, or it expired.
            NotAllowed: the caller may not delete and write it.
            AlreadyExists: another item bears its subject and predicate now.
        """
        arguments = {
            "item_id": item_id,
            "reason": reason,
            "version_id": version_id,
            "to_version": to_version,
            "restore": listed("restore", restore),
        }
        return await self._session.fetch(sql.ROLLBACK, arguments, UndoneItem, repeatable=False)

    async def preview_rollback(
        self,
        *,
        agent: str | None = None,
        scope: str | None = None,
        requests: Sequence[UUID] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[PlannedUndo]:
        """Return what `rollback_batch` with these arguments would do; nothing changes.

        Raises:
            InvalidArgument: none of `agent`, `scope` and `requests` is given.
            NotFound: there is no such scope that the caller may see.
        """
        arguments = {
            "agent": agent,
            "scope": scope,
            "requests": listed("requests", requests),
            "since": since,
            "until": until,
        }
        return await self._session.fetch(sql.PREVIEW_ROLLBACK, arguments, PlannedUndo)

    async def rollback_batch(
        self,
        reason: str,
        *,
        agent: str | None = None,
        scope: str | None = None,
        requests: Sequence[UUID] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[UndoneItem]:
        """Undo, as one change, all that meets every argument given.

        What an agent did, what happened in a scope and below it, by these requests (or earlier
        rollbacks, by their `change_id`), in a period. What others have changed since stays and is
        reported.

        Raises:
            InvalidArgument: none of `agent`, `scope` and `requests` is given, or a blank reason.
            NotFound: there is no such scope that the caller may see.
        """
        arguments = {
            "reason": reason,
            "agent": agent,
            "scope": scope,
            "requests": listed("requests", requests),
            "since": since,
            "until": until,
        }
        return await self._session.fetch(
            sql.ROLLBACK_BATCH, arguments, UndoneItem, repeatable=False
        )

    async def expire(self, item_id: UUID, reason: str) -> WriteResult:
        """End an item that was right and is no longer needed; `recover` brings it back.

        Look at the outcome: where people decided about it, the call waits for them.

        Raises:
            NotFound: there is no active item of that id that the caller may see.
            NotAllowed: the caller may not delete it.
        """
        arguments = {"item_id": item_id, "reason": reason}
        rows = await self._session.fetch(sql.EXPIRE, arguments, WriteResult, repeatable=False)
        return rows[0]

    async def recover(
        self, item_id: UUID, reason: str, ttl: timedelta | None = None
    ) -> WriteResult:
        """Bring an expired item back, as a new version. `ttl`: the layer's by default.

        Look at the outcome: where people decided about it, the call waits for them.

        Raises:
            NotFound: there is no expired item of that id that the caller may see.
            NotReady: the layer's recovery window is over.
            AlreadyExists: another item bears its subject and predicate now.
        """
        arguments = {"item_id": item_id, "reason": reason, "ttl": ttl}
        rows = await self._session.fetch(sql.RECOVER, arguments, WriteResult, repeatable=False)
        return rows[0]

    async def merge(self, item_id: UUID, absorbed: UUID, reason: str) -> WriteResult:
        """Make one item of two that say the same, as a new version; `absorbed` ends.

        Look at the outcome: where people decided about one of them, the call waits for them.

        Raises:
            NotFound: one of them is not active, or the caller may not see it.
            InvalidArgument: they differ in scope, layer, kind, classification or attributes.
            NotAllowed: the caller may not write the one or delete the other.
        """
        arguments = {"item_id": item_id, "absorbed": absorbed, "reason": reason}
        rows = await self._session.fetch(sql.MERGE, arguments, WriteResult, repeatable=False)
        return rows[0]

    async def reclassify(self, item_id: UUID, layer: str, reason: str) -> WriteResult:
        """Move an item to another layer of its scope, through every gate there.

        Look at the outcome: refused or deferred there, the original stays.

        Raises:
            NotFound: there is no active item of that id that the caller may see.
            NotAllowed: the caller may not delete it.
            InvalidArgument: there is no such layer, or it is the item's own.
        """
        arguments = {"item_id": item_id, "layer": layer, "reason": reason}
        rows = await self._session.fetch(sql.RECLASSIFY, arguments, WriteResult, repeatable=False)
        return rows[0]
