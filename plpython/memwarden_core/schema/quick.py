"""A quick yes for content that plainly conforms, without loading the JSON Schema library.

Most writes conform, and the library costs 0.1 s per connection to import and some 10 us for every
subschema. ``accepts`` knows the keywords whose meaning leaves no room; True means valid. False only
means that the library has to be asked, which then also finds the words for what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable

from ..canonical import serialise
from ..light import Any
from ..patterns import compile_pattern
from .definition import ANNOTATIONS
from .formats import FORMATS


def same(one: object, other: object) -> bool:
    """JSON equality: 1 is 1.0, but not true."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return serialise(one) == serialise(other)


def unique(items: list[Any]) -> bool:
    """Whether no two items are equal, in linear time."""
    return len({serialise(item) for item in items}) == len(items)


def is_undeclared(name: str, schema: Any) -> bool:
    """Whether ``additionalProperties`` of this schema judges a property of that name."""
    return name not in schema.get("properties", ()) and not any(
        compile_pattern(each).search(name) for each in schema.get("patternProperties", ())
    )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_integer(value: object) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, float) and value.is_integer()
    )


_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": _is_number,
    "integer": _is_integer,
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "null": lambda value: value is None,
}


def _type(expected: Any, value: Any, _schema: Any) -> bool:
    if isinstance(expected, str):
        return _TYPES[expected](value)
    return any(_TYPES[each](value) for each in expected)


def _properties(declared: Any, value: Any, _schema: Any) -> bool:
    return not isinstance(value, dict) or all(
        accepts(schema, value[name]) for name, schema in declared.items() if name in value
    )


def _additional(schema: Any, value: Any, around: Any) -> bool:
    return not isinstance(value, dict) or all(
        accepts(schema, child) for name, child in value.items() if is_undeclared(name, around)
    )


def _items(schema: Any, value: Any, around: Any) -> bool:
    return not isinstance(value, list) or all(
        accepts(schema, item) for item in value[len(around.get("prefixItems", ())) :]
    )


def _dependent_required(needs: Any, value: Any, _schema: Any) -> bool:
    return not isinstance(value, dict) or all(
        each in value for name, needed in needs.items() if name in value for each in needed
    )


def _sized(kind: type[Any], fits: Callable[[int, int], bool]) -> Callable[[Any, Any, Any], bool]:
    return lambda limit, value, _schema: not isinstance(value, kind) or fits(len(value), limit)


def _bounded(fits: Callable[[Any, Any], bool]) -> Callable[[Any, Any, Any], bool]:
    return lambda limit, value, _schema: not _is_number(value) or fits(value, limit)


def _at_least(one: Any, other: Any) -> bool:
    return bool(one >= other)


def _at_most(one: Any, other: Any) -> bool:
    return bool(one <= other)


_KEYWORDS: dict[str, Callable[[Any, Any, Any], bool]] = {
    "type": _type,
    "enum": lambda allowed, value, _: any(same(value, each) for each in allowed),
    "const": lambda expected, value, _: same(value, expected),
    "minimum": _bounded(_at_least),
    "maximum": _bounded(_at_most),
    "exclusiveMinimum": _bounded(lambda one, other: bool(one > other)),
    "exclusiveMaximum": _bounded(lambda one, other: bool(one < other)),
    "minLength": _sized(str, _at_least),
    "maxLength": _sized(str, _at_most),
    "minItems": _sized(list, _at_least),
    "maxItems": _sized(list, _at_most),
    "minProperties": _sized(dict, _at_least),
    "maxProperties": _sized(dict, _at_most),
    "pattern": lambda pattern, value, _: (
        not isinstance(value, str) or compile_pattern(pattern).search(value) is not None
    ),
    "format": lambda name, value, _: not isinstance(value, str) or FORMATS[name](value),
    "uniqueItems": lambda wanted, value, _: (
        not wanted or not isinstance(value, list) or unique(value)
    ),
    "required": lambda names, value, _: (
        not isinstance(value, dict) or all(name in value for name in names)
    ),
    "dependentRequired": _dependent_required,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "allOf": lambda schemas, value, _: all(accepts(each, value) for each in schemas),
    "anyOf": lambda schemas, value, _: any(accepts(each, value) for each in schemas),
}
_SILENT = ANNOTATIONS | {"$defs", "definitions"}


def accepts(schema: Any, value: Any) -> bool:
    """True: the value conforms. False: not known here."""
    if isinstance(schema, bool):
        return schema
    for keyword, expected in schema.items():
        check = _KEYWORDS.get(keyword)
        if check is None:
            if keyword not in _SILENT:
                return False
        elif not check(expected, value, schema):
            return False
    return True
