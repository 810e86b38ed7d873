"""What an embedder takes of the machine: time to open, time for a text, memory."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

from memwarden.embedders import Embedder, query_embedding

_QUESTIONS = 50
_TEXTS = 200


class Cost(NamedTuple):
    """Of one embedder, opened in this process."""

    seconds_to_open: float
    seconds_a_question: float
    texts_a_second: float
    megabytes: float

    def as_markdown(self) -> str:
        """Return it as a sentence."""
        return (
            f"The embedder opens in {self.seconds_to_open:.2f} s and takes"
            f" {self.megabytes:.0f} MB. It takes {1000 * self.seconds_a_question:.0f} ms for a"
            f" question, and makes {self.texts_a_second:.0f} texts a second."
        )


def measure(
    opened: Callable[[], Embedder], texts: Sequence[str], questions: Sequence[str]
) -> tuple[Embedder, Cost]:
    """Open an embedder, and measure it by the first of some texts and questions."""
    before, start = _megabytes(), time.perf_counter()
    embedder = opened()
    embedder.embed(texts[:1])
    to_open = time.perf_counter() - start
    each = []
    for question in questions[:_QUESTIONS]:
        start = time.perf_counter()
        query_embedding(embedder, question)
        each.append(time.perf_counter() - start)
    start = time.perf_counter()
    embedder.embed(texts[:_TEXTS])
    a_second = len(texts[:_TEXTS]) / (time.perf_counter() - start)
    return embedder, Cost(to_open, median(each), a_second, _megabytes() - before)


def _megabytes() -> float:
    """Return the most memory that this process has held; Linux counts it in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
