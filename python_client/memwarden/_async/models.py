"""Embedding models: which there are, and going over from one to another. For administrators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memwarden._async.session import AsyncSession
from memwarden._json import strict_json
from memwarden._lists import listed
from memwarden._statements import models as sql
from memwarden.results import EmbeddingModel


class AsyncModels:
    """Registers embedding models, fills them, goes over to one, and gives one up."""

    _session: AsyncSession

    async def embedding_models(self) -> list[EmbeddingModel]:
        """Return the models and how far each is, by organisation."""
        return await self._session.fetch(sql.EMBEDDING_MODELS, {}, EmbeddingModel)

    async def register_embedding_model(
        self,
        name: str,
        dimension: int,
        *,
        vector_weight: float = 0.55,
        embedder: str | None = None,
        settings: Mapping[str, Any] | None = None,
        relevance_threshold: float = 0.36,
    ) -> None:
        """Register a model; `embedder` is the worker's plug-in that makes its vectors.

        `relevance_threshold`: how relevant the best of 500 memories must be to be an answer.

        Raises:
            AlreadyExists: the name is taken.
            InvalidArgument: the dimension, the weight or the threshold is out of range.
        """
        arguments = {
            "name": name,
            "dimension": dimension,
            "vector_weight": vector_weight,
            "embedder": embedder,
            "settings": strict_json(settings or {}),
            "relevance_threshold": relevance_threshold,
        }
        await self._session.fetch(
            sql.REGISTER_EMBEDDING_MODEL, arguments, dict[str, Any], repeatable=False
        )

    async def set_model_languages(self, model: str, languages: Sequence[str] | None) -> None:
        """Set which languages a model knows: recall goes by words alone for any other.

        Raises:
            NotFound: there is no such model.
            InvalidArgument: a language is no code of two or three letters.
        """
        arguments = {"model": model, "languages": listed("languages", languages)}
        await self._session.fetch(
            sql.SET_MODEL_LANGUAGES, arguments, dict[str, Any], repeatable=False
        )

    async def reembed(self, model: str, org: str | None = None) -> None:
        """Have the worker make the vectors of a model that are missing, now and from now on.

        Raises:
            NotFound: there is no such model or organisation.
            InvalidArgument: the model has no embedder.
        """
        await self._session.fetch(sql.REEMBED, {"model": model, "org": org}, dict[str, Any])

    async def switch_embedding_model(
        self, model: str, org: str | None = None, *, allow_partial: bool = False
    ) -> str:
        """Make a model the active one; return the name of the one before.

        Raises:
            NotReady: memories have no vector of it, and `allow_partial` is false.
            NotFound: there is no such model or organisation.
        """
        arguments = {"model": model, "org": org, "allow_partial": allow_partial}
        rows = await self._session.fetch(
            sql.SWITCH_EMBEDDING_MODEL, arguments, dict[str, str], repeatable=False
        )
        return rows[0]["before"]

    async def drop_embedding_model(self, model: str) -> None:
        """Give a model up; the job `clear_models` takes its vectors away.

        Raises:
            NotReady: it is active for an organisation.
            NotFound: there is no such model.
        """
        await self._session.fetch(
            sql.DROP_EMBEDDING_MODEL, {"model": model}, dict[str, Any], repeatable=False
        )
