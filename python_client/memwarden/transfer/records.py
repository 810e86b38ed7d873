"""What a source yields, and where the records of another system go."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Record:
    """A write request as a mapping (or what could not be read as one), and where it stood.

    `source`: how the evidence of what comes from the same source begins; None where a key of the
    request is its writer's own. `apart`: the subject to take where another source says something
    else of this one under a predicate of `beside`, which has the contents of all records of the
    subject; None where the subject cannot be another.
    """

    place: str
    request: Any
    source: str | None = None
    apart: str | None = None
    beside: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A record that is not sent; `why` names no content."""

    place: str
    why: str
    reason: str = "UNREADABLE"


MOST_CHARACTERS = 1024 * 1024
"""Of one record, as text: some hundred are held at once."""


class TooLarge:
    """Stands for a record of more than MOST_CHARACTERS, which is not kept."""


_WRAPPINGS = 3
_GONE = ("is_deleted", "deleted_at", "is_archived", "archived_at")
_FIELD = re.compile(r"\{(\w+)\}")
_LETTERS = str.maketrans("0123456789", "ghijklmnop")
_NAME = re.compile(r"[\w.@+-]+")


@dataclass(frozen=True, slots=True)
class Target:
    """The layer and the scope of what another system remembered.

    `scope` may hold names in braces, such as /org/acme/user/{user_id}, that the record fills in.
    The principal must be allowed to write there: a scope that is not there, or is not the
    principal's, refuses the record. `source` tells the file or table from others.
    """

    layer: str = "semantic"
    scope: str | None = None
    source: str = ""

    def request(self, system: str, number: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return what all requests of a system have in common.

        Raises:
            ValueError: the record lacks what the scope is made of.
        """
        request: dict[str, Any] = {
            "layer": self.layer,
            "origin": {"task": f"import from {system}"},
            "evidence": [{"type": "document", "uri": f"{self.begins(system)}{number}"}],
        }
        if self.scope is not None:
            request["scope"] = self.filled(fields)
        return request

    def begins(self, system: str) -> str:
        """Return how the evidence of what comes from this source begins."""
        return f"{system}:{digest(self.source, 12)}/" if self.source else f"{system}:"

    def record(
        self, system: str, place: str, request: dict[str, Any], apart: str | None = None
    ) -> Record:
        """Return the record of a request, under a key made of all that it says.

        Who has more to say under the same number, sends another request. How long it lasts from
        now on is no part of the key: that is less with every run.
        """
        said = {name: each for name, each in request.items() if name != "ttl"}
        text = json.dumps(said, sort_keys=True, default=str)
        request = request | {"idempotency_key": key_of(system, text)}
        return Record(place, request, self.begins(system), apart)

    def filled(self, fields: Mapping[str, Any]) -> str:
        """Return the scope with the names in braces filled in.

        Raises:
            ValueError: one is missing, or would be more than one name of a path.
        """

        def value(match: re.Match[str]) -> str:
            found = fields.get(match[1])
            if not isinstance(found, str | int) or not _NAME.fullmatch(str(found)):
                raise ValueError(f"no {match[1]} that can be part of a scope")
            if set(str(found)) == {"."}:
                raise ValueError(f"no {match[1]} that can be part of a scope")
            return str(found)

        return _FIELD.sub(value, self.scope or "")


def key_of(system: str, text: str) -> str:
    """Return the idempotency key of a record: short, and in letters only.

    The text may hold a person's address, and digits in a row may look like a card's: a rule for
    sensitive words would then refuse the key.
    """
    return f"{system}:{digest(text, 40)}"


def digest(text: str, length: int) -> str:
    """Return a hash of a text, in letters only."""
    found = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    return found[:length].translate(_LETTERS)


def unpacked(value: Any) -> Any:
    """Return the object or list that stands in a JSON string as JSON; any other value as it is."""
    found = value
    for _ in range(_WRAPPINGS):
        if not isinstance(found, str):
            break
        try:
            found = json.loads(found)
        except (RecursionError, ValueError):
            return value
    return found if isinstance(found, dict | list) else value


def is_gone(value: Mapping[str, Any]) -> bool:
    """Whether a record of another system says that it was deleted there, or put away."""
    return any(value.get(name) for name in _GONE)


def lasting(end: datetime) -> dict[str, str]:
    """Return the lifetime of a request that ends at a moment.

    Raises:
        ValueError: it is over.
    """
    left = (end - datetime.now(UTC)).total_seconds()
    if left <= 0:
        raise ValueError("its time is over")
    return {"ttl": f"{left:.6f} seconds"}


def time_of(value: Any) -> str | None:
    """Return a time of another system as ISO 8601, None where there is none; without a zone, UTC.

    Raises:
        ValueError: it is no time.
    """
    if value is None or value == "":
        return None
    time = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat()
