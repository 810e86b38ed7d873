"""`memwarden import`: many writes from a file, with a progress bar."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from typing import IO, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from memwarden.cli.options import AsJson, Dsn, ExitCode, connected, exit_code
from memwarden.cli.terminal import is_plain, print_json, printable
from memwarden.results import WriteResult

_SHOWN = 20
"""So many refusals are told one by one."""


def import_file(
    file: Annotated[
        typer.FileText, typer.Argument(help="One JSON object a line; - is standard input.")
    ],
    *,
    batch_size: Annotated[int, typer.Option(min=1, help="Requests in one transaction.")] = 500,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Write many memories: each line has the names that `write` takes, such as layer and content.

    A bad line is refused, recorded and told; the others are written. Exits with 0 when all are
    stored, otherwise as `write` does for the first that is not. `--json` prints every result.
    """
    lines = Counter[str]()
    results: list[WriteResult] = []
    worst = ExitCode.OK
    total = _count(file)
    bar = Progress(
        TextColumn("{task.description}"),
        *(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()),
        console=Console(stderr=True),
        transient=True,
    )
    with connected(dsn) as memory, nullcontext() if is_plain(bar.console) else bar:
        task = bar.add_task("writing", total=total)
        for result in memory.write_all(_requests(file), batch_size=batch_size):
            bar.advance(task)
            worst = worst or exit_code(result.outcome)
            lines[result.outcome] += 1
            if as_json:
                results.append(result)
            elif not result.stored and lines.total() - _stored(lines) <= _SHOWN:
                bar.console.print(_told(result), markup=False, highlight=False, soft_wrap=True)
    print(_summary(lines), file=sys.stderr)
    if as_json:
        print_json(results)
    raise typer.Exit(worst)


def _count(file: IO[str]) -> int | None:
    """Return how many requests a file holds; None for a pipe, which is read once."""
    if not file.seekable():
        return None
    count = sum(1 for line in file if line.strip())
    file.seek(0)
    return count


def _requests(file: IO[str]) -> Iterator[Any]:
    """Yield what the lines say; a line that is no JSON as text, which the server refuses."""
    for line in file:
        if line.strip():
            try:
                yield json.loads(line)
            except (RecursionError, ValueError):
                yield line


def _stored(lines: Counter[str]) -> int:
    return lines["COMMITTED"] + lines["MERGED"] + lines["ALREADY_COMMITTED"]


def _told(result: WriteResult) -> str:
    return printable(
        f"request {result.ordinal + 1}: {result.outcome} {result.reason} ({result.request_id})"
    )


def _summary(lines: Counter[str]) -> str:
    parts = [f"{count} {printable(outcome)}" for outcome, count in sorted(lines.items())]
    return f"{lines.total()} requests: {', '.join(parts) or 'nothing to write'}"
