"""What our modules use of ``typing``, without loading it.

A connection makes its classes anew. ``typing`` takes longer to load than most of our modules, and
its NamedTuple five times as long for each class as the one that it stands on.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any as Any
    from typing import Final as Final
    from typing import NamedTuple as NamedTuple
    from typing import NoReturn as NoReturn
    from typing import Protocol as Protocol
    from typing import cast as cast
    from typing import overload as overload
else:
    # Annotations name these, and nobody reads annotations.
    Any = Final = NoReturn = Protocol = object

    def cast(_type: object, value: Any) -> Any:
        """Return the value."""
        return value

    def overload(function: Any) -> Any:
        """Return the function, which the next of that name replaces."""
        return function

    class _Fields(type):
        """Makes a named tuple of the fields that a class annotates."""

        def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> Any:
            if not bases:
                return super().__new__(cls, name, bases, members)
            fields = members["__annotations__"]
            defaults = [members.pop(field) for field in fields if field in members]
            made = namedtuple(name, fields, defaults=defaults, module=members["__module__"])
            for member, value in members.items():
                setattr(made, member, value)
            return made

    class NamedTuple(metaclass=_Fields):
        """As that of typing."""
