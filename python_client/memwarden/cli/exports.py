"""`memwarden export`: what the caller may see, with where it comes from, as a file."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import IO, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from memwarden.cli.options import Dsn, connected
from memwarden.cli.terminal import is_plain
from memwarden.errors import InvalidArgument
from memwarden.transfer.exported import export
from memwarden.transfer.sources import parquet_module


class ExportFormat(StrEnum):
    """What an export is written as."""

    JSONL = "jsonl"
    PARQUET = "parquet"


def export_file(
    file: Annotated[str, typer.Argument(help="A new file; - is standard output.")],
    *,
    format: Annotated[ExportFormat, typer.Option("--to", help="As what.")] = ExportFormat.JSONL,
    scope: Annotated[
        str | None, typer.Option(help="This scope and its ancestors.", show_default=False)
    ] = None,
    layer: Annotated[
        list[str] | None, typer.Option(help="Of this layer; may be repeated.", show_default=False)
    ] = None,
    subject: Annotated[
        str | None,
        typer.Option(help="What concerns this person, as register_subject knows them."),
    ] = None,
    org: Annotated[str | None, typer.Option(help="The organisation of the subject.")] = None,
    dsn: Dsn = "",
) -> None:
    """Export every memory that you may see, as it stands now, with its signed provenance.

    `memwarden import` reads it back. The file is yours alone to read.
    """
    to_parquet = format is ExportFormat.PARQUET
    bar = Progress(
        TextColumn("{task.description}"),
        *(BarColumn(), MofNCompleteColumn()),
        console=Console(stderr=True),
        transient=True,
    )
    count = 0
    with connected(dsn) as memory:
        if to_parquet and file == "-":
            raise InvalidArgument("a Parquet file cannot be written to standard output")
        parquet = parquet_module() if to_parquet else None
        only = None if subject is None else set(memory.find_subject(subject, org=org))
        with nullcontext() if is_plain(bar.console) else bar:
            task = bar.add_task("exporting", total=None)

            def records() -> Iterator[dict[str, Any]]:
                nonlocal count
                for total, record in export(memory, scope=scope, layers=layer, only=only):
                    yield record
                    count += 1
                    bar.update(task, total=total, completed=count)

            if file == "-":
                _lines(sys.stdout, records())
            else:
                _whole(Path(file), records(), parquet)
    print(f"{count} memories exported", file=sys.stderr)
    if only is not None and len(only) > count:
        left = len(only) - count
        print(f"{left} more concern the person, and are over or not yours to see", file=sys.stderr)


def _whole(file: Path, records: Iterator[dict[str, Any]], parquet: Any) -> None:
    """Write a file that is there whole or not at all, and that nobody else may read."""
    part = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        if file.exists():
            raise InvalidArgument(f"{file} is there already")
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        if parquet is None:
            with part.open("w", encoding="utf-8") as opened:
                _lines(opened, records)
        else:
            parquet.write(part, records)
        part.rename(file)
    except OSError as error:
        raise InvalidArgument(f"{file} cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def _lines(to: IO[str], records: Iterator[dict[str, Any]]) -> None:
    for record in records:
        to.write(json.dumps(record) + "\n")
