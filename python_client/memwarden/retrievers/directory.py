"""`directory`: text files, ranked by BM25, paragraph by paragraph.

Settings: `path`, below the directory that MEMWARDEN_RETRIEVER_ROOT names; `glob`, which files
(default `**/*.md`); `uri_prefix`, what stands before a file's name (default `file:`).
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memwarden.retrievers.environment import directory
from memwarden.retrievers.retriever import Hit, RetrieverError

MOST_FILES = 10_000
MOST_BYTES = 1024 * 1024
_K1 = 1.5
_B = 0.75
_WORD = re.compile(r"\w+")


class Directory:
    """Reads the files anew for each question: what they say is never kept."""

    name = "directory"

    def search(self, query: str, k: int, settings: Mapping[str, Any], timeout: float) -> list[Hit]:
        """Return the paragraphs that answer best."""
        until = time.monotonic() + timeout
        root = directory(str(settings.get("path", ".")))
        prefix = str(settings.get("uri_prefix", "file:"))
        pieces = list(_paragraphs(root, str(settings.get("glob", "**/*.md")), until))
        ranked = rank(query, [text for _, text in pieces])[:k]
        return [Hit(uri=prefix + pieces[n][0], text=pieces[n][1]) for n in ranked]


def _paragraphs(root: Path, glob: str, until: float) -> Iterator[tuple[str, str]]:
    for number, path in enumerate(sorted(root.glob(glob))):
        if number >= MOST_FILES or time.monotonic() > until:
            raise RetrieverError("too many files for the time")
        # A link must not lead out of the directory.
        if not path.is_file() or not path.resolve().is_relative_to(root):
            continue
        with path.open("rb") as file:
            text = file.read(MOST_BYTES).decode("utf-8", errors="replace")
        for place, paragraph in enumerate(re.split(r"\n\s*\n", text), 1):
            if paragraph.strip():
                yield f"{path.relative_to(root).as_posix()}#{place}", paragraph.strip()


def rank(query: str, texts: list[str]) -> list[int]:
    """Return the numbers of the texts that have a word of the query, best first (Okapi BM25)."""
    counted = [Counter(_WORD.findall(text.casefold())) for text in texts]
    lengths = [sum(words.values()) for words in counted]
    mean = sum(lengths) / len(lengths) if lengths else 0
    scores = [0.0] * len(texts)
    for word in set(_WORD.findall(query.casefold())):
        holding = [n for n, words in enumerate(counted) if word in words]
        rarity = math.log(1 + (len(texts) - len(holding) + 0.5) / (len(holding) + 0.5))
        for n in holding:
            times = counted[n][word]
            length = 1 - _B + _B * lengths[n] / mean
            scores[n] += rarity * times * (_K1 + 1) / (times + _K1 * length)
    return sorted((n for n, s in enumerate(scores) if s > 0), key=lambda n: (-scores[n], n))
