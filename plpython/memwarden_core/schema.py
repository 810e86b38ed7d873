"""JSON Schema (draft 2020-12) checks of content: every violation at once, none quoting it (V1).

The jsonschema library judges (with the keywords of ``schema_keywords``); it takes 0.1 s to import,
so it is loaded when the first schema is. Prepared schemas are kept by their text: they are code,
never content.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from .canonical import NotCanonical, parse, serialise
from .schema_definition import survey, without_header

_MAX_ERRORS = 1_000
_MAX_EXPECTED = 200


class Violation(NamedTuple):
    """One thing that is wrong with a request.

    ``path`` is dotted (``content.tags.*``): property names that the schema declares, ``*`` for
    array positions and for every name that came with the content.
    """

    code: str
    path: str
    message: str


class SchemaRefused(ValueError):
    """A schema that cannot be used; ``problems`` lists every reason."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


_MESSAGES = {
    "type": "must be of type {}",
    "required": "is required",
    "dependentRequired": "is required beside the other properties",
    "enum": "must be one of {}",
    "const": "must be {}",
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be more than {}",
    "exclusiveMaximum": "must be less than {}",
    "multipleOf": "must be a multiple of {}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "pattern": "must match the pattern {}",
    "format": "must be a valid {}",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
    "items": "has more items than the schema declares",
    "uniqueItems": "must not hold the same item twice",
    "contains": "must hold an item of the required form",
    "minContains": "must hold at least {} items of the required form",
    "maxContains": "must hold at most {} items of the required form",
    "minProperties": "must have at least {} properties",
    "maxProperties": "must have at most {} properties",
    "additionalProperties": "has properties that the schema does not declare",
    "anyOf": "must have at least one of the alternative forms",
    "oneOf": "must have exactly one of the alternative forms",
    "not": "must not have the excluded form",
}


def _message(error: Any) -> str:
    """Our words, with the schema's expectation; the library's messages quote the content."""
    template = _MESSAGES.get(error.validator, "is not allowed")
    expected = error.validator_value
    if error.validator == "type":
        shown = " or ".join([expected] if isinstance(expected, str) else expected)
    elif "{}" in template:
        shown = expected if error.validator == "format" else serialise(expected).decode()
    else:
        shown = ""
    if len(shown) > _MAX_EXPECTED:
        shown = shown[:_MAX_EXPECTED] + "..."
    message = template.format(shown)
    if "propertyNames" in error.absolute_schema_path:
        return "a property name " + message
    return message




class CompiledSchema:
    """A schema that has passed the definition checks and is ready to judge content."""

    def __init__(self, schema: Mapping[str, object]) -> None:
        """Raises: SchemaRefused."""
        from . import schema_keywords  # loads jsonschema

        problems, body = without_header(schema)
        found, self._names = survey(body)
        problems += [] if found else schema_keywords.shape_problems(body)
        problems += found
        if problems:
            raise SchemaRefused(problems)
        self._validator = schema_keywords.SchemaValidator(body)
        self._too_complex = schema_keywords.TooComplex

    def _path(self, parts: Any) -> str:
        names = self._names
        return ".".join(["content", *(part if part in names else "*" for part in parts)])

    def violations(self, value: object) -> list[Violation]:
        """Every violation of a parsed value, sorted by path, none twice."""
        found: set[Violation] = set()
        try:
            for error in islice(self._validator.errors(value), _MAX_ERRORS):
                path = self._path(error.absolute_path)
                found.add(Violation("SCHEMA_VIOLATION", path, _message(error)))
        except (self._too_complex, RecursionError):
            message = "takes too much work to check against the schema"
            found.add(Violation("SCHEMA_VIOLATION", "content", message))
        return sorted(found)


@lru_cache(maxsize=256)
def compiled(schema: str) -> CompiledSchema:
    """Prepare a schema, given as JSON text. Raises: SchemaRefused."""
    try:
        value = parse(schema)
    except NotCanonical as error:
        raise SchemaRefused([error.message]) from None
    if not isinstance(value, dict):
        raise SchemaRefused(["a schema is a JSON object"])
    return CompiledSchema(value)


def _as_text(schema: Mapping[str, object]) -> str:
    try:
        return serialise(schema).decode()
    except NotCanonical as error:
        raise SchemaRefused([error.message]) from None


def check_schema(schema: Mapping[str, object] | str) -> None:
    """Raises: SchemaRefused, with every problem of the schema, when it cannot be used."""
    compiled(schema if isinstance(schema, str) else _as_text(schema))


def violations(schema: Mapping[str, object], value: object) -> list[Violation]:
    """Every violation of a parsed value against a schema. Raises: SchemaRefused."""
    return compiled(_as_text(schema)).violations(value)
