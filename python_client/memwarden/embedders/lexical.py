"""The embedder that the server uses by default, for vectors made on the client."""

from __future__ import annotations

from collections.abc import Sequence

from memwarden_core.embedding import DIMENSION, lexical_embedding


class LexicalEmbedder:
    """Feature hashing of words and word pieces: no model, no download, the same everywhere."""

    name = "lexical"
    dimension = DIMENSION

    def embed(self, texts: Sequence[str]) -> list[list[float] | None]:
        """Return one vector of length 1 for each text, None for a text without a word."""
        return [lexical_embedding(text) for text in texts]
