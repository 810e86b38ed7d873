"""The index of a store: which fields of a value a query compares with, and how near they are."""

from __future__ import annotations

import json
import math
import operator
import re
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from inspect import iscoroutinefunction
from typing import Any, Literal, TypedDict

from langchain_core.embeddings import Embeddings
from langgraph.store.base import IndexConfig
from langgraph.store.base.embed import (
    AEmbeddingsFunc,
    EmbeddingsFunc,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
)

from memwarden._offload import in_thread
from memwarden.embedders import Embedder, query_embedding
from memwarden.errors import InvalidArgument
from memwarden.results import RecalledItem

Vector = Sequence[float]
Chosen = Literal[False] | Sequence[str] | None
Score = float | None
# How many vectors of fields stay in memory.
_KEPT = 2000
# How the task of an origin names the fields that one put chose: a search finds them there.
_NAMED = re.compile(r"put with index=(\[.*\])", re.DOTALL)
_NAME = re.compile(r"\S{1,200}")


class MemwardenIndexConfig(TypedDict, total=False):
    """The `index` of LangGraph's `PostgresStore`, with the name of the model.

    Attributes:
        embed: as LangGraph has it; or an embedder of memwarden, which has a name and may have a way
            to embed queries.
        dims: how many numbers a vector has.
        fields: paths of the fields to compare; `["$"]`, the whole value, by default.
        model: the name that the model is registered under; by default that of `embed`, or else
            `langgraph-` and dims.
        distance_type: what the score is: `cosine`, the default, `inner_product`, or `l2`, less than
            nothing. The last two need vectors of length one.
        ann_index_config: read and not used; the server has its own index.
    """

    embed: Embeddings | EmbeddingsFunc | AEmbeddingsFunc | Embedder | str
    dims: int
    fields: list[str] | None
    model: str
    distance_type: Literal["cosine", "inner_product", "l2"]
    ann_index_config: Mapping[str, Any]


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
        self.distance: str = given.get("distance_type", "cosine")
        vector_type = (given.get("ann_index_config") or {}).get("vector_type", "vector")
        if self.distance not in ("cosine", "inner_product", "l2") or (
            vector_type not in ("vector", "halfvec")
        ):
            raise InvalidArgument(
                f"no index has the distance {self.distance} of the type {vector_type}",
                hint="Use cosine, inner_product or l2, and vector or halfvec.",
            )
        self.dims: int | None = given.get("dims")
        self.model = _name_of(given, embed)
        if self.model == "lexical":
            # The server makes these vectors for whatever brings none: index=False would not hold.
            raise InvalidArgument("the model lexical is the server's own, and no index")
        fields = given.get("fields") or ["$"]
        self._fields: list[str] = [fields] if isinstance(fields, str) else list(fields)
        # Whether memories are seen to have several: what the server finds is a guess then.
        self.is_several = len(self._fields) > 1 or "*" in self._fields[0]
        self.is_async = iscoroutinefunction(embed) or iscoroutinefunction(type(embed).__call__)
        self._own: Any = embed if callable(getattr(embed, "embed", None)) else None
        self._made = None if self._own else ensure_embeddings(embed)
        self._known: OrderedDict[str, Vector | None] = OrderedDict()
        self._turn = threading.Lock()

    def embed(self, texts: list[str]) -> Sequence[Vector | None]:
        """The vectors of texts as the model makes them."""
        if self._made is None:
            made: Sequence[Vector | None] = self._own.embed(texts)
            return made
        return self._made.embed_documents(texts)

    async def aembed(self, texts: list[str]) -> Sequence[Vector | None]:
        """As `embed`, without holding up the event loop."""
        if self._made is None:
            return await in_thread(self.embed, texts)
        return await self._made.aembed_documents(texts)

    def embed_query(self, text: str) -> Vector | None:
        """The vector of a query; None for a text that has none."""
        vector = query_embedding(self._own, text) if self._own else None
        return self._unit(self._made.embed_query(text) if self._made else vector)

    async def aembed_query(self, text: str) -> Vector | None:
        """As `embed_query`, without holding up the event loop."""
        if self._made is None:
            return await in_thread(self.embed_query, text)
        return self._unit(await self._made.aembed_query(text))

    def texts(self, value: Mapping[str, Any], chosen: Chosen) -> list[str]:
        """The texts of a value that are compared with queries."""
        if chosen is False:
            return []
        paths = self._fields if chosen is None else chosen
        found = (text for path in paths for text in get_text_at_path(value, _path(path)))
        return list(dict.fromkeys(text for text in found if text))

    def compared(self, item: RecalledItem) -> list[str]:
        """The texts whose vectors say how near a memory is; none where the server has said so."""
        if item.similarity is None:
            return []
        texts = self.texts(item.content, _named(item.origin.get("task")))
        return texts if len(texts) > 1 or self.distance == "l2" else []

    def known(self, texts: Iterable[str]) -> dict[str, Vector | None]:
        """The vectors of texts that are known already."""
        with self._turn:
            found = {text: self._known[text] for text in texts if text in self._known}
            for text in found:
                self._known.move_to_end(text)
        return found

    def keep(self, made: Mapping[str, Vector | None]) -> dict[str, Vector | None]:
        """The vectors that were just made, each of length one; some stay known."""
        units = {text: self._unit(vector) for text, vector in made.items()}
        with self._turn:
            self._known.update(units)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return units

    def score(self, query: Vector, item: RecalledItem, vectors: Sequence[Vector | None]) -> Score:
        """How near a memory's nearest field is; None where it has no vector."""
        near = [self._near(query, vector) for vector in vectors if vector is not None]
        self.is_several = self.is_several or len(near) > 1
        likeness = item.similarity
        if likeness is not None and self.distance == "l2":
            likeness = -math.sqrt(max(0.0, 2 - 2 * likeness))
        return max(near, default=likeness)

    def _near(self, query: Vector, vector: Vector) -> float:
        if self.distance == "l2":
            return -math.dist(query, vector)
        return float(sum(map(operator.mul, query, vector)))

    def _unit(self, vector: Vector | None) -> Vector | None:
        """A vector of length one, in single precision; None for none, and for one of zeros.

        Raises:
            InvalidArgument: it has another size than `dims`, or a length that the distance forbids.
        """
        if vector is None:
            return None
        if self.dims is not None and len(vector) != self.dims:
            raise InvalidArgument(
                f"embed makes vectors of {len(vector)} numbers, and dims is {self.dims}"
            )
        length = math.hypot(*vector)
        if self.distance != "cosine" and length and abs(length - 1) > 0.001:
            raise InvalidArgument(
                f"the distance {self.distance} needs vectors of length one",
                hint="Use cosine, or have embed divide each vector by its length.",
            )
        return unit(vector)


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


def unit(vector: Vector) -> Vector | None:
    """A vector of length one, in single precision; None for one of zeros."""
    length = math.hypot(*vector)
    return array("f", (each / length for each in vector)) if length > 0 else None


def mean(vectors: Iterable[Vector | None]) -> Vector | None:
    """The vector that a memory of several fields is found by; None without any."""
    found = [vector for vector in vectors if vector is not None]
    if len(found) < 2:
        return found[0] if found else None
    return unit([sum(each) for each in zip(*found, strict=True)])


def _name_of(given: Mapping[str, Any], embed: Any) -> str | None:
    """The name of a model: as given, as the embedder has it, or else by its size."""
    if given.get("model"):
        return str(given["model"])
    names = (getattr(embed, name, None) for name in ("name", "model", "model_name"))
    named = next((name for name in names if isinstance(name, str) and _NAME.fullmatch(name)), None)
    return named or (f"langgraph-{given['dims']}" if given.get("dims") else None)
