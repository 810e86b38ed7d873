"""The log of recalls: who was given what, what came of it, and how good recall is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from memwarden._async.session import AsyncSession
from memwarden._json import strict_json
from memwarden._lists import listed
from memwarden._request_id import new_request_id
from memwarden._statements import recall_log as sql
from memwarden.errors import InvalidArgument
from memwarden.results import (
    ContextItem,
    GivenMemory,
    LoggedRecall,
    RecalledItem,
    RecallQuality,
    RecallWrite,
    RecordedRecall,
    ReportedOutcome,
)


class AsyncRecallLog:
    """What the server keeps of recalls, and what is told it of them."""

    _session: AsyncSession

    async def report_outcome(
        self,
        recall_id: UUID,
        used: Sequence[UUID] = (),
        outcome: str = "unknown",
        detail: Mapping[str, Any] | None = None,
        action_id: str | None = None,
        at_fault: Sequence[UUID] = (),
    ) -> int:
        """Say what came of a recall of the caller's; return the number of the revision.

        `used`: the memories among those given that were of use; `outcome`: success, partial,
        failure or unknown. The same report again changes nothing, another revises it. `action_id`:
        the action that rests on `used`, which must then name a memory; see `link_action`.
        `at_fault`: of a failure, those of the given memories that it came from.

        Raises:
            NotFound: no recall of the caller's has that id.
            InvalidArgument: it did not give one of `used` or `at_fault`, or `outcome` is none of
                these, or no failure where a memory is at fault.
        """
        arguments = {
            "recall_id": recall_id,
            "used": listed("used", used),
            "outcome": outcome,
            "detail": None if detail is None else strict_json(detail),
            "action_id": action_id,
            "at_fault": listed("at_fault", at_fault),
        }
        rows = await self._session.fetch(sql.REPORT_OUTCOME, arguments, ReportedOutcome)
        return rows[0].revision

    async def find_recalls(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        agent: str | None = None,
        task: str | None = None,
        session_id: UUID | None = None,
        purpose: str | None = None,
        query: str | None = None,
        max_rows: int = 100,
        after: UUID | None = None,
    ) -> list[LoggedRecall]:
        """Return recalls that the caller may look at, the latest first.

        `query`: those of that very query, of which the server keeps an HMAC and no word. `after`:
        the page behind that recall. `max_rows`: 1 to 1,000.
        """
        arguments = {
            "since": since,
            "until": until,
            "agent": agent,
            "task": task,
            "session_id": session_id,
            "purpose": purpose,
            "query": query,
            "max_rows": max_rows,
            "after": after,
        }
        return await self._session.fetch(sql.FIND_RECALLS, arguments, LoggedRecall)

    async def recalls_of(
        self,
        item_id: UUID,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        max_rows: int = 100,
        after: UUID | None = None,
    ) -> list[GivenMemory]:
        """Return who was given a memory, when and for what, and what came of it."""
        arguments = {
            "item_id": item_id,
            "since": since,
            "until": until,
            "max_rows": max_rows,
            "after": after,
        }
        return await self._session.fetch(sql.RECALLS_OF, arguments, GivenMemory)

    async def writes_of_recall(self, recall_id: UUID, *, max_rows: int = 100) -> list[RecallWrite]:
        """Return what the task of a recall went on to write, oldest first."""
        arguments = {"recall_id": recall_id, "max_rows": max_rows}
        return await self._session.fetch(sql.WRITES_OF_RECALL, arguments, RecallWrite)

    async def recall_quality(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        scope: str | None = None,
        agent: str | None = None,
        purpose: str | None = None,
    ) -> list[RecallQuality]:
        """Return how good recall was: for all layers together (`*`), then for each.

        As of the last time the server counted, of the last 30 days unless `since` says otherwise.

        Raises:
            NotFound: there is no such scope that the caller may see.
        """
        arguments = {
            "since": since,
            "until": until,
            "scope": scope,
            "agent": agent,
            "purpose": purpose,
        }
        return await self._session.fetch(sql.RECALL_QUALITY, arguments, RecallQuality)

    async def record_recall(
        self,
        items: Sequence[RecalledItem | ContextItem],
        *,
        query: str | None = None,
        purpose: str = "recall",
        task: str | None = None,
        session_id: UUID | None = None,
        scopes: Sequence[str] | None = None,
        layers: Sequence[str] | None = None,
        k: int | None = None,
        threshold: float | None = None,
        embedding_model: str | None = None,
        recall_id: UUID | None = None,
    ) -> UUID:
        """Record, here on the primary, what a replica gave just now; return the recall's id.

        What is recorded so is marked as reported. With a `recall_id` of yours (UUID version 7, of
        the last day) it may be sent again: it is recorded once.

        Raises:
            InvalidArgument: `purpose` is none of recall, context and push, or the id is too old.
        """
        items = listed("items", items)
        recall = {
            "recall_id": str(recall_id or new_request_id()),
            "purpose": purpose,
            "query": query,
            "task": task,
            "session_id": None if session_id is None else str(session_id),
            "scopes": listed("scopes", scopes),
            "layers": listed("layers", layers),
            "k": k,
            "threshold": threshold,
            "embedding_model": embedding_model,
            "item_ids": [str(item.item_id) for item in items],
            "version_ids": [str(item.version_id) for item in items],
            "scores": [item.score for item in items],
        }
        rows = await self._session.fetch(
            sql.RECORD_RECALLS, {"recalls": strict_json([recall])}, RecordedRecall
        )
        if rows[0].recall_id is None:
            raise InvalidArgument(str(rows[0].detail))
        return rows[0].recall_id
