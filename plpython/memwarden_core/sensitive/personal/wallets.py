"""Addresses and keys of cryptocurrencies: by their checksum, or where the text names them."""

from __future__ import annotations

from collections.abc import Iterator

from ...late import late
from ..context import Words, near
from ..findings import Hit

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_RIPPLE = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
_BASE32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
# Whole words: what is longer than any address is passed over at once.
_WORD = late(r"(?<![A-Za-z0-9])[A-Za-z0-9]{11,}")
_BASE58 = late(r"[1-9A-HJ-NP-Za-km-z]{26,111}")
_BECH32 = late(r"(?:bc|tb|ltc|addr|stake)1[0-9a-z]{8,110}")
_HEX = late(r"0x[0-9a-f]{40}")
_NAMED = Words(
    ["wallet", "wallets", "crypto*", "bitcoin*", "btc", "ethereum*", "eth", "ether", "usdt", "usdc",
     "solana", "sol", "monero", "xmr", "erc20", "erc-20", "metamask", "ledger", "deposit address",
     "blockchain"]
)  # fmt: skip
_SOLANA = Words(["solana", "sol", "phantom", "spl"])
_MONERO = Words(["monero", "xmr"])
# What begins a payload: Bitcoin, its test network, Litecoin, Dogecoin, Tron, Zcash, Dash.
_PUBLIC = frozenset([0x00, 0x05, 0x6F, 0xC4, 0x30, 0x32, 0x1E, 0x16, 0x41, 0x1C, 0x4C, 0x10])
_SECRET = frozenset([0x80, 0xEF, 0xB0])
_EXTENDED_PUBLIC = frozenset(["xpub", "ypub", "zpub", "tpub"])
_EXTENDED_SECRET = frozenset(["xprv", "yprv", "zprv", "tprv"])


def wallets(text: str, lower: str) -> Iterator[Hit]:
    """Yield addresses to which money can be sent, and public keys from which such follow."""
    for token, start, end in _base58(text):
        payload = _payload(token, _ALPHABET)
        if payload is not None:
            if (len(payload) in (21, 22) and payload[0] in _PUBLIC) or token[
                :4
            ] in _EXTENDED_PUBLIC:
                yield Hit(start, end, 0.95)
        elif (
            (token[0] == "r" and len(token) <= 35 and len(_payload(token, _RIPPLE) or b"") == 21)
            or (len(token) in (43, 44) and near(_SOLANA, lower, start, end, 40))
            or (len(token) == 95 and token[0] in "48" and near(_MONERO, lower, start, end, 40))
        ):
            yield Hit(start, end, 0.8)
    for match in _WORD.finditer(text):
        start, end = match.span()
        if _BECH32.fullmatch(lower, start, end):
            # Upper case or lower case, and not both.
            if match[0] in (lower[start:end], match[0].upper()) and _is_bech32(lower[start:end]):
                yield Hit(start, end, 0.95)
        elif _HEX.fullmatch(lower, start, end):
            digits = text[start + 2 : end]
            # Capitals are the checksum of an address: other numbers are written in one case.
            has_capitals = digits not in (digits.lower(), digits.upper())
            if has_capitals or near(_NAMED, lower, start, end, 40, 20):
                yield Hit(start, end, 0.85)


def wallet_keys(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield private keys: who reads them can spend."""
    for token, start, end in _base58(text):
        payload = _payload(token, _ALPHABET)
        if payload is not None and (
            (len(payload) in (33, 34) and payload[0] in _SECRET)
            or (len(payload) == 78 and token[:4] in _EXTENDED_SECRET)
        ):
            yield Hit(start, end, 0.98)


def _base58(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words of a text that Base58 may have written, and their places."""
    for match in _WORD.finditer(text):
        if _BASE58.fullmatch(text, *match.span()):
            yield match[0], *match.span()


def _payload(token: str, alphabet: str) -> bytes | None:
    """The bytes that a token of Base58Check stands for; None where its checksum is wrong."""
    # Few texts have one, and every session would load it.
    import hashlib

    number = 0
    for sign in token:
        number = number * 58 + alphabet.index(sign)
    leading = len(token) - len(token.lstrip(alphabet[0]))
    data = b"\0" * leading + number.to_bytes((number.bit_length() + 7) // 8, "big")
    body, check = data[:-4], data[-4:]
    twice = hashlib.sha256(hashlib.sha256(body).digest()).digest()
    return body if twice[:4] == check else None


def _is_bech32(token: str) -> bool:
    """Whether the checksum is that of BIP 173 or BIP 350."""
    name, _, data = token.rpartition("1")
    if not name or any(sign not in _BASE32 for sign in data):
        return False
    values = [ord(c) >> 5 for c in name] + [0] + [ord(c) & 31 for c in name]
    values += [_BASE32.index(sign) for sign in data]
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for place, step in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            check ^= step if top >> place & 1 else 0
    return check in (1, 0x2BC830A3)
