#!/usr/bin/env python3
"""Count the phone numbers in national form that the shipped rules find in sentences made up here.

usage: tools/measure_phones.py [FILE ...]

The numbers are valid ones by the library phonenumbers, of 64 countries, and spelled as the country
does, run together, with dashes, dots and slashes, in pairs and in threes. They stand in sentences
that call them a phone number, in English and in the language of the country, and in such that do
not. Of each FILE, a text that holds few of them, the lines with a finding are counted.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import phonenumbers

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "plpython"))

from memwarden_core.sensitive.rules.people import PEOPLE_RULES
from memwarden_core.sensitive.scan import prepare, scan

REGIONS = (
    "US CA GB DE FR IT ES NL BE AT CH SE NO DK FI PL CZ SK HU RO BG GR PT IE TR UA RU IL IN PK BD "
    "CN JP KR TW HK SG MY TH VN ID PH AU NZ BR MX AR CL CO PE ZA NG KE EG MA SA AE IR LT LV EE HR "
    "SI RS"
)
NAMED = (
    "Tel. {}",
    "call me at {}",
    "My number is {}",
    "reach her on {}",
    "phone number {} (home)",
    "{} is her phone number",
    "Ring {} after six",
    "his cell is {}",
)
OWN_LANGUAGE = {
    "DE": ("Telefon: {}", "Ruf mich an unter {}", "meine Nummer ist {}", "erreichbar unter {}"),
    "FR": ("T\u00e9l\u00e9phone : {}", "appelle-moi au {}", "mon num\u00e9ro est le {}"),
    "ES": ("Tel\u00e9fono: {}", "ll\u00e1mame al {}", "mi n\u00famero es {}"),
    "IT": ("Telefono: {}", "chiamami al {}", "il mio numero \u00e8 {}"),
    "NL": ("Telefoon {}", "bel me op {}", "mijn nummer is {}"),
    "PT": ("telefone {}", "liga-me para {}", "o meu n\u00famero \u00e9 {}"),
    "PL": ("telefon: {}", "zadzwo\u0144 pod {}", "m\u00f3j numer to {}"),
    "RU": (
        "\u0442\u0435\u043b\u0435\u0444\u043e\u043d {}",
        "\u043c\u043e\u0439 \u043d\u043e\u043c\u0435\u0440 {}",
    ),
    "SE": ("telefon {}", "ring mig p\u00e5 {}", "mitt nummer \u00e4r {}"),
}
NOT_NAMED = ("Ana: {}", "{}", "Reception {}.", "Dr. Meyer {} (Berlin)")
_RULES = prepare(json.dumps([rule for rule in PEOPLE_RULES if rule["id"] == "pii.phone"]))


def numbers(region: str, source: random.Random, count: int) -> Iterator[str]:
    """Valid numbers, as the country writes them."""
    kinds = phonenumbers.PhoneNumberType
    for kind in (kinds.FIXED_LINE, kinds.MOBILE):
        example = phonenumbers.example_number_for_type(region, kind)
        if example is None:
            continue
        known = phonenumbers.national_significant_number(example)
        made = 0
        for _ in range(400):
            size = source.randint(3, 6)
            digits = known[:-size] + "".join(source.choice("0123456789") for _ in range(size))
            parsed = phonenumbers.parse(digits, region)
            if phonenumbers.is_valid_number(parsed):
                form = phonenumbers.PhoneNumberFormat.NATIONAL
                yield phonenumbers.format_number(parsed, form)
                made += 1
            if made == count:
                break


def spellings(national: str) -> dict[str, str]:
    """A number as people write it."""
    digits = "".join(filter(str.isdigit, national))
    found = {
        "as the country does": national,
        "run together": digits,
        "in threes": f"{digits[:-6]} {digits[-6:-3]} {digits[-3:]}",
    }
    if " " in national and "(" not in national:
        found["with dashes"] = national.replace(" ", "-")
        found["with dots"] = re.sub("[ -]", ".", national)
        found["with a slash"] = national.replace(" ", "/", 1)
    if len(digits) % 2 == 0:
        found["in pairs"] = " ".join(re.findall("..", digits))
    return found


def _has(text: str, number: str) -> bool:
    wanted = "".join(filter(str.isdigit, number))
    places = (text[finding.start : finding.end] for finding in scan(text, _RULES))
    return any("".join(filter(str.isdigit, place)) == wanted for place in places)


def measured(count: int = 3) -> dict[str, tuple[int, int]]:
    """How many are found of how many: of sentences of a sort, and of a spelling in them."""
    source = random.Random(11)
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for region in REGIONS.split():
        for national in numbers(region, source, count):
            for spelling, number in spellings(national).items():
                frames = [("named in English", each) for each in source.sample(NAMED, 3)]
                frames += [("named in its language", f) for f in OWN_LANGUAGE.get(region, ())]
                frames += [("not named", each) for each in source.sample(NOT_NAMED, 2)]
                for sort, frame in frames:
                    right = _has(frame.format(number), number)
                    for key in (sort, f"{sort}, {spelling}"):
                        total[key] += 1
                        found[key] += right
    return {key: (found[key], total[key]) for key in sorted(total)}


def main() -> int:
    """Print the figures."""
    for key, (found, total) in measured().items():
        print(f"{key}: {found} of {total}, {found / total:.3f}")
    for name in sys.argv[1:]:
        lines = Path(name).read_text(encoding="utf-8", errors="replace").splitlines()
        print(f"{name}: {sum(bool(scan(line, _RULES)) for line in lines)} of {len(lines)} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
