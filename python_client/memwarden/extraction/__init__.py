"""Extraction outside the database: what a plug-in finds in captures.

An extractor finds, and only that: `run.extract` submits what it found as candidates, and the
database writes those in the capturer's name, through every gate. So one that errs, or is talked
into something by what it reads, can do no more than propose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

__all__ = ["Candidate", "Extractor", "NothingSaid"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """What might be remembered. `excerpt`: the words of the capture that it rests on."""

    content: Any
    subject: str | None = None
    predicate: str | None = None
    kind: str | None = None
    write_class: str | None = None
    confidence: float = 0.5
    excerpt: str | None = None
    justification: str | None = None

    def sent(self) -> dict[str, Any]:
        """As `submit_candidates()` takes it."""
        named = {
            "content": self.content,
            "subject": self.subject,
            "predicate": self.predicate,
            "kind": self.kind,
            "class": self.write_class,
            "confidence": self.confidence,
            "excerpt": self.excerpt,
            "justification": self.justification,
        }
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, slots=True)
class NothingSaid:
    """The extractor cannot tell: the capture waits for another run. `why` has no content."""

    why: str


@runtime_checkable
class Extractor(Protocol):
    """A plug-in. What it takes is in the settings of the extractor that names it."""

    name: str

    def extract(
        self, captures: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]
    ) -> Sequence[Sequence[Candidate] | NothingSaid]:
        """Return what there is in each capture, in order.

        Raises:
            PluginError: there is no telling for any of them.
        """
        ...
