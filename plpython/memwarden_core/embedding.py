"""The embedded default embedder: deterministic feature hashing, no model, no network (design 9)."""

from __future__ import annotations

import math
import re
import zlib

from .normalise import normalise

DIMENSION = 384


def lexical_embedding(text: str) -> list[float] | None:
    """A unit vector of DIMENSION floats; None for a text without a single word."""
    words = re.findall(r"\w+", normalise(text))
    vector = [0.0] * DIMENSION
    for word in words:
        number = zlib.crc32(word.encode())
        vector[number % DIMENSION] += 1.0 if number & 0x80000000 else -1.0
    norm = math.sqrt(math.fsum(x * x for x in vector))
    return [x / norm for x in vector] if norm else None
