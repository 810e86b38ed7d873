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
_TAG = 16
# EVP_CTRL_AEAD_SET_TAG of OpenSSL.
_SET_TAG = 0x11


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
    key = wrapping_key(file)
    opened = opened_by_openssl(key, wrapped) if len(wrapped) > _NONCE + _TAG else b""
    if opened is None:
        opened = opened_by_cryptography(key, wrapped)
    if not opened:
        raise OtherMasterKey("the key was wrapped by another master key")
    return opened


def opened_by_openssl(key: bytes, wrapped: bytes) -> bytes | None:
    """Return what AES-256-GCM has wrapped, by the OpenSSL that hashlib has loaded.

    Every connection that writes opens a key, and loading ``cryptography`` takes as long as a write.
    Empty for another key's; None where OpenSSL is not to be had.
    """
    try:
        import _hashlib
        import ctypes

        ssl = ctypes.CDLL(_hashlib.__file__)
        aes = ssl.EVP_aes_256_gcm
        new, free = ssl.EVP_CIPHER_CTX_new, ssl.EVP_CIPHER_CTX_free
        init, control = ssl.EVP_DecryptInit_ex, ssl.EVP_CIPHER_CTX_ctrl
        update, final = ssl.EVP_DecryptUpdate, ssl.EVP_DecryptFinal_ex
    except (ImportError, AttributeError, OSError):
        return None
    pointer, number, size = ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_int)
    aes.argtypes, aes.restype = [], pointer
    new.argtypes, new.restype = [], pointer
    free.argtypes, free.restype = [pointer], None
    init.argtypes = [pointer, pointer, pointer, ctypes.c_char_p, ctypes.c_char_p]
    control.argtypes = [pointer, number, number, ctypes.c_char_p]
    update.argtypes = [pointer, ctypes.c_char_p, size, ctypes.c_char_p, number]
    final.argtypes = [pointer, ctypes.c_char_p, size]

    nonce, sealed, tag = wrapped[:_NONCE], wrapped[_NONCE:-_TAG], wrapped[-_TAG:]
    plain, length = ctypes.create_string_buffer(len(sealed) + _TAG), number()
    context = new()
    if not context:
        return None
    try:
        if init(context, aes(), None, key, nonce) != 1:
            return None
        if update(context, plain, length, sealed, len(sealed)) != 1:
            return None
        opened = plain.raw[: length.value]
        if control(context, _SET_TAG, _TAG, tag) != 1:
            return None
        return opened if final(context, plain, length) == 1 else b""
    finally:
        free(context)


def opened_by_cryptography(key: bytes, wrapped: bytes) -> bytes:
    """Return what AES-256-GCM has wrapped; empty for another key's."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(wrapped[:_NONCE], wrapped[_NONCE:], None)
    except (InvalidTag, ValueError):
        return b""


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
