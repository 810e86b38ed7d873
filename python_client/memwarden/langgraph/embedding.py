"""The calls of an index's model: beside the event loop for asyncio, in place without it."""

from __future__ import annotations

from collections.abc import Sequence

from memwarden.langgraph.index import FieldIndex, Vector


async def aembedded(index: FieldIndex, texts: list[str]) -> Sequence[Vector | None]:
    """The vectors of texts as the model makes them."""
    return await index.aembed(texts)


def embedded(index: FieldIndex, texts: list[str]) -> Sequence[Vector | None]:
    """The same; what `aembedded` becomes in the generated store."""
    return index.embed(texts)


async def aembedded_query(index: FieldIndex, text: str) -> Vector | None:
    """The vector of a query; None for a text that has none."""
    return await index.aembed_query(text)


def embedded_query(index: FieldIndex, text: str) -> Vector | None:
    """The same; what `aembedded_query` becomes in the generated store."""
    return index.embed_query(text)
