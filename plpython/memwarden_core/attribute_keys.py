"""By what is found what was said of the same attribute of the same thing: keyed hashes."""

from __future__ import annotations

import hashlib
import hmac
import os
from functools import lru_cache

from .verdict.attribute import Attribute, attribute_of


def attribute_key(
    file: str | None, text: str, content: object, subject: str | None, predicate: str | None
) -> tuple[bytes | None, bool]:
    """Return the key of the attribute that a memory tells of: 32 bytes, an HMAC-SHA256.

    None where no rule reads one, for what has a key of its own (subject and predicate), and where
    the master key's file cannot be read. Without a master key it is a plain hash. And whether it
    is to be compared with what has that key: it may end or deny what another one tells.
    """
    if subject and predicate:
        return None, False
    attribute = attribute_of(text, content, subject)
    if attribute is None:
        return None, False
    return _key(file, attribute), attribute.sought


def _key(file: str | None, attribute: Attribute) -> bytes | None:
    told = f"{attribute.subject}\x00{attribute.family}".encode(errors="surrogatepass")
    if not file:
        return hashlib.sha256(b"memwarden attribute 1" + told).digest()
    try:
        found = os.stat(file)
        key = _derived(file, (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))
    except (OSError, ValueError):
        return None
    return hmac.digest(key, told, "sha256")


@lru_cache(maxsize=2)
def _derived(file: str, _state: tuple[int, ...]) -> bytes:
    """The key for attributes, once for each state of the master key's file."""
    with open(file, "rb") as opened:
        master = bytes.fromhex(opened.read().strip().decode("ascii"))
    return hmac.digest(hmac.digest(b"memwarden", master, "sha256"), b"attribute keys\x01", "sha256")
