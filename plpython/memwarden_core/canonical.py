"""The canonical form of JSON content: RFC 8785, and SHA-256 over it (write governance, 12.3.2).

JSON that RFC 8785 cannot carry is refused rather than changed: two different texts must never
become the same memory because a number was rounded or a key was dropped on the way.

A number written with a fraction or an exponent is an IEEE double, as RFC 8785 says, whatever its
size: ``1E30`` and ``9007199254740993.0`` are accepted, the latter as the double nearest to it. A
number written as a bare integer claims to be exact, so beyond 2**53 - 1 it is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from .light import NoReturn

MAX_DEPTH = 64
"""Levels of arrays and objects; far below the recursion limit of every reader that follows."""

_MAX_INTEGER = 2**53 - 1
_INTEGER_CHARACTERS = len(str(-_MAX_INTEGER))


class NotCanonical(ValueError):
    """Text that has no canonical form.

    ``code`` is INVALID_JSON (not JSON at all), NOT_CANONICAL (JSON that RFC 8785 cannot carry) or
    CONTENT_TOO_DEEP. ``message`` says what is wrong and never quotes the text.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def _refuse(message: str) -> NoReturn:
    raise NotCanonical("NOT_CANONICAL", message)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        _refuse("an object has the same key twice")
    return result


def _integer(literal: str) -> int:
    # The length is looked at first: int() of very many digits raises in CPython.
    if len(literal) <= _INTEGER_CHARACTERS:
        number = int(literal)
        if -_MAX_INTEGER <= number <= _MAX_INTEGER:
            return number
    _refuse("an integer lies beyond 2**53 - 1; write it as a string")


def _float(literal: str) -> float:
    number = float(literal)
    if number in (float("inf"), float("-inf")):
        _refuse("a number is too large for an IEEE double")
    return number


def _constant(_name: str) -> NoReturn:
    _refuse("NaN and infinities are not JSON numbers")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_float,
    parse_constant=_constant,
)


def _stored_integer(literal: str) -> float:
    number = float(literal)
    return int(number) if -_MAX_INTEGER <= number <= _MAX_INTEGER else number


_STORED_DECODER = json.JSONDecoder(parse_int=_stored_integer)


def parse_stored(text: str) -> object:
    """Parse content that was canonical when it came and that PostgreSQL has written out again.

    ``jsonb`` spells 1E30 as 1 and thirty zeros: an integer beyond 2**53 - 1 was a double.
    """
    value: object = _STORED_DECODER.decode(text)
    return value


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _is_too_deep(value: object) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [container for container in level if isinstance(container, (dict, list))]
        if not level:
            return False
        level = [child for container in level for child in _children(container)]
    return True


def parse(text: str) -> object:
    """Parse JSON strictly.

    Returns: dict, list, str, int, float, bool or None, no deeper than MAX_DEPTH levels.
    Raises: NotCanonical. A lone surrogate is left to ``serialise``, which meets every string.
    """
    try:
        value: object = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg.lower()} (at character {error.pos})"
        raise NotCanonical("INVALID_JSON", message) from None
    except RecursionError:
        too_deep = True
    else:
        # Without that many brackets there cannot be that many levels: no walk for usual content.
        too_deep = text.count("[") + text.count("{") > MAX_DEPTH and _is_too_deep(value)
    if too_deep:
        raise NotCanonical("CONTENT_TOO_DEEP", f"nested deeper than {MAX_DEPTH} levels")
    return value


_encode_plain = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":"), sort_keys=True
).encode


def _is_plain(value: object) -> bool:
    """Whether the standard library, which is faster, writes the RFC 8785 form of a value.

    It does not know how JavaScript writes a fraction, and in which order UTF-16 puts names.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if isinstance(value, dict):
        return all(
            type(key) is str and key.isascii() and _is_plain(child) for key, child in value.items()
        )
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return isinstance(value, int) and -_MAX_INTEGER <= value <= _MAX_INTEGER


def serialise(value: object) -> bytes:
    """The RFC 8785 form of a parsed value, as UTF-8.

    Raises: NotCanonical for a lone surrogate and for numbers that RFC 8785 cannot carry.
    """
    try:
        if _is_plain(value):
            return _encode_plain(value).encode()
    except UnicodeEncodeError:
        _refuse("a string holds a lone surrogate")
    import rfc8785

    try:
        return rfc8785.dumps(value)  # type: ignore[arg-type]
    except UnicodeEncodeError:
        _refuse("a string holds a lone surrogate")
    except rfc8785.CanonicalizationError as error:
        # The library's own messages quote the number.
        if isinstance(error.__cause__, UnicodeEncodeError):
            _refuse("a string holds a lone surrogate")
        _refuse("a value has no canonical form")


def canonical_json(text: str) -> str:
    """The RFC 8785 form of a JSON text. Raises: NotCanonical."""
    return serialise(parse(text)).decode()


def content_hash(text: str) -> bytes:
    """SHA-256 (32 bytes) over the canonical UTF-8 of a JSON text. Raises: NotCanonical."""
    return hashlib.sha256(serialise(parse(text))).digest()
