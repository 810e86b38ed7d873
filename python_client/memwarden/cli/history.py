"""What was known when: `history`, `as-of`, `diff`, `diff-store` and `lineage`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console

from memwarden.cli.memory import said, words
from memwarden.cli.options import AsJson, Dsn, ItemId, Moment, Share, connected, moment, not_found
from memwarden.cli.terminal import cell, console, instant, lines, print_json, shortened, table
from memwarden.results import Difference, LineageStep, Version

_LENGTH = 160  # of what a cell shows of a content
_TIMES = frozenset(("/valid_from", "/valid_to", "/expires_at"))

_When = Annotated[
    datetime,
    typer.Argument(parser=moment, metavar="TIME", help="Local where it names no zone."),
]


def history(item_id: ItemId, *, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Show every version of an item, newest first: who, when, why, and what changed."""
    with connected(dsn) as memory:
        versions = memory.history(item_id)
    if not versions:
        not_found("item", item_id)
    if as_json:
        print_json(versions)
    else:
        show_versions(console(), versions)


def show_versions(out: Console, versions: Iterable[Version]) -> None:
    """Print the entries of a history as a table."""
    numbers = ("v",)
    rows = table(out, "v", "entry", "what", "when, who, why", right=numbers, whole=("entry",))
    for each in versions:
        rows.add_row(
            cell(each.version),
            lines(each.operation, each.status),
            cell(_told(each)),
            lines(instant(each.recorded_at), each.actor, each.reason),
        )
    out.print(rows)


def _told(version: Version) -> str:
    """Return what an entry says: the content, or how it differs from the version before."""
    told = []
    if version.restores_version is not None:
        told.append(f"says again what version {version.restores_version} said")
    if version.absorbed_item is not None:
        told.append(f"absorbed item {version.absorbed_item}")
    if version.operation in ("RETRACT", "EXPIRE", "SUPERSEDE"):
        told.append("ended")
    elif version.changes is None:
        told.append(said(version.content) or "")
    else:
        told += [_change(each) for each in version.changes] or ["nothing changed"]
    return "\n".join(told)


def _change(change: Mapping[str, Any]) -> str:
    path = change["path"]
    before, after = (_value(change.get(side), path) for side in ("before", "after"))
    match change["change"]:
        case "added":
            return f"{path}: {after} (new)"
        case "removed":
            return f"{path}: {before} (gone)"
        case _:
            return f"{path}: {before} -> {after}"


def _value(value: Any, path: str = "") -> str:
    if path in _TIMES and isinstance(value, str):
        with suppress(ValueError):
            return instant(datetime.fromisoformat(value))
    return shortened(json.dumps(value, ensure_ascii=False), _LENGTH)


def as_of(
    time: _When,
    *,
    valid: Annotated[
        datetime | None,
        typer.Option(
            parser=moment,
            metavar="TIME",
            help="Only what was held true at this time in the world.",
            show_default=False,
        ),
    ] = None,
    item: Annotated[UUID | None, typer.Option(help="This item only.")] = None,
    layer: Annotated[list[str] | None, typer.Option(help="May be repeated.")] = None,
    scope: Annotated[str | None, typer.Option(help="This scope and its ancestors.")] = None,
    subject: Annotated[str | None, typer.Option()] = None,
    predicate: Annotated[str | None, typer.Option()] = None,
    kind: Annotated[str | None, typer.Option()] = None,
    min_confidence: Share = None,
    query: Annotated[str | None, typer.Option(help='Words, "a phrase", or, -not.')] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Show what memory held at a moment, whatever became of it since."""
    with connected(dsn) as memory:
        items = memory.as_of(
            time,
            valid,
            item_id=item,
            scope=scope,
            layers=layer,
            subject=subject,
            predicate=predicate,
            kind=kind,
            min_confidence=min_confidence,
            query=query,
        )
    if as_json:
        print_json(items)
        return
    if not items:
        print("nothing was held then")
        return
    out = console()
    rows = table(out, "item", "what was held", "recorded, by, true", whole=("item",))
    for each in items:
        rows.add_row(
            lines(each.item_id, f"{each.layer}, version {each.version}"),
            cell(shortened(_fact(each.subject, each.predicate, each.content), _LENGTH)),
            lines(
                instant(each.recorded_at),
                each.provenance.get("agent"),
                each.valid_from and f"from {instant(each.valid_from)}",
                each.valid_to and f"to {instant(each.valid_to)}",
            ),
        )
    out.print(rows)


def _fact(subject: str | None, predicate: str | None, content: Any) -> str:
    return " ".join(part for part in (subject, predicate, words(content)) if part)


def diff(
    item_id: ItemId,
    version_a: Annotated[int, typer.Argument(help="A version's number, as `history` shows it.")],
    version_b: Annotated[int, typer.Argument(help="Another.")],
    *,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Show in what two versions of an item differ."""
    with connected(dsn) as memory:
        differences = memory.diff(item_id, version_a, version_b)
    if as_json:
        print_json(differences)
        return
    out = console()
    rows = table(out, "path", "change", "before", "after")
    for each in differences:
        rows.add_row(cell(each.path), cell(each.change), *_both(each))
    out.print(rows)


def _both(difference: Difference) -> tuple[Any, Any]:
    path = difference.path
    before = None if difference.change == "added" else _value(difference.before, path)
    after = None if difference.change == "removed" else _value(difference.after, path)
    return cell(before), cell(after)


def diff_store(
    since: _When,
    *,
    until: Moment = None,
    scope: Annotated[str | None, typer.Option(help="This scope and its ancestors.")] = None,
    layer: Annotated[list[str] | None, typer.Option(help="May be repeated.")] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Show which items became different since a moment, and who changed them last."""
    with connected(dsn) as memory:
        items = memory.diff_store(since, until, scope=scope, layers=layer)
    if as_json:
        print_json(items)
        return
    out = console()
    rows = table(out, "item", "before", "after", "when, who, why", whole=("item",))
    for each in items:
        rows.add_row(
            lines(each.item_id, each.change),
            cell(said(each.before)),
            cell(said(each.after)),
            lines(each.changed_at and instant(each.changed_at), each.actor, each.reason),
        )
    out.print(rows)


def lineage(
    item_id: ItemId,
    *,
    derived: Annotated[
        bool, typer.Option("--derived", help="What rests on it, not what it rests on.")
    ] = False,
    depth: Annotated[int | None, typer.Option(min=1, help="So many steps; all by default.")] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Show what an item rests on, or what rests on it."""
    with connected(dsn) as memory:
        steps = memory.lineage(item_id, "derived" if derived else "sources", depth)
    if as_json:
        print_json(steps)
        return
    if not steps:
        print("nothing rests on it" if derived else "it names nothing that it rests on")
        return
    out = console()
    rows = table(
        out, "step", "relation", "item", "what", "status", right=("step",), whole=("item",)
    )
    for each in steps:
        rows.add_row(
            cell(each.distance),
            cell(each.relation),
            cell(each.related_item),
            cell(_basis(each)),
            cell("taken back" if each.withdrawn else each.status),
        )
    out.print(rows)


def _basis(step: LineageStep) -> str:
    if step.related_item is None:
        return _value(step.evidence)
    return shortened(_fact(step.subject, step.predicate, step.content), _LENGTH)
