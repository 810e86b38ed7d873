# ruff: noqa: E501 - a pattern is easier to read whole
"""Payment cards: numbers of a scheme's range wherever they stand, others where the text speaks of a card."""

from __future__ import annotations

from collections.abc import Iterator

from ...late import late
from ..context import Words, is_ascii_alnum, near
from ..findings import Hit
from ..issuers import is_issued
from ..validators import digits_of, is_luhn
from .numbers import OTHER_NUMBERS

_OTHER = Words(OTHER_NUMBERS)

# The word for a card, alone and in compounds: any number with a right check digit near it is one.
_CARD = (
    "card", "cards", "creditcard*", "debitcard*", "bankcard*", "paycard*", "cardnumber", "cardno", "cardnum",
    "card holder", "cc number", "cc no", "ccnum", "visa", "mastercard", "amex", "american express", "maestro",
    "diners", "jcb", "unionpay", "rupay", "uatp", "girocard", "dankort*",
    "*karte", "*karten", "*kartennummer", "*kartennr", "*kartenzahlung",  # German
    "carte", "cartes", "carte bancaire", "carte bleue", "num\u00e9ro de cb",  # French
    "tarjeta", "tarjetas", "targeta",  # Spanish, Catalan
    "carta", "carte di credito", "bancomat",  # Italian
    "cart\u00e3o", "cartao", "cart\u00f5es",  # Portuguese
    "*kaart", "*kaarten", "*kaartnummer", "betaalpas*", "pinpas*",  # Dutch
    "karta", "karty", "kart\u0119", "kart\u0105", "karcie", "karte", "kartu", "kartou", "karet", "kariet",  # Polish, Czech, Indonesian
    "kartica", "kartice", "kartici", "karticu", "karticom",  # Croatian, Serbian, Slovene
    "*kort", "*kortet", "*kortets", "*kortnummer", "*kortnumret", "*kortnr",  # Swedish, Danish, Norwegian
    "*kortti*", "*kortin", "*korttia", "*kortilla", "*kortilta",  # Finnish
    "kart", "kart\u0131*", "kart\u0131m*", "kartlar*", "karti", "kartim*",  # Turkish
    "*k\u00e1rtya*", "*k\u00e1rtyasz\u00e1m*", "*k\u00e1rty\u00e1*", "cardul", "cardului",  # Hungarian, Romanian
    "\u043a\u0430\u0440\u0442\u0430", "\u043a\u0430\u0440\u0442\u044b", "\u043a\u0430\u0440\u0442\u0443", "\u043a\u0430\u0440\u0442\u0435", "\u043a\u0430\u0440\u0442\u043e\u0439", "\u043a\u0430\u0440\u0442\u043e\u044e",  # Russian
    "\u043a\u0430\u0440\u0442\u0438", "\u043a\u0430\u0440\u0442\u043a*", "\u043a\u0430\u0440\u0442\u0446\u0456",  # Ukrainian, Bulgarian
    "\u03ba\u03ac\u03c1\u03c4\u03b1*", "\u03ba\u03b1\u03c1\u03c4\u03b1*", "\u03ba\u03ac\u03c1\u03c4\u03b5\u03c2",  # Greek
    "\u4fe1\u7528\u5361", "\u94f6\u884c\u5361", "\u9280\u884c\u5361", "\u501f\u8bb0\u5361", "\u5361\u53f7", "\u5361\u865f", "\u5361",  # Chinese
    "\u30ab\u30fc\u30c9", "\u30af\u30ec\u30ab", "\uce74\ub4dc", "\u0e1a\u0e31\u0e15\u0e23",  # Japanese, Korean, Thai
    "*\u0628\u0637\u0627\u0642*", "\u05db\u05e8\u05d8\u05d9\u05e1*", "*\u05d4\u05db\u05e8\u05d8\u05d9\u05e1",  # Arabic, Hebrew
    "*\u06a9\u0627\u0631\u062a*", "\u06a9\u0627\u0631\u0688",  # Persian, Urdu
    "\u0915\u093e\u0930\u094d\u0921", "\u0995\u09be\u09b0\u09cd\u09a1",  # Hindi, Bengali
    "th\u1ebb", "kad",  # Vietnamese, Malay
)  # fmt: skip
_CARD_WORDS = Words(_CARD)
# Speak of a payment: enough for a scheme's number, not for any other.
_PAYMENT_WORDS = Words(
    [*_CARD, "debit", "discover", "cc", "pan", "payment*", "cvv", "cvc", "expir*", "exp", "charge", "charged"]
)  # fmt: skip
# Cards that pay for nothing. Their numbers may pass the check: a SIM card's always does.
_OTHER_CARDS = Words(
    ["sim", "esim", "sd", "microsd", "graphics", "video", "sound", "network", "memory", "flash", "trello", "report",
     "library", "business", "score", "wild", "post", "punch", "time", "iccid", "id card", "identity card", "grafikkarte*",
     "sim karte*", "simkarte*", "speicherkarte*", "landkarte*", "speisekarte*", "visitenkarte*", "postkarte*", "carte sim",
     "carte graphique", "carte m\u00e8re", "tarjeta sim", "tarjeta gr\u00e1fica", "simkort*", "simkaart*"]
)  # fmt: skip

# Digits in groups with at most three signs between them, line breaks too.
_RUN = late(r"[0-9]+(?:[ .\-/_,|*\t\r\n]{1,3}[0-9]+)*")
_GROUP = late(r"[0-9]+")
_LAYOUTS = frozenset(
    {(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (4, 4, 4, 1), (6, 13), (8, 8), (4, 4, 4, 2),
     (6, 10), (4, 4, 5), (4, 5, 6), (4, 12), (4, 4, 8), (4, 4, 4, 3), (4, 4, 4, 5), (6, 6, 4), (4, 4, 4),
     (4, 4, 4, 4, 1), (4, 4, 4, 4, 2), (2,) * 8, *((1,) * size for size in range(12, 20))}
)  # fmt: skip
_LONGEST = 19
# Times in milliseconds, times as digits, and books.
_NO_CARD = late(r"1[3-9][0-9]{11}|(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:[01][0-9]|2[0-3])[0-5][0-9](?:[0-5][0-9])?(?:[0-9]{3})?|97[89][0-9]{10}|89[0-9]{16,17}")  # fmt: skip


def cards(text: str, lower: str) -> Iterator[Hit]:
    """Yield payment card numbers: plain, or in the groups that cards are printed in."""
    for run in _RUN.finditer(text):
        if run.end() - run.start() >= 12:
            yield from _cards_in(text, lower, run.start(), run.end())


def _cards_in(text: str, lower: str, start: int, end: int) -> Iterator[Hit]:
    groups = [match.span() for match in _GROUP.finditer(text, start, end)]
    first = 0
    while first < len(groups):
        found = _card_at(text, lower, groups, first)
        if found is None:
            first += 1
        else:
            last, score = found
            yield Hit(groups[first][0], groups[last][1], score)
            first = last + 1


def _card_at(
    text: str, lower: str, groups: list[tuple[int, int]], first: int
) -> tuple[int, float] | None:
    """Return the last group of a card number that begins with a group, and its score."""
    size = 0
    lengths: list[int] = []
    for last in range(first, min(first + _LONGEST, len(groups))):
        lengths.append(groups[last][1] - groups[last][0])
        size += lengths[-1]
        if size > _LONGEST:
            return None
        begin, end = groups[first][0], groups[last][1]
        if (
            size >= 12
            and (len(lengths) == 1 or tuple(lengths) in _LAYOUTS)
            and is_luhn(text[begin:end])
            and len(set(digits := digits_of(text[begin:end]))) > 1
        ):
            score = _score(text, lower, groups, first, last, digits)
            if score:
                return last, score
    return None


def _score(
    text: str, lower: str, groups: list[tuple[int, int]], first: int, last: int, digits: str
) -> float:
    """How sure it is that a number with a right check digit is a card's, 0 for not at all."""
    begin, end = groups[first][0], groups[last][1]
    is_whole, is_tied = _stands_alone(text, begin, end)
    if not is_whole:
        return 0
    is_tidy = not is_tied and _one_separator(text, groups, first, last)
    is_alone = last == first or _is_no_list(groups, first, last)
    if is_issued(digits):
        if not is_alone and (not is_tidy or _is_spelt(groups, first)):
            return 0
        if near(_PAYMENT_WORDS, lower, begin, end, 40, 20):
            return 0.95 if is_tidy or near(_CARD_WORDS, lower, begin, end, 40, 20) else 0
        return 0.85 if is_tidy and not near(_OTHER, lower, begin, end, 30) else 0
    if (
        not is_alone
        or text[begin - 1 : begin] == "+"
        or not near(_CARD_WORDS, lower, begin, end, 40, 20)
        or near(_OTHER, lower, begin, end, 30)
        or near(_OTHER_CARDS, lower, begin, end, 40, 20)
        or _NO_CARD.fullmatch(digits)
    ):
        return 0
    return 0.75


def _one_separator(text: str, groups: list[tuple[int, int]], first: int, last: int) -> bool:
    """Whether one sign is used throughout, and a dash or dot does not go on around it."""
    marks = {text[groups[i][1] : groups[i + 1][0]] for i in range(first, last)}
    if not marks:
        marks = {" "}
    elif len(marks) > 1 or not marks <= {" ", ".", "-"}:
        return False
    around = set()
    if first > 0:
        around.add(text[groups[first][0] - 1])
    if last + 1 < len(groups):
        around.add(text[groups[last][1]])
    return not (marks - {" "} or {"."}) & around


def _is_no_list(groups: list[tuple[int, int]], first: int, last: int) -> bool:
    """Whether nothing but the month of an expiry goes on behind groups, and nothing before."""
    if first > 0 or last + 1 == len(groups):
        return first == 0
    begin, end = groups[last + 1]
    return end - begin <= 2 and not _is_spelt(groups, first)


def _is_spelt(groups: list[tuple[int, int]], first: int) -> bool:
    """Whether the digits stand one by one or two by two."""
    return groups[first][1] - groups[first][0] <= 2


def _stands_alone(text: str, start: int, end: int) -> tuple[bool, bool]:
    """Whether nothing makes it part of something longer, and whether a sign ties a word to it."""
    if is_ascii_alnum(text, start - 1) or is_ascii_alnum(text, end):
        return False, False
    if text[end : end + 1] in ("-", "_", "/") and is_ascii_alnum(text, end + 1):
        return False, False
    if start > 1 and text[start - 1] in ".,-_/" and is_ascii_alnum(text, start - 2):
        if text[start - 2].isdigit():
            return False, False
        return True, text[start - 1] != ","
    return True, False
