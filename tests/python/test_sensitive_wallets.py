"""Addresses and keys of cryptocurrencies are found by their checksums, and devices are found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_core.sensitive.rules.wallets import base58_check
from python.sensitive_samples import FRAMES, Frame, kinds, places

PREFIXES = st.sampled_from([b"\x00", b"\x05", b"\x30", b"\x32", b"\x1e", b"\x41"])
HASHES = st.binary(min_size=20, max_size=20)
KEYS = st.binary(min_size=32, max_size=32)


@given(PREFIXES, HASHES, FRAMES)
def test_an_address_is_found_in_any_sentence(prefix: bytes, paid: bytes, frame: Frame) -> None:
    """Of Bitcoin, Litecoin, Dogecoin and Tron.

    Proves: L10
    """
    address = base58_check(prefix + paid)
    assert places(frame(address), "pii.wallet") == [address]


@given(HASHES, st.integers(1, 25), st.sampled_from("23456789ABCDEFGHJK"))
def test_an_address_with_another_sign_is_none(paid: bytes, place: int, sign: str) -> None:
    """Proves: L10."""
    address = base58_check(b"\x05" + paid)
    other = address[:place] + sign + address[place + 1 :]
    assert (places(f"Send it to {other} now.", "pii.wallet") == []) == (other != address)


@given(KEYS, st.sampled_from([b"", b"\1"]), FRAMES)
def test_a_key_that_can_spend_is_blocked(key: bytes, end: bytes, frame: Frame) -> None:
    """Proves: L10."""
    told = base58_check(b"\x80" + key + end)
    assert places(frame(told), "secret.wallet_key") == [told]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("pay bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", -1),
        ("taproot bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0", -1),
        ("0x52908400098527886e0f7030069857d2e4169ee7 is my eth wallet", 0),
        ("contract 0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", -1),
        ("ripple rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", -1),
        ("solana 7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q", -1),
    ],
)
def test_each_currency_has_its_form(text: str, word: int) -> None:
    """Proves: L10."""
    assert places(text, "pii.wallet") == [text.split()[word]]


@pytest.mark.parametrize(
    "text",
    [
        "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5 has a slip in it",
        "The object is 0x52908400098527886e0f7030069857d2e4169ee7.",
        "session 7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q ended",
        "The file is called rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTi",
    ],
)
def test_other_tokens_are_left_alone(text: str) -> None:
    """Proves: L10."""
    assert "pii.wallet" not in kinds(text)


@given(st.binary(min_size=6, max_size=6), st.sampled_from(":-"), FRAMES)
def test_a_device_is_found_by_its_address(octets: bytes, mark: str, frame: Frame) -> None:
    """One that the text names, or that has a letter in it.

    Proves: L10
    """
    address = bytes([octets[0] & 0xFE, *octets[1:]]).hex(mark)
    if len(set(address)) > 3 and any(c.isalpha() for c in address):
        assert places(frame(address), "pii.hardware_address") == [address]
    # Of a group, of everybody.
    assert "pii.hardware_address" not in kinds(f"01{mark}" + mark.join(["00"] * 5))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The MAC of the router is 00:16:36:10:20:30", True),
        ("port 0016.3610.2030 of the ethernet switch", True),
        ("It ran from 00:16:36:10:20:30 on", False),
        ("ff:ff:ff:ff:ff:ff hears everything", False),
        ("2001:db8:1:2:3:4:5:6 is no such thing", False),
    ],
)
def test_numbers_alone_have_to_be_named(text: str, found: bool) -> None:
    """Proves: L10."""
    assert ("pii.hardware_address" in kinds(text)) == found
