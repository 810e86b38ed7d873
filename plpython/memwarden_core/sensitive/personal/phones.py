# ruff: noqa: E501 - a pattern is easier to read whole
"""Phone numbers, told from orders, dates, prices and versions by shape, context and numbering plans."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module

from ...late import late
from ..context import Words, near
from ..findings import Hit
from ..validators import digits_of, is_card, is_luhn
from .numbers import OTHER_NUMBERS

_CANDIDATE = late(
    r"(?<![\w.,$€£¥#%@/=:\-+])(?:\+ ?|00)?(?:\([0-9+]{1,5}\)|[0-9]{1,5})"
    r"(?:[ ]?[ .\-/]?[ ]?(?:\(0?[0-9]{0,4}\)|[0-9]{1,5})){1,7}"
)
_LOOSE = late(r"(?<=[=:\"'(\[])[(+]?[0-9][0-9 ()./\-]{5,20}[0-9]")
_NORTH_AMERICA = late(
    r"(?:\+?1[ .\-]?)?(?:\([0-9]{3}\)[ .\-]?|[0-9]{3}[.\-])[0-9]{3}[.\- ][0-9]{4}"
)
_PHONE = Words(
    ["phone", "phones", "telephone", "tel", "telefon*", "téléphone", "teléfono", "telefono", "call", "calls",
     "calling", "called", "mobile", "mobil", "móvil", "cell", "cellphone", "fax", "whatsapp", "sms", "text me",
     "texted", "dial", "dialing", "contact", "hotline", "handy", "handynummer", "ring", "desk", "landline",
     "extension", "ext", "reach", "reached", "rufnummer", "numéro", "celular", "cellulare", "portable",
     "signal", "viber", "msisdn", "phone number", "phone no", "main line", "switchboard", "voicemail",
     "emergency contact", "customer service", "helpline", "office", "direct line", "front desk", "hq", "appel*", "anruf*", "llam*"]
)  # fmt: skip
_OTHER = Words([*OTHER_NUMBERS, "iban", "ssn", "account", "card", "routing", "id"])
_DATE_LIKE = late(
    r"(?:19|20)[0-9]{2}[-./ ][0-9]{1,2}[-./ ][0-9]{1,2}|[0-9]{1,2}[-./][0-9]{1,2}[-./](?:19|20)?[0-9]{2}(?![0-9])"
    r"|(?:19|20)[0-9]{2} ?[-/] ?(?:19|20)[0-9]{2}(?![0-9])"
)
_REGIONS = (
    "US", "GB", "DE", "FR", "IT", "ES", "NL", "IN", "AU", "BR", "MX", "JP", "CN", "CH", "AT", "BE", "SE", "PL",
    "IE", "ZA", "NZ", "SG", "TR", "UA",
)  # fmt: skip


def phones(text: str, lower: str) -> Iterator[Hit]:
    """Yield phone numbers.

    International ones (`+`) that a numbering plan allows; North American ones by their separators;
    others only where the text calls them a phone number.
    """
    done = 0
    for pattern in (_CANDIDATE, _LOOSE):
        for match in pattern.finditer(text):
            start, end = match.span()
            if pattern is _LOOSE and start < done:
                continue
            hit = _judged(text, lower, start, end)
            if hit:
                done = hit.end
                yield hit


def _judged(text: str, lower: str, start: int, end: int) -> Hit | None:
    american = _NORTH_AMERICA.match(text, start, min(len(text), end + 6))
    if american is not None and not _goes_on(text, american.end()):
        end = american.end()
        if not text[start:end].startswith("+"):
            named = near(_PHONE, lower, start, end, 40, 12)
            if not named and near(_OTHER, lower, start, end, 30):
                return None
            return Hit(start, end, 0.9 if named else 0.8)
    if _goes_on(text, end):
        return None
    number = text[start:end].rstrip(" .-/(")
    end = start + len(number)
    size = len(digits_of(number))
    if not 7 <= size <= 15 or _DATE_LIKE.match(number):
        return None
    named = near(_PHONE, lower, start, end, 30, 12)
    if number.startswith("+"):
        return Hit(start, end, 0.95) if _is_possible(number, named) else None
    if not named or near(_OTHER, lower, start, end, 16):
        return None
    if number.count(".") == 3 and size <= 12 and max(map(len, number.split("."))) <= 3:
        return None  # an IP address
    if size >= 13 and (is_card(number) or is_luhn(number)):
        return None
    return Hit(start, end, 0.75) if _is_plausible(number, size) else None


def _goes_on(text: str, end: int) -> bool:
    """Whether the number is the beginning of something longer."""
    after = text[end : end + 2]
    if not after:
        return False
    if after[0].isdigit() or after[0] == "_" or (after[0].isalpha() and after[0] != "x"):
        return True
    return after[0] in "-/.@:%" and len(after) > 1 and (after[1].isalnum())


def _is_possible(number: str, named: bool) -> bool:
    library = import_module("phonenumbers")
    try:
        parsed = library.parse(number.replace("+ ", "+"), None)
    except library.NumberParseException:
        return False
    if library.is_valid_number(parsed):
        return True
    if not library.is_possible_number(parsed):
        return False
    return named or parsed.country_code == 1 or " " in number or "-" in number


def _is_plausible(number: str, size: int) -> bool:
    """Whether a number without a country may be one: some country's plan knows it."""
    if number.startswith("00") and size > 9:
        return _is_possible("+" + number[2:], True)
    if size == 10 or (size == 11 and number[0] == "1"):
        return True
    if size == 7:
        return bool(re.fullmatch(r"[0-9]{3}[-. ][0-9]{4}", number))
    library = import_module("phonenumbers")
    for region in _REGIONS:
        try:
            if library.is_valid_number(library.parse(number, region)):
                return True
        except library.NumberParseException:
            return False
    return False
