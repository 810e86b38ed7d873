"""JSON Schema (draft 2020-12) checks of content: every violation at once, none quoting it (V1).

The jsonschema library judges, with the keywords of ``schema_keywords``, all that ``schema_quick``
does not accept. Prepared schemas are kept by their text: they are code, never content.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import islice

from ..canonical import NotCanonical, parse, serialise
from ..light import Any
from ..patterns import PatternRefused
from ..violation import Violation
from .definition import survey, without_header
from .quick import accepts

_MAX_ERRORS = 10_000
_MAX_EXPECTED = 200


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
    "minLength": "length must be at least {}",
    "maxLength": "length must be at most {}",
    "pattern": "must match the pattern {}",
    "format": "must be a valid {}",
    "minItems": "number of items must be at least {}",
    "maxItems": "number of items must be at most {}",
    "items": "has more items than the schema declares",
    "uniqueItems": "must not hold the same item twice",
    "contains": "must hold an item of the required form",
    "minContains": "number of items of the required form must be at least {}",
    "maxContains": "number of items of the required form must be at most {}",
    "minProperties": "number of properties must be at least {}",
    "maxProperties": "number of properties must be at most {}",
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
    """A schema ready to judge content; what only refused content needs is made when it comes."""

    def __init__(self, schema: Mapping[str, object]) -> None:
        self._header_problems, self._body = without_header(schema)

    @cached_property
    def _judge(self) -> tuple[Any, type[Exception], frozenset[str]]:
        """(validator, its error for too much work, declared names). Raises: SchemaRefused."""
        from . import keywords as schema_keywords

        problems, names = survey(self._body)
        problems = self._header_problems + schema_keywords.shape_problems(self._body) + problems
        if problems:
            raise SchemaRefused(problems)
        return schema_keywords.SchemaValidator(self._body), schema_keywords.TooComplex, names

    def check(self) -> None:
        """Raises: SchemaRefused, with every problem of the schema, when it cannot be used."""
        _ = self._judge

    def violations(self, value: object) -> list[Violation]:
        """Every violation of a parsed value, sorted by path, none twice.

        Raises: SchemaRefused where a schema that was never checked cannot be used.
        """
        try:
            if accepts(self._body, value):
                return []
        except (KeyError, TypeError, AttributeError, PatternRefused):
            pass  # a schema of a wrong shape, which nobody has checked: refused below
        validator, too_complex, names = self._judge
        found: set[Violation] = set()
        try:
            for error in islice(validator.errors(value), _MAX_ERRORS):
                parts = [part if part in names else "*" for part in error.absolute_path]
                path = ".".join(["content", *parts])
                found.add(Violation("SCHEMA_VIOLATION", path, _message(error)))
        except (too_complex, RecursionError):
            message = "takes too much work to check against the schema"
            found.add(Violation("SCHEMA_VIOLATION", "content", message))
        return sorted(found)


@lru_cache(maxsize=256)
def compiled(schema: str) -> CompiledSchema:
    """Prepare a schema, given as JSON text. Raises: SchemaRefused for what is no JSON object."""
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
    compiled(schema if isinstance(schema, str) else _as_text(schema)).check()


def violations(schema: Mapping[str, object], value: object) -> list[Violation]:
    """Every violation of a parsed value against a schema. Raises: SchemaRefused."""
    return compiled(_as_text(schema)).violations(value)
