"""mem0's filters: which memories they let through, and what of them the server can test."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from memwarden.errors import InvalidArgument

IDS = ("user_id", "agent_id", "run_id")
# The other names of a filter are those of the metadata.
_OWN = {**{name: name for name in (*IDS, "role", "actor_id")}, "data": "text"}
_OPERATORS = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "contains", "icontains")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}
Test = Callable[[Mapping[str, Any]], bool]


class Filters:
    """The filters of one call, read whole: a mistake in them is an error before any call.

    Attributes:
        ids: the ids that each memory must have.
        contained: what the content of each must contain; the server tests it.
        is_exact: whether that is all they ask for.
    """

    def __init__(self, given: Mapping[str, Any] | None) -> None:
        if not isinstance(given, Mapping | None):
            raise InvalidArgument("filters must be a mapping, such as {'user_id': 'ana'}")
        equal: dict[str, Any] = {}
        rest = False
        mentioned: set[str] = set()
        for name, wanted in _conjunction(given or {}):
            mentioned.add(name)
            if _is_plain(name, wanted) and name not in equal:
                equal[name] = wanted
            else:
                rest = True
        self._test = _all(given or {})
        self.ids = {name: _id(equal[name]) for name in IDS if name in equal}
        if not mentioned.intersection(IDS):
            raise InvalidArgument("filters must name at least one of user_id, agent_id and run_id")
        own = {_OWN[name]: value for name, value in equal.items() if name in _OWN}
        metadata = {name: value for name, value in equal.items() if name not in _OWN}
        self.contained = {**own, **self.ids, **({"metadata": metadata} if metadata else {})}
        self.is_exact = not rest

    def passes(self, content: Mapping[str, Any]) -> bool:
        """Whether a memory meets them all."""
        return self._test(content)


def _conjunction(filters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The conditions that all hold, those within AND too."""
    for name, wanted in filters.items():
        if name == "AND":
            for each in _listed(name, wanted):
                yield from _conjunction(each)
        else:
            yield name, wanted


def _is_plain(name: str, wanted: Any) -> bool:
    return (
        name not in ("OR", "NOT") and isinstance(wanted, (str, int, float, bool)) and wanted != "*"
    )


def _all(filters: Mapping[str, Any]) -> Test:
    tests = [_condition(name, wanted) for name, wanted in filters.items()]
    return lambda content: all(test(content) for test in tests)


def _condition(name: str, wanted: Any) -> Test:
    if name in ("AND", "OR", "NOT"):
        parts = [_all(each) for each in _listed(name, wanted)]
        if name == "AND":
            return lambda content: all(part(content) for part in parts)
        if not parts:
            raise InvalidArgument(f"{name} of a filter is an empty list")
        if name == "OR":
            return lambda content: any(part(content) for part in parts)
        return lambda content: not any(part(content) for part in parts)
    if isinstance(wanted, Mapping):
        tests = [_operator(each, other) for each, other in wanted.items()]
        if not tests:
            raise InvalidArgument("a condition of a filter has no operator")
        return lambda content: all(test(_value(content, name)) for test in tests)
    if isinstance(wanted, list):
        return lambda content: _is_in(_value(content, name), wanted)
    if wanted == "*":
        return lambda content: _value(content, name) is not None
    if name in IDS:
        wanted = _id(wanted)
    return lambda content: _is_same(_value(content, name), wanted)


def _operator(name: str, other: Any) -> Callable[[Any], bool]:
    if name not in _OPERATORS:
        raise InvalidArgument(
            "the filter has an unknown operator", hint=f"Use {', '.join(_OPERATORS)}."
        )
    if name in ("in", "nin"):
        if not isinstance(other, (list, tuple)):
            raise InvalidArgument(f"the operator {name} of a filter needs a list")
        return lambda value: _is_in(value, other) is (name == "in")
    if name in ("contains", "icontains"):
        return lambda value: _has(value, other, folds=name == "icontains")
    if name in _COMPARE:
        return lambda value: _compares(name, value, other)
    return lambda value: _is_same(value, other) is (name == "eq")


def _listed(name: str, wanted: Any) -> list[Mapping[str, Any]]:
    if not isinstance(wanted, list) or not all(isinstance(each, Mapping) for each in wanted):
        raise InvalidArgument(f"{name} of a filter is a list of filters")
    return wanted


def _value(content: Mapping[str, Any], name: str) -> Any:
    if name in _OWN:
        return content.get(_OWN[name])
    metadata = content.get("metadata")
    return metadata.get(name) if isinstance(metadata, Mapping) else None


def _is_same(value: Any, other: Any) -> bool:
    """Equal as JSON, where true is not 1."""
    return isinstance(value, bool) is isinstance(other, bool) and bool(value == other)


def _is_in(value: Any, others: Iterable[Any]) -> bool:
    return any(_is_same(value, other) for other in others)


def _has(value: Any, other: Any, *, folds: bool) -> bool:
    """Whether a text has a part, or a list an element."""
    if isinstance(value, str) and isinstance(other, str):
        return other.casefold() in value.casefold() if folds else other in value
    return isinstance(value, list) and any(
        _is_same(each, other) or (folds and isinstance(each, str) and _has(each, other, folds=True))
        for each in value
    )


def _compares(name: str, value: Any, other: Any) -> bool:
    """Numbers with numbers, and texts with texts."""
    if isinstance(value, bool) or isinstance(other, bool):
        return False
    try:
        return _COMPARE[name](value, other)
    except TypeError:
        return False


def _id(value: Any) -> str:
    text = str(value)
    if not text.strip() or value is None:
        raise InvalidArgument("an id is blank")
    return text
