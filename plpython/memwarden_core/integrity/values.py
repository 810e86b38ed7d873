"""The values of an integrity rule: the attributes of a memory, and the fields of its content.

A field has no declared type: the other side of a comparison tells how it is compared, and a field
of another type does not pass. What stands behind < is a number, or a date or time in ISO 8601.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..policy.tokens import PolicyError, Token, unquoted
from ..policy.values import COMPARE, Value, Vocabulary, all_of, quoted

OWNERS = ("memory", "other")
_TYPES = {
    "content": "field",
    "subject": "text",
    "predicate": "text",
    "kind": "text",
    "layer": "text",
    "confidence": "number",
    "importance": "number",
    "valid_from": "time",
    "valid_to": "time",
}
_SCALARS = {"text": "string", "string": "string", "number": "number", "boolean": "boolean"}
_BY_NAME = ("text", "string", "boolean")


class Attributes(Vocabulary):
    """What rules may speak of. Its methods return jsonpath and raise PolicyError."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(OWNERS, _TYPES), {})

    def value(self, token: Token) -> Value:
        """What a token stands for."""
        if token.kind != "attribute":
            return Value(token.kind, "", token)
        owner, name, *fields = token.text.split(".")
        path = ".".join(["$", *map(quoted, (owner, name, *fields))])
        value = Value(_TYPES.get(name, ""), path, token)
        if not value.type or (fields and value.type != "field"):
            names = ", ".join(sorted(_TYPES))
            raise value.wrong(f"a memory has no attribute {name[:50]!r} so; it has: {names}")
        return value

    def truth(self, value: Value) -> str:
        """A field that is true."""
        if value.type == "field":
            return all_of(f"{value.path} == true")
        return super().truth(value)

    def compare(self, left: Value, operator: Token, symbol: str, right: Value) -> str:
        """``left symbol right``; the symbol is one of = < <= > >=."""
        if not left.path and not right.path:
            raise left.wrong("a comparison needs an attribute")
        kinds = {left.type, right.type}
        test = COMPARE[symbol]
        if "number" in kinds:
            return self._alike(left, test, right, ("number",))
        if "time" in kinds or (symbol != "=" and "string" in kinds):
            return self._in_time(left, test, right)
        if kinds & set(_BY_NAME):
            if symbol != "=":
                message = f"{operator.text} compares numbers and times only"
                raise PolicyError(message, operator.position)
            return self._alike(left, test, right, _BY_NAME)
        if symbol == "=":
            return all_of(
                f"{left.path}.type() == {right.path}.type()", f"{left.path} == {right.path}"
            )
        # Two fields, whose contents tell what they are.
        numbers = all_of(
            *(f'{value.path}.type() == "number"' for value in (left, right)),
            f"{left.path} {test} {right.path}",
        )
        return f"({numbers} || {self._in_time(left, test, right)})"

    def listed(self, value: Value, literals: Sequence[Value]) -> str:
        """``value IN (literals)``."""
        for literal in literals:
            if literal.path:
                raise literal.wrong("IN (...) lists literals only")
        operator = Token("compare", "=", value.token.position)
        return f"({' || '.join(self.compare(value, operator, '=', each) for each in literals)})"

    def member(self, value: Value, array: Value) -> str:
        """``value = ANY(array)``."""
        if array.type != "field":
            raise array.wrong(f"{array.token.text} is no list")
        if value.path or value.type != "string":
            raise value.wrong("a quoted text stands before = ANY")
        member = quoted(unquoted(value.token.text))
        return all_of(f'{array.path}.type() == "array"', f"{array.path}[*] == {member}")

    def like(self, value: Value, pattern: Value) -> str:
        """``value LIKE 'prefix%'``."""
        as_text = value._replace(type="text") if value.type == "field" else value
        return super().like(as_text, pattern)

    def present(self, value: Value) -> str:
        """``value IS NOT NULL``. What lies in a list has no path."""
        if not value.path:
            raise value.wrong("IS NULL is for attributes")
        steps = value.path.split(".")
        above = [".".join(steps[:n]) for n in range(3, len(steps))]
        return all_of(*(f'{p}.type() == "object"' for p in above), f'{value.path}.type() != "null"')

    def _alike(self, left: Value, test: str, right: Value, kinds: Sequence[str]) -> str:
        """A comparison of two values of one type, one of those."""
        declared = {_SCALARS[v.type] for v in (left, right) if v.type != "field"}
        if len(declared) > 1:
            raise right.wrong(f"{right.token.text[:50]} is no {left.type}")
        kind = declared.pop()
        fields = [f'{v.path}.type() == "{kind}"' for v in (left, right) if v.type == "field"]
        a, b = (value.path or self._literal(value, kinds) for value in (left, right))
        return all_of(*fields, f"{a} {test} {b}")

    def _in_time(self, left: Value, test: str, right: Value) -> str:
        """A comparison of two dates or times."""
        fields = [f'{v.path}.type() == "string"' for v in (left, right) if v.type == "field"]
        a, b = (f"{value.path or _time(value)}.datetime()" for value in (left, right))
        return all_of(*fields, f"{a} {test} {b}")

    def _literal(self, value: Value, wanted: str | Sequence[str]) -> str:
        kind, text = value.token.kind, value.token.text
        if kind not in wanted:
            raise value.wrong(f"{text[:50]} is not a {wanted[0]}")
        return quoted(unquoted(text)) if kind == "string" else text.lower()


def _time(value: Value) -> str:
    """A quoted date or time as a jsonpath string."""
    if value.type not in ("string", "time"):
        raise value.wrong(f"{value.token.text[:50]} is no time")
    text = unquoted(value.token.text)
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise value.wrong(
            "a date or time looks like '2026-11-22' or '2026-11-22T10:00:00Z'"
        ) from None
    return quoted(text)
