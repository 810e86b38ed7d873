"""Python values to JSON text that PostgreSQL can hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from memwarden.errors import InvalidContent

# jsonb has no place for the NUL character; an odd number of backslashes makes it an escape.
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")

UNREADABLE = '"\\u0000"'
"""Stands for what is not JSON: the server cannot read it, whatever it is the value of."""


def strict_json(value: object) -> str:
    """Return `value` as JSON text.

    Raises:
        InvalidContent: NaN, an infinity, a lone surrogate, a NUL character, a key that is not
            text, a value of a type that JSON lacks, or nesting without end. The message names
            the problem and never repeats the value.
    """
    try:
        _require_text_keys(value)
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        text.encode()
    except UnicodeEncodeError:
        raise InvalidContent("text holds half of a surrogate pair") from None
    except RecursionError:
        raise InvalidContent("the value is nested too deeply") from None
    except TypeError as error:
        raise InvalidContent(str(error)) from None
    except ValueError:
        raise InvalidContent("JSON has no NaN, no infinity and no circular value") from None
    if _NUL.search(text):
        raise InvalidContent("text holds a NUL character")
    return text


def lenient_json(value: object) -> str:
    """Return text for a value that `strict_json` refused, for the server to refuse in its turn.

    NaN and infinities keep their names, which are not JSON, and lone surrogates their escapes,
    which the canonical form cannot carry. What has no text at all becomes a mark that is not JSON.
    """
    try:
        _require_text_keys(value)
        return json.dumps(value, allow_nan=True, ensure_ascii=True, separators=(",", ":"))
    except (RecursionError, TypeError, ValueError):
        return f"<{type(value).__name__}>"


def strict_list(values: Iterable[object]) -> str:
    """Return values as a JSON array; what is not JSON in a form that the server refuses alone."""
    return f"[{','.join(map(json_or_mark, values))}]"


def json_or_mark(value: object, mark: str = UNREADABLE) -> str:
    """Return `value` as JSON text; the mark where it is not JSON."""
    try:
        return strict_json(value)
    except InvalidContent:
        return mark


def _require_text_keys(value: Any) -> None:
    """json.dumps would turn 1, None and NaN into text keys, and two keys into the same one."""
    if isinstance(value, dict):
        for key, member in value.items():
            if not isinstance(key, str):
                raise TypeError(f"a key is of type {type(key).__name__} and not text")
            _require_text_keys(member)
    elif isinstance(value, list | tuple):
        for member in value:
            _require_text_keys(member)
