"""Whose vectors a client brings: of the embedder that it was given, or of the store's model."""

from __future__ import annotations

import time
import warnings
from collections.abc import Hashable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from memwarden._async.session import AsyncSession
from memwarden._offload import in_thread
from memwarden._statements import models as sql
from memwarden.embedders import E5_NAME, Embedder, packaged, query_embedding
from memwarden.errors import ConnectionFailed, MemwardenError, NotInstalled

# A store goes over to another model while its clients run on: they ask again, once in so long.
_SECONDS = 60.0
# What was told on a connection, for the clients that share it one by one: each asks for an agent.
_TOLD: WeakKeyDictionary[Any, dict[Hashable, tuple[float, str]]] = WeakKeyDictionary()


class AsyncVectors:
    """Makes the vectors of texts where the caller brings none.

    Without an embedder of the caller's, the store says which model it goes by. Where that is one
    that an extra of this package brings, questions get a vector of it; the worker makes those of
    memories. Any other model is the application's.
    """

    def __init__(self, session: AsyncSession, embedder: Embedder | None) -> None:
        self._session = session
        self.given = embedder

    async def embedder(self) -> Embedder | None:
        """Return the embedder for questions; None where the server makes vectors of words."""
        if self.given is not None:
            return self.given
        model = await self._model()
        if model != E5_NAME:
            return None
        try:
            return await in_thread(packaged, model)
        except NotInstalled as error:
            warnings.warn(
                f"this store goes by the model {model}, and {error}."
                " Until then this client recalls by words.",
                RuntimeWarning,
                stacklevel=2,
            )
            return None

    async def of_query(
        self, text: str | None, embedding: Sequence[float] | None, model: str | None
    ) -> tuple[Sequence[float] | None, str | None]:
        """Return vector and model of a text that searches: those given, or what is made of it."""
        if text is None or embedding is not None or (model is not None and self.given is None):
            return embedding, model
        embedder = await self.embedder()
        if embedder is None:
            return None, model
        return await in_thread(query_embedding, embedder, text), model or embedder.name

    async def _model(self) -> str:
        """Return the name of the model that the store goes by, as it was within the last minute."""
        known = _TOLD.setdefault(await self._session.open(), {})
        now = time.monotonic()
        told = known.get(self._session.tokens_from)
        if told is None or now - told[0] > _SECONDS:
            told = (now, await self._asked())
            for each in [who for who, (at, _) in list(known.items()) if now - at > _SECONDS]:
                known.pop(each, None)
            known[self._session.tokens_from] = told
        return told[1]

    async def _asked(self) -> str:
        try:
            rows = await self._session.fetch(sql.ACTIVE_EMBEDDING_MODEL, {}, dict[str, str])
        except ConnectionFailed:
            raise
        except MemwardenError:
            if self._session.in_transaction():
                raise
            # Who may not even ask is told so by the call itself, in its own words.
            return ""
        return rows[0]["name"]
