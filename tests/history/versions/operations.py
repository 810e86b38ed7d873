"""Everything that changes memory, as an agent calls it, with arguments drawn at random."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

import psycopg
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write, write_many

LAYERS = ("semantic", "semantic", "semantic", "session", "episodic")
KEYS: tuple[dict[str, str], ...] = (
    {"subject": "Ana", "predicate": "drinks"},
    {"subject": "Ana", "predicate": "drinks"},
    {"subject": "Ana", "predicate": "eats"},
    {"subject": "Ana"},
    {},
)
SOON = timedelta(milliseconds=40)
"""How far ahead a time is told that a history waits for."""
LONG_AGO = ("-infinity", "2015-01-01Z", "2016-05-01Z", "2018-01-01Z", "2020-02-29Z", "2024-12-31Z")
FAR_AHEAD = ("2095-01-01Z", "2096-05-01Z", "2098-01-01Z", "2100-02-28Z", "infinity")

REFUSALS = (
    psycopg.errors.UndefinedObject,
    psycopg.errors.DuplicateObject,
    psycopg.errors.InvalidParameterValue,
    psycopg.errors.SerializationFailure,
)
"""What a caller may be told: not there, taken, no such choice, changed since."""

Items = Mapping[str, Sequence[UUID]]
"""The items of a place, by status, and by status and layer."""


def valid_time(rng: Random) -> dict[str, Any]:
    """When a value holds: now, once, one day, from one into another, until soon, from soon."""
    kind = rng.randrange(12)
    soon = datetime.now(UTC) + SOON
    if kind < 4:
        return {}
    if kind == 4:
        return {"valid_to": soon}
    if kind == 5:
        return {"valid_from": soon}
    if kind == 6:
        return {"valid_from": soon, "valid_to": rng.choice(FAR_AHEAD)}
    if kind == 7:
        return {"valid_from": rng.choice(LONG_AGO)}
    if kind == 8:
        return {"valid_from": rng.choice(FAR_AHEAD[:-1])}
    if kind == 9:
        return {"valid_from": rng.choice(LONG_AGO), "valid_to": rng.choice(FAR_AHEAD)}
    times = LONG_AGO if kind == 10 else FAR_AHEAD
    start = rng.randrange(len(times) - 1)
    return {"valid_from": times[start], "valid_to": times[rng.randrange(start + 1, len(times))]}


@dataclass
class Actor:
    """One login at work in one scope."""

    connection: Connection[DictRow]
    scope: str
    clearance: str = "internal"
    requests: list[UUID] = field(default_factory=list)
    embedded: list[UUID] = field(default_factory=list)
    """The requests that brought vectors of their own."""

    def request(self, rng: Random, items: Items) -> dict[str, Any]:
        """A write, mostly of words that nobody said before."""
        said = {"says": rng.choice(("tea", "coffee", "water")), "n": rng.randrange(4)}
        request: dict[str, Any] = {
            "layer": rng.choice(LAYERS),
            "content": said if rng.randrange(4) == 0 else said | {"id": uuid.uuid4().hex},
            "scope": self.scope,
            "confidence": rng.choice((0.5, 0.7, 0.9)),
            **rng.choice(KEYS),
            **valid_time(rng),
        }
        if rng.randrange(6) == 0:
            request["ttl"] = SOON
        if rng.randrange(8) == 0:
            request["classification"] = self.clearance
        if rng.randrange(6) == 0:
            request["embedding"] = [1.0 + rng.randrange(5)] + [0.5] * 383
        known = self.choose(rng, items, "ACTIVE", "SUPERSEDED", "RETRACTED", "EXPIRED")
        if known is not None and rng.randrange(3) == 0:
            request["evidence"] = [{"type": "memory_item", "uri": f"memwarden:item/{known}"}]
        return request

    def choose(self, rng: Random, items: Items, *statuses: str) -> UUID | None:
        """An item in one of these states."""
        known = sorted(item for status in statuses for item in items.get(status, ()))
        return rng.choice(known) if known else None

    def call(self, query: str, *arguments: Any) -> list[DictRow]:
        """Call a function."""
        return self.connection.execute(f"SELECT * FROM memwarden.{query}", arguments).fetchall()

    def write(self, request: dict[str, Any]) -> str:
        """Ask for a write."""
        answer = write(self.connection, **request)
        self.requests.append(answer["request_id"])
        if "embedding" in request:
            self.embedded.append(answer["request_id"])
        return str(answer["reason"] or answer["outcome"])

    def writes(self, rng: Random, items: Items) -> str:
        """Write a value; it may be the first of its key, the next, or one for another time."""
        return self.write(self.request(rng, items))

    def tells_ahead(self, rng: Random, items: Items) -> str:
        """Write a value, and the one that follows it soon."""
        times = {"layer": "semantic", "valid_from": None, "valid_to": None}
        self.write(self.request(rng, items) | KEYS[0] | times)
        soon = datetime.now(UTC) + SOON
        return self.write(self.request(rng, items) | KEYS[0] | times | {"valid_from": soon})

    def writes_many(self, rng: Random, items: Items) -> str:
        """Write some values in one statement."""
        requests = [self.request(rng, items) for _ in range(rng.randrange(2, 5))]
        answers = write_many(self.connection, json.loads(json.dumps(requests, default=str)))
        for request, answer in zip(requests, answers, strict=True):
            self.requests.append(answer["request_id"])
            if "embedding" in request:
                self.embedded.append(answer["request_id"])
        return str({answer["outcome"] for answer in answers})

    def retracts(self, rng: Random, items: Items) -> str | None:
        """Take a memory back."""
        return self._on(rng, items, "retract(%s, 'wrong')", "ACTIVE")

    def expires(self, rng: Random, items: Items) -> str | None:
        """End a memory before its time."""
        return self._on(rng, items, "expire(%s, 'over')", "ACTIVE")

    def recovers(self, rng: Random, items: Items) -> str | None:
        """Bring back what expired, or whose time to live is over."""
        statuses = ("EXPIRED", "EXPIRED", "ACTIVE") if items.get("EXPIRED") else ("ACTIVE",)
        return self._on(rng, items, "recover(%s, 'again')", rng.choice(statuses))

    def reclassifies(self, rng: Random, items: Items) -> str | None:
        """Move a memory to another layer."""
        layer = rng.choice(("semantic", "session", "episodic"))
        return self._on(rng, items, f"reclassify(%s, '{layer}', 'better there')", "ACTIVE")

    def merges(self, rng: Random, items: Items) -> str | None:
        """Make one memory of two."""
        layer = f"ACTIVE {rng.choice(LAYERS)}"
        absorbed = self.choose(rng, items, layer)
        return self._on(rng, items, f"merge(%s, '{absorbed}', 'alike')", layer)

    def rolls_back(self, rng: Random, items: Items) -> list[DictRow] | None:
        """Undo the last change of an item."""
        item = self.choose(rng, items, "ACTIVE", "SUPERSEDED", "RETRACTED")
        return None if item is None else self.call("rollback(%s, 'undo')", item)

    def rolls_back_to(self, rng: Random, items: Items) -> str | None:
        """Go back to one of the first versions of an item, or bring nothing back."""
        how = rng.choice(("to_version => 1", "to_version => 2", "restore => '{}'"))
        return self._on(rng, items, f"rollback(%s, 'undo', {how})", "ACTIVE", "RETRACTED")

    def rolls_back_many(self, rng: Random, _items: Items) -> list[DictRow]:
        """Undo what somebody did of late, or by some requests."""
        if rng.randrange(2) and self.requests:
            chosen = rng.sample(self.requests, min(len(self.requests), 3))
            return self.call("rollback_batch('run', requests => %s)", chosen)
        since = datetime.now(UTC) - timedelta(milliseconds=rng.choice((20, 60, 200)))
        return self.call("rollback_batch('run', scope => %s, since => %s)", self.scope, since)

    def _on(self, rng: Random, items: Items, query: str, *statuses: str) -> str | None:
        item = self.choose(rng, items, *statuses)
        if item is None:
            return None
        (row, *_) = self.call(query, item) or [{}]
        return str(row.get("reason") or row.get("outcome") or "done")


Operation = Callable[[Actor, Random, Items], Any]

OPERATIONS: dict[str, Operation] = {
    "write": Actor.writes,
    "write ahead": Actor.tells_ahead,
    "write_many": Actor.writes_many,
    "retract": Actor.retracts,
    "expire": Actor.expires,
    "recover": Actor.recovers,
    "reclassify": Actor.reclassifies,
    "merge": Actor.merges,
    "rollback": Actor.rolls_back,
    "rollback to": Actor.rolls_back_to,
    "rollback_batch": Actor.rolls_back_many,
}
