"""Numbers with right check digits, and the shipped rules, for the tests of the scanner."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from memwarden_core.sensitive.rules.national import NATIONAL_RULES
from memwarden_core.sensitive.rules.shipped import default_rules
from memwarden_core.sensitive.scan import Finding, RuleSet, prepare, scan
from memwarden_core.sensitive.validators import IBAN_LENGTHS, is_luhn, validator

HERE = Path(__file__).parent / "data"


@cache
def shipped() -> RuleSet:
    """The shipped rules, ready."""
    return prepare(default_rules())


def found(text: str) -> list[Finding]:
    """What the shipped rules find."""
    return scan(text, shipped())


def kinds(text: str) -> set[str]:
    """The kinds of what they find, without addresses that every machine has."""
    return {finding.kind for finding in found(text) if finding.level != "none"}


def places(text: str, kind: str) -> list[str]:
    """The parts of the text that are found as of a kind."""
    return [text[f.start : f.end] for f in found(text) if f.kind == kind]


def sentences(name: str) -> list[str]:
    """The lines of a file of examples."""
    return (HERE / name).read_text(encoding="utf-8").splitlines()


def with_luhn(digits: str) -> str:
    """The digits and the check digit."""
    return next(digits + last for last in "0123456789" if is_luhn(digits + last))


def _grouped(number: str, sizes: tuple[int, ...], mark: str) -> str:
    parts, place = [], 0
    for size in sizes:
        parts.append(number[place : place + size])
        place += size
    return mark.join(parts)


def _card(prefix: str, length: int, sizes: tuple[int, ...]) -> st.SearchStrategy[str]:
    missing = length - len(prefix) - 1
    body = st.text("0123456789", min_size=missing, max_size=missing)
    marks = st.sampled_from(["", " ", "-"])
    return st.builds(lambda b, mark: _grouped(with_luhn(prefix + b), sizes, mark), body, marks)


_FOURS = (4, 4, 4, 4)
CARDS = st.one_of(
    _card("4", 16, _FOURS),
    *(_card(prefix, 16, _FOURS) for prefix in ("51", "55", "2221", "2720", "6011", "3530", "62")),
    *(_card(prefix, 15, (4, 6, 5)) for prefix in ("34", "37")),
    *(_card(prefix, 14, (4, 6, 4)) for prefix in ("36", "305")),
)

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _iban(country: str, digits: str, grouped: bool) -> str:
    body = digits[: IBAN_LENGTHS[country] - 4]
    if country in ("GB", "IE", "NL"):
        body = "ABCD" + body[4:]
    elif country == "FR":
        body = body[:10] + body[10:]
    number = int("".join(str(int(c, 36)) for c in f"{body}{country}00"))
    whole = f"{country}{98 - number % 97:02d}{body}"
    return " ".join(whole[i : i + 4] for i in range(0, len(whole), 4)) if grouped else whole


IBANS = st.builds(
    _iban,
    st.sampled_from(["DE", "GB", "FR", "NL", "ES", "AT", "BE", "PL", "PT", "SE", "IE", "CZ", "DK"]),
    st.text("0123456789", min_size=30, max_size=30),
    st.booleans(),
)

_NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=12)
EMAILS = st.builds(
    lambda local, mark, more, host, ending: f"{local}{mark}{more}@{host}.{ending}",
    _NAMES,
    st.sampled_from([".", "_", "+", "-", ""]),
    _NAMES,
    st.text(_LETTERS.lower(), min_size=2, max_size=15),
    st.sampled_from(["com", "org", "co.uk", "de", "io", "museum", "example", "com.br"]),
)

_AREAS = [n for n in range(1, 900) if n != 666]
SSNS = st.builds(
    lambda area, group, serial: f"{area:03d}-{group:02d}-{serial:04d}",
    st.sampled_from(_AREAS),
    st.integers(1, 99),
    st.integers(1, 9999),
)

Frame = Callable[[str], str]
FRAMES: st.SearchStrategy[Frame] = st.sampled_from(
    [
        lambda x: x,
        lambda x: f"Please note {x}, and tell nobody else.",
        lambda x: f"({x})",
        lambda x: f'{{"value":"{x}"}}',
        lambda x: f"It was {x}; the other one expired.",
        lambda x: f"first line\n{x}\nlast line",
        lambda x: f"Er sagte: \u00bb{x}\u00ab und ging.",
        lambda x: f"value={x}",
        lambda x: f"| {x} | yes |",
        lambda x: f"Caf\u00e9 \U0001f600 {x}.",
    ]
)


class NationalNumbers:
    """Numbers in the official forms of one rule, and what that rule finds by itself."""

    def __init__(self, rule: dict[str, Any]) -> None:
        self.words = [word.replace("*", "") for word in rule.get("context", ["It is"])]
        self._pattern = re.compile(rule["pattern"])
        self._check = validator(rule["validator"])
        self._alone = prepare(json.dumps([rule]))
        matches = [list(self._pattern.finditer(text)) for text in rule["tests"]["positive"]]
        self.examples = [found[-1][1] for found in matches if found]

    def places(self, text: str) -> list[str]:
        """The parts of the text that the rule finds."""
        return [text[f.start : f.end] for f in scan(text, self._alone)]

    def like(self, number: str, digits: str, *, right: bool) -> str | None:
        """A number with other digits in the middle, whose check is right, or is not."""
        inner = iter(digits)
        middle = "".join(next(inner, c) if c.isdigit() else c for c in number[1:-2])
        ends = [
            "0123456789" if c.isdigit() else _LETTERS if c.isalpha() else c for c in number[-2:]
        ]
        for end in product(*ends):
            other = number[0] + middle + "".join(end)
            if self._pattern.fullmatch(other) and bool(self._check(other)) == right:
                return other
        return None


@cache
def national(index: int) -> NationalNumbers:
    """The numbers of one of the shipped rules, by its place among them."""
    return NationalNumbers(NATIONAL_RULES[index])


NATIONAL = st.sampled_from(range(len(NATIONAL_RULES)))
