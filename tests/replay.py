"""What the store must hold, worked out from its log and versions alone, in Python.

An independent second opinion: it reads the log and the versions, replays them entry by entry, and
compares the result with the heads, the timeline, the vectors and the recorded requests. It knows
nothing of how the database goes about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import DictRow

import stored

COPIED = (
    "scope_id",
    "layer",
    "kind",
    "subject",
    "predicate",
    "exclusive",
    "instance",
    "confidence",
    "importance",
    "principal_id",
    "label_id",
    "expires_at::text",
    "valid_during::text",
    "content_hash",
)
"""What a head takes over from the version it shows. Python has no times after the year 9999."""

SHOWN = ", ".join(COPIED)

OWN_END = (
    "(SELECT CASE WHEN i.expires_at = least(v.expires_at, i.kept_until) THEN v.expires_at"
    " ELSE i.expires_at END FROM memwarden_data.version AS v"
    " WHERE v.org_id = i.org_id AND v.version_id = i.version_id)::text AS expires_at"
)
"""A head ends no later than retention says; what its version says is compared with the log."""

ENDS = {"SUPERSEDE": "SUPERSEDED", "RETRACT": "RETRACTED", "EXPIRE": "EXPIRED"}

VERSIONS = (
    "SELECT org_id, version_id, item_id, version, previous_version_id, restores_version_id,"
    "       absorbed_version_id, status, request_id,"
    "       lower(recorded_during) AS recorded_from, upper(recorded_during) AS recorded_to,"
    "       extract(epoch FROM lower(valid_during)) AS valid_from,"
    "       extract(epoch FROM upper(valid_during)) AS valid_to,"
    "       extract(epoch FROM expires_at) AS expires, content, evidence,"
    f"      {SHOWN} FROM memwarden_data.version"
)
LOG = "SELECT * FROM memwarden_data.log"

Bound = tuple[int, Decimal]
"""A moment in the world, as (0, seconds since 1970), or what lies beyond all moments."""
BEFORE_ALL: Bound = (-1, Decimal(0))
AFTER_ALL: Bound = (1, Decimal(0))

Period = tuple[Bound, Bound, UUID]
"""From when to before when a version is held true."""


class Broken(AssertionError):
    """A log that tells no consistent story."""


@dataclass(frozen=True)
class State:
    """An item from one log entry to the next."""

    log_seq: int
    at: datetime
    version_id: UUID
    version: int
    status: str
    created_at: datetime
    periods: frozenset[Period] = frozenset()


@dataclass(frozen=True)
class Head:
    """An item as its last entry leaves it."""

    version_id: UUID
    version: int
    status: str
    created_at: datetime
    updated_at: datetime
    values: tuple[Any, ...]


def period_of(row: DictRow) -> tuple[Bound, Bound]:
    """When a row says it is true, by its columns valid_from and valid_to."""
    start, end = row["valid_from"], row["valid_to"]
    return (
        BEFORE_ALL if start is None else (0, start),
        AFTER_ALL if end is None else (0, end),
    )


def _is_over(version: DictRow, now: datetime) -> bool:
    """Whether its lifetime had ended by then."""
    return version["expires"] is not None and float(version["expires"]) <= now.timestamp()


def carve(periods: frozenset[Period], start: Bound, end: Bound, version: UUID) -> frozenset[Period]:
    """Give a version a period; the others keep what lies before and after it."""
    kept = {(start, end, version)}
    for begins, ends, holder in periods:
        if begins < min(ends, start):
            kept.add((begins, min(ends, start), holder))
        if max(begins, end) < ends:
            kept.add((max(begins, end), ends, holder))
    return frozenset(kept)


def _copied(row: DictRow) -> tuple[Any, ...]:
    return tuple(row[name.partition("::")[0]] for name in COPIED)


def _require(condition: object, entry: DictRow, what: str) -> None:
    if not condition:
        raise Broken(f"log entry {entry['log_seq']} of item {entry['item_id']}: {what}")


class Replay:
    """The states of every item, from a log in the order of its numbers. Raises Broken."""

    def __init__(self, log: list[DictRow], versions: dict[UUID, DictRow]) -> None:
        self.versions = versions
        self.states: dict[UUID, list[State]] = {}
        self.began: dict[UUID, State] = {}
        erased = {entry["item_id"] for entry in log if entry["operation"] == "ERASE"}
        for entry in log:
            if entry["item_id"] in erased:
                continue  # nothing is left to replay; that it was lawful is verify_log()'s to say
            states = self.states.setdefault(entry["item_id"], [])
            before = states[-1] if states else None
            version = versions.get(entry["version_id"])
            if version is None:
                raise Broken(f"log entry {entry['log_seq']} names a version that is not there")
            _require(version["item_id"] == entry["item_id"], entry, "another item's version")
            _require(entry["request_id"], entry, "part of no change")
            if entry["operation"] in ENDS:
                states.append(self._end(entry, version, before))
            else:
                states.append(self._begin(entry, version, before))

    def _end(self, entry: DictRow, version: DictRow, before: State | None) -> State:
        _require(before is not None and before.status == "ACTIVE", entry, "nothing to end")
        assert before is not None
        status = ENDS[entry["operation"]]
        _require(before.version_id == entry["version_id"], entry, "not the current version")
        _require(before.at < entry["recorded_at"], entry, "time runs backwards")
        _require(version["status"] == status, entry, "the version does not say so")
        _require(version["recorded_to"] == entry["recorded_at"], entry, "it ended when?")
        return State(
            entry["log_seq"],
            entry["recorded_at"],
            before.version_id,
            before.version,
            status,
            before.created_at,
        )

    def _begin(self, entry: DictRow, version: DictRow, before: State | None) -> State:
        operation = entry["operation"]
        _require((before is None) == (operation == "INSERT"), entry, operation)
        predecessor = before.version_id if before else None
        number = before.version + 1 if before else 1
        _require(entry["previous_version_id"] == predecessor, entry, "wrong predecessor in the log")
        _require(version["previous_version_id"] == predecessor, entry, "wrong predecessor")
        _require(version["version"] == number, entry, "versions are not consecutive")
        _require(version["recorded_from"] == entry["recorded_at"], entry, "another time")
        _require(entry["version_id"] not in self.began, entry, "the version is there already")
        if version["restores_version_id"] is None:
            own = version["request_id"] == entry["request_id"]
            _require(own and operation != "RESTORE", entry, "another request's version")
            _require(version["absorbed_version_id"] is None, entry, "a write absorbs nothing")
        if before is not None:
            self._follow(entry, before)
        state = State(
            entry["log_seq"],
            entry["recorded_at"],
            entry["version_id"],
            number,
            "ACTIVE",
            self._created_at(version, before, entry["recorded_at"]),
            self._periods(entry, version, before),
        )
        self.began[state.version_id] = state
        return state

    def _created_at(self, version: DictRow, before: State | None, now: datetime) -> datetime:
        """When there first was what it says: of its item, or of one that became part of it."""
        source = self.began.get(version["restores_version_id"], before)
        absorbed = self.began.get(version["absorbed_version_id"])
        return min([now, *(state.created_at for state in (source, absorbed) if state)])

    def _follow(self, entry: DictRow, before: State) -> None:
        """An update replaces what is current; what comes back comes after an end, maybe at once."""
        old = self.versions[before.version_id]
        if entry["operation"] == "RESTORE":
            _require(before.status != "ACTIVE", entry, "nothing had ended")
            _require(before.at <= entry["recorded_at"], entry, "time runs backwards")
        else:
            _require(before.status == "ACTIVE", entry, "a version of what has ended")
            _require(before.at < entry["recorded_at"], entry, "time runs backwards")
            _require(old["status"] == "SUPERSEDED", entry, "the predecessor is still current")
            _require(old["recorded_to"] == entry["recorded_at"], entry, "a gap between versions")

    def _periods(self, entry: DictRow, version: DictRow, before: State | None) -> frozenset[Period]:
        """What is held true from this entry on, of an item with one value at a time."""
        source_id = version["restores_version_id"]
        held = before.periods if before else frozenset()
        start, end = period_of(version)
        if source_id is None:
            return carve(held, start, end, entry["version_id"]) if version["exclusive"] else held
        source = self.began.get(source_id)
        _require(source is not None, entry, "it restores what was not there")
        assert source is not None
        words = self.versions[source_id]
        _require(words["item_id"] == entry["item_id"], entry, "it restores another item's version")
        merged = entry["operation"] == "UPDATE" and version["absorbed_version_id"] is not None
        if merged:
            _require(source_id == entry["previous_version_id"], entry, "other words than it had")
        if not version["exclusive"]:
            return frozenset()
        if merged or entry["operation"] == "RESTORE":
            return frozenset(
                (since, until, entry["version_id"] if holder == source_id else holder)
                for since, until, holder in source.periods
            )
        if (start, end, source_id) not in held:
            self._require_left(entry, words, held, start, end)
        return carve(held, start, end, entry["version_id"])

    def _require_left(
        self, entry: DictRow, words: DictRow, held: frozenset[Period], start: Bound, end: Bound
    ) -> None:
        """A value that is told without an end holds on behind those that began later than it."""
        _require(
            words["request_id"] is not None and words["request_id"] == entry["request_id"],
            entry,
            "it says again what did not hold",
        )
        since, until = period_of(words)
        _require(until <= start, entry, "it says at once what it says already")
        for begins, ends, holder in held:
            if max(begins, start) < min(ends, end):
                other = self._first_told(holder)
                _require(
                    period_of(other)[0] <= since or _is_over(other, entry["recorded_at"]),
                    entry,
                    "it takes the place of what began later",
                )

    def _first_told(self, version_id: UUID) -> DictRow:
        """The version that first said what a version says again."""
        version = self.versions[version_id]
        while version["restores_version_id"] is not None:
            version = self.versions[version["restores_version_id"]]
        return version

    def head(self, item_id: UUID) -> Head:
        """An item as its last entry leaves it."""
        state = self.states[item_id][-1]
        shown = self.versions[state.version_id]
        return Head(
            state.version_id,
            state.version,
            state.status,
            state.created_at,
            state.at,
            _copied(shown),
        )

    def timeline(self, item_id: UUID) -> set[tuple[datetime, datetime | None, Period]]:
        """What was held true, and from when to when that was held."""
        lasted: dict[Period, datetime] = {}
        rows: set[tuple[datetime, datetime | None, Period]] = set()
        states = self.states[item_id]
        # Of several at one moment, the last is what that moment knew.
        known = [s for s, after in pairwise(states) if s.at < after.at] + states[-1:]
        for state in known:
            for period in [p for p in lasted if p not in state.periods]:
                rows.add((lasted.pop(period), state.at, period))
            for period in state.periods:
                lasted.setdefault(period, state.at)
        return rows | {(since, None, period) for period, since in lasted.items()}


def _of_scopes(scope_ids: list[int] | None) -> tuple[str, list[list[int]]]:
    return ("", []) if scope_ids is None else (" WHERE scope_id = ANY (%s)", [scope_ids])


def read(connection: Connection[DictRow], scope_ids: list[int] | None = None) -> Replay:
    """Replay the log of some scopes, or all of it, as superuser."""
    where, values = _of_scopes(scope_ids)
    versions = connection.execute(VERSIONS + where, values).fetchall()
    log = connection.execute(LOG + where + " ORDER BY log_seq", values).fetchall()
    return Replay(log, {row["version_id"]: row for row in versions})


def check_store(connection: Connection[DictRow]) -> dict[UUID, Head]:
    """Compare the whole store with a replay of its log, as superuser; return the heads.

    Raises Broken when the log is inconsistent, AssertionError when heads, versions, timeline,
    vectors, derivations or committed requests are not what it says.
    """
    found = check_projections(connection, read(connection))
    stored.check(connection)
    return found


def check_projections(
    connection: Connection[DictRow], replayed: Replay, scope_ids: list[int] | None = None
) -> dict[UUID, Head]:
    """Compare heads and timeline, of some scopes or of all, with a replay; return the heads."""
    where, values = _of_scopes(scope_ids)
    expected = {item_id: replayed.head(item_id) for item_id in replayed.states}
    items = connection.execute(
        "SELECT item_id, version_id, version, status, created_at, updated_at,"
        f"      {SHOWN.replace('expires_at::text', OWN_END)} FROM memwarden_data.item AS i{where}",
        values,
    ).fetchall()
    found = {
        row["item_id"]: Head(
            row["version_id"],
            row["version"],
            row["status"],
            row["created_at"],
            row["updated_at"],
            _copied(row),
        )
        for row in items
    }
    assert found == expected, "the heads are not what the log says"
    assert set(replayed.versions) == set(replayed.began), "versions and log do not match"
    for item_id, head in found.items():
        current = replayed.versions[head.version_id]
        assert current["status"] == head.status, f"item {item_id}: version and head disagree"
        ended = None if head.status == "ACTIVE" else head.updated_at
        assert current["recorded_to"] == ended, f"item {item_id}: its current version ended when?"
    periods = connection.execute(
        "SELECT item_id, version_id, lower(recorded_during) AS recorded_from,"
        "       upper(recorded_during) AS recorded_to,"
        "       extract(epoch FROM lower(valid_during)) AS valid_from,"
        "       extract(epoch FROM upper(valid_during)) AS valid_to"
        f" FROM memwarden_data.timeline{where} ORDER BY lower(recorded_during)",
        values,
    ).fetchall()
    timelines = {item_id: replayed.timeline(item_id) for item_id in replayed.states}
    held = {item_id: rows for item_id, rows in timelines.items() if rows}
    assert _joined(periods) == held, "the timeline is not what the log says"
    return found


def _joined(rows: list[DictRow]) -> dict[UUID, set[tuple[datetime, datetime | None, Period]]]:
    """Rows of the timeline, by item; those that follow on one another say what one would."""
    lasting: dict[tuple[UUID, datetime | None, Period], datetime] = {}
    for row in rows:
        item_id, since = row["item_id"], row["recorded_from"]
        period = (*period_of(row), row["version_id"])
        since = lasting.pop((item_id, since, period), since)
        lasting[(item_id, row["recorded_to"], period)] = since
    found: dict[UUID, set[tuple[datetime, datetime | None, Period]]] = {}
    for (item_id, until, period), since in lasting.items():
        found.setdefault(item_id, set()).add((since, until, period))
    return found
