"""Structural fingerprints: the same fact in other dress has the same 32 bytes (D1 tier 2, D5)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping

from .canonical import serialise
from .late import late
from .normalise import normalise
from .synonyms import Synonyms
from .written import identity, is_key

_SEPARATORS = re.compile(r"[\s_-]+")
_IDENTIFIER = late(r"(?:.*_)?id|.*[a-z]Id")
"""A name in a content that says that its value is an identifier: user_id, threadId."""

Table = Synonyms | Mapping[str, str] | None


def normalised_value(value: object, normalise_text: Callable[[str], str]) -> object:
    """The value with its texts normalised; keys, numbers, identifiers and structure stay."""
    if isinstance(value, str):
        return normalise_text(value)
    if isinstance(value, dict):
        return {
            key: child
            if isinstance(child, str) and _IDENTIFIER.fullmatch(key)
            else normalised_value(child, normalise_text)
            for key, child in value.items()
        }
    if isinstance(value, list):
        return [normalised_value(child, normalise_text) for child in value]
    return value


def _digest(purpose: bytes, *parts: bytes | None) -> bytes:
    """SHA-256 over length-prefixed parts, so that no two lists of parts read the same."""
    digest = hashlib.sha256(purpose)
    for part in parts:
        if part is None:
            digest.update(b"\x00")
        else:
            digest.update(b"\x01" + len(part).to_bytes(8, "big") + part)
    return digest.digest()


def normalised_name(text: str | None, synonyms: Table = None) -> bytes | None:
    """A normalised subject or predicate as UTF-8; a blank one counts as absent."""
    return (normalise(text, synonyms).encode() or None) if text else None


def normalised_subject(text: str | None, synonyms: Table = None) -> bytes | None:
    """A normalised subject: of a person with an id, as in Ana <U0A1>, the id alone."""
    return normalised_name(identity(text), synonyms) if text else None


def normalised_predicate(text: str | None, synonyms: Table = None) -> bytes | None:
    """A normalised predicate: blanks, hyphens and underscores do not matter in one."""
    return normalised_name(_SEPARATORS.sub(" ", text), synonyms) if text else None


def table_for(predicate: str | None, synonyms: Table) -> Table:
    """The synonyms that count for a subject and predicate: a key of another system has none."""
    return None if is_key(predicate) else synonyms


def fingerprint_of(normalised: object, subject: bytes | None, predicate: bytes | None) -> bytes:
    """The fingerprint of parts that are normalised already."""
    return _digest(b"memwarden fingerprint 1", subject, predicate, serialise(normalised))


def key_hash_of(subject: bytes | None, predicate: bytes | None) -> bytes | None:
    """The key hash of names that are normalised already."""
    if subject is None or predicate is None:
        return None
    return _digest(b"memwarden key 1", subject, predicate)


def fingerprint(
    value: object,
    subject: str | None = None,
    predicate: str | None = None,
    synonyms: Table = None,
) -> bytes:
    """SHA-256 (32 bytes) over normalised subject, predicate and object.

    Raises: NotCanonical when the value has no canonical form.
    """
    table = table_for(predicate, synonyms)
    return fingerprint_of(
        normalised_value(value, lambda text: normalise(text, synonyms)),
        normalised_subject(subject, table),
        normalised_predicate(predicate, table),
    )


def key_hash(subject: str | None, predicate: str | None, synonyms: Table = None) -> bytes | None:
    """SHA-256 (32 bytes) over normalised subject and predicate; None unless both are there."""
    table = table_for(predicate, synonyms)
    return key_hash_of(normalised_subject(subject, table), normalised_predicate(predicate, table))
