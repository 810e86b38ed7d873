# ruff: noqa: E501 - a pattern is easier to read whole
"""Phone numbers, told from orders, dates, prices and versions by shape, context and numbering plans."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module

from ...late import late
from ...light import NamedTuple
from ..context import Words, is_unspaced, near
from ..findings import Hit
from ..validators import digits_of, is_card, is_ip, is_luhn
from .numbers import OTHER_NUMBERS

# Letters of scripts without spaces may stand beside a number.
_CANDIDATE = late(
    r"(?<![^\W\u0e00-\u0eff\u3040-\ud7af])(?<![.,$€£¥#%@/=:\-+])(?:\+ ?|00)?(?:\([0-9+]{1,5}(?: [0-9]{1,3})?\)|[0-9]{1,5})"
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
     "emergency contact", "customer service", "helpline", "office", "direct line", "front desk", "hq", "appel*", "anruf*", "llam*",
     "ruf", "rufe", "rufen", "erreichbar", "erreichen", "joignable", "ll\u00e1m*", "chiam*", "liga me", "me liga", "ligue", "ligar",
     "bel", "bereikbaar", "zadzwo\u0144", "dzwo\u0144", "ringa", "soita", "\u0437\u0432\u043e\u043d\u0438*", "\u043f\u043e\u0437\u0432\u043e\u043d\u0438*"]
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
# Whose number it is: enough for one that a country's plan knows.
_WHOSE = {
    "number": "my your his her our their",
    "nummer": "meine deine seine ihre unsere eure mijn jouw zijn haar mitt mit min ditt hans hennes",
    "num\u00e9ro": "mon ton son notre votre leur",
    "n\u00famero": "mi tu su nuestro meu teu seu nosso",
    "numero": "mio tuo suo nostro mi tu su mon ton son",
    "numer": "m\u00f3j tw\u00f3j jego jej nasz",
    "\u043d\u043e\u043c\u0435\u0440": "\u043c\u043e\u0439 \u0442\u0432\u043e\u0439 \u0435\u0433\u043e \u0435\u0451 \u0435\u0435 \u043d\u0430\u0448 \u043c\u0456\u0439",
}
_OWNED = Words(f"{whose} {name}" for name, words in _WHOSE.items() for whose in words.split())
_OTHER = Words([*OTHER_NUMBERS, "iban", "ssn", "account", "card", "routing", "id"])
_DIGITS = late("[0-9]+")
_DATE_LIKE = late(
    r"(?:19|20)[0-9]{2}[-./ ][0-9]{1,2}[-./ ][0-9]{1,2}|[0-9]{1,2}[-./][0-9]{1,2}[-./](?:19|20)?[0-9]{2}(?![0-9]|[-./][0-9])"
    r"|(?:19|20)[0-9]{2} ?[-/] ?(?:19|20)[0-9]{2}(?![0-9])"
)
_COMPACT_DATE = late("(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])")
_REGIONS = (
    "DE", "GB", "FR", "IT", "ES", "NL", "IN", "AU", "BR", "MX", "JP", "CN", "CH", "AT", "BE", "SE", "PL", "IE",
    "ZA", "NZ", "SG", "TR", "UA", "DK", "NO", "FI", "PT", "GR", "CZ", "SK", "HU", "RO", "BG", "HR", "RS", "SI",
    "EE", "LV", "LT", "RU", "IL", "KR", "TW", "HK", "MY", "TH", "VN", "ID", "PH", "PK", "BD", "IR", "AE", "SA",
    "EG", "MA", "NG", "KE", "AR", "CL", "CO", "PE", "US",
)  # fmt: skip


class _Plan(NamedTuple):
    """How numbers of a country are made, and how they are written within it."""

    prefix: str
    numbers: re.Pattern[str]
    formats: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]
    """Of which numbers, by their beginning, and in which groups."""

    def number(self, digits: str) -> str | None:
        """The number that somebody dials from abroad, None where the plan has no such number."""
        bare = digits.removeprefix(self.prefix)
        return bare if self.numbers.fullmatch(bare) else None

    def has_groups(self, bare: str, groups: set[int]) -> bool:
        """Whether the number is written in such groups, each by how many figures follow it."""
        for beginning, parts in self.formats:
            if beginning.match(bare) and (match := parts.fullmatch(bare)):
                ends = {len(bare) - end for _, end in match.regs[1:]}
                return groups - {len(bare)} == ends
        return False


@lru_cache(maxsize=len(_REGIONS))
def _plan(region: str) -> _Plan:
    known = import_module("phonenumbers").PhoneMetadata.metadata_for_region(region)
    kinds = (known.fixed_line, known.mobile, known.toll_free, known.shared_cost, known.uan)
    numbers = "|".join(kind.national_number_pattern or "(?!)" for kind in kinds if kind)
    return _Plan(
        known.national_prefix or "",
        re.compile(numbers),
        tuple(
            (re.compile((form.leading_digits_pattern or [""])[-1]), re.compile(form.pattern))
            for form in known.number_format
        ),
    )


def phones(text: str, lower: str) -> Iterator[Hit]:
    """Yield phone numbers.

    International ones (`+`) that a numbering plan allows; North American ones by their separators;
    those that are written as within a country; others where the text calls them a phone number.
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
    is_called = _is_called(_NAME, lower, start)
    if not (named or is_called):
        return _unnamed(number, lower, start, end)
    if near(_OTHER, lower, start, end, 16):
        return None
    if number.count(".") == 3 and is_ip(number):
        return None
    if size >= 13 and (is_card(number) or is_luhn(number)):
        return None
    is_phone = (is_called and size <= 12) or (
        not _COMPACT_DATE.fullmatch(number) and _is_plausible(number, size)
    )
    return Hit(start, end, 0.75) if is_phone else None


def _unnamed(number: str, lower: str, start: int, end: int) -> Hit | None:
    """A number that nothing calls a phone number."""
    digits = digits_of(number)
    if not 8 <= len(digits) <= 12 or near(_OTHER, lower, start, end, 30):
        return None
    if lower[start - 1 : start] == ":":
        return None  # the seconds and the year of "22:44:03 2022"
    if _is_called(_OWNED, lower, start):
        known = (len(digits) < 12 or digits[0] == "0") and _is_known(digits)
        return Hit(start, end, 0.7) if known else None
    # Amounts, dates and versions are written in groups as well, but do not begin so.
    groups = _DIGITS.findall(number)
    begins = (digits[0] == "0" and digits[1] != "0") or number[0] == "("
    if len(groups) > 1 and len(digits) > 8 and (begins or len(groups) > 3) and _is_national(number):
        return Hit(start, end, 0.6)
    return None


def _is_national(number: str) -> bool:
    """Whether a country's plan knows a number and it is written as within that country."""
    groups = _DIGITS.findall(number)
    digits = "".join(groups)
    left, after = len(digits), set()
    for group in groups:
        left -= len(group)
        after.add(left)
    pairs = digits[0] == "0" and all(len(group) == 2 for group in groups)
    for region in _REGIONS[:-1]:
        plan = _plan(region)
        bare = plan.number(digits)
        if (
            bare is not None
            # With the prefix, where numbers have one, or the code of a place in brackets.
            and (bare != digits or not plan.prefix or number[0] == "(")
            and (pairs or plan.has_groups(bare, after))
        ):
            return True
    return False


# What may stand between the name and the number: "phone number is", "Tel.-Nr.", "\u96fb\u8a71\u756a\u53f7\u306f".
_BRIDGE = late(
    r"[^\W\d_]*(?:[\s:=.,#()/\"'|\-]|[\u0e00-\u0eff\u3040-\ud7af\uff1a]|\b(?:is|was|no|nr|num|number|numbers|n[\u00ba\u00b0o]|home|work|private|new|old|at|on"
    r"|under|ist|lautet|nummer|num\u00e9ro|n\u00famero|numero|numer|numara\w*|est|es|\u00e9|\u00e8|e|is het|er|\u00e4r|on|je|to|jest|\u043d\u043e\u043c\u0435\u0440)\b){0,12}"
)


def _is_called(names: Words, lower: str, start: int) -> bool:
    """Whether the text before the number names it as a phone number's name does."""
    before = max(0, start - 30)
    end = names.last(lower, before, start)
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
    return _is_known(digits_of(number))


def _is_known(digits: str) -> bool:
    return any(_plan(region).number(digits) is not None for region in _REGIONS)
