"""The filters of a search, and which namespaces a listing asks for."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from langgraph.store.base import MatchCondition

from memwarden.errors import InvalidArgument

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
# JSON of the server knows no integer beyond.
_LARGEST = 2**53 - 1


def passes(value: Any, filter: Mapping[str, Any] | None) -> bool:
    """Whether a memory's value meets every condition of a filter."""
    if not filter:
        return True
    return isinstance(value, Mapping) and all(
        _meets(value.get(name), wanted) for name, wanted in filter.items()
    )


def contained(filter: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The conditions that the server can test: a value that is there, whole."""
    found = {
        name: wanted
        for name, wanted in (filter or {}).items()
        if isinstance(wanted, (str, float)) or (isinstance(wanted, int) and abs(wanted) <= _LARGEST)
    }
    return found or None


def matches(namespace: tuple[str, ...], conditions: Iterable[MatchCondition] | None) -> bool:
    """Whether a namespace meets the conditions of a listing."""
    for condition in conditions or ():
        path = condition.path
        if len(path) > len(namespace):
            return False
        part = namespace[: len(path)]
        if condition.match_type == "suffix":
            part = namespace[len(namespace) - len(path) :]
        if any(wanted not in ("*", label) for wanted, label in zip(path, part, strict=True)):
            return False
    return True


def _meets(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, Mapping) or not any(str(name).startswith("$") for name in wanted):
        return _same(value, wanted)
    return all(_compared(value, name, other) for name, other in wanted.items())


def _compared(value: Any, name: str, other: Any) -> bool:
    if name == "$eq":
        return _same(value, other)
    if name == "$ne":
        return not _same(value, other)
    if name not in _COMPARE:
        raise InvalidArgument(
            "the filter has an unknown operator",
            hint="Use $eq, $ne, $gt, $gte, $lt or $lte.",
        )
    if isinstance(value, bool) or isinstance(other, bool):
        return False
    try:
        return _COMPARE[name](value, other)
    except TypeError:
        return False


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: True is no number, and 1 is 1.0."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
