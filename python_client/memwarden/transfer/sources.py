"""Opens what is imported, by the name of its format."""

from __future__ import annotations

import codecs
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

from memwarden._needs import needs
from memwarden.errors import InvalidArgument
from memwarden.transfer import langgraph, letta, lines, mem0, tables, zep
from memwarden.transfer.records import Record, Target, TooLarge, Unreadable, unpacked

Records = Iterator[Record | Unreadable]


MOST_OF_A_FILE = 64 * 1024 * 1024
"""Characters of a file that is one JSON document."""


class Format(StrEnum):
    """Where an import comes from."""

    JSONL = "jsonl"
    PARQUET = "parquet"
    MEM0 = "mem0"
    LANGGRAPH = "langgraph"
    LETTA = "letta"
    ZEP = "zep"
    EARLIER_KEYS = "earlier-keys"


def opened(
    format: Format, source: str, target: Target, table: str | None
) -> tuple[int | None, Records]:
    """Return how many records there are, None where nobody knows, and the records.

    `source`: a file, - for standard input, or for mem0 and langgraph a connection string.

    Raises:
        InvalidArgument: it is not there, or is not of that format.
        NotInstalled: the format needs an extra that is not installed.
    """
    match format:
        case Format.JSONL:
            return _count(source), lines.read(_lines(source), target)
        case Format.PARQUET:
            parquet = parquet_module()
            file = _file(source)
            return parquet.count(file), parquet.read(file, target)
        case Format.MEM0 | Format.LANGGRAPH:
            system: Any = mem0 if format is Format.MEM0 else langgraph
            name = table or system.TABLE
            target = replace(target, source=tables.identity(source, name))
            found = tables.rows(source, name, system.COLUMNS, system.ORDER)
            return tables.count(source, name), system.read(found, target)
        case _:
            reader: Any = letta if format is Format.LETTA else zep
            try:
                with _text(source) as text:
                    said = text.read(MOST_OF_A_FILE + 1)
                document = None if len(said) > MOST_OF_A_FILE else unpacked(json.loads(said))
            except (RecursionError, ValueError):
                raise InvalidArgument(f"{source} is no JSON") from None
            if len(said) > MOST_OF_A_FILE:
                raise InvalidArgument(
                    f"{source} has more than {MOST_OF_A_FILE:,} characters",
                    hint="It is read as a whole. Import it in parts.",
                )
            if isinstance(document, str):
                raise InvalidArgument(f"{source} is a text, and what is in it is no JSON")
            where = "-" if source == "-" else str(_file(source).resolve())
            records = list(reader.read(document, replace(target, source=where)))
            return len(records), iter(records)


def parquet_module() -> Any:
    """Return the module that needs pyarrow.

    Raises:
        NotInstalled: it is missing.
    """
    with needs("parquet"):
        from memwarden.transfer import parquet
    return parquet


def _file(source: str) -> Path:
    file = Path(source)
    if not file.is_file():
        raise InvalidArgument(f"there is no file {source}")
    return file


def _count(source: str) -> int | None:
    if source == "-":
        return None
    with _text(source) as text:
        return sum(1 for _ in lines.bounded(text))


def _lines(source: str) -> Iterator[str | TooLarge]:
    with _text(source) as text:
        yield from lines.bounded(text)


def _text(source: str) -> IO[str]:
    file: IO[bytes] = sys.stdin.buffer if source == "-" else _file(source).open("rb")
    reader = file if isinstance(file, io.BufferedReader) else io.BufferedReader(file)  # type: ignore[type-var]
    # Programs of Windows begin a text with a mark of its encoding.
    begins = reader.peek(2)[:2]
    is_wide = begins in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    encoding = "utf-16" if is_wide else "utf-8-sig"
    # Bytes that are no text are a record that the server refuses, not the end of the import.
    return io.TextIOWrapper(reader, encoding=encoding, errors="backslashreplace")
