"""`memwarden rollback`, `rollback-batch` and `recover`: taking changes back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from typing import Annotated
from uuid import UUID

import typer
from rich.text import Text

from memwarden.cli.memory import said
from memwarden.cli.options import AsJson, Because, Dsn, ExitCode, ItemId, Moment, connected
from memwarden.cli.terminal import cell, console, lines, print_json, table
from memwarden.results import PlannedUndo, UndoneItem

_UNDONE = frozenset(("RESTORE", "RETRACT", "END"))
_NO_MATTER = _UNDONE | {"NOTHING"}


def rollback(
    item_id: ItemId,
    *,
    reason: Because,
    version_id: Annotated[
        UUID | None, typer.Option(help="The bad version; fails when another has come since.")
    ] = None,
    to_version: Annotated[int | None, typer.Option(help="Back to this version instead.")] = None,
    restore: Annotated[
        list[UUID] | None,
        typer.Option(help="Of the items concerned, bring back only this one; may be repeated."),
    ] = None,
    no_restore: Annotated[
        bool, typer.Option("--no-restore", help="Retract, and bring nothing back.")
    ] = False,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Undo the last change of an item, whatever it was. The same again undoes that."""
    with connected(dsn) as memory:
        undone = memory.rollback(
            item_id,
            reason,
            version_id=version_id,
            to_version=to_version,
            restore=[] if no_restore else restore or None,
        )
    _show_undone(undone, as_json)


def rollback_batch(
    *,
    reason: Because,
    agent: Annotated[str | None, typer.Option(help="What this agent did.")] = None,
    scope: Annotated[str | None, typer.Option(help="What happened here and below.")] = None,
    request: Annotated[
        list[UUID] | None,
        typer.Option(help="What this request, or rollback, did; may be repeated."),
    ] = None,
    since: Moment = None,
    until: Moment = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Undo everything that meets all these options, after showing what that would be.

    Asks before it acts. With --json, or where there is no terminal to ask on, it only shows, and
    exits with 2, unless --yes is given. Exits with 3 when something was left alone.
    """
    requests = request or None
    if agent is None and scope is None and requests is None:
        raise typer.BadParameter("at least one of --agent, --scope and --request")
    with connected(dsn) as memory:
        if not yes:
            preview = partial(
                memory.preview_rollback,
                agent=agent,
                scope=scope,
                requests=requests,
                since=since,
                until=until,
            )
            _ask(preview, as_json)
        undone = memory.rollback_batch(
            reason, agent=agent, scope=scope, requests=requests, since=since, until=until
        )
    _show_undone(undone, as_json)
    raise typer.Exit(_code(undone))


def _ask(preview: Callable[[], list[PlannedUndo]], as_json: bool) -> None:
    """Show what would be undone; return when a person has agreed to just that."""
    plan = preview()
    while True:
        if as_json:
            print_json(plan)
        else:
            _show_plan(plan)
        if as_json or not sys.stdin.isatty():
            typer.echo("nothing was changed: --yes does it without asking", err=True)
            raise typer.Exit(2)
        if not any(each.action in _UNDONE for each in plan):
            print("there is nothing to undo")
            raise typer.Exit(_code(plan))
        typer.confirm("Undo this?", abort=True)
        # While a person reads, agents go on writing.
        shown, plan = plan, preview()
        if plan == shown:
            return
        print("it is no longer what it was:")


def _code(items: Iterable[PlannedUndo | UndoneItem]) -> ExitCode:
    left_alone = any(each.action not in _NO_MATTER for each in items)
    return ExitCode.REJECTED if left_alone else ExitCode.OK


def recover(
    item_id: ItemId,
    *,
    reason: Because,
    ttl_seconds: Annotated[
        float | None, typer.Option(help="Time to live from now on; the layer's by default.")
    ] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Bring an expired item back."""
    ttl = None if ttl_seconds is None else timedelta(seconds=ttl_seconds)
    with connected(dsn) as memory:
        done = memory.recover(item_id, reason, ttl)
    if as_json:
        print_json(done)
    elif done.committed:
        print(f"back, as version {done.version_id}")
    else:
        print(f"people decide first: request {done.request_id}")
    raise typer.Exit(ExitCode.OK if done.committed else ExitCode.DEFERRED)


def _show_plan(plan: list[PlannedUndo]) -> None:
    out = console()
    rows = table(out, "item", "would", "says now", "would say", whole=("item", "would"))
    for each in plan:
        rows.add_row(
            lines(each.item_id, each.item_scope),
            lines(
                _action(each.action),
                f"changes: {each.changes}",
                f"dependents: {each.dependents}" if each.dependents else None,
            ),
            cell(said(each.now_says, 80)),
            cell(said(each.would_say, 80)),
        )
    out.print(rows)


def _show_undone(undone: list[UndoneItem], as_json: bool) -> None:
    if as_json:
        print_json(undone)
        return
    out = console()
    rows = table(out, "item", "done", "stale now", whole=("item", "stale now"))
    for each in undone:
        rows.add_row(cell(each.item_id), _action(each.action), lines(*each.dependents))
    out.print(rows)
    for request_id in {each.change_id for each in undone if each.action == "WAITS"}:
        print(f"People decide first: request {request_id}")
    for change_id in {each.change_id for each in undone if each.action in _UNDONE}:
        print(f"To undo this: memwarden rollback-batch --request {change_id} --reason ...")


def _action(action: str) -> Text:
    text = cell(action)
    text.stylize("" if action in _NO_MATTER else "yellow")
    return text
