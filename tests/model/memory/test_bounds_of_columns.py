"""What the columns of every write may hold is settled by their types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from conftest import World

OUT_OF_BOUNDS = {
    "double precision": ["-0.01", "1.01", "'NaN'", "'Infinity'"],
    "integer": ["0", "-1"],
    "bytea": ["''", r"'\x00'", "sha512('')"],
    "text": ["''", "'GONE'", "'active'"],
}
WITHIN = {"double precision": "0.5", "integer": "1", "bytea": "sha256('')"}


def bounded_columns(world: World) -> list[tuple[str, str, str]]:
    """Every column with a domain: its table, its name, and the type below the domain."""
    return [
        (row["table"], row["name"], row["base"])
        for row in world.rows(
            "SELECT a.attrelid::regclass::text AS table, a.attname AS name,"
            "       format_type(t.typbasetype, NULL) AS base"
            "  FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid"
            "  JOIN pg_class AS c ON c.oid = a.attrelid"
            " WHERE t.typtype = 'd' AND t.typnamespace = 'memwarden_data'::regnamespace"
            "   AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND NOT a.attisdropped"
        )
    ]


def test_a_value_out_of_bounds_enters_no_column(shared_world: World) -> None:
    """By direct SQL of a superuser, past every gate.

    Proves: T2
    """
    columns = bounded_columns(shared_world)
    assert {name for _, name, _ in columns} >= {
        "status", "confidence", "importance", "authority", "adjusted_confidence", "sensitivity",
        "version", "content_hash", "fingerprint", "key_hash", "snapshot_hash", "operation",
        "event", "signature", "outcome",
    }  # fmt: skip
    for table, name, base in columns:
        for value in OUT_OF_BOUNDS[base]:
            with pytest.raises(psycopg.errors.CheckViolation):
                shared_world.admin.execute(f"INSERT INTO {table} ({name}) VALUES ({value})")
        if base in WITHIN:
            # What remains to be said of such a row is what is missing from it, or who may make one.
            with pytest.raises(psycopg.Error) as refused:
                shared_world.admin.execute(f"INSERT INTO {table} ({name}) VALUES ({WITHIN[base]})")
            assert not isinstance(refused.value, psycopg.errors.CheckViolation), (table, name)
