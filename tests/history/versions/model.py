"""What as_of() must answer, and what undoing must bring back, by a replay of the log in Python."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import DictRow

from replay import AFTER_ALL, BEFORE_ALL, Bound, Replay, State, period_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INSTANT = timedelta(microseconds=1)

Answer = tuple[Any, ...]
Question = tuple[datetime, Bound | None]
"""A time of the store and, or not, one of the world."""

AS_OF = """
SELECT q.n, a.item_id, a.version_id, a.version, a.layer, a.subject, a.predicate, a.content,
       a.confidence, a.importance, a.recorded_at, a.superseded_at,
       extract(epoch FROM a.valid_from) AS valid_from, extract(epoch FROM a.valid_to) AS valid_to,
       extract(epoch FROM a.expires_at) AS expires
  FROM unnest(%(system)s::timestamptz[], %(valid)s::timestamptz[]) WITH ORDINALITY AS q (t, v, n),
       memwarden.as_of(q.t, q.v, scopes => %(scopes)s) AS a
"""


def seconds(moment: datetime) -> Decimal:
    """Seconds since 1970, exactly."""
    return Decimal((moment - EPOCH) // INSTANT) / 1000000


def written(moment: Bound) -> str:
    """A moment of the world as the server reads it."""
    if moment[1].is_infinite():
        return "infinity" if moment[1] > 0 else "-infinity"
    return (EPOCH + INSTANT * int(moment[1] * 1000000)).isoformat()


def at(replayed: Replay, item_id: UUID, system_time: datetime) -> State | None:
    """An item as the log up to a moment leaves it."""
    known = [state for state in replayed.states[item_id] if state.at <= system_time]
    return known[-1] if known else None


def expired(version: DictRow, system_time: datetime) -> bool:
    """Whether the time to live of a version was over at a moment."""
    return version["expires"] is not None and version["expires"] <= seconds(system_time)


def as_of(
    replayed: Replay, system_time: datetime, valid_time: Bound | None, items: Iterable[UUID]
) -> set[Answer]:
    """What was held at a moment, of the world then or whenever."""
    answers = set()
    for item_id in items:
        state = at(replayed, item_id, system_time)
        if state is None or state.status != "ACTIVE":
            continue
        version = replayed.versions[state.version_id]
        start, end = period_of(version)
        if expired(version, system_time):
            continue
        if valid_time is not None and version["exclusive"]:
            held = [p for p in state.periods if p[0] <= valid_time < p[1]]
            if not held:
                continue
            ((start, end, holder),) = held
            version = replayed.versions[holder]
            if expired(version, system_time):
                continue
        elif valid_time is not None and not start <= valid_time < end:
            continue
        answers.add(
            (
                item_id,
                version["version_id"],
                version["version"],
                version["layer"],
                version["subject"],
                version["predicate"],
                json.dumps(version["content"], sort_keys=True),
                version["confidence"],
                version["importance"],
                version["recorded_from"],
                version["recorded_to"],
                None if start == BEFORE_ALL else start[1],
                None if end == AFTER_ALL else end[1],
                version["expires"],
            )
        )
    return answers


def ask(
    reader: Connection[DictRow], scopes: list[str], questions: list[Question]
) -> list[set[Answer]]:
    """What as_of() answers to each question."""
    rows = reader.execute(
        AS_OF,
        {
            "system": [system_time for system_time, _ in questions],
            "valid": [None if moment is None else written(moment) for _, moment in questions],
            "scopes": scopes,
        },
    ).fetchall()
    answers: list[set[Answer]] = [set() for _ in questions]
    for row in rows:
        number = row.pop("n")
        row["content"] = json.dumps(row["content"], sort_keys=True)
        answer = tuple(row.values())
        assert answer not in answers[number - 1], "one row twice"
        answers[number - 1].add(answer)
    return answers


def moments(replayed: Replay) -> list[datetime]:
    """Every moment at which something was recorded, and those just before and after."""
    recorded = {state.at for states in replayed.states.values() for state in states}
    return sorted(
        {moment + step for moment in recorded for step in (-INSTANT, 0 * INSTANT, INSTANT)}
    )


def turns(replayed: Replay) -> list[Bound]:
    """Every moment at which something begins or ceases to be true, and those before."""
    bounds = {
        bound
        for version in replayed.versions.values()
        for bound in period_of(version)
        if bound[0] == 0
    }
    before = {(0, bound[1] - Decimal("0.000001")) for bound in bounds if bound[1].is_finite()}
    return sorted(bounds | before | {(0, Decimal("Infinity")), (0, Decimal("-Infinity"))})


def says(replayed: Replay, state: State) -> Answer:
    """What an item said in a state, whichever versions said it."""
    if state.status != "ACTIVE":
        return (state.status,)

    def words(version_id: UUID) -> Answer:
        version = replayed.versions[version_id]
        names = ("kind", "subject", "predicate", "confidence", "importance", "expires")
        texts = (json.dumps(version[name], sort_keys=True) for name in ("content", "evidence"))
        return (*(version[name] for name in names), *texts)

    periods = frozenset((start, end, words(version_id)) for start, end, version_id in state.periods)
    shown = replayed.versions[state.version_id]
    return (state.status, words(state.version_id), period_of(shown), periods)
