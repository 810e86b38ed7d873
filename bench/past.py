"""Stores with a past: as many memories are held at any time, and more or fewer lie behind them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg

from store import Stores, scope_path
from workload import Workload, array_literal

SCOPES = 20
PLACES = 100
LONG_SCOPE, LONG_ITEM, SEED = SCOPES, SCOPES + 1, SCOPES + 2
SLICES = 100
SPAN = timedelta(days=90)
STATEMENTS = dict(
    re.findall(
        r"-- name: (\w+)\n(.*?)(?=\n\n-- name:|\Z)",
        Path(__file__).with_suffix(".sql").read_text(),
        flags=re.DOTALL,
    )
)


@dataclass(frozen=True)
class Size:
    """Past versions behind each memory of a scope, of the long scope, and behind the long item."""

    each: int
    long_scope: int
    item: int

    @property
    def versions(self) -> int:
        """All of them."""
        return PLACES * (SCOPES * self.each + self.long_scope) + self.item


SMALL = Size(4, 20, 10)
LARGE = Size(400, 1_000, 100_000)


@dataclass
class Past:
    """A store, and what a measurement wants to know of it."""

    stores: Stores
    start: datetime
    stop: datetime
    versions: int
    long_item: Any = None
    current: list[Any] = field(default_factory=list)
    ten_changes: list[tuple[datetime, datetime]] = field(default_factory=list)

    def moment(self, part: float) -> datetime:
        """A time within the past: 0 its beginning, 1 its end."""
        return self.start + part * (self.stop - self.start)


def filled(dsn: str, size: Size) -> Past:
    """A store with that past, made unless there is one of which nothing was put away."""
    database = f"memwarden_history_{size.versions}"
    own = psycopg.conninfo.make_conninfo(dsn, dbname=database)
    try:
        with psycopg.connect(own) as connection:
            made = connection.execute(
                "SELECT to_regclass('history_plan') IS NULL FROM history_span"
                " WHERE NOT EXISTS (SELECT FROM memwarden_data.version WHERE tier <> 'hot')"
            )
            if made.fetchone() == (True,):
                return known(Stores(own, SCOPES, made=True))
    except psycopg.Error:
        pass
    stores = Stores.create(dsn, SEED + 1, database)
    seeds = Workload(seed=7).memories(2)
    for layer, (content, vector) in zip(("semantic", "episodic"), seeds, strict=True):
        stores.agent.execute(
            "SELECT memwarden.write(%s, %s::jsonb, subject => 'seed', predicate => 'is',"
            " scope => %s, embedding => %s::real[])",
            (layer, content, scope_path(SEED), array_literal(vector)),
        )
    make_past(stores, size)
    return known(stores)


def make_past(stores: Stores, size: Size) -> None:
    """Write it as the owner of the tables, with a log as the writes would have left it."""
    connection = stores.admin
    connection.execute(STATEMENTS["uuid7_at"])
    plan = {
        "slices": SLICES,
        "paths": [scope_path(number) for number in range(SCOPES + 2)],
        "places": [PLACES] * (SCOPES + 1) + [1],
        "past": [size.each] * SCOPES + [size.long_scope, size.item],
    }
    connection.execute(
        "CREATE TABLE history_span AS SELECT h.stop - %s AS start, h.stop"
        "  FROM (SELECT clock_timestamp() - interval '1 hour') AS h (stop)",
        (SPAN,),
    )
    connection.execute(STATEMENTS["plan"], plan)
    connection.execute("CREATE INDEX ON history_plan (first_slice)")
    connection.execute("CREATE INDEX ON history_plan (last_slice)")
    connection.execute("ANALYZE history_plan")
    connection.execute("GRANT SELECT ON history_plan TO memwarden_owner")
    connection.execute("SET ROLE memwarden_owner")
    for number in range(SLICES + 1):
        part = {"first": number, "last": number if number < SLICES else 10 * SLICES}
        with connection.transaction():
            for name in ("versions", "provenance", "timeline", "past_vectors", "log", "items"):
                connection.execute(STATEMENTS[name], part)
    connection.execute(STATEMENTS["vectors"])
    connection.execute("RESET ROLE")
    connection.execute("DROP TABLE history_plan")
    connection.execute("VACUUM ANALYZE")


def known(stores: Stores) -> Past:
    """What there is in a store that has been filled."""
    stores.scopes = SCOPES

    def rows(query: str, *arguments: object) -> list[Any]:
        return stores.admin.execute(query, arguments).fetchall()

    count = "(SELECT count(*) FROM memwarden_data.version)"
    past = Past(stores, *rows(f"SELECT start, stop, {count} FROM history_span")[0])
    past.long_item = rows(STATEMENTS["items_of"], scope_path(LONG_ITEM))[0][0]
    for number in range(SCOPES):
        path = scope_path(number)
        past.current += [row[0] for row in rows(STATEMENTS["items_of"], path)[:10]]
        until = rows(STATEMENTS["tenth_change"], path, past.moment(0.5))[0][0]
        past.ten_changes.append((past.moment(0.5), until))
    return past
