"""Check digits of national numbers that python-stdnum knows not at all, or not in every form."""

from __future__ import annotations

import datetime


def _digits(text: str) -> str:
    return "".join(c for c in text if "0" <= c <= "9")


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        datetime.date(year, month, day)
    except ValueError:
        return False
    return True


def is_personnummer(text: str) -> bool:
    """Whether it is a Swedish personnummer, or a coordination number, whose day is 60 more."""
    digits = _digits(text)
    if len(digits) not in (10, 12):
        return False
    short = digits[-10:]
    day = int(short[4:6])
    year = int(digits[:4]) if len(digits) == 12 else 2000 + int(short[:2])
    if not _is_date(year, int(short[2:4]), day - 60 if day > 60 else day):
        return False
    doubled = (int(d) * (2 - i % 2) for i, d in enumerate(short))
    return sum(n - 9 if n > 9 else n for n in doubled) % 10 == 0


def is_resident_number(text: str) -> bool:
    """Whether it has the form of a Korean resident number: those since 2020 have no check digit."""
    digits = _digits(text)
    if len(digits) != 13 or digits[6] not in "12345678":
        return False
    century = 1900 if digits[6] in "1256" else 2000
    return _is_date(century + int(digits[:2]), int(digits[2:4]), int(digits[4:6]))


def is_my_number(text: str) -> bool:
    """Whether it is a Japanese individual number (My Number)."""
    digits = _digits(text)
    if len(digits) != 12 or len(set(digits)) < 2:
        return False
    total = sum(
        int(d) * (place + 1 if place <= 6 else place - 5)
        for place, d in enumerate(reversed(digits[:11]), 1)
    )
    return int(digits[11]) == (0 if total % 11 <= 1 else 11 - total % 11)


def is_snils(text: str) -> bool:
    """Whether it is a Russian insurance number (SNILS)."""
    digits = _digits(text)
    if len(digits) != 11 or int(digits[:9]) <= 1_001_998:
        return False
    total = sum(int(d) * (9 - i) for i, d in enumerate(digits[:9])) % 101
    return int(digits[9:]) == total % 100


def is_citizen_card(text: str) -> bool:
    """Whether it is the number of a Portuguese citizen card: a Luhn sum over digits and letters."""
    signs = "".join(c for c in text.upper() if c.isalnum())
    if len(signs) != 12 or not signs.isascii():
        return False
    total = 0
    for place, sign in enumerate(reversed(signs)):
        value = int(sign, 36) * (1 + place % 2)
        total += value - 9 if place % 2 and value > 9 else value
    return total % 10 == 0
