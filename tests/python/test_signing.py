"""Wrapped keys: the OpenSSL at hand opens what the library opens, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memwarden_core import signing


@pytest.fixture
def master(tmp_path: Path) -> str:
    """A file with a master key."""
    file = tmp_path / "master.key"
    file.write_text(os.urandom(32).hex())
    return str(file)


def test_both_ways_open_the_same_key(master: str) -> None:
    """A connection takes the quick way, and the other one where there is no such OpenSSL."""
    wrapped = signing.new_wrapped_key(master)
    assert wrapped is not None
    key = signing.wrapping_key(master)
    opened = signing.opened_by_openssl(key, wrapped)
    assert opened is not None, "hashlib of this Python has no OpenSSL"
    assert len(opened) == 32
    assert (
        opened == signing.opened_by_cryptography(key, wrapped) == signing.unwrapped(master, wrapped)
    )


@pytest.mark.parametrize("place", [0, 20, 50])
def test_a_key_that_was_changed_is_not_opened(master: str, place: int) -> None:
    """In nonce, ciphertext or tag: it is as another master key's."""
    wrapped = bytearray(signing.new_wrapped_key(master) or b"")
    wrapped[place] ^= 1
    assert signing.opened_by_openssl(signing.wrapping_key(master), bytes(wrapped)) == b""
    with pytest.raises(signing.OtherMasterKey):
        signing.unwrapped(master, bytes(wrapped))


@pytest.mark.parametrize("length", [0, 11, 28, 59])
def test_what_is_too_short_is_no_key(master: str, length: int) -> None:
    """Nothing is read beyond its end."""
    wrapped = (signing.new_wrapped_key(master) or b"")[:length]
    with pytest.raises(signing.OtherMasterKey):
        signing.unwrapped(master, wrapped)
