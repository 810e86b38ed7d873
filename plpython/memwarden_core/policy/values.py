"""The values of a policy condition: which of them compare, and the jsonpath that compares them.

A condition is true or false. jsonpath knows a third, `unknown`, for values that do not compare, and
it looks into arrays unasked. So every test asks for the types first: an attribute that is absent,
null or of another type than declared equals nothing, and nothing is above or below it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ..light import NamedTuple
from .tokens import RIGHTS, PolicyError, Token, unquoted

# What jsonpath's type() says of a value.
_JSON_TYPES = {
    "text": "string",
    "number": "number",
    "boolean": "boolean",
    "level": "number",
    "text[]": "array",
    "operation": "string",
}
_ORDERED = ("number", "level")
COMPARE = {"=": "==", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


class Value(NamedTuple):
    """One side of a test: with a path, what the document says there; without, a literal."""

    type: str
    path: str
    token: Token

    def wrong(self, message: str) -> PolicyError:
        """An error that points here."""
        return PolicyError(message, self.token.position)


class Vocabulary:
    """What conditions may speak of: the attributes of agent and item with their types, the levels.

    Its methods return jsonpath that is never unknown, and raise PolicyError.
    """

    def __init__(self, known: Mapping[str, Mapping[str, str]], levels: Mapping[str, int]) -> None:
        self._known = known
        self._levels = levels

    def value(self, token: Token) -> Value:
        """What a token stands for."""
        if token.kind == "operation":
            return Value("operation", '$."operation"', token)
        if token.kind != "attribute":
            return Value(token.kind, "", token)
        owner, name = token.text.split(".")
        attributes = self._known.get(owner, {})
        value = Value(attributes.get(name, ""), f"$.{quoted(owner)}.{quoted(name)}", token)
        if name not in attributes:
            names = ", ".join(sorted(attributes)) or "none"
            raise value.wrong(f"{owner} has no attribute {name[:50]!r}; it has: {names}")
        if value.type not in _JSON_TYPES:
            raise value.wrong(f"a condition cannot use {token.text}")
        return value

    def truth(self, value: Value) -> str:
        """A boolean attribute, TRUE or FALSE, as a condition of its own."""
        if value.type != "boolean":
            raise value.wrong(f"{value.token.text} is no condition by itself")
        if not value.path:
            return "(1 == 1)" if value.token.text.upper() == "TRUE" else "(1 == 0)"
        return all_of(*_typed(value), f"{value.path} == true")

    def compare(self, left: Value, operator: Token, symbol: str, right: Value) -> str:
        """``left symbol right``; the symbol is one of = < <= > >=."""
        a, b = self._comparable(left, right)
        kind = left.type if left.path else right.type
        if symbol != "=" and kind not in _ORDERED:
            raise PolicyError(
                f"{operator.text} compares numbers and levels only", operator.position
            )
        return all_of(*_typed(left), *_typed(right), f"{a} {COMPARE[symbol]} {b}")

    def listed(self, value: Value, literals: Sequence[Value]) -> str:
        """``value IN (literals)``."""
        for literal in literals:
            if literal.path:
                raise literal.wrong("IN (...) lists literals only")
        pairs = [self._comparable(value, literal) for literal in literals]
        return all_of(*_typed(value), "(" + " || ".join(f"{a} == {b}" for a, b in pairs) + ")")

    def member(self, value: Value, array: Value) -> str:
        """``value = ANY(array)``."""
        if array.type != "text[]":
            raise array.wrong(f"{array.token.text} is no list of texts")
        if value.path and value.type != "text":
            raise value.wrong(f"{value.token.text} is {value.type}, a member of the list is text")
        member = value.path or self._literal(value, "text")
        return all_of(*_typed(value), *_typed(array), f"{array.path}[*] == {member}")

    def like(self, value: Value, pattern: Value) -> str:
        """``value LIKE 'prefix%'``."""
        if value.type != "text":
            raise value.wrong("LIKE is for text attributes")
        if pattern.type != "string":
            raise pattern.wrong("LIKE needs a quoted pattern")
        prefix = unquoted(pattern.token.text)
        if not prefix.endswith("%") or any(mark in prefix[:-1] for mark in "%_\\"):
            raise pattern.wrong("a pattern is a prefix with one % at its end, without _ and \\")
        return all_of(*_typed(value), f"{value.path} starts with {quoted(prefix[:-1])}")

    def present(self, value: Value) -> str:
        """``value IS NOT NULL``: whatever its type, it is there."""
        if not value.path or value.type == "operation":
            raise value.wrong("IS NULL is for attributes")
        return f'({value.path}.type() != "null")'

    def _comparable(self, left: Value, right: Value) -> tuple[str, str]:
        """Both sides in jsonpath."""
        for value in (left, right):
            if value.type == "text[]":
                raise value.wrong(
                    f"{value.token.text} is a list: 'x' = ANY({value.token.text}), or IS NULL"
                )
        if not left.path and not right.path:
            raise left.wrong("a comparison needs an attribute")
        if not right.path:
            return left.path, self._literal(right, left.type)
        if not left.path:
            return self._literal(left, right.type), right.path
        if "operation" in (left.type, right.type):
            other = left if left.type != "operation" else right
            raise other.wrong(f"operation is one of {', '.join(RIGHTS)}")
        if left.type != right.type:
            raise right.wrong(
                f"{left.token.text} is {left.type}, {right.token.text} is {right.type}"
            )
        return left.path, right.path

    def _literal(self, value: Value, wanted: str) -> str:
        """A literal as a value of the type that stands on the other side."""
        kind, text = value.token.kind, value.token.text
        if wanted == "text" and kind == "string":
            return quoted(unquoted(text))
        if wanted == kind == "number":
            return text
        if wanted == kind == "boolean":
            return text.lower()
        if wanted == "level":
            name = unquoted(text) if kind == "string" else ""
            if name in self._levels:
                return str(int(self._levels[name]))
            names = ", ".join(sorted(self._levels, key=self._levels.__getitem__))
            raise value.wrong(f"{text[:50]} is no level; quoted, those are: {names}")
        if wanted == "operation":
            right = unquoted(text) if kind == "string" else text.upper()
            if right in RIGHTS:
                return quoted(right)
            raise value.wrong(f"operation is one of {', '.join(RIGHTS)}")
        raise value.wrong(f"{text[:50]} is not a {wanted}")


def _typed(value: Value) -> list[str]:
    """The tests that a value of the document is of its type."""
    if not value.path:
        return []
    tests = [f'{value.path}.type() == "{_JSON_TYPES[value.type]}"']
    if value.type == "text[]":
        tests.append(f'!({value.path}[*].type() != "string")')
    return tests


def all_of(*tests: str) -> str:
    """The tests, joined: true where all are."""
    return f"({' && '.join(tests)})"


def quoted(text: str) -> str:
    """A jsonpath string; it escapes as JSON does."""
    return json.dumps(text, ensure_ascii=False)
