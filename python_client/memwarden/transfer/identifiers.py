"""Identifiers of other systems, as subjects and predicates that are compared to the letter."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

Namespace = tuple[str, ...]

# The server compares names without regard to case, width, blanks and most punctuation; a store
# compares them to the letter. So whatever it may pass over is written as its bytes.
_ALWAYS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789@")
_WITHIN = re.compile(r"(?<=[a-z0-9])[-_.:](?=[a-z0-9])")
# A predicate may have rules: of `likes`, people have several. A key has none, and ends in this.
_KEY = "="


@lru_cache(1000)
def written(label: str) -> str:
    """Write a label so that no two differ only in what the server passes over."""
    within = {match.start() for match in _WITHIN.finditer(label)}
    return "".join(
        each
        if each in _ALWAYS or place in within
        else "".join(f"%{byte:02x}" for byte in each.encode())
        for place, each in enumerate(label)
    )


def subject_of(namespace: Namespace) -> str:
    """The subject of all memories of a namespace."""
    return "/".join(written(label) for label in namespace)


@lru_cache(1000)
def namespace_of(subject: str) -> Namespace:
    """The namespace that a subject was made from."""
    return tuple(unquote(part) for part in subject.split("/"))


def predicate_of(key: str) -> str:
    """The predicate of the memory of a key.

    In a predicate the server tells no hyphen from an underscore.
    """
    return written(key).replace("-", "~") + _KEY


def key_of(predicate: str) -> str:
    """The key that a predicate was made from."""
    return unquote(predicate.removesuffix(_KEY).replace("~", "-"))
