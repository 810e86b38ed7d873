"""`memwarden import`: many writes from a file or another system, with a progress bar."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from memwarden.cli.options import AsJson, Dsn, ExitCode, connected, exit_code
from memwarden.cli.terminal import is_plain, print_json, printable
from memwarden.errors import InvalidArgument
from memwarden.results import WriteResult
from memwarden.transfer import earlier
from memwarden.transfer.apart import Sources
from memwarden.transfer.records import Target, Unreadable
from memwarden.transfer.report import ImportReport
from memwarden.transfer.sources import Format, Records, opened

_SHOWN = 20
"""So many refusals are told one by one."""


def import_file(
    source: Annotated[
        str,
        typer.Argument(
            help="A file, - for standard input; for mem0 and langgraph a connection string; "
            "for earlier-keys a scope."
        ),
    ],
    *,
    format: Annotated[Format, typer.Option("--from", help="What it is.")] = Format.JSONL,
    layer: Annotated[str, typer.Option(help="For records that name none.")] = "semantic",
    scope: Annotated[
        str | None,
        typer.Option(
            help="Where all of it goes, such as /org/acme/user/{user_id}; "
            "your home where the records name none.",
            show_default=False,
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(help="For mem0 and langgraph: another table.", show_default=False),
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Requests in one transaction.")] = 500,
    report: Annotated[
        Path | None,
        typer.Option(help="A file for the report, as JSON.", show_default=False),
    ] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Write many memories through the gates. Run again after it was stopped, it writes none twice.

    Each JSON line has the names that `write` takes, such as layer and content. A bad record is
    refused and told; the others are written. Exits with 0 when all are stored, otherwise as `write`
    does for the first that is not. `--json` prints every result. See docs/import-export.md.
    """
    outcomes = Counter[str]()
    results: list[WriteResult] = []
    told = ImportReport()
    worst = ExitCode.OK
    places: dict[int, str] = {}
    bar = Progress(
        TextColumn("{task.description}"),
        *(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()),
        console=Console(stderr=True),
        transient=True,
    )
    # Refused before anything is written: a report that cannot be kept is asked for in vain.
    with connected(dsn) as memory:
        if report is not None and not report.parent.is_dir():
            raise InvalidArgument(f"there is no directory {report.parent}")
        total: int | None = None
        records: Records
        if format is Format.EARLIER_KEYS:
            records = earlier.read(memory, source, layer)
        else:
            total, records = opened(format, source, Target(layer, scope), table)
        with nullcontext() if is_plain(bar.console) else bar:
            task = bar.add_task("writing", total=total)

            def say(line: str) -> None:
                if not as_json and len(told.problems) <= _SHOWN:
                    text = printable(line)
                    bar.console.print(text, markup=False, highlight=False, soft_wrap=True)

            def unread(record: Unreadable) -> None:
                told.unsent(record)
                bar.advance(task)
                say(f"{record.place}: {record.why}")

            moved: dict[int, earlier.Moved] = {}
            sources = Sources(memory)
            requests = _requests(map(sources.settle, records), places, moved, unread)
            for result in memory.write_all(requests, batch_size=batch_size):
                bar.advance(task)
                outcomes[result.outcome] += 1
                place = places.pop(result.ordinal)
                already = told.already
                is_problem = told.decided(place, result)
                of_earlier = moved.pop(result.ordinal, None)
                if of_earlier is not None and not is_problem:
                    of_earlier.end(memory)
                if told.already == already:
                    worst = worst or exit_code(result.outcome)
                if is_problem:
                    say(f"{place}: {result.outcome} {result.reason} ({result.request_id})")
                if as_json:
                    results.append(result)
        told.apart = sources.apart
        for name, kept in told.apart.items():
            print(printable(f"{name} is another source's: kept as {kept}"), file=sys.stderr)
        print(memory.whoami().asks, file=sys.stderr)
    if told.refused["UNREADABLE"] or told.refused["KEY_OF_ANOTHER"]:
        worst = worst or ExitCode.REJECTED
    print(told.summary(), file=sys.stderr)
    print(_summary(outcomes), file=sys.stderr)
    if report is not None:
        report.write_text(json.dumps(told.as_json(), indent=1) + "\n")
    if as_json:
        print_json(results)
    raise typer.Exit(worst)


def _requests(
    records: Records, places: dict[int, str], moved: dict[int, earlier.Moved], unread: Any
) -> Iterator[Any]:
    """Yield what is to be sent, and keep where each stood, and what it ends, until decided."""
    number = 0
    for record in records:
        if isinstance(record, Unreadable):
            unread(record)
        else:
            places[number] = record.place
            if isinstance(record, earlier.Moved):
                moved[number] = record
            number += 1
            yield record.request


def _summary(outcomes: Counter[str]) -> str:
    parts = [f"{count} {printable(outcome)}" for outcome, count in sorted(outcomes.items())]
    return f"{outcomes.total()} requests: {', '.join(parts) or 'nothing to write'}"
