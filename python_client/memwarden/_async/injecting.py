"""Having memory put before an agent: at the start of a task, and before each call of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from memwarden._async.session import AsyncSession
from memwarden._async.vectors import AsyncVectors
from memwarden._lists import listed
from memwarden._statements import manager as sql
from memwarden.managing import PushedItem
from memwarden.requests import single_precision


class AsyncInjecting:
    """What is given before it is asked for. `MemoryManager` does it step by step."""

    _session: AsyncSession
    _vectors: AsyncVectors

    async def push(
        self,
        task: str | None = None,
        *,
        session_id: UUID | None = None,
        scope: str | None = None,
        embedding: Sequence[float] | None = None,
        token_budget: int | None = None,
        max_items: int | None = None,
        threshold: float | None = None,
        blocks: Sequence[str] | None = None,
        classification: str | None = None,
        embedding_model: str | None = None,
        surface: str | None = None,
    ) -> list[PushedItem]:
        """Return what an agent should have before it for a task, in blocks and under budgets.

        `task` is what it is about, or the goal and current step of the session `session_id`. What
        is None is as the injection policy says; `blocks` names those to fill. Items that were left
        out come last, with the reason in `left_out` and no line. The row that says that nothing is
        known is left out, as `recall` does it. `surface`: which boundary it crosses, as there.

        Raises:
            NotFound: no such session of the caller's, scope, block, model or surface.
            InvalidArgument: neither task nor session, or an argument out of range.
        """
        embedding, embedding_model = await self._vectors.of_query(task, embedding, embedding_model)
        arguments: dict[str, Any] = {
            "session_id": session_id,
            "task": task,
            "scope": scope,
            "embedding": None if embedding is None else single_precision(embedding),
            "token_budget": token_budget,
            "max_items": max_items,
            "threshold": threshold,
            "blocks": listed("blocks", blocks),
            "classification": classification,
            "embedding_model": embedding_model,
            "surface": surface,
        }
        return await self._session.fetch(sql.PUSH, arguments, PushedItem)
