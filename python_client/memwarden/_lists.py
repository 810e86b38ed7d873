"""Lists as they are sent. A text is a sequence of letters, and never the list that is meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar, overload

from memwarden.errors import InvalidArgument

T = TypeVar("T")


@overload
def listed(name: str, value: None) -> None: ...
@overload
def listed(name: str, value: Iterable[T]) -> list[T]: ...
@overload
def listed(name: str, value: Iterable[T] | None) -> list[T] | None: ...
def listed(name: str, value: Iterable[T] | None) -> list[T] | None:
    """Return the list that an argument gives; None where it is None.

    Raises:
        InvalidArgument: it is one text, one mapping or no list at all.
    """
    if value is None:
        return None
    return list(several(name, value))


def several(name: str, value: Iterable[T]) -> Iterable[T]:
    """Return an argument of which there are several, unread.

    Raises:
        InvalidArgument: it is one text, one mapping or no list at all.
    """
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidArgument(
            f"{name} must be a list, not {type(value).__name__}", hint=f"Write {name}=[...]."
        )
    return value
