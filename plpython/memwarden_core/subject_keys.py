"""Keys of the people that memories are about.

Each subject has a key. It is kept wrapped by a *generation*: a secret of the server that stands in
a file beside the master key's, and in no backup. When the last server has forgotten a generation,
nobody opens what only that generation wraps, in whichever copy of the database it lies.
"""

from __future__ import annotations

import hmac
import os

from .signing import KeyUnusable, wrapping_key

_NONCE = 12
_TAG = 16


class NoGeneration(KeyUnusable):
    """The server does not have the generation that wraps a key."""


def generations(file: str | None) -> dict[int, bytes]:
    """Return the generations of this server: a number and at least 32 bytes each.

    They are lines ``NUMBER HEX`` of the file that is named as the master key's, with ``.subjects``.
    Raises: KeyUnusable where the file cannot be read as that.
    """
    if not file:
        return {}
    try:
        with open(file + ".subjects", encoding="ascii") as opened:
            lines = [line.split() for line in opened if line.strip()]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise KeyUnusable("the generations of subject keys cannot be read") from None
    found: dict[int, bytes] = {}
    for line in lines:
        try:
            number, secret = int(line[0]), bytes.fromhex(line[1])
        except (IndexError, ValueError):
            raise KeyUnusable("a generation of subject keys is no NUMBER HEX") from None
        if not 0 < number < 2**31 or len(secret) < 32 or len(line) != 2 or number in found:
            raise KeyUnusable("a generation of subject keys is shorter than 32 bytes, or not alone")
        found[number] = secret
    return found


def new_key(file: str | None) -> tuple[int, bytes] | None:
    """Return a new key as the newest generation wraps it, and the number of that; None without one.

    Raises: KeyUnusable.
    """
    return _wrap(file, os.urandom(32))


def rewrapped(file: str | None, generation: int, wrapped: bytes) -> tuple[int, bytes] | None:
    """Return a key as the newest generation wraps it; None where that has wrapped it already.

    Raises: KeyUnusable.
    """
    newest = max(generations(file), default=generation)
    return None if newest == generation else _wrap(file, _opened(file, generation, wrapped))


def seal(file: str | None, generation: int, wrapped: bytes, text: str) -> bytes:
    """Encrypt a text (AES-256-GCM): nonce (12 bytes), ciphertext, tag (16). Raises: KeyUnusable."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(_NONCE)
    box = AESGCM(_derived(_opened(file, generation, wrapped), b"content"))
    return nonce + box.encrypt(nonce, text.encode(), None)


def unseal(file: str | None, generation: int, wrapped: bytes, sealed: bytes) -> str | None:
    """Return a sealed text; None where this server, or this key, does not open it."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        box = AESGCM(_derived(_opened(file, generation, wrapped), b"content"))
        return box.decrypt(sealed[:_NONCE], sealed[_NONCE:], None).decode()
    except (InvalidTag, KeyUnusable, ValueError):
        return None


def blinded(file: str | None, generation: int, wrapped: bytes, data: bytes) -> bytes:
    """Return HMAC-SHA256 of a hash under a subject's key. Raises: KeyUnusable."""
    return hmac.digest(_derived(_opened(file, generation, wrapped), b"hashes"), data, "sha256")


def opened(file: str | None, keys: list[tuple[int, bytes]]) -> list[bool]:
    """Return which keys this server opens, reading its files once."""
    try:
        found = generations(file)
        wrappers = {number: _wrapper(file, found[number]) for number in found} if file else {}
    except KeyUnusable:
        wrappers = {}
    return [
        _unwrapped(wrappers.get(generation), wrapped) is not None for generation, wrapped in keys
    ]


def blinded_words(
    file: str | None, keys: list[tuple[int, bytes]], words: list[str]
) -> list[list[str]]:
    """Return, for each key that opens, what stands for each word in the index."""
    done = []
    for generation, wrapped in keys:
        try:
            key = _derived(_opened(file, generation, wrapped), b"words")
        except KeyUnusable:
            continue
        done.append([hmac.digest(key, word.encode(), "sha256")[:12].hex() for word in words])
    return done


def _wrap(file: str | None, key: bytes) -> tuple[int, bytes] | None:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    found = generations(file)
    if not file or not found:
        return None
    number = max(found)
    nonce = os.urandom(_NONCE)
    return number, nonce + AESGCM(_wrapper(file, found[number])).encrypt(nonce, key, None)


def _opened(file: str | None, generation: int, wrapped: bytes) -> bytes:
    found = generations(file)
    if not file or generation not in found:
        raise NoGeneration(f"this server does not have generation {generation} of subject keys")
    key = _unwrapped(_wrapper(file, found[generation]), wrapped)
    if key is None:
        raise KeyUnusable("the key was wrapped by another master key or generation")
    return key


def _unwrapped(wrapper: bytes | None, wrapped: bytes) -> bytes | None:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if wrapper is None:
        return None
    try:
        return AESGCM(wrapper).decrypt(wrapped[:_NONCE], wrapped[_NONCE:], None)
    except (InvalidTag, ValueError):
        return None


def _wrapper(file: str, secret: bytes) -> bytes:
    """Either file alone opens nothing."""
    return hmac.digest(wrapping_key(file), b"subject keys" + secret + b"\x01", "sha256")


def _derived(key: bytes, purpose: bytes) -> bytes:
    return hmac.digest(key, b"subject key " + purpose + b"\x01", "sha256")
