"""Identifiers of other systems, as subjects and predicates that are compared to the letter."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import unquote

from memwarden_core.written import written

Namespace = tuple[str, ...]

# A predicate may have rules: of `likes`, people have several. A key has none, and ends in this.
_KEY = "="


def subject_of(namespace: Namespace) -> str:
    """The subject of all memories of a namespace."""
    return "/".join(written(label) for label in namespace)


@lru_cache(1000)
def namespace_of(subject: str) -> Namespace:
    """The namespace that a subject was made from."""
    return tuple(_read(part) for part in subject.split("/"))


def predicate_of(key: str) -> str:
    """The predicate of the memory of a key.

    In a predicate the server tells no hyphen from an underscore.
    """
    return written(key).replace("-", "~") + _KEY


def key_of(predicate: str) -> str:
    """The key that a predicate was made from."""
    return _read(predicate.removesuffix(_KEY).replace("~", "-"))


def _read(label: str) -> str:
    return unquote(label, errors="surrogatepass")
