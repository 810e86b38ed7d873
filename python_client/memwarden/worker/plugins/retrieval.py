"""`retrieval`: looks the claim up in a knowledge base; a passage has to bear it out.

What bears out what is judged by the rules that the gate of evidence uses in the server.

Settings: `folder`, a directory with texts (.txt, .md) on the worker's machine, or `url`, a search
service that gets `{"query", "k"}` and answers `{"passages": [{"source", "text"}]}` (`secret_env`:
its bearer token); `k`, how many passages are read (5); `threshold` of the score (0.6).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memwarden.worker.plugin import PluginError, Verdict
from memwarden.worker.plugins.http import post_json
from memwarden.worker.plugins.settings import number, secret, text
from memwarden_core.support.judge import DENIED, supports

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_MAX_FILES = 10_000
_MAX_FILE = 4 * 1024 * 1024
_LONGEST_PASSAGE = 1200
_K1, _B = 1.2, 0.75  # BM25, as usual


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text and where it stands."""

    source: str
    text: str


class Retrieval:
    """Searches by words, and lets the best passage decide."""

    name = "retrieval"
    version = "1"

    def judge(self, payload: Mapping[str, Any], settings: Mapping[str, Any]) -> Verdict:
        """Accept a claim that one passage alone bears out, and none contradicts."""
        claim = payload.get("claim")
        if not isinstance(claim, str) or not claim.strip():
            raise PluginError("there is no claim to look up", permanent=True)
        k = int(number(settings, "k", 5, least=1, most=50))
        threshold = number(settings, "threshold", 0.6, least=0, most=1)
        if settings.get("folder") is not None:
            found = best(claim, list(passages(Path(text(settings, "folder")))), k)
        else:
            found = _searched(claim, k, settings)
        supported = supports(
            payload.get("subject"),
            payload.get("predicate"),
            json.dumps(payload.get("content", claim)),
            [each.text for each in found],
            ["document"] * len(found),
            [each.source for each in found],
        )
        score = max(supported, default=0.0)
        if DENIED in supported:
            # Whoever is right, this base does not settle it.
            score /= 2
        detail = {
            "passages": [
                {"source": each.source[:200], "support": round(support, 4)}
                for each, support in sorted(
                    zip(found, supported, strict=True), key=lambda pair: -pair[1]
                )[:5]
            ]
        }
        score = max(score, 0.0)
        return Verdict("accept" if score >= threshold else "reject", score, detail)


def terms(of: str) -> list[str]:
    """Return the words and numbers of a text, folded, plurals with their singulars."""
    found = (each.replace(",", "") for each in _WORD.findall(of.casefold()))
    return [each[:-1] if len(each) > 3 and each.endswith("s") else each for each in found]


def passages(folder: Path) -> Iterator[Passage]:
    """Yield the paragraphs of the texts below a folder.

    Raises:
        PluginError: there is no such folder.
    """
    if not folder.is_dir():
        raise PluginError("the folder of the knowledge base is not there")
    files = (path for path in sorted(folder.rglob("*")) if path.suffix in (".txt", ".md"))
    for count, path in enumerate(files):
        if count >= _MAX_FILES:
            raise PluginError(f"the knowledge base has more than {_MAX_FILES} files")
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_FILE:
            continue
        whole = path.read_text(encoding="utf-8", errors="replace")
        for paragraph in re.split(r"\n\s*\n", whole):
            for start in range(0, len(paragraph), _LONGEST_PASSAGE):
                piece = paragraph[start : start + _LONGEST_PASSAGE].strip()
                if piece:
                    yield Passage(str(path.relative_to(folder)), piece)


def best(query: str, among: Sequence[Passage], k: int) -> list[Passage]:
    """Return the k passages that BM25 holds closest to the query, best first."""
    bags = [Counter(terms(each.text)) for each in among]
    asked = set(terms(query))
    mean = sum(bag.total() for bag in bags) / max(1, len(bags)) or 1.0
    held = {term: sum(term in bag for bag in bags) for term in asked}

    def score(bag: Counter[str]) -> float:
        total = 0.0
        for term in asked & bag.keys():
            rarity = math.log(1 + (len(bags) - held[term] + 0.5) / (held[term] + 0.5))
            length = _K1 * (1 - _B + _B * bag.total() / mean)
            total += rarity * bag[term] * (_K1 + 1) / (bag[term] + length)
        return total

    scored = [(score(bag), at) for at, bag in enumerate(bags)]
    kept = sorted((each for each in scored if each[0] > 0), key=lambda each: (-each[0], each[1]))
    return [among[at] for _, at in kept[:k]]


def _searched(claim: str, k: int, settings: Mapping[str, Any]) -> list[Passage]:
    key = secret(settings)
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    body = json.dumps({"query": claim, "k": k}).encode()
    timeout = number(settings, "timeout", 20, least=0.1, most=3600)
    answer = post_json(text(settings, "url"), body, headers, timeout)
    listed = answer.get("passages") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise PluginError("the answer of the search service has no passages")
    return [
        Passage(str(each.get("source", "")), each["text"])
        for each in listed[:k]
        if isinstance(each, dict) and isinstance(each.get("text"), str)
    ]
