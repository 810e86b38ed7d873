"""Answers from outside, and the answer that nothing is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from memwarden._async.session import AsyncSession
from memwarden._async.vectors import AsyncVectors
from memwarden._json import strict_json
from memwarden._lists import listed
from memwarden._offload import in_thread
from memwarden._statements import external as sql
from memwarden._statements import memory as memory_sql
from memwarden.errors import NotFound
from memwarden.requests import single_precision
from memwarden.results import Answer, RecalledItem, Unknown
from memwarden.retrievers.search import ExternalAnswer, ExternalSource, ScreenedRow, ask, given


class AsyncExternal:
    """Asks memory for an answer that may be "I don't know", and sources outside."""

    _session: AsyncSession
    _vectors: AsyncVectors

    async def answer(
        self,
        query: str,
        *,
        threshold: float | None = None,
        surface: str | None = None,
        k: int = 10,
        embedding: Sequence[float] | None = None,
        embedding_model: str | None = None,
        layers: Sequence[str] | None = None,
        scope: str | None = None,
        subject: str | None = None,
        classification: str | None = None,
        task: str | None = None,
        exclude: Sequence[UUID] | None = None,
    ) -> Answer:
        """Return what answers with at least `threshold`, or the surface's floor; or what is amiss.

        The arguments are those of `recall`. `unknown` is set where nothing reaches it, `withheld`
        where an ablation withheld the answer.

        Raises:
            NotFound: there is no such scope, layer, model, classification or surface.
        """
        layers, exclude = listed("layers", layers), listed("exclude", exclude)
        embedding, embedding_model = await self._vectors.of_query(query, embedding, embedding_model)
        names = ("scopes", "predicate", "kind", "filter", "min_confidence", "valid_at", "weights")
        arguments: dict[str, Any] = dict.fromkeys((*names, "rerank")) | {
            "query": query,
            "embedding": None if embedding is None else single_precision(embedding),
            "k": k,
            "layers": layers,
            "scope": scope,
            "subject": subject,
            "fusion": "weighted",
            "embedding_model": embedding_model,
            "threshold": threshold,
            "exclude": exclude,
            "classification": classification,
            "surface": surface,
            "task": task,
        }
        rows = await self._session.fetch(memory_sql.ANSWER, arguments, RecalledItem)
        if rows and rows[0].standing == "unknown":
            gap = rows[0].provenance["unknown"]
            return Answer(items=[], unknown=Unknown(phrase=rows[0].hedge, **gap))
        if rows and rows[-1].standing == "withheld":
            return Answer(items=rows[:-1], unknown=None, withheld=rows[-1].recall_id)
        return Answer(items=rows, unknown=None)

    async def search_external(
        self,
        query: str,
        *,
        sources: Sequence[str] | None = None,
        k: int | None = None,
        layer: str | None = None,
        surface: str | None = None,
    ) -> ExternalAnswer:
        """Ask sources outside now, all that the agent may ask or those named, at once.

        Nothing of the question or of the answers is stored. A source that fails is named in
        `failures`, and the others answer. `k`: at most so many results of each. What is to be
        remembered is written, with `result.as_evidence()` as its evidence.

        What is given has been screened by the rules in force for the agent in `layer`, by default
        those for all layers; and stripped as `surface` asks, a boundary as in `recall`.

        Raises:
            NotFound: one of the named sources is none that the agent may ask; or there is no such
                layer or surface.
        """
        sources = listed("sources", sources)
        there = await self._session.fetch(sql.EXTERNAL_SOURCES, {}, ExternalSource)
        if sources is not None:
            missing = set(sources) - {each.source for each in there}
            if missing:
                raise NotFound(f"there is no external source {', '.join(sorted(missing))}")
            there = [each for each in there if each.source in sources]
        heard = await in_thread(ask, query, there, k)
        if not heard.hits:
            return given(heard, [])
        arguments = {
            "answers": strict_json(heard.answers()),
            "layer": layer,
            "surface": surface,
        }
        return given(heard, await self._session.fetch(sql.SCREEN_ANSWERS, arguments, ScreenedRow))
