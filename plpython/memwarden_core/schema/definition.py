"""What a JSON Schema may say: checked once, when it is defined, so that a write cannot stumble.

Draft 2020-12, without what could reach outside (references other than ``#/...``), run away
(references in a circle, patterns RE2 refuses) or silently check nothing (misspelt keywords,
formats that are not asserted).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from ..patterns import PatternRefused, compile_pattern
from .formats import FORMATS

DIALECT = "https://json-schema.org/draft/2020-12/schema"

ANNOTATIONS = frozenset(
    (
        "$comment",
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
    )
)
_ASSERTIONS = frozenset(
    (
        "type",
        "enum",
        "const",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minContains",
        "maxContains",
        "required",
        "minProperties",
        "maxProperties",
        "dependentRequired",
        "$ref",
    )
)
# Where subschemas sit; "in place" means that they judge the same value as the schema around them.
_ONE_IN_PLACE = frozenset(("not", "if", "then", "else"))
_LIST_IN_PLACE = frozenset(("allOf", "anyOf", "oneOf"))
_ONE = _ONE_IN_PLACE | {"items", "additionalProperties", "contains", "propertyNames"}
_LIST = _LIST_IN_PLACE | {"prefixItems"}
_NAMED = frozenset(("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"))
_IN_PLACE = _ONE_IN_PLACE | _LIST_IN_PLACE | {"dependentSchemas"}


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _subschemas(schema: Mapping[str, object]) -> Iterator[tuple[str, str, object]]:
    """(keyword, pointer from the schema, subschema); schemas of a wrong shape yield nothing."""
    for keyword, value in schema.items():
        if keyword in _ONE:
            yield keyword, f"/{keyword}", value
        elif keyword in _LIST and isinstance(value, list):
            for position, child in enumerate(value):
                yield keyword, f"/{keyword}/{position}", child
        elif keyword in _NAMED and isinstance(value, dict):
            for name, child in value.items():
                yield keyword, f"/{keyword}/{_escaped(name)}", child


class _Survey:
    """One walk over a schema: its problems, its property names, and which schema leads where."""

    def __init__(self, schema: Mapping[str, object]) -> None:
        self.problems: list[str] = []
        self.names: set[str] = set()
        self.leads_to: dict[str, list[str]] = {}
        self._references: list[tuple[str, str]] = []
        self._visit("#", schema)
        for pointer, target in self._references:
            if target in self.leads_to:
                self.leads_to[pointer].append(target)
            else:
                self._problem(pointer, "$ref leads to no schema in this document")
        if not self.problems and self._has_circle():
            self.problems.append("references lead in a circle without descending into the content")

    def _problem(self, pointer: str, message: str) -> None:
        self.problems.append(f"{pointer}: {message}")

    def _visit(self, pointer: str, schema: object) -> None:
        self.leads_to[pointer] = []
        if not isinstance(schema, dict):
            return  # true, false, or a wrong shape that the meta-schema has reported
        for keyword, value in schema.items():
            self._check_keyword(pointer, keyword, value)
        for keyword, path, child in _subschemas(schema):
            if keyword in _IN_PLACE:
                self.leads_to[pointer].append(pointer + path)
            self._visit(pointer + path, child)

    def _check_keyword(self, pointer: str, keyword: str, value: object) -> None:
        if keyword in ("properties", "patternProperties", "dependentRequired"):
            self._check_names(pointer, keyword, value)
        elif keyword == "required" and isinstance(value, list):
            self.names.update(name for name in value if isinstance(name, str))
        elif keyword == "pattern" and isinstance(value, str):
            self._check_pattern(pointer, value)
        elif keyword == "format" and isinstance(value, str) and value not in FORMATS:
            known = ", ".join(sorted(FORMATS))
            self._problem(pointer, f"this format is not checked; the checked ones are {known}")
        elif keyword == "$ref" and isinstance(value, str):
            if value == "#" or value.startswith("#/"):
                self._references.append((pointer, unquote(value)))
            else:
                self._problem(pointer, "$ref must lead into this document (#/...)")
        elif not (
            keyword in _ASSERTIONS
            or keyword in ANNOTATIONS
            or keyword in _ONE
            or keyword in _LIST
            or keyword in _NAMED
            or keyword.startswith("x-")
        ):
            self._problem(pointer, f"{keyword[:50]!r} is not supported (a note may start with x-)")

    def _check_names(self, pointer: str, keyword: str, value: object) -> None:
        if not isinstance(value, dict):
            return
        if keyword == "patternProperties":
            for pattern in value:
                self._check_pattern(pointer, pattern)
            return
        self.names.update(value)
        for names in value.values():
            if keyword == "dependentRequired" and isinstance(names, list):
                self.names.update(name for name in names if isinstance(name, str))

    def _check_pattern(self, pointer: str, pattern: str) -> None:
        try:
            compile_pattern(pattern)
        except PatternRefused as error:
            self._problem(pointer, str(error))

    def _has_circle(self) -> bool:
        """Remove schemas that lead nowhere (any more) until none is left or all are in circles."""
        leads_to = {pointer: set(targets) for pointer, targets in self.leads_to.items()}
        comes_from: dict[str, list[str]] = {}
        for pointer, targets in leads_to.items():
            for target in targets:
                comes_from.setdefault(target, []).append(pointer)
        ends = [pointer for pointer, targets in leads_to.items() if not targets]
        removed = 0
        while ends:
            end = ends.pop()
            removed += 1
            for pointer in comes_from.get(end, ()):
                leads_to[pointer].discard(end)
                if not leads_to[pointer]:
                    ends.append(pointer)
        return removed < len(leads_to)


def survey(schema: Mapping[str, object]) -> tuple[list[str], frozenset[str]]:
    """(problems, property names that the schema declares). No problems: it can be used.

    ``$schema`` and ``$id`` of the whole document are expected to be gone (see ``without_header``).
    """
    found = _Survey(schema)
    return found.problems, frozenset(found.names)


def without_header(schema: Mapping[str, object]) -> tuple[list[str], dict[str, object]]:
    """(problems, the schema without ``$schema`` and ``$id``, which only name it)."""
    body = dict(schema)
    dialect = body.pop("$schema", DIALECT)
    body.pop("$id", None)
    if isinstance(dialect, str) and dialect.removesuffix("#") == DIALECT:
        return [], body
    return [f"#: the dialect must be {DIALECT}"], body
