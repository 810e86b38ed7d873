"""Synthetic memories: texts of common and rare words, and unit vectors in clusters."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

DIMENSION = 384
WORDS = 5_000
WORDS_PER_TEXT = 20


class Workload:
    """A reproducible stream of memories."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        # Words fall off as in language: a few are everywhere, most are rare.
        weights = 1 / np.arange(1, WORDS + 1)
        self.weights = weights / weights.sum()
        self.centres = self.random.standard_normal((200, DIMENSION)).astype(np.float32)

    def vectors(self, count: int) -> Any:
        """Unit vectors around one of 200 centres, shape (count, 384)."""
        centres = self.centres[self.random.integers(0, len(self.centres), count)]
        noise = self.random.standard_normal((count, DIMENSION)).astype(np.float32)
        vectors = centres + noise
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def texts(self, count: int) -> list[str]:
        """Texts of twenty words."""
        chosen = self.random.choice(WORDS, size=(count, WORDS_PER_TEXT), p=self.weights)
        return [" ".join(f"word{number}" for number in row) for row in chosen]

    def memories(self, count: int) -> list[tuple[str, list[float]]]:
        """Pairs of content (JSON text) and embedding."""
        vectors = np.round(self.vectors(count), 5).tolist()
        texts = self.texts(count)
        return [(json.dumps({"text": t}), v) for t, v in zip(texts, vectors, strict=True)]


def vector_literal(vector: list[float]) -> str:
    """A vector in the text form of pgvector."""
    return "[" + ",".join(map(str, vector)) + "]"


def array_literal(vector: list[float]) -> str:
    """A vector as a PostgreSQL array."""
    return "{" + ",".join(map(str, vector)) + "}"
