"""Constraints between the fields of a content, which JSON Schema cannot say.

A constraint is ``{"id", "description", "left", "op", "right"}``. ``left`` is a JSON pointer into
the content; ``right`` is another, or ``{"value": ...}``. A side that the content does not have
makes the constraint hold: whether a field must be there is the schema's business.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable
from functools import lru_cache

from .light import Any, NamedTuple
from .violation import Violation

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ABSENT = object()


class Constraint(NamedTuple):
    """One comparison that every content of a kind must pass."""

    identifier: str
    description: str
    left: str
    compare: Callable[[Any, Any], bool]
    right: str | None
    value: object


class ConstraintRefused(ValueError):
    """A definition that is no list of constraints."""


@lru_cache(maxsize=256)
def constraints(definition: str) -> tuple[Constraint, ...]:
    """Prepare the constraints of a kind from their JSON array. Raises ConstraintRefused."""
    rows = json.loads(definition)
    if not isinstance(rows, list):
        raise ConstraintRefused("constraints are a JSON array")
    return tuple(_constraint(row) for row in rows)


def _constraint(row: object) -> Constraint:
    if not isinstance(row, dict) or set(row) != {"id", "description", "left", "op", "right"}:
        raise ConstraintRefused("a constraint has id, description, left, op and right")
    right = row["right"]
    literal = isinstance(right, dict) and set(right) == {"value"}
    for pointer in (row["left"], None if literal else right):
        if pointer is not None and not (isinstance(pointer, str) and pointer.startswith("/")):
            raise ConstraintRefused("left and right are JSON pointers, right may be {'value': ...}")
    if not isinstance(row["op"], str) or row["op"] not in _COMPARE:
        raise ConstraintRefused(f"op is one of {' '.join(_COMPARE)}")
    if not (isinstance(row["id"], str) and isinstance(row["description"], str)):
        raise ConstraintRefused("id and description are texts")
    return Constraint(
        row["id"][:100],
        row["description"][:500],
        row["left"],
        _COMPARE[row["op"]],
        None if literal else right,
        right["value"] if literal else None,
    )


def _at(value: object, pointer: str) -> object:
    """What an RFC 6901 pointer leads to, or _ABSENT."""
    for part in pointer[1:].split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(name, _ABSENT)
        elif isinstance(value, list) and name.isascii() and name.isdigit() and len(name) < 10:
            value = value[int(name)] if int(name) < len(value) else _ABSENT
        else:
            return _ABSENT
    return value


def _holds(constraint: Constraint, content: object) -> bool:
    left = _at(content, constraint.left)
    right = constraint.value if constraint.right is None else _at(content, constraint.right)
    if left is _ABSENT or right is _ABSENT:
        return True
    try:
        return bool(constraint.compare(left, right))
    except TypeError:  # a number beside a text: not comparable, so not in order
        return False


def constraint_violations(definition: str, content: object) -> list[Violation]:
    """Every constraint of the definition that the content breaks."""
    return [
        Violation(
            "CONSTRAINT_VIOLATION",
            "content" + c.left.replace("/", "."),
            f"{c.identifier}: {c.description}",
        )
        for c in constraints(definition)
        if not _holds(c, content)
    ]
