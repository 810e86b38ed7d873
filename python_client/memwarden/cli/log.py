"""`memwarden verify-log`, `log-head` and `log-proof`: that the log is what it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from memwarden.cli.options import AsJson, Dsn, ExitCode, ItemId, connected
from memwarden.cli.terminal import cell, console, print_json, table


def verify_log(
    *,
    since: Annotated[
        int | None, typer.Option(help="The segment to begin with, those before being verified.")
    ] = None,
    head: Annotated[
        Path | None,
        typer.Option(help="What `log-head` printed once; the log must still have it."),
    ] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Compare the log, the versions and the items with what was sealed. For administrators.

    Exits with 0 when all is intact and with 1 when something does not fit.
    """
    known = None if head is None else _head(head)
    with connected(dsn) as memory:
        findings = memory.verify_log(since, known)
    if as_json:
        print_json(findings)
    elif findings:
        out = console()
        rows = table(out, "finding", "segment", "entry", "item", "detail")
        for each in findings:
            rows.add_row(
                cell(each.finding),
                cell(each.segment_no),
                cell(each.log_seq),
                cell(each.item_id),
                cell(each.detail),
            )
        out.print(rows)
    else:
        print("intact")
    if findings:
        raise typer.Exit(ExitCode.FAILED)


def _head(path: Path) -> dict[str, Any]:
    try:
        head = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        head = None
    if not isinstance(head, dict):
        raise typer.BadParameter("a file with what `log-head` printed", param_hint="--head")
    return head


def log_head(*, dsn: Dsn = "") -> None:
    """Print the signed head of the log as JSON, to be kept where nobody can change it.

    Exits with 6 before anything is sealed.
    """
    with connected(dsn) as memory:
        head = memory.log_head()
    if head is None:
        typer.echo("nothing is sealed yet", err=True)
        raise typer.Exit(ExitCode.NOT_FOUND)
    print_json(head)


def log_proof(
    item_id: ItemId,
    *,
    log_seq: Annotated[
        int | None,
        typer.Option(help="An entry, by its number in `history --json`; the latest by default."),
    ] = None,
    segment: Annotated[
        int | None, typer.Option(help="The one that the exported head names; by default the last.")
    ] = None,
    dsn: Dsn = "",
) -> None:
    """Print, as JSON, the proof that an entry is in the log that a head stands for.

    tools/check_inclusion checks the two without the server.
    """
    with connected(dsn) as memory:
        proof = memory.log_proof(item_id, log_seq, segment)
    print_json(proof)
