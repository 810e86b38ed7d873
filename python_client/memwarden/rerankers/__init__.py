"""Rerankers: a second look at what a recall found, by something that reads query and text together.

The database finds what is near; a reranker puts the few best in order. It runs where the client
runs, on what the caller may read anyway. Installed packages add some in the entry point group
`memwarden.rerankers`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, runtime_checkable

from memwarden.errors import InvalidArgument
from memwarden.results import RecalledItem

__all__ = ["NoOrder", "Reranker", "available", "load", "reordered"]

GROUP = "memwarden.rerankers"
# As in pyproject.toml; named here too, so that a checkout that is not installed has them.
BUILT_IN = {"llm": "memwarden.rerankers.llm:LlmReranker"}


class NoOrder(Exception):
    """The reranker cannot tell now. The message never repeats content."""


@runtime_checkable
class Reranker(Protocol):
    """Says of each text how well it answers a query."""

    name: str

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one finite number for each text, in order; more is better.

        Raises:
            NoOrder: it cannot tell.
        """
        ...


def available() -> dict[str, EntryPoint]:
    """Return the rerankers by name, without importing any.

    No installed package takes the name of one that comes with the client.
    """
    found = {each.name: each for each in entry_points(group=GROUP)}
    found |= {name: EntryPoint(name, value, GROUP) for name, value in BUILT_IN.items()}
    return dict(sorted(found.items()))


def load(name: str) -> Reranker:
    """Import a reranker.

    Raises:
        InvalidArgument: there is none of that name, or what bears the name is none.
    """
    there = available()
    if name not in there:
        raise InvalidArgument(f"there is no reranker {name}", hint=f"There are {', '.join(there)}.")
    try:
        made = there[name].load()
        reranker = made() if isinstance(made, type) else made
    except InvalidArgument:
        raise
    except Exception as error:
        raise InvalidArgument(f"the reranker {name} cannot be loaded: {error!r}") from error
    if not isinstance(reranker, Reranker) or reranker.name != name:
        raise InvalidArgument(f"the reranker {name} has no name and scores(), or another name")
    return reranker


def reordered(
    reranker: Reranker, query: str, items: Sequence[RecalledItem], k: int
) -> list[RecalledItem]:
    """Return the best `k` of recalled items by a reranker, each with its `rerank_score`.

    Equals keep their order. Where the reranker cannot tell, all do, and `rerank_score` is None:
    an answer in the order of the database is better than none.
    """
    try:
        scores = reranker.scores(query, [_words(item) for item in items])
    except NoOrder:
        return list(items[:k])
    if len(scores) != len(items) or not all(math.isfinite(score) for score in scores):
        raise InvalidArgument(f"the reranker {reranker.name} gave no number for each text")
    scored = [
        replace(item, rerank_score=float(score)) for item, score in zip(items, scores, strict=True)
    ]
    return sorted(scored, key=lambda item: -(item.rerank_score or 0.0))[:k]


def _words(item: RecalledItem) -> str:
    return item.text or json.dumps(item.content, ensure_ascii=False)
