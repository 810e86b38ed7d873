"""What asks a kind of source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


class RetrieverError(Exception):
    """A source cannot be asked, or did not answer; the text names no secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing that a source answers. `text`: its words; `uri`: where they stand."""

    uri: str
    text: str
    version: str | None = None


@runtime_checkable
class Retriever(Protocol):
    """Asks sources of one kind. Called in a thread of its own for each source."""

    name: str

    def search(self, query: str, k: int, settings: Mapping[str, Any], timeout: float) -> list[Hit]:
        """Return at most `k` hits, best first, within `timeout` seconds.

        Raises:
            RetrieverError: it cannot be asked, or does not answer as the settings say.
        """
