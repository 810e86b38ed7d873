"""Values that are kept encrypted, under a key of their organisation.

The key is kept wrapped by the server's master key, as ``signing`` does it. A value is named by a
keyed hash of itself: the same value has the same name within an organisation, so that what is said
twice is still recognised, and nobody without the key can confirm a guess.
"""

from __future__ import annotations

import hmac
import os

from .signing import KeyUnusable, unwrapped

_LETTERS = str.maketrans("0123456789abcdef", "abcdefghijklmnop")


class SealBroken(ValueError):
    """A value that was not sealed under this key, for this organisation, kind and name."""


def value_id(file: str | None, wrapped: bytes, kind: str, value: str) -> str:
    """Return the name of a value: 32 letters from a to p. Raises: KeyUnusable."""
    key = _derived(file, wrapped, b"names")
    name = hmac.digest(key, kind.encode() + b"\x00" + value.encode(), "sha256")[:16].hex()
    # Digits in a row might be taken for something sensitive themselves.
    return name.translate(_LETTERS)


def seal(file: str | None, wrapped: bytes, org_id: int, kind: str, value: str) -> tuple[str, bytes]:
    """Return the name of a value and the value encrypted: nonce (12 bytes), ciphertext, tag (16).

    AES-256-GCM; organisation, kind and name are bound to it. Raises: KeyUnusable.
    """
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    name = value_id(file, wrapped, kind, value)
    nonce = os.urandom(12)
    box = AESGCM(_derived(file, wrapped, b"values"))
    return name, nonce + box.encrypt(nonce, value.encode(), _bound_to(org_id, kind, name))


def unseal(
    file: str | None, wrapped: bytes, org_id: int, kind: str, name: str, sealed: bytes
) -> str:
    """Return a sealed value. Raises: KeyUnusable, SealBroken."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    box = AESGCM(_derived(file, wrapped, b"values"))
    try:
        plain = box.decrypt(sealed[:12], sealed[12:], _bound_to(org_id, kind, name))
    except InvalidTag:
        raise SealBroken("the value is not what was sealed") from None
    return plain.decode()


def _bound_to(org_id: int, kind: str, name: str) -> bytes:
    return f"{org_id}:{kind}:{name}".encode()


def _derived(file: str | None, wrapped: bytes, purpose: bytes) -> bytes:
    if not file:
        raise KeyUnusable("the server has no master key")
    return hmac.digest(unwrapped(file, wrapped), b"sealing box " + purpose + b"\x01", "sha256")
