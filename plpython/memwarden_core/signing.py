"""Keys that are kept wrapped, and what is signed with them.

A key is 32 random bytes, encrypted (AES-256-GCM) under one that derives from the server's master
key (HKDF, RFC 5869). A connection that signs keeps the key open for its next signature; it is never
handed on.
"""

from __future__ import annotations

import hmac
import os
from functools import lru_cache

_NONCE = 12


class KeyUnusable(ValueError):
    """The master key's file holds none, or another one than wrapped this key."""


class OtherMasterKey(KeyUnusable):
    """The key was wrapped by another master key than the server's."""


def wrapping_key(file: str) -> bytes:
    """Return the key that wraps others.

    Raises: KeyUnusable.
    """
    try:
        with open(file, "rb") as opened:
            master = bytes.fromhex(opened.read().strip().decode("ascii"))
    except (OSError, ValueError):
        master = b""
    if len(master) < 32:
        raise KeyUnusable("the master key cannot be read, or is shorter than 32 bytes")
    extracted = hmac.digest(b"memwarden", master, "sha256")
    return hmac.digest(extracted, b"wrapping keys\x01", "sha256")


def new_wrapped_key(file: str | None) -> bytes | None:
    """Return a new key, wrapped: nonce, ciphertext and tag. None where there is no master key.

    Raises: KeyUnusable.
    """
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if not file:
        return None
    nonce = os.urandom(_NONCE)
    return nonce + AESGCM(wrapping_key(file)).encrypt(nonce, os.urandom(32), None)


def unwrapped(file: str, wrapped: bytes) -> bytes:
    """Return a key that new_wrapped_key() made.

    Raises: OtherMasterKey, or KeyUnusable.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(wrapping_key(file)).decrypt(wrapped[:_NONCE], wrapped[_NONCE:], None)
    except (InvalidTag, ValueError):
        raise OtherMasterKey("the key was wrapped by another master key") from None


def sign(file: str | None, wrapped: bytes | None, purpose: str, text: str) -> bytes | None:
    """Return HMAC-SHA256 of a text, bound to a purpose; None without a key or a master key.

    Raises: KeyUnusable.
    """
    if not file or wrapped is None:
        return None
    try:
        found = os.stat(file)
    except OSError:
        raise KeyUnusable("the master key cannot be read") from None
    state = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    signing = _signing_key(file, state, wrapped).copy()
    signing.update(f"{purpose}\x00{text}".encode())
    return signing.digest()


# A store signs with few keys, and every write signs. They are nobody's: those that seal the values
# of a tenant are opened each time.
@lru_cache(maxsize=4)
def _signing_key(file: str, _state: tuple[int, ...], wrapped: bytes) -> hmac.HMAC:
    """Open a key, once for each state of the master key's file, and begin what it signs."""
    return hmac.new(unwrapped(file, wrapped), digestmod="sha256")
