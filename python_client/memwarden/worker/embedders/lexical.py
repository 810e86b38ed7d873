"""`lexical`: what the server computes from the words, for memories that were written without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memwarden_core.embedding import lexical_embedding


class Lexical:
    """Feature hashing of words and word pieces; no settings."""

    name = "lexical"
    version = "1"

    def embed(
        self, texts: Sequence[str], _settings: Mapping[str, Any], /
    ) -> list[list[float] | None]:
        """Return vectors of length 1; None for a text without a word."""
        return [lexical_embedding(text) for text in texts]
