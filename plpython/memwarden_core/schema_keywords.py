"""The JSON Schema keywords that must not run as the library runs them inside a server.

``pattern`` and its kin go to RE2; ``uniqueItems`` is linear (the library compares all pairs when
items cannot be sorted); ``format`` asks our own list; ``$ref`` is counted, because a schema that
branches and refers to itself doubles the work with every level of the content; the registry is
empty, so that nothing is ever fetched. ``properties``, ``items`` and ``additionalProperties`` spare
the validator object that the library makes for every subschema, unless the subschema fails.

Importing this module imports jsonschema (0.1 s): import it inside a function.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from .canonical import serialise
from .formats import FORMATS
from .patterns import compile_pattern
from .schema_definition import ANNOTATIONS

_MAX_REFERENCES = 100_000

# Through importlib: typed or not, whichever stubs a machine has.
_base: Any = importlib.import_module("jsonschema.validators").Draft202012Validator
_extend: Any = importlib.import_module("jsonschema.validators").extend
_Failure: Any = importlib.import_module("jsonschema.exceptions").ValidationError
_Registry: Any = importlib.import_module("referencing").Registry

_work = threading.local()


class TooComplex(Exception):
    """Checking a value against its schema takes more work than any honest pair does."""


def _same(one: object, other: object) -> bool:
    """JSON equality: 1 is 1.0, but not true."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return serialise(one) == serialise(other)


def _enum(_validator: Any, allowed: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if not any(_same(instance, each) for each in allowed):
        yield _Failure("")


def _const(_validator: Any, expected: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if not _same(instance, expected):
        yield _Failure("")


def _pattern(_validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and compile_pattern(pattern).search(instance) is None:
        yield _Failure("")


def _format(_validator: Any, name: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and not FORMATS[name](instance):
        yield _Failure("")


def _unique_items(_validator: Any, wanted: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if wanted and isinstance(instance, list):
        if len({serialise(item) for item in instance}) < len(instance):
            yield _Failure("")


def _required(_validator: Any, names: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, dict):
        for name in names:
            if name not in instance:
                yield _Failure("", path=(name,))


def _dependent_required(_validator: Any, needs: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, dict):
        for name, needed in needs.items():
            if name in instance:
                for each in needed:
                    if each not in instance:
                        yield _Failure("", path=(each,))


# Keywords without subschemas: ours, and the library's where it is safe.
_LEAVES: dict[str, Callable[[Any, Any, Any, Any], Iterable[Any]]] = {
    keyword: _base.VALIDATORS[keyword]
    for keyword in (
        "type minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength "
        "minItems maxItems minProperties maxProperties"
    ).split()
} | {
    "enum": _enum,
    "const": _const,
    "pattern": _pattern,
    "format": _format,
    "uniqueItems": _unique_items,
    "required": _required,
    "dependentRequired": _dependent_required,
}


def _accepts(validator: Any, schema: Any, instance: Any) -> bool:
    """Whether a schema without subschemas accepts. False only means: ask the library."""
    if isinstance(schema, bool):
        return schema
    for keyword, expected in schema.items():
        check = _LEAVES.get(keyword)
        if check is None:
            if keyword in ANNOTATIONS:
                continue
            return False
        for _ in check(validator, expected, instance, schema):
            return False
    return True


def _properties(validator: Any, declared: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, dict):
        for name, schema in declared.items():
            if name in instance and not _accepts(validator, schema, instance[name]):
                yield from validator.descend(instance[name], schema, path=name, schema_path=name)


def _items(validator: Any, schema: Any, instance: Any, around: Any) -> Iterator[Any]:
    if isinstance(instance, list):
        first = len(around.get("prefixItems", ()))
        if schema is False:
            if len(instance) > first:
                yield _Failure("")
            return
        for position, item in enumerate(islice(instance, first, None), first):
            if not _accepts(validator, schema, item):
                yield from validator.descend(item, schema, path=position)


def _pattern_properties(validator: Any, declared: Any, instance: Any, _: Any) -> Iterator[Any]:
    if isinstance(instance, dict):
        for pattern, schema in declared.items():
            search = compile_pattern(pattern).search
            for name, value in instance.items():
                if search(name) is not None:
                    yield from validator.descend(value, schema, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, schema: Any, instance: Any, around: Any
) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    declared = around.get("properties", {})
    searches = [compile_pattern(each).search for each in around.get("patternProperties", {})]
    for name, value in instance.items():
        if name in declared or any(search(name) is not None for search in searches):
            continue
        if schema is False:
            yield _Failure("")
            return
        if not _accepts(validator, schema, value):
            yield from validator.descend(value, schema, path=name)


def _reference(validator: Any, target: Any, instance: Any, schema: Any) -> Any:
    _work.references += 1
    if _work.references > _MAX_REFERENCES:
        raise TooComplex
    return _base.VALIDATORS["$ref"](validator, target, instance, schema)


_Validator: Any = _extend(
    _base,
    _LEAVES
    | {
        "properties": _properties,
        "items": _items,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "$ref": _reference,
    },
)


class SchemaValidator:
    """A schema bound to these keywords."""

    def __init__(self, schema: Mapping[str, object]) -> None:
        self._validator = _Validator(schema, registry=_Registry())

    def errors(self, value: object) -> Iterator[Any]:
        """The library's errors, lazily. Raises: TooComplex, RecursionError."""
        _work.references = 0
        return self._validator.iter_errors(value)  # type: ignore[no-any-return]


def shape_problems(schema: Mapping[str, object]) -> list[str]:
    """What the meta-schema has against a schema (keywords with values of a wrong kind)."""
    # Without format checks: those of "regex" would run Python's re.
    errors = _base(_base.META_SCHEMA, registry=_Registry()).iter_errors(schema)
    return sorted(
        {
            "#" + "".join(f"/{part}" for part in error.absolute_path) + ": " + error.message[:200]
            for error in errors
        }
    )
