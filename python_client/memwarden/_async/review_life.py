"""Many decisions at once, and what is learnt from decisions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from memwarden._async.session import AsyncSession
from memwarden._lists import listed
from memwarden._statements import review_life as sql
from memwarden.results import ApprovalRate, DecidedProposal, DecisionPreview, Feedback, Policy


class AsyncReviewLife:
    """Decides about previewed proposals, and reads what reviewers said."""

    _session: AsyncSession

    async def preview_decisions(
        self,
        *,
        scope: str | None = None,
        layer: str | None = None,
        tier: str | None = None,
        agent: str | None = None,
        write_class: str | None = None,
        reasons: Sequence[str] | None = None,
        risk_below: float | None = None,
        max_rows: int = 100,
    ) -> DecisionPreview:
        """Return which pending proposals meet all conditions, with a digest for `decide_many`.

        `reasons`: only proposals that wait for none but these. `max_rows`: 1 to 1,000, the oldest.

        Raises:
            NotAllowed: the caller decides about nothing.
            InvalidArgument: `max_rows` is out of range.
        """
        arguments = {
            "scope": scope,
            "layer": layer,
            "tier": tier,
            "agent": agent,
            "class": write_class,
            "reasons": listed("reasons", reasons),
            "risk_below": risk_below,
            "max_rows": max_rows,
        }
        rows = await self._session.fetch(sql.PREVIEW_DECISIONS, arguments, DecisionPreview)
        return rows[0]

    async def decide_many(
        self,
        decision: str,
        preview: DecisionPreview,
        *,
        reason: str | None = None,
        note: str | None = None,
    ) -> list[DecidedProposal]:
        """Approve or reject all that was previewed, in one transaction.

        A proposal that cannot be decided harms no other: `error` has its SQLSTATE. `reason` goes
        with `reject`.

        Raises:
            ChangedSince: one of them is no longer what it was; nothing was decided.
            InvalidArgument: the decision is neither, or has no reason where it needs one.
        """
        arguments = {
            "decision": decision,
            "proposal_ids": preview.proposal_ids,
            "digest": preview.digest,
            "reason": reason,
            "note": note,
        }
        return await self._session.fetch(
            sql.DECIDE_MANY, arguments, DecidedProposal, repeatable=False
        )

    async def feedback(
        self,
        *,
        agent: str | None = None,
        since: datetime | None = None,
        layer: str | None = None,
        reasons: Sequence[str] | None = None,
        max_rows: int = 100,
        after: UUID | None = None,
    ) -> list[Feedback]:
        """Return what reviewers said about the caller's writes, oldest first.

        And about those that the caller may decide about. `after`: the `event_id` of the last one
        that was read.

        Raises:
            InvalidArgument: `max_rows` is not 1 to 1,000.
        """
        arguments = {
            "agent": agent,
            "since": since,
            "layer": layer,
            "reasons": listed("reasons", reasons),
            "max_rows": max_rows,
            "after": after,
        }
        return await self._session.fetch(sql.FEEDBACK, arguments, Feedback)

    async def brief(
        self, *, since: timedelta = timedelta(days=90), max_rows: int = 10
    ) -> list[Policy]:
        """Return the policies that reviewers told the caller of, the most frequent first.

        Raises:
            InvalidArgument: `max_rows` is not 1 to 1,000.
        """
        arguments = {"since": since, "max_rows": max_rows}
        return await self._session.fetch(sql.BRIEF, arguments, Policy)

    async def approval_rates(
        self, *, since: datetime | None = None, until: datetime | None = None
    ) -> list[ApprovalRate]:
        """Return how proposals fared, by agent, layer and topic."""
        arguments = {"since": since, "until": until}
        return await self._session.fetch(sql.APPROVAL_RATES, arguments, ApprovalRate)

    async def forget_noise(self, proposal_id: UUID, note: str | None = None) -> bool:
        """Have the like of a rejected proposal asked about again; False where nothing is kept.

        Raises:
            NotAllowed: the caller decides about nothing.
        """
        arguments = {"proposal_id": proposal_id, "note": note}
        rows = await self._session.fetch(
            sql.FORGET_NOISE, arguments, dict[str, bool], repeatable=False
        )
        return rows[0]["forgotten"]
