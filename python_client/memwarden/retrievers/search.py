"""Asking sources outside, all at once; what they answer is evidence, once it is screened."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from memwarden.retrievers.discovery import load
from memwarden.retrievers.retriever import Hit, RetrieverError

MOST_CHARACTERS = 4000
MOST_URI = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalSource:
    """A source outside that the caller may ask, as it is registered."""

    source: str
    kind: str
    settings: dict[str, Any]
    type: str
    timeout: timedelta
    max_results: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalResult:
    """One answer, in the shape of evidence.

    `excerpt` is what the rules for sensitive content let through; `excerpt_hash` the SHA-256 of
    it; `suspicious` the kinds of what they found: instructions hidden in it are never to be
    followed.
    """

    source: str
    type: str
    uri: str
    excerpt: str
    excerpt_hash: str
    accessed_at: datetime
    version: str | None
    suspicious: list[str]

    def as_evidence(self) -> dict[str, Any]:
        """Return the reference that `write(evidence=[...])` takes."""
        reference = {
            "type": self.type,
            "uri": self.uri,
            "excerpt": self.excerpt,
            "accessed_at": self.accessed_at.isoformat(),
        }
        return reference if self.version is None else reference | {"version": self.version}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalAnswer:
    """What sources outside answered, source by source in the order asked; why others did not.

    `withheld` counts, by source, what was not given because of what the rules found.
    """

    results: list[ExternalResult]
    failures: dict[str, str]
    withheld: dict[str, int]


@dataclass
class _Asked:
    """A source while it is asked."""

    source: ExternalSource
    until: float
    hits: list[Hit] = field(default_factory=list)
    failure: str | None = "no answer in time"

    def ask(self, query: str, k: int | None) -> None:
        wanted = min(k or self.source.max_results, self.source.max_results)
        seconds = self.source.timeout.total_seconds()
        try:
            hits = load(self.source.kind).search(query, wanted, self.source.settings, seconds)
            self.hits, self.failure = list(hits)[:wanted], None
        except RetrieverError as error:
            self.failure = str(error)
        except Exception as error:  # whatever a plug-in does, the others go on
            self.failure = f"the retriever failed: {type(error).__name__}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenedRow:
    """What may be told of an answer, by its place from 1, as the database says."""

    place: int
    answer: dict[str, Any]
    suspicious: list[str]


@dataclass(frozen=True, slots=True)
class Heard:
    """What sources said, and when, before anything of it is given; why others said nothing."""

    hits: list[tuple[ExternalSource, Hit]]
    failures: dict[str, str]
    accessed_at: datetime

    def answers(self) -> list[dict[str, Any]]:
        """Return what is to be screened, in the order of `hits`."""
        return [
            {
                "text": _storable(hit.text[:MOST_CHARACTERS]),
                "uri": _storable(hit.uri[:MOST_URI]),
                "version": None if hit.version is None else _storable(hit.version),
            }
            for _, hit in self.hits
        ]


def _storable(text: str) -> str:
    """The text as PostgreSQL can be asked about it: without NUL and halves of characters."""
    return text.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def ask(query: str, sources: Sequence[ExternalSource], k: int | None) -> Heard:
    """Ask all sources at once, each no longer than its timeout."""
    asked = [
        _Asked(each, time.monotonic() + each.timeout.total_seconds() + 0.1) for each in sources
    ]
    # Threads that end with the process: one that hangs holds up neither this call nor the end.
    threads = [threading.Thread(target=a.ask, args=(query, k), daemon=True) for a in asked]
    for thread in threads:
        thread.start()
    for each, thread in zip(asked, threads, strict=True):
        thread.join(max(0.0, each.until - time.monotonic()))
    hits: list[tuple[ExternalSource, Hit]] = []
    failures: dict[str, str] = {}
    for each in asked:
        # One look: a thread that is late changes nothing any more.
        found, failure = each.hits, each.failure
        if failure is not None:
            failures[each.source.source] = failure
        else:
            hits += [(each.source, hit) for hit in found]
    return Heard(hits, failures, datetime.now(UTC))


def given(heard: Heard, screened: Sequence[ScreenedRow]) -> ExternalAnswer:
    """Return of what was heard what may be given; what is not screened is not given."""
    told = {row.place: row for row in screened}
    results: list[ExternalResult] = []
    withheld: dict[str, int] = {}
    for place, (source, _) in enumerate(heard.hits, 1):
        result = _result(source, heard.accessed_at, told.get(place))
        if result is None:
            withheld[source.source] = withheld.get(source.source, 0) + 1
        else:
            results.append(result)
    return ExternalAnswer(results=results, failures=heard.failures, withheld=withheld)


def _result(
    source: ExternalSource, accessed_at: datetime, told: ScreenedRow | None
) -> ExternalResult | None:
    """The answer as evidence; None where it must not be given."""
    if told is None or told.answer["text"] is None or told.answer["uri"] is None:
        return None
    return ExternalResult(
        source=source.source,
        type=source.type,
        uri=told.answer["uri"],
        excerpt=told.answer["text"],
        excerpt_hash=hashlib.sha256(told.answer["text"].encode()).hexdigest(),
        accessed_at=accessed_at,
        version=told.answer["version"],
        suspicious=told.suspicious,
    )
