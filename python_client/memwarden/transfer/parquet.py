"""Parquet files, by pyarrow (`memwarden[parquet]`).

An export has a column for each name; content, attributes, evidence, origin and provenance are JSON
text there, since each may have any form. Times are text in ISO 8601, which can be infinity.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]

from memwarden.transfer.exported import FORMAT
from memwarden.transfer.lines import requests
from memwarden.transfer.records import Record, Target, Unreadable

_JSON = ("content", "attributes", "evidence", "origin", "provenance")
_TEXT = (
    *("item_id", "layer", "scope", "kind", "subject", "predicate", "classification"),
    *("recorded_at", "valid_from", "valid_to", "expires_at"),
)
SCHEMA = pyarrow.schema(
    [
        ("format", pyarrow.string()),
        ("version", pyarrow.int64()),
        *((name, pyarrow.string()) for name in _TEXT),
        ("confidence", pyarrow.float64()),
        ("importance", pyarrow.float64()),
        ("domains", pyarrow.list_(pyarrow.string())),
        *((name, pyarrow.string()) for name in _JSON),
    ]
)
_ROWS = 1000


def count(file: Path) -> int:
    """Return how many rows a file has."""
    rows: int = pyarrow.parquet.read_metadata(file).num_rows
    return rows


def read(file: Path, target: Target) -> Iterator[Record | Unreadable]:
    """Yield the requests of a file: an export, or one whose columns are what `write` takes."""

    def values() -> Iterator[Any]:
        with pyarrow.parquet.ParquetFile(file) as opened:
            for batch in opened.iter_batches(batch_size=_ROWS):
                for row in batch.to_pylist():
                    yield _value(row)

    return requests(values(), target)


def _value(row: dict[str, Any]) -> dict[str, Any]:
    given = {name: each for name, each in row.items() if each is not None}
    if given.get("format") == FORMAT:
        for name in _JSON:
            if name in given:
                try:
                    given[name] = json.loads(given[name])
                except (RecursionError, TypeError, ValueError):
                    del given[name]
    return given


def write(file: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write exported records, some thousand at a time."""
    with pyarrow.parquet.ParquetWriter(file, SCHEMA, compression="zstd") as writer:
        rows: list[dict[str, Any]] = []
        for record in records:
            rows.append(record | {name: json.dumps(record[name]) for name in _JSON})
            if len(rows) == _ROWS:
                writer.write_table(pyarrow.Table.from_pylist(rows, schema=SCHEMA))
                rows = []
        writer.write_table(pyarrow.Table.from_pylist(rows, schema=SCHEMA))
