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


_HETU_CENTURIES = {"+": 1800, **dict.fromkeys("-YXWVU", 1900), **dict.fromkeys("ABCDEF", 2000)}


def is_hetu(text: str) -> bool:
    """Whether it is a Finnish personal identity code, with a sign of before 2023 or of since.

    Numbers from 900 are given for a time, as hospitals do.
    """
    code = text.strip().upper()
    digits, century = _digits(code[:10]), _HETU_CENTURIES.get(code[6:7])
    if len(code) != 11 or len(digits) != 9 or century is None or int(digits[6:]) < 2:
        return False
    return (
        _is_date(century + int(digits[4:6]), int(digits[2:4]), int(digits[:2]))
        and code[10] == "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(digits) % 31]
    )


def _cross_sums(digits: str, weights: tuple[int, ...]) -> int:
    """The sum of the digits of each digit times its weight."""
    products = (int(digit) * weight for digit, weight in zip(digits, weights, strict=True))
    return sum(product // 10 + product % 10 for product in products)


def is_pension_number(text: str) -> bool:
    """Whether it is a German pension insurance number (Versicherungsnummer, SGB VI section 147).

    The office, the date of birth, the first letter of the name at birth, a serial number and the
    check digit. Where the serial numbers of a day are used up, 50 is added to the day.
    """
    number = "".join(text.split()).upper()
    letter = number[8:9]
    if len(number) != 12 or not ("A" <= letter <= "Z") or len(_digits(number)) != 11:
        return False
    day, year = int(number[2:4]), int(number[6:8])
    if not _is_date(2000 + year, int(number[4:6]), day - 50 if day > 50 else day):
        # 29 February of 1900 never was.
        return False
    digits = f"{number[:8]}{ord(letter) - 64:02d}{number[9:11]}"
    return _cross_sums(digits, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)) % 10 == int(number[11])


def is_health_number(text: str) -> bool:
    """Whether it is the lifelong part of a German health insurance number: a letter, 9 digits."""
    number = text.strip().upper()
    if len(number) != 10 or not ("A" <= number[0] <= "Z") or len(_digits(number)) != 9:
        return False
    digits = f"{ord(number[0]) - 64:02d}{number[1:9]}"
    return _cross_sums(digits, (1, 2) * 5) % 10 == int(number[9])


def is_register_number(text: str) -> bool:
    """Whether it is a Belgian register number, or a BIS number, whose month is 20 or 40 more."""
    digits = _digits(text)
    if len(digits) != 11 or int(digits[2:4]) % 20 > 12 or int(digits[2:4]) > 52:
        return False
    check = 97 - int(digits[9:])
    return check in (int(digits[:9]) % 97, int(f"2{digits[:9]}") % 97)
