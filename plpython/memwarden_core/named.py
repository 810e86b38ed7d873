"""How a text names an identifier that has a kind: an address, a phone number, another system's id.

Such an identifier is looked for as a *typed term*: its kind and what is looked for, with `MARK`
between. A folded text holds no `MARK`, so nobody's words are taken for one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from .late import late
from .normalise import fold

MARK = "\x1f"
_JOINS = frozenset("._%+-")
"""Between the words of an address before its @."""
_DIGITS = late(r"\d+")
_GAP = late(r"[ .()/\-\u2010-\u2015]{1,3}")
"""What people write between the groups of a phone number."""


def is_part(character: str) -> bool:
    """Whether a word goes on with this character."""
    return character.isalnum() or character == "_"


def stands(text: str, found: str, start: int) -> bool:
    """Whether what was found there is no part of a longer word."""
    end = start + len(found)
    goes_on_before = start > 0 and is_part(found[0]) and is_part(text[start - 1])
    goes_on_after = end < len(text) and is_part(found[-1]) and is_part(text[end])
    return not (goes_on_before or goes_on_after)


def _is_whole_address(text: str, found: str, start: int) -> bool:
    """Whether an address that was found there is no part of another one."""
    end = start + len(found)
    while start > 0 and text[start - 1] in _JOINS:
        start -= 1
    goes_on_before = start > 0 and is_part(text[start - 1])
    after, next_one = text[end : end + 1], text[end + 1 : end + 2]
    goes_on_after = is_part(after) or after == "-" or (after == "." and is_part(next_one))
    return not (goes_on_before or goes_on_after)


def occurs(text: str, wanted: str, *, is_address: bool = False) -> bool:
    """Whether a text holds what is wanted as a word, or as an address, of its own."""
    is_whole = _is_whole_address if is_address else stands
    start = text.find(wanted)
    while start >= 0:
        if is_whole(text, wanted, start):
            return True
        start = text.find(wanted, start + 1)
    return False


def names(typed: str, raw: str, folded: str) -> bool:
    """Whether a text names what a typed term looks for; `folded` is the text as terms are."""
    kind, wanted = typed.split(MARK, 1)
    if kind == "email":
        return any(occurs(folded, each, is_address=True) for each in addresses(wanted))
    if kind == "phone":
        numbers = wanted.split(MARK)
        return any(number in numbers for number in _numbers(folded, max(map(len, numbers))))
    return occurs(raw, wanted)


def addresses(address: str) -> set[str]:
    """An address with its domain in ASCII, and as people write it.

    Raises:
        UnicodeError: the domain is none.
    """
    local, _, host = address.rpartition("@")
    return {address, fold(f"{local}@{host.encode('ascii').decode('idna')}")}


def _numbers(text: str, longest: int) -> Iterator[str]:
    """Every number of groups of digits that follow one another, up to a length."""
    groups = list(_DIGITS.finditer(text))
    for first, group in enumerate(groups):
        if group.start() > 0 and is_part(text[group.start() - 1]):
            continue
        digits, end = "", group.start()
        for place in range(first, len(groups)):
            here = groups[place]
            if place > first and _GAP.fullmatch(text, end, here.start()) is None:
                break
            end = here.end()
            if len(digits) + end - here.start() > longest:
                break
            digits += "".join(str(unicodedata.decimal(digit)) for digit in here[0])
            if not is_part(text[end : end + 1]):
                yield digits
