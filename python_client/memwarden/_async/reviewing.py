"""Waiting for a human, and being the human: what is asked about, and what is decided."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg

from memwarden._async.session import AsyncSession
from memwarden._json import strict_json
from memwarden._statements import reviewing as sql
from memwarden.requests import single_precision
from memwarden.results import Dispute, Proposal, RequestStatus, ReviewEvent, WriteResult

_POLL = 2.0
"""Seconds between two looks: a message that gets lost, as behind a pooler, costs no more."""
_LEAST_PAUSE = 0.2
"""Seconds between two looks that messages ask for: any login can send as many as it likes."""
_READING_PAUSE = 0.01
"""Seconds between two times that messages are read."""


class AsyncReviewing:
    """Proposals, for their writers and for who decides about them.

    A decision that is sent twice counts once: the second is told `ALREADY_DECIDED`.
    """

    _session: AsyncSession

    async def await_decision(
        self, request_id: UUID, timeout: timedelta | float | None = None
    ) -> RequestStatus | None:
        """Wait until a write request of the caller's no longer waits; return where it stands.

        Without `timeout` (seconds, or a timedelta) as long as it takes; with 0 it only asks. When
        the time is over the request may still be deferred. None for an unknown request.

        Raises:
            WrongIsolation: it waits, in a transaction that has written: nobody sees its request.
        """
        if isinstance(timeout, timedelta):
            timeout = timeout.total_seconds()
        end = None if timeout is None else time.monotonic() + timeout
        # The server is asked to wait a moment, and says so where that would be in vain.
        status = await self._decision(request_id, "0" if timeout == 0 else "1 ms")
        if status is None or status.outcome != "DEFERRED" or timeout == 0:
            return status
        listener = await self._session.listener(sql.LISTEN_REVIEW)
        try:
            while True:
                # Asked behind the LISTEN: what was decided in between sent no message here.
                status = await self._decision(request_id)
                left = _POLL if end is None else min(_POLL, end - time.monotonic())
                if status is None or status.outcome != "DEFERRED" or left <= 0:
                    return status
                if listener is None:
                    await asyncio.sleep(left)
                else:
                    await _hint(listener, str(request_id), left)
        finally:
            if listener is not None:
                await listener.close()

    async def _decision(self, request_id: UUID, timeout: str = "0") -> RequestStatus | None:
        arguments = {"request_id": request_id, "timeout": timeout}
        rows = await self._session.fetch(sql.AWAIT_DECISION, arguments, RequestStatus)
        return rows[0] if rows else None

    async def review_queue(
        self,
        *,
        scope: str | None = None,
        layer: str | None = None,
        tier: str | None = None,
        agent: str | None = None,
        write_class: str | None = None,
        state: str | None = "pending",
        max_rows: int = 100,
        after: UUID | None = None,
    ) -> list[Proposal]:
        """Return the proposals that the caller may decide about, the most urgent first.

        `state`: pending, approved, rejected, expired or not_applicable; None for all. `after`: the
        page behind that proposal. `max_rows`: 1 to 1,000.

        Raises:
            NotAllowed: the login is no reviewer's.
            InvalidArgument: `max_rows` is out of range.
        """
        arguments = {
            "scope": scope,
            "layer": layer,
            "tier": tier,
            "agent": agent,
            "class": write_class,
            "state": state,
            "max_rows": max_rows,
            "after": after,
            "proposal_id": None,
        }
        return await self._session.fetch(sql.REVIEW_QUEUE, arguments, Proposal)

    async def proposal(self, proposal_id: UUID) -> Proposal | None:
        """Return one proposal, whatever its state; None where the caller may not decide about it.

        Raises:
            NotAllowed: the login is no reviewer's.
        """
        arguments = dict.fromkeys(("scope", "layer", "tier", "agent", "class", "state", "after"))
        arguments |= {"max_rows": 1, "proposal_id": proposal_id}
        rows = await self._session.fetch(sql.REVIEW_QUEUE, arguments, Proposal)
        return rows[0] if rows else None

    async def review_history(self, proposal_id: UUID) -> list[ReviewEvent]:
        """Return what became of a proposal, oldest first; for its writer and who may decide."""
        return await self._session.fetch(
            sql.REVIEW_HISTORY, {"proposal_id": proposal_id}, ReviewEvent
        )

    async def approve(
        self, proposal_id: UUID, note: str | None = None, *, despite_probes: bool = False
    ) -> WriteResult:
        """Agree to a proposal; return what became of it.

        Deferred while others must agree, or when something came up that was not in the report.

        Raises:
            NotFound: there is no such proposal that the caller may see.
            NotAllowed: it is not the caller's to decide about.
        """
        arguments = {"proposal_id": proposal_id, "note": note, "despite_probes": despite_probes}
        return (await self._session.fetch(sql.APPROVE, arguments, WriteResult))[0]

    async def approve_with_edit(
        self,
        proposal_id: UUID,
        content: Any,
        note: str | None = None,
        *,
        despite_probes: bool = False,
        embedding: Sequence[float] | None = None,
        embedding_model: str | None = None,
    ) -> WriteResult:
        """Agree to a proposal in other words, which pass every gate.

        `embedding`, `embedding_model`: the vector of these words and what made it, as in `write`.

        Raises:
            InvalidContent: the content is not JSON; nothing was sent.
            NotFound, NotAllowed: as `approve`.
        """
        arguments = {
            "proposal_id": proposal_id,
            "content": strict_json(content),
            "note": note,
            "despite_probes": despite_probes,
            "embedding": None if embedding is None else single_precision(embedding),
            "embedding_model": embedding_model,
        }
        # Sent twice it would be two edits.
        rows = await self._session.fetch(
            sql.APPROVE_WITH_EDIT, arguments, WriteResult, repeatable=False
        )
        return rows[0]

    async def reject(self, proposal_id: UUID, reason: str, note: str | None = None) -> WriteResult:
        """Refuse a proposal, for one of the reasons that `reject()` in SQL knows.

        Raises:
            InvalidArgument: no such reason.
            NotFound, NotAllowed: as `approve`.
        """
        arguments = {"proposal_id": proposal_id, "reason": reason, "note": note}
        return (await self._session.fetch(sql.REJECT, arguments, WriteResult))[0]

    async def disputes(self, layer: str | None = None, *, most: int = 100) -> list[Dispute]:
        """Return pairs of memories that contradict each other and both stand, the oldest first."""
        return await self._session.fetch(sql.DISPUTES, {"layer": layer, "most": most}, Dispute)

    async def settle_dispute(
        self,
        item_id: UUID,
        other_item_id: UUID,
        *,
        keep: UUID | None = None,
        reason: str | None = None,
    ) -> WriteResult:
        """Say which memory of a dispute holds; without `keep` both do, and the mark goes.

        Raises:
            NotFound: there is no such dispute that the caller may see.
            NotAllowed: the caller may not settle it.
            InvalidArgument: `keep` is neither of the two, or comes without a reason.
        """
        arguments = {
            "item_id": item_id,
            "other_item_id": other_item_id,
            "keep": keep,
            "reason": reason,
        }
        # Sent twice there is no dispute any more.
        rows = await self._session.fetch(
            sql.SETTLE_DISPUTE, arguments, WriteResult, repeatable=False
        )
        return rows[0]


async def _hint(listener: psycopg.AsyncConnection[Any], request_id: str, seconds: float) -> None:
    """Return when a message names the request, which is a hint to look, or after `seconds`."""
    begun = time.monotonic()
    heard = False
    while (left := begun + seconds - time.monotonic()) > 0:
        if heard:
            left = min(left, begun + _LEAST_PAUSE - time.monotonic())
            if left <= 0:
                return
        said = [each.payload async for each in listener.notifies(timeout=left, stop_after=1)]
        if said:
            # Read on, so that the server need not keep them, but not without a pause.
            heard = heard or request_id in said
            await asyncio.sleep(_READING_PAUSE)
