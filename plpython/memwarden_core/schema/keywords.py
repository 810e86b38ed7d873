"""The JSON Schema keywords that must not run as the library runs them inside a server.

``pattern`` and its kin go to RE2; ``uniqueItems`` is linear (the library compares all pairs when
items cannot be sorted); ``format`` asks our own list; ``$ref`` is counted, because a schema that
branches and refers to itself doubles the work with every level of the content; arrays and objects
stop after a number of failing members, which would all read the same; the registry is empty, so
that nothing is ever fetched.

Importing this module imports jsonschema (0.1 s): import it inside a function.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from ..light import Any
from ..patterns import compile_pattern
from .formats import FORMATS
from .quick import accepts, is_undeclared, same, unique

_MAX_REFERENCES = 10_000
_MAX_FAILING_MEMBERS = 100

# Through importlib: typed or not, whichever stubs a machine has.
_base: Any = importlib.import_module("jsonschema.validators").Draft202012Validator
_extend: Any = importlib.import_module("jsonschema.validators").extend
_Failure: Any = importlib.import_module("jsonschema.exceptions").ValidationError
_Registry: Any = importlib.import_module("referencing").Registry

_work = threading.local()


class TooComplex(Exception):
    """Checking a value against its schema takes more work than any honest pair does."""


def _enum(_validator: Any, allowed: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if not any(same(instance, each) for each in allowed):
        yield _Failure("")


def _const(_validator: Any, expected: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if not same(instance, expected):
        yield _Failure("")


def _pattern(_validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and compile_pattern(pattern).search(instance) is None:
        yield _Failure("")


def _format(_validator: Any, name: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and not FORMATS[name](instance):
        yield _Failure("")


def _unique_items(_validator: Any, wanted: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if wanted and isinstance(instance, list) and not unique(instance):
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


def _members(
    validator: Any, schema: Any, members: Iterable[tuple[str | int, Any]]
) -> Iterator[Any]:
    """The errors of members of an array or object that share one schema, up to a limit."""
    failing = 0
    for name, value in members:
        if accepts(schema, value):
            continue
        before = failing
        for error in validator.descend(value, schema, path=name):
            failing = before + 1
            yield error
        if failing == _MAX_FAILING_MEMBERS:
            return


def _properties(validator: Any, declared: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, dict):
        for name, schema in declared.items():
            if name in instance and not accepts(schema, instance[name]):
                yield from validator.descend(instance[name], schema, path=name, schema_path=name)


def _items(validator: Any, schema: Any, instance: Any, around: Any) -> Iterator[Any]:
    if not isinstance(instance, list):
        return
    first = len(around.get("prefixItems", ()))
    if schema is not False:
        yield from _members(validator, schema, islice(enumerate(instance), first, None))
    elif len(instance) > first:
        yield _Failure("")


def _pattern_properties(validator: Any, declared: Any, instance: Any, _: Any) -> Iterator[Any]:
    if isinstance(instance, dict):
        for pattern, schema in declared.items():
            search = compile_pattern(pattern).search
            chosen = (each for each in instance.items() if search(each[0]) is not None)
            yield from _members(validator, schema, chosen)


def _additional(validator: Any, schema: Any, instance: Any, around: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    undeclared = (each for each in instance.items() if is_undeclared(each[0], around))
    if schema is not False:
        yield from _members(validator, schema, undeclared)
    elif any(True for _ in undeclared):
        yield _Failure("")


def _reference(validator: Any, target: Any, instance: Any, schema: Any) -> Any:
    _work.references += 1
    if _work.references > _MAX_REFERENCES:
        raise TooComplex
    return _base.VALIDATORS["$ref"](validator, target, instance, schema)


_Validator: Any = _extend(
    _base,
    {
        "enum": _enum,
        "const": _const,
        "pattern": _pattern,
        "format": _format,
        "uniqueItems": _unique_items,
        "required": _required,
        "dependentRequired": _dependent_required,
        "properties": _properties,
        "items": _items,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional,
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
        errors: Iterator[Any] = self._validator.iter_errors(value)
        return errors


def shape_problems(schema: Mapping[str, object]) -> list[str]:
    """What the meta-schema has against a schema (keywords with values of a wrong kind)."""
    # Without format checks: that of "regex" would run Python's re.
    errors = _base(_base.META_SCHEMA, registry=_Registry()).iter_errors(schema)
    return sorted(
        {
            "#" + "".join(f"/{part}" for part in error.absolute_path) + ": " + error.message[:200]
            for error in errors
        }
    )
