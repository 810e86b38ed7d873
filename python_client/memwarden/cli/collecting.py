"""`memwarden gc`, `hygiene`, `storage` and `jobs ...`: what a DBA runs and looks at."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.text import Text

from memwarden.cli.options import AsJson, Dsn, connected
from memwarden.cli.terminal import cell, console, lines, print_json, table
from memwarden.results import Collected, HygieneFinding

Layer = Annotated[str | None, typer.Option(help="Only this layer.")]
Org = Annotated[str | None, typer.Option(help="The organisation; yours by default.")]
Expected = Annotated[int | None, typer.Option(help="With --yes: how many memories may go at most.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]
JobName = Annotated[str, typer.Argument(help="The job, as `jobs list` shows it.")]

_TROUBLE = frozenset(("late", "not called", "stuck", "failing", "paused"))

jobs = typer.Typer(name="jobs", help="The server's jobs: what runs, what is late, what failed.")


def gc(
    *,
    layer: Layer = None,
    org: Org = None,
    max_items: Annotated[int, typer.Option(help="How many go at most, 1 to 10,000.")] = 200,
    expected: Expected = None,
    yes: Yes = False,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Collect memories by the rules of their layers, after showing what that would be.

    Asks before it acts. With --json, or where there is no terminal to ask on, it only shows, and
    exits with 2, unless --yes is given.
    """
    with connected(dsn) as memory:
        if not yes:
            found = memory.run_gc(layer, org=org, max_items=max_items)
            _show(found, as_json)
            expected = _agreed(sum(each.items for each in found if each.action != "KEEP"), as_json)
        done = memory.run_gc(layer, dry_run=False, expected=expected, org=org, max_items=max_items)
    _show(done, as_json)


def hygiene(
    *,
    layer: Layer = None,
    org: Org = None,
    expected: Expected = None,
    yes: Yes = False,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Look for duplicates, contradictions, stale and sensitive memories; end the surely worse.

    Asks before it acts. With --json, or where there is no terminal to ask on, it only shows, and
    exits with 2, unless --yes is given.
    """
    with connected(dsn) as memory:
        if not yes:
            found = memory.run_hygiene(layer, org=org)
            _show(found, as_json)
            expected = _agreed(
                sum(each.items for each in found if each.action == "SUPERSEDE"), as_json
            )
        done = memory.run_hygiene(layer, dry_run=False, expected=expected, org=org)
    _show(done, as_json)


def _agreed(count: int, as_json: bool) -> int:
    """Return how many may go, when a person has agreed to just that many."""
    if as_json or not sys.stdin.isatty():
        typer.echo("nothing was changed: --yes does it without asking", err=True)
        raise typer.Exit(2)
    if not count:
        print("there is nothing to end")
        raise typer.Exit
    typer.confirm(f"End these {count}?", abort=True)
    return count


def _show(found: list[Collected] | list[HygieneFinding], as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    out = console()
    rows = table(out, "organisation", "layer", "action", "because", "found", "done")
    for each in found:
        because = each.reason if isinstance(each, Collected) else each.finding
        rows.add_row(
            cell(each.org_name),
            cell(each.layer_name),
            cell(each.action),
            cell(because),
            cell(each.items),
            cell(each.done),
        )
    out.print(rows)


def storage(*, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Show how many bytes tables, organisations and layers take, and how fast they grow."""
    with connected(dsn) as memory:
        found = memory.storage()
    if as_json:
        print_json(found)
        return
    numbers = ("bytes", "a day", "next run frees")
    out = console()
    rows = table(out, "table", "organisation", "layer", *numbers, right=numbers)
    for each in found:
        rows.add_row(
            cell(each.table_name),
            cell(each.org),
            cell(each.layer),
            cell(each.bytes),
            cell(each.growth_per_day),
            cell(each.next_run_frees),
        )
    out.print(rows)


@jobs.command("list")
def list_jobs(*, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Show every job: its schedule, its last and next run, and its last error."""
    with connected(dsn) as memory:
        found = memory.jobs()
    if as_json:
        print_json(found)
        return
    out = console()
    rows = table(out, "job", "state", "last run", "did", "next run", "error", whole=("job",))
    for each in found:
        state = Text(each.state, style="yellow" if each.state in _TROUBLE else "")
        did = None if each.done is None else f"{each.done} {each.unit or ''}"
        rows.add_row(
            lines(each.name, each.schedule),
            state,
            cell(each.last_begin),
            cell(did),
            cell(each.next_run),
            cell(each.last_error),
        )
    out.print(rows)


@jobs.command("pause")
def pause_job(name: JobName, *, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Keep a job from running until `jobs resume`."""
    with connected(dsn) as memory:
        memory.pause_job(name)
    if as_json:
        print_json({"paused": name})


@jobs.command("resume")
def resume_job(name: JobName, *, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Let a paused job run again."""
    with connected(dsn) as memory:
        memory.resume_job(name)
    if as_json:
        print_json({"resumed": name})
