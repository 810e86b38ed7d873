"""Identifiers by which a person is registered: their kinds, and the normal form of each.

A *name* is looked for whatever its case and blanks. An *email* is one address: case and the
spelling of its domain do not matter. A *phone* is one number, however it is written. An *account*,
or the id that an *adapter* gave, belongs to another system and is compared to the letter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib import import_module

from .late import late
from .mentions import term
from .named import MARK, addresses

MOST = 100
LONGEST = 1000
_ADDRESS = late(r"[^\s@\"<>(),;:\\\[\]]{1,64}@[^\s@]{3,253}")
_HOST = late(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_LEAST_NATIONAL = 9
"""Digits of a number without its country. What is shorter is often a date or an order."""


def _email(value: str) -> str:
    """An address in lower case, its domain in ASCII."""
    local, _, host = term(value).rpartition("@")
    host = host.encode("idna").decode("ascii").lower()
    address = f"{local}@{host}"
    if _ADDRESS.fullmatch(address) is None or _HOST.fullmatch(host) is None:
        raise ValueError
    addresses(address)
    return address


def _phone(value: str) -> str:
    """A number with its country, as in +385911234567."""
    library = import_module("phonenumbers")
    text = term(value)
    text = "+" + text[2:] if text.startswith("00") else text
    try:
        parsed = library.parse(text, None)
    except library.NumberParseException:
        raise ValueError from None
    if parsed.extension or not library.is_possible_number(parsed):
        raise ValueError
    return str(library.format_number(parsed, library.PhoneNumberFormat.E164))


_FORMS: dict[str, Callable[[str], str]] = {
    "name": lambda value: " ".join(value.split()),
    "email": _email,
    "phone": _phone,
    "account": str,
    "adapter": str,
}
_EXAMPLES = {"email": "petra@example.org", "phone": "+385 91 123 4567"}


def _normal_form(kind: str, value: object) -> str:
    if kind not in _FORMS:
        raise ValueError(f"identifiers: the kinds are {', '.join(_FORMS)}")
    # A single character would be found nearly everywhere.
    if not isinstance(value, str) or len(value) > LONGEST or len(term(value)) < 2:
        raise ValueError(f"identifiers: each {kind} is a text of 2 to 1,000 characters")
    try:
        return _FORMS[kind](value)
    except ValueError:
        wanted = f"identifiers: each {kind} is one, as in {_EXAMPLES[kind]}"
        raise ValueError(wanted) from None


def _pairs(document: str) -> Iterator[tuple[str, str]]:
    """Kind and normal form of what a JSON object has: to each kind a text, or a list of texts.

    Raises:
        ValueError: it is no such object, or has something that is no identifier; says what.
    """
    given = json.loads(document)
    if not isinstance(given, dict):
        raise ValueError(f'identifiers: an object, as in {{"email": ["{_EXAMPLES["email"]}"]}}')
    for kind, values in given.items():
        for value in values if isinstance(values, list) else [values]:
            yield kind, _normal_form(kind, value)


def terms(document: str) -> list[str]:
    """The forms in which registered identifiers are looked for, each once; for `mentions`."""
    return list(dict.fromkeys(_term(kind, value) for kind, value in _pairs(document)))


def _term(kind: str, value: str) -> str:
    if kind == "name":
        return term(value)
    return MARK.join([kind, *(_spellings(value) if kind == "phone" else [value])])


def _spellings(number: str) -> list[str]:
    """The digits of a number with its country, and without."""
    library = import_module("phonenumbers")
    parsed = library.parse(number, None)
    national = library.format_number(parsed, library.PhoneNumberFormat.NATIONAL)
    inside = "".join(filter(str.isdecimal, national))
    # The last is +385 (0)91 123 4567.
    every = [number[1:], "00" + number[1:], f"{parsed.country_code}{inside}"]
    return list(dict.fromkeys(every + [inside] * (len(inside) >= _LEAST_NATIONAL)))


def changed(registered: str, given: str, *, remove: bool) -> dict[str, list[str]]:
    """The registered identifiers with those that are given, or without them.

    Raises:
        ValueError: what is given is malformed or too much, or is to be removed and is not there.
    """
    known = {_term(kind, value): (kind, value) for kind, value in _pairs(registered)}
    count = 0
    for count, (kind, value) in enumerate(_pairs(given), start=1):
        if remove and known.pop(_term(kind, value), None) is None:
            raise ValueError("identifiers: one of them is not registered")
        if not remove:
            known.setdefault(_term(kind, value), (kind, value))
        if max(count, len(known)) > MOST:
            raise ValueError(f"identifiers: at most {MOST} of a subject")
    if count == 0:
        raise ValueError("identifiers: name at least one")
    found: dict[str, list[str]] = {}
    for kind, value in known.values():
        found.setdefault(kind, []).append(value)
    return found
