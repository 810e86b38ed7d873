"""The index of a store: which fields of a value a query compares with, and how near they are."""

from __future__ import annotations

import json
import math
import operator
import re
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import iscoroutinefunction
from typing import Any, Literal, TypedDict

from langchain_core.embeddings import Embeddings
from langgraph.store.base import IndexConfig
from langgraph.store.base.embed import (
    EmbeddingsFunc,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
)

from memwarden.embedders import Embedder, query_embedding
from memwarden.errors import InvalidArgument
from memwarden.results import RecalledItem

Vector = Sequence[float]
Chosen = Literal[False] | Sequence[str] | None
# How many vectors of fields stay in memory.
_KEPT = 2000
# How the task of an origin names the fields that one put chose: a search finds them there.
_NAMED = re.compile(r"put with index=(\[.*\])", re.DOTALL)


class MemwardenIndexConfig(TypedDict, total=False):
    """LangGraph's `IndexConfig`, with the name of the model.

    Attributes:
        embed: as LangGraph has it, but no async function; or an embedder of memwarden, which has a
            name and may have a way to embed queries.
        dims: how many numbers a vector has; the database compares it with the model.
        fields: paths of the fields to compare; `["$"]`, the whole value, by default.
        model: the name that the model is registered under; by default the active model.
    """

    embed: Embeddings | EmbeddingsFunc | Embedder | str
    dims: int
    fields: list[str] | None
    model: str


class FieldIndex:
    """Makes the vector of a value from its fields, and says how near a query comes to them.

    A memory has one vector. Of several fields it is their mean, which finds the memory; how near
    the nearest field is, is worked out here from the vectors of the fields.
    """

    def __init__(self, config: IndexConfig | MemwardenIndexConfig) -> None:
        given: Mapping[str, Any] = config
        embed = given.get("embed")
        if embed is None:
            raise InvalidArgument("an index needs embed", hint="Leave index out to go without.")
        if iscoroutinefunction(embed) or iscoroutinefunction(type(embed).__call__):
            raise InvalidArgument(
                "embed is an async function", hint="Give a function, Embeddings, or an embedder."
            )
        self.model: str | None = given.get("model") or getattr(embed, "name", None)
        if self.model == "lexical":
            # The server makes these vectors for whatever brings none: index=False would not hold.
            raise InvalidArgument("the model lexical is the server's own, and no index")
        self._fields: list[str] = list(given.get("fields") or ["$"])
        # Whether memories are seen to have several: what the server finds is a guess then.
        self.is_several = len(self._fields) > 1 or "*" in self._fields[0]
        self._embed: Callable[[list[str]], Sequence[Vector | None]]
        self._embed_query: Callable[[str], Vector | None]
        if callable(getattr(embed, "embed", None)):
            self._embed = embed.embed
            self._embed_query = lambda text: query_embedding(embed, text)
        else:
            made = ensure_embeddings(embed)
            self._embed, self._embed_query = made.embed_documents, made.embed_query
        self._known: OrderedDict[str, Vector | None] = OrderedDict()

    def query(self, text: str) -> Vector | None:
        """The vector of a query; None for a text that has none."""
        return _unit(self._embed_query(text))

    def vectors(self, values: Iterable[tuple[Mapping[str, Any], Chosen]]) -> list[Vector | None]:
        """The vectors that memories are kept with, from one call of the model."""
        texts = [self._texts(value, chosen) for value, chosen in values]
        known = self._embedded([text for each in texts for text in each])
        return [_mean([known[text] for text in each]) for each in texts]

    def scores(self, query: Vector, items: Sequence[RecalledItem]) -> list[float | None]:
        """How near each memory's nearest field is, as a cosine; None where it has no vector."""
        texts = [self._compared(item) for item in items]
        known = self._embedded([text for each in texts if len(each) > 1 for text in each])
        found: list[float | None] = []
        for item, each in zip(items, texts, strict=True):
            # Of a single field the server knows it.
            vectors = [known[text] for text in each] if len(each) > 1 else []
            near = [_product(query, vector) for vector in vectors if vector is not None]
            self.is_several = self.is_several or len(near) > 1
            found.append(max(near, default=item.similarity))
        return found

    def _compared(self, item: RecalledItem) -> list[str]:
        if item.similarity is None:
            return []
        return self._texts(item.content, _named(item.origin.get("task")))

    def _texts(self, value: Mapping[str, Any], chosen: Chosen) -> list[str]:
        if chosen is False:
            return []
        paths = self._fields if chosen is None else chosen
        found = (text for path in paths for text in get_text_at_path(value, _path(path)))
        return list(dict.fromkeys(text for text in found if text))

    def _embedded(self, texts: Iterable[str]) -> dict[str, Vector | None]:
        wanted = list(dict.fromkeys(texts))
        missing = [text for text in wanted if text not in self._known]
        if missing:
            for text, vector in zip(missing, self._embed(missing), strict=True):
                self._known[text] = _unit(vector)
        found = {}
        for text in wanted:
            self._known.move_to_end(text)
            found[text] = self._known[text]
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return found


def named(chosen: Chosen, task: str | None) -> str | None:
    """The task of a put's origin: it names the fields that this put chose, and none by default."""
    if chosen is None or chosen is False:
        return task
    fields = f"put with index={json.dumps(list(chosen), ensure_ascii=False)}"
    return f"{task}: {fields}" if task else fields


def _named(task: str | None) -> Chosen:
    found = _NAMED.search(task or "")
    if found is None:
        return None
    try:
        fields = json.loads(found[1])
    except ValueError:
        return None
    return [each for each in fields if isinstance(each, str)]


def _path(path: str) -> str | list[str]:
    return path if path == "$" else tokenize_path(path)


def _unit(vector: Vector | None) -> Vector | None:
    """A vector of length one, in single precision; None for none, and for one of zeros."""
    if vector is None:
        return None
    length = math.hypot(*vector)
    return array("f", (each / length for each in vector)) if length > 0 else None


def _mean(vectors: Iterable[Vector | None]) -> Vector | None:
    found = [vector for vector in vectors if vector is not None]
    if len(found) < 2:
        return found[0] if found else None
    return _unit([sum(each) for each in zip(*found, strict=True)])


def _product(one: Vector, other: Vector) -> float:
    return float(sum(map(operator.mul, one, other)))
