"""Identifiers of other systems, written so that a comparison of names is one to the letter.

The server compares names without regard to case, width, blanks and most punctuation. So whatever
it may pass over in an identifier is written as its bytes.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import unquote

from .late import late

_ALWAYS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789@")
_WITHIN = late(r"(?<=[a-z0-9])[-_.:](?=[a-z0-9])")
_WRITTEN = late(r"%[0-9a-f]{2}|[a-z0-9]~[a-z0-9]")

_BLANK = late(r"[\s<>]")
_KEY = late(r"[a-z0-9@%._:~-]+=")

_BEARER = late(r"([^<>]*[^<>\s]) <((?=[^<>]*[\d@])[^<>\s]+)>")
"""A person's name and id, as in mail; without a figure or @ it may be a type: list <int>."""


def with_id(name: str, identifier: str) -> str:
    """Return whom a name and an id name together, as in Ana <U0A1>; by either where one is ""."""
    if not name or not identifier or name.casefold() == identifier.casefold():
        return name or identifier
    plain = " ".join(name.replace("<", " ").replace(">", " ").split())
    bare = written(identifier) if _BLANK.search(identifier) else identifier
    return f"{plain} <{bare}>" if plain else bare


def identity(subject: str) -> str:
    """Return what tells a subject from others: the id of Ana <U0A1>, any other as it is."""
    found = _BEARER.fullmatch(subject) if subject[-1:] == ">" else None
    return found[2] if found else subject


def without_id(subject: str) -> str:
    """Return the name of Ana <U0A1>, any other subject as it is."""
    found = _BEARER.fullmatch(subject) if subject[-1:] == ">" else None
    return found[1] if found else subject


def is_key(predicate: str | None) -> bool:
    """Whether a predicate is a key of another system, as an adapter writes it."""
    name = predicate or ""
    return name.endswith("=") and _KEY.fullmatch(name) is not None


@lru_cache(1000)
def written(identifier: str) -> str:
    """Write an identifier so that no two differ only in what the server passes over."""
    within = {match.start() for match in _WITHIN.finditer(identifier)}
    return "".join(
        each
        if each in _ALWAYS or place in within
        else "".join(f"%{byte:02x}" for byte in each.encode(errors="surrogatepass"))
        for place, each in enumerate(identifier)
    )


def read(name: str) -> str:
    """Return a name with the identifiers in it as they were before they were written.

    In a predicate a tilde stands for a hyphen.
    """
    return unquote(name.replace("~", "-")) if _WRITTEN.search(name) else name


def subjects(identifier: str) -> list[str]:
    """Return the subjects that memories of an identifier, or of a namespace a/b/c, may bear."""
    labels = "/".join(map(written, identifier.split("/")))
    # As it stands, unless that is how another identifier is written.
    plain = [identifier] if read(identifier) == identifier else []
    return list(dict.fromkeys([*plain, written(identifier), labels]))
