"""Whether a document names a person: identifiers found literally, whatever their case and spelling.

Erasing takes no regular expression and no guess. An identifier is found where it stands as a word
of its own, in any string, name or number of a JSON document, or in a plain text. In JSON of the
store's own making the names are no words of anybody: there only values count, but for moments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from .named import MARK, names, occurs
from .normalise import fold
from .written import read

_APART = "\x00"
"""Between the strings of a document: no identifier holds it, and it is no blank."""
_OUR_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
"""What names in JSON of the store's own look like; another one there is somebody's word."""
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?", re.ASCII
)
"""A moment as the store writes it. The minute 50 names nobody who is called 50."""


def term(identifier: str) -> str:
    """The form in which an identifier is looked for: compatibility form, case and blanks folded."""
    return " ".join(fold(identifier).split())


def _strings(value: object) -> Iterator[str]:
    """Every string, name and number of parsed JSON; deep ones need no recursion."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, (list, tuple)):
            waiting.extend(each)


def _parts(pairs: list[tuple[str, object]]) -> list[object]:
    """Names and values of an object. Of a name that is repeated every value counts."""
    return [part for pair in pairs for part in pair]


def _parts_of_ours(pairs: list[tuple[str, object]]) -> list[object]:
    """The values of an object that the store has made, and names that are none of the store's."""
    return [part for pair in pairs for part in (pair[_OUR_NAME.fullmatch(pair[0]) is not None :])]


def _said(document: str, *, ours: bool = False) -> str:
    """What a document says, its strings kept apart: JSON by names and values, else as it stands.

    Of JSON that is ``ours``, which the store has made, the store's names and moments are not said.
    """
    try:
        value = json.loads(
            document,
            parse_int=str,
            parse_float=str,
            object_pairs_hook=_parts_of_ours if ours else _parts,
        )
    except (ValueError, RecursionError):
        # Nobody stored it as JSON. Escapes must not hide the edge of a word.
        # In a name an identifier may be written as its bytes.
        plain = document.replace("\\n", " ").replace("\\t", " ")
        return _APART.join((document, plain, read(document)))
    said = _strings(value)
    return _APART.join(each for each in said if not (ours and _MOMENT.fullmatch(each)))


def mentions(
    terms: Sequence[str], documents: Iterable[str | None], ours: Iterable[str | None] = ()
) -> bool:
    """Whether a document holds one of the terms, which ``term`` or ``identifiers`` has made.

    ``ours`` are documents that the store has made: names of its own in them are not looked at.
    """
    plain = [wanted for wanted in terms if MARK not in wanted]
    typed = [wanted for wanted in terms if MARK in wanted]
    for made_here, some in ((False, documents), (True, ours)):
        for document in filter(None, some):
            said = _said(document, ours=made_here)
            text = term(said)
            if any(occurs(text, wanted) for wanted in plain):
                return True
            if any(names(wanted, said, text) for wanted in typed):
                return True
    return False
