"""What a source yields, and where the records of another system go."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Record:
    """A write request as a mapping (or what could not be read as one), and where it stood."""

    place: str
    request: Any


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A record that is no write request and is not sent; `why` names no content."""

    place: str
    why: str


MOST_CHARACTERS = 1024 * 1024
"""Of one record, as text: some hundred are held at once."""


class TooLarge:
    """Stands for a record of more than MOST_CHARACTERS, which is not kept."""


_FIELD = re.compile(r"\{(\w+)\}")
_LETTERS = str.maketrans("0123456789", "ghijklmnop")
_NAME = re.compile(r"[\w.@+-]+")


@dataclass(frozen=True, slots=True)
class Target:
    """The layer and the scope of what another system remembered.

    `scope` may hold names in braces, such as /org/acme/user/{user_id}, that the record fills in.
    The principal must be allowed to write there: a scope that is not there, or is not the
    principal's, refuses the record.
    """

    layer: str = "semantic"
    scope: str | None = None

    def request(
        self, system: str, number: str, words: str, fields: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return what all requests of a system have in common.

        Other words under the same number are another request, under another key.

        Raises:
            ValueError: the record lacks what the scope is made of.
        """
        request: dict[str, Any] = {
            "layer": self.layer,
            "idempotency_key": key_of(system, f"{number}\n{words}"),
            "origin": {"task": f"import from {system}"},
            "evidence": [{"type": "document", "uri": f"{system}:{number}"}],
        }
        if self.scope is not None:
            request["scope"] = self.filled(fields)
        return request

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
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:40]
    return f"{system}:{digest.translate(_LETTERS)}"


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
