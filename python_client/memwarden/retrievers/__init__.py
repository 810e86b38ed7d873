"""Sources outside (L3): asked when something is needed, their answers never stored.

A retriever is a class with `name` and `search`; what is installed under the entry points
`memwarden.retrievers` is found beside `http_json` and `directory`, which come along.
"""

from __future__ import annotations

from memwarden.retrievers.retriever import Hit, Retriever, RetrieverError
from memwarden.retrievers.search import ExternalAnswer, ExternalResult, ExternalSource

__all__ = [
    "ExternalAnswer",
    "ExternalResult",
    "ExternalSource",
    "Hit",
    "Retriever",
    "RetrieverError",
]
