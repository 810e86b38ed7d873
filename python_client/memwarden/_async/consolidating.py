"""Deciding what becomes of the memories of one layer in another."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from memwarden._async.session import AsyncSession
from memwarden._json import strict_json
from memwarden._statements import intake as sql
from memwarden.results import ConsolidationCandidate, ConsolidationResult


class AsyncConsolidating:
    """Carries out decisions, one at a time; `memwarden.consolidation` makes them.

    A decision that is sent twice counts once: a connection that breaks meanwhile does no harm.
    """

    _session: AsyncSession

    async def consolidation_candidates(
        self,
        from_layer: str,
        to_layer: str,
        *,
        scope: str | None = None,
        after: UUID | None = None,
        k: int = 100,
    ) -> list[ConsolidationCandidate]:
        """Return memories of one layer of a scope that have no decision for another, oldest first.

        `scope` is the agent's home by default. `after`: those behind that version, for a next page.

        Raises:
            NotFound: there is no such scope that the caller may see.
            InvalidArgument: `k` is not 1 to 1,000.
        """
        arguments = {
            "from_layer": from_layer,
            "to_layer": to_layer,
            "scope": scope,
            "after": after,
            "k": k,
        }
        return await self._session.fetch(
            sql.CONSOLIDATION_CANDIDATES, arguments, ConsolidationCandidate
        )

    async def consolidate(
        self,
        item_id: UUID,
        version_id: UUID,
        layer: str,
        decision: str,
        *,
        target: UUID | None = None,
        target_version: UUID | None = None,
        content: Any = None,
        reason: str | None = None,
        decider: str = "agent",
    ) -> ConsolidationResult:
        """Carry out ADD, UPDATE or DELETE (of `target`), or NOOP, for one version of a memory.

        As writes and retractions of the caller's own, through every gate. `content`: other words
        than the memory's, for ADD and UPDATE. `reason`: of DELETE. A second decision about the same
        version does nothing and returns the outcome of the first, `repeated`.

        Raises:
            NotFound: there is no such memory or target that the caller may see.
            InvalidArgument: the arguments do not go together.
            InvalidContent: the content is not JSON; nothing was sent.
        """
        arguments = {
            "item_id": item_id,
            "version_id": version_id,
            "layer": layer,
            "decision": decision,
            "target": target,
            "target_version": target_version,
            "content": None if content is None else strict_json(content),
            "reason": reason,
            "decider": decider,
        }
        return (await self._session.fetch(sql.CONSOLIDATE, arguments, ConsolidationResult))[0]
