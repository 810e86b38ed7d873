"""Shipped rules for cryptocurrencies. The keys of their tests are made up here."""

from __future__ import annotations

import hashlib

from ...light import Any

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def base58_check(payload: bytes) -> str:
    """Return a payload with its checksum, as wallets write it."""
    twice = hashlib.sha256(hashlib.sha256(payload).digest()).digest()
    data = payload + twice[:4]
    number, signs = int.from_bytes(data, "big"), ""
    while number:
        number, rest = divmod(number, 58)
        signs = _ALPHABET[rest] + signs
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + signs


def _made_up(seed: str, size: int) -> bytes:
    return hashlib.shake_256(seed.encode()).digest(size)


_ADDRESS = base58_check(b"\0" + _made_up("address", 20))
_KEYS = [
    base58_check(b"\x80" + _made_up("key", 32)),
    base58_check(b"\x80" + _made_up("short key", 32) + b"\1"),
    base58_check(bytes.fromhex("0488ade4") + _made_up("extended", 74)),
]


def _other(token: str) -> str:
    """The token with another sign in its middle."""
    middle = len(token) // 2
    return token[:middle] + ("2" if token[middle] != "2" else "3") + token[middle + 1 :]


WALLET_RULES: list[dict[str, Any]] = [
    {
        "id": "pii.wallet",
        "version": 1,
        "kind": "pii.wallet",
        "level": "suspicious",
        "action": "flag",
        "detector": "wallet",
        "prefilter_pattern": r"[1-9a-z]{26}|(?:bc|tb|ltc|addr|stake)1[0-9a-z]{8}|0x[0-9a-f]{40}",
        "tests": {
            "positive": [
                f"Send it to {_ADDRESS}.",
                "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4 is hers",
                "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
                "my eth wallet: 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
            ],
            "negative": [
                f"The build is {_other(_ADDRESS)}.",
                "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5",
                "commit 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
            ],
        },
    },
    {
        "id": "secret.wallet_key",
        "version": 1,
        "kind": "secret.wallet_key",
        "level": "high",
        "action": "block",
        "detector": "wallet_key",
        "prefilter_pattern": r"(?:^|[^a-z0-9])(?:[569cklt][1-9a-z]{50}|[txyz]prv[1-9a-z]{100})",
        "tests": {
            "positive": [
                f"The paper wallet says {_KEYS[0]}.",
                f"key={_KEYS[1]}",
                f'{{"root": "{_KEYS[2]}"}}',
            ],
            "negative": [
                f"The paper wallet says {_other(_KEYS[0])}.",
                f"Send it to {_ADDRESS}.",
                "Such a key begins with 5, K or L and has 51 or 52 signs.",
            ],
        },
    },
]
