"""Parquet files, by pyarrow (`memwarden[parquet]`).

An export has a column for each name; content, attributes, evidence, origin and provenance are JSON
text there, since each may have any form. Times are text in ISO 8601, which can be infinity.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]

from memwarden.errors import InvalidArgument, MemwardenError
from memwarden.transfer.exported import FORMAT
from memwarden.transfer.lines import requests
from memwarden.transfer.records import MOST_CHARACTERS, Record, Target, TooLarge, Unreadable

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

# A few bytes of a compressed or repeated value can stand for any number of them.
MOST_ROWS = 10_000_000
MOST_IN_A_GROUP = 256 * 1024 * 1024
"""Bytes of a row group without compression, as the file declares them."""
MOST_IN_LISTS = 4_000_000
"""Values of a column of lists in a row group."""
MOST_IN_A_BATCH = 64 * 1024 * 1024
"""Bytes that are decoded at once."""


def count(file: Path) -> int:
    """Return how many rows a file has.

    Raises:
        InvalidArgument: it is no Parquet file, or declares more than is read.
    """
    with _readable(file), pyarrow.parquet.ParquetFile(file) as opened:
        _rows_at_once(opened, file)
        rows: int = opened.metadata.num_rows
        return rows


def _rows_at_once(opened: Any, file: Path) -> int:
    """Return how many rows a batch may have, so that it cannot grow beyond what is decoded at once.

    No value is larger than its column in the row group, and each row may repeat the largest.

    Raises:
        InvalidArgument: the file declares more than is read.
    """
    metadata = opened.metadata
    if metadata.num_rows > MOST_ROWS:
        raise _too_much(file, f"{metadata.num_rows:,} rows", f"{MOST_ROWS:,}")
    largest = 1
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        columns = [group.column(at) for at in range(group.num_columns)]
        size = sum(each.total_uncompressed_size for each in columns)
        values = max((each.num_values for each in columns), default=0)
        if size > MOST_IN_A_GROUP or group.total_byte_size > MOST_IN_A_GROUP:
            raise _too_much(file, f"a row group of {size:,} bytes", f"{MOST_IN_A_GROUP:,}")
        if values > max(MOST_IN_LISTS, group.num_rows):
            raise _too_much(file, f"lists of {values:,} values", f"{MOST_IN_LISTS:,}")
        largest = max(largest, size)
    return max(1, min(_ROWS, MOST_IN_A_BATCH // largest))


def _too_much(file: Path, found: str, most: str) -> InvalidArgument:
    return InvalidArgument(
        f"{file} declares {found}; at most {most} are read",
        hint="Write it as several files, or with smaller row groups.",
    )


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, MemoryError, ValueError) as error:
        if isinstance(error, MemwardenError):
            raise
        raise InvalidArgument(f"{file} is no Parquet file that can be read") from None


def read(file: Path, target: Target) -> Iterator[Record | Unreadable]:
    """Yield the requests of a file: an export, or one whose columns are what `write` takes."""

    def values() -> Iterator[Any]:
        with _readable(file), pyarrow.parquet.ParquetFile(file) as opened:
            for batch in opened.iter_batches(batch_size=_rows_at_once(opened, file)):
                if batch.nbytes > 2 * MOST_IN_A_BATCH:
                    raise _too_much(file, "less than it holds", f"{MOST_IN_A_BATCH:,} bytes")
                for at in range(batch.num_rows):
                    [row] = batch.slice(at, 1).to_pylist()
                    yield TooLarge() if _size(row) > MOST_CHARACTERS else _value(row)

    return requests(values(), target)


def _size(value: Any) -> int:
    """Characters and bytes of a value, one for whatever has neither."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list | tuple) else 1


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
