# ruff: noqa: E501 - a pattern is easier to read whole
"""Phone numbers, told from orders, dates, prices and versions by shape, context and numbering plans."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module

from ...late import late
from ..context import Words, is_unspaced, near
from ..findings import Hit
from ..validators import digits_of, is_card, is_luhn
from .numbers import OTHER_NUMBERS

# Letters of scripts without spaces may stand beside a number.
_CANDIDATE = late(
    r"(?<![^\W\u0e00-\u0eff\u3040-\ud7af])(?<![.,$€£¥#%@/=:\-+])(?:\+ ?|00)?(?:\([0-9+]{1,5}\)|[0-9]{1,5})"
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
# What names a number so, and close before it, calls it a phone number in any grouping.
_NAME = Words(
    ["phone", "phones", "phone number", "phone no", "phone nr", "telephone", "tel", "tel no", "mobile", "mobile number", "cell number", "cell no", "cellphone",
     "whatsapp", "viber", "msisdn", "fax", "landline",
     "telefon", "telefonnummer", "telefonnr", "handy", "handynummer", "mobilnummer", "rufnummer", "mobil", "festnetz*",  # German
     "t\u00e9l\u00e9phone", "num\u00e9ro de t\u00e9l*", "t\u00e9l", "portable",  # French
     "tel\u00e9fono", "m\u00f3vil", "celular",  # Spanish
     "telefone", "telem\u00f3vel", "telemovel",  # Portuguese
     "telefono", "cellulare",  # Italian
     "telefoon*", "mobiel*",  # Dutch
     "telefonnummer*", "mobilnummer*", "puhelin*", "matkapuhelin*", "telefonn\u00ed*", "telef\u00f3n*", "mobiln\u00ed",  # Nordic, Czech, Slovak
     "telefonu", "telefonie", "kom\u00f3rk*", "kom\u00f3rkowy", "telefonsz\u00e1m*", "telefonul*", "cep telefon*", "telefonum*",  # Polish, Hungarian, Romanian, Turkish
     "\u0442\u0435\u043b\u0435\u0444\u043e\u043d*", "\u0442\u0435\u043b", "\u043c\u043e\u0431\u0438\u043b\u044c\u043d*", "\u043c\u043e\u0431\u0456\u043b\u044c\u043d*",  # Russian, Ukrainian
     "\u03c4\u03b7\u03bb\u03ad\u03c6\u03c9\u03bd*", "\u03ba\u03b9\u03bd\u03b7\u03c4\u03cc*",  # Greek
     "\u7535\u8bdd", "\u624b\u673a", "\u96fb\u8a71", "\u624b\u6a5f", "\u643a\u5e2f", "\u643a\u5e36",  # Chinese, Japanese
     "\uc804\ud654", "\ud734\ub300\ud3f0", "\ud578\ub4dc\ud3f0", "\u0e42\u0e17\u0e23", "\u0e21\u0e37\u0e2d\u0e16\u0e37\u0e2d",  # Korean, Thai
     "*\u0647\u0627\u062a\u0641*", "*\u062c\u0648\u0627\u0644*", "*\u05d8\u05dc\u05e4\u05d5\u05df*", "*\u05e0\u05d9\u05d9\u05d3*",  # Arabic, Hebrew
     "\u092b\u093c\u094b\u0928*", "\u092b\u094b\u0928*", "\u092e\u094b\u092c\u093e\u0907\u0932*", "\u0111i\u1ec7n tho\u1ea1i", "s\u0111t", "telepon", "no hp", "nomor hp"]  # Hindi, Vietnamese, Indonesian
)  # fmt: skip
_OTHER = Words([*OTHER_NUMBERS, "iban", "ssn", "account", "card", "routing", "id"])
_DATE_LIKE = late(
    r"(?:19|20)[0-9]{2}[-./ ][0-9]{1,2}[-./ ][0-9]{1,2}|[0-9]{1,2}[-./][0-9]{1,2}[-./](?:19|20)?[0-9]{2}(?![0-9]|[-./][0-9])"
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
    is_called = _is_called(lower, start)
    if not (named or is_called) or near(_OTHER, lower, start, end, 16):
        return None
    if number.count(".") == 3 and size <= 12 and max(map(len, number.split("."))) <= 3:
        return None  # an IP address
    if size >= 13 and (is_card(number) or is_luhn(number)):
        return None
    is_phone = (is_called and size <= 12) or _is_plausible(number, size)
    return Hit(start, end, 0.75) if is_phone else None


# What may stand between the name and the number: "phone number is", "Tel.-Nr.", "\u96fb\u8a71\u756a\u53f7\u306f".
_BRIDGE = late(
    r"[^\W\d_]*(?:[\s:=.,#()/\"'|\-]|[\u0e00-\u0eff\u3040-\ud7af\uff1a]|\b(?:is|was|no|nr|num|number|numbers|n[\u00ba\u00b0o]|home|work|private|new|old|at|on"
    r"|under|ist|lautet|nummer|num\u00e9ro|n\u00famero|numero|numer|numara\w*|est|es|\u00e9|e|is het|er|\u00e4r|on|je|to|jest|\u043d\u043e\u043c\u0435\u0440)\b){0,12}"
)


def _is_called(lower: str, start: int) -> bool:
    """Whether the text before the number names it as a phone number's name does."""
    before = max(0, start - 30)
    end = _NAME.last(lower, before, start)
    return end is not None and _BRIDGE.fullmatch(lower, end, start) is not None


def _goes_on(text: str, end: int) -> bool:
    """Whether the number is the beginning of something longer."""
    after = text[end : end + 2]
    if not after:
        return False
    if (
        after[0].isdigit()
        or after[0] == "_"
        or (after[0].isalpha() and after[0] != "x" and not is_unspaced(after[0]))
    ):
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
