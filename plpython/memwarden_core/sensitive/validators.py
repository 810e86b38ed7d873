"""Checks that a candidate must pass: checksums, issuer ranges, randomness."""

from __future__ import annotations

import base64
import binascii
import importlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from ..late import late
from . import checks
from .issuers import is_issued

Validator = Callable[[str], bool]


_NO_DIGITS = bytes(sign for sign in range(128) if not 48 <= sign <= 57)
# What a digit counts that Luhn's check doubles: the sum of the digits of its double.
_DOUBLED = bytes.maketrans(b"0123456789", b"0246813579")


def _digits(text: str) -> bytes:
    return text.encode("ascii", "ignore").translate(None, _NO_DIGITS)


def digits_of(text: str) -> str:
    """The ASCII digits of a text."""
    return _digits(text).decode()


def is_luhn(text: str) -> bool:
    """Whether the digits pass the Luhn check."""
    # At every place of a long row of numbers: without a loop it takes a tenth of the time.
    digits = _digits(text)
    total = sum(digits[::-2]) + sum(digits[-2::-2].translate(_DOUBLED)) - 48 * len(digits)
    return len(digits) > 1 and total % 10 == 0


def is_card(text: str) -> bool:
    """Whether the digits are a payment card's: an issuer's range and length, and the Luhn check."""
    digits = digits_of(text)
    return len(set(digits)) > 1 and is_issued(digits) and is_luhn(digits)


# Length of an IBAN by country, from the SWIFT registry.
IBAN_LENGTHS = dict(
    zip(
        [
            "AD",
            "AE",
            "AL",
            "AT",
            "AZ",
            "BA",
            "BE",
            "BG",
            "BH",
            "BI",
            "BR",
            "BY",
            "CH",
            "CR",
            "CY",
            "CZ",
            "DE",
            "DJ",
            "DK",
            "DO",
            "EE",
            "EG",
            "ES",
            "FI",
            "FK",
            "FO",
            "FR",
            "GB",
            "GE",
            "GI",
            "GL",
            "GR",
            "GT",
            "HN",
            "HR",
            "HU",
            "IE",
            "IL",
            "IQ",
            "IS",
            "IT",
            "JO",
            "KW",
            "KZ",
            "LB",
            "LC",
            "LI",
            "LT",
            "LU",
            "LV",
            "LY",
            "MC",
            "MD",
            "ME",
            "MK",
            "MN",
            "MR",
            "MT",
            "MU",
            "NI",
            "NL",
            "NO",
            "OM",
            "PK",
            "PL",
            "PS",
            "PT",
            "QA",
            "RO",
            "RS",
            "RU",
            "SA",
            "SC",
            "SD",
            "SE",
            "SI",
            "SK",
            "SM",
            "SO",
            "ST",
            "SV",
            "TL",
            "TN",
            "TR",
            "UA",
            "VA",
            "VG",
            "XK",
            "YE",
        ],
        (
            *(24, 23, 28, 20, 28, 20, 16, 22, 22, 27, 29, 28, 21, 22, 28, 24, 22, 27, 18, 28, 20),
            *(29, 24, 18, 18, 18, 27, 22, 22, 23, 18, 27, 28, 28, 21, 28, 22, 23, 23, 26, 27, 30),
            *(30, 20, 28, 32, 21, 20, 20, 21, 25, 27, 24, 22, 19, 20, 27, 31, 30, 28, 18, 15, 23),
            *(24, 28, 29, 25, 29, 24, 22, 33, 24, 31, 18, 24, 19, 24, 27, 23, 25, 28, 23, 24, 26),
            *(29, 22, 24, 20, 30),
        ),
        strict=True,
    )
)


def is_iban(text: str) -> bool:
    """Whether it is an IBAN: its country's length and structure, and the check digits."""
    compact = "".join(c for c in text if c.isalnum()).upper()
    if len(compact) != IBAN_LENGTHS.get(compact[:2]) or not compact.isascii():
        return False
    number = "".join(str(int(c, 36)) for c in compact[4:] + compact[:4])
    if int(number) % 97 != 1:
        return False
    # The national check digits inside are left alone: an invalid one still looks like an account.
    known = importlib.import_module("stdnum.iban")
    try:
        known.validate(compact, check_country=False)
    except known.InvalidComponent:
        return compact[:2] in IBAN_LENGTHS  # a country that this release of stdnum does not know
    except known.ValidationError:
        return False
    return True


def is_ip(text: str) -> bool:
    """Whether it is an IPv4 or IPv6 address."""
    import ipaddress

    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True


def entropy(text: str) -> float:
    """Shannon entropy of the characters, in bits per character."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values()) if size else 0.0


def is_jwt(text: str) -> bool:
    """Whether the first part of a dotted token decodes to a JOSE header."""
    header = text.partition(".")[0][:4096]
    try:
        decoded = base64.urlsafe_b64decode(header + "=" * (-len(header) % 4))
        value = json.loads(decoded)
    except (ValueError, binascii.Error, RecursionError):
        return False
    return isinstance(value, dict) and ("alg" in value or "typ" in value or "enc" in value)


_PLACEHOLDER = late(
    r"^(?:[<\[{(].*[>\]})]|\$\{?\w.*|%\w*%?|\{\{.*|(.)\1{3,}|[xX*.\-_#•]{3,}|\.{3}.*)$", re.DOTALL
)
_STAND_INS = late(
    r"your|redact|placeholder|change[-_ ]?me|replace|dummy|masked|hidden|\.\.\.|…|xxxx|\*\*\*"
    r"|here\b|example\.com|insert|todo|sample[-_ ]?(?:key|token|pass)",
)


def is_placeholder(text: str) -> bool:
    """Whether it stands for a secret instead of being one: `<your key>`, `${KEY}`, `********`."""
    return bool(_PLACEHOLDER.match(text[:200]) or _STAND_INS.search(text[:200].lower()))


class NumberCheck:
    """The check of a module of python-stdnum, imported when first used."""

    def __init__(self, module: str) -> None:
        self.module = module
        self._check: Validator | None = None

    def load(self) -> Validator:
        """Return the check. Raises: ValueError where there is no such module."""
        if self._check is None:
            try:
                self._check = importlib.import_module(f"stdnum.{self.module}").is_valid
            except (ImportError, AttributeError):
                raise ValueError("python-stdnum has no such module") from None
        return self._check

    def __call__(self, text: str) -> bool:
        """Whether the text passes, as it stands or without the signs between its characters."""
        check = self.load()
        if check(text):
            return True
        bare = "".join(c for c in text if c.isalnum())
        return bare != text and check(bare)


_PLAIN: dict[str, Validator] = {
    "luhn": is_luhn,
    "card": is_card,
    "iban": is_iban,
    "ip": is_ip,
    "jwt": is_jwt,
    "personnummer": checks.is_personnummer,
    "resident_number": checks.is_resident_number,
    "my_number": checks.is_my_number,
    "snils": checks.is_snils,
    "citizen_card": checks.is_citizen_card,
    "hetu": checks.is_hetu,
    "pension_number": checks.is_pension_number,
    "health_number": checks.is_health_number,
    "register_number": checks.is_register_number,
    "real": lambda text: not is_placeholder(text),
}
_NAMED = late(
    r"stdnum:([a-z]{2,12}_?(?:\.[a-z]{1,20})?)|entropy>=([0-9](?:\.[0-9]{1,2})?)|digits>=([0-9]{1,2})"
)


@lru_cache(maxsize=256)
def validator(name: str) -> Validator:
    """Return the check of that name. Raises: ValueError for one that does not exist.

    ``luhn``, ``card``, ``iban``, ``ip``, ``jwt``, ``real`` (no placeholder), ``entropy>=3.5`` (bits
    per character), ``digits>=6``, ``stdnum:br.cpf`` (a module of python-stdnum), ``personnummer``,
    ``resident_number``, ``my_number``, ``snils``, ``citizen_card``, ``hetu``, ``pension_number``,
    ``health_number``, ``register_number``.
    """
    if name in _PLAIN:
        return _PLAIN[name]
    named = _NAMED.fullmatch(name)
    if named is None:
        raise ValueError("no such validator")
    if named[3]:
        count = int(named[3])
        return lambda text: len(digits_of(text)) >= count
    if named[2]:
        least = float(named[2])
        return lambda text: entropy(text) >= least
    return NumberCheck(named[1])
