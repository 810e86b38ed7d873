"""The command `memwarden`: one module for each group of commands."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from memwarden.cli import (
    access,
    aging,
    collecting,
    evaluate,
    history,
    items,
    keeping,
    lexicon,
    log,
    memory,
    models,
    observing,
    provenance,
    server,
    session,
    undo,
)
from memwarden.cli.capture import capture
from memwarden.cli.compliance import compliance
from memwarden.cli.console import console
from memwarden.cli.consolidate import consolidate
from memwarden.cli.contract import contract
from memwarden.cli.demo import demo
from memwarden.cli.erase import erase
from memwarden.cli.exports import export_file
from memwarden.cli.extract import extract
from memwarden.cli.imports import import_file
from memwarden.cli.init import init
from memwarden.cli.mcp import mcp
from memwarden.cli.recalls import list_recalls, quality, recalls_of, report
from memwarden.cli.reporting import report as report_health
from memwarden.cli.review import approve, edit, list_proposals, reject, show
from memwarden.cli.review_life import bulk, feedback
from memwarden.cli.settle import settle
from memwarden.cli.subject import subject
from memwarden.cli.watching import watch
from memwarden.cli.worker import worker

app = typer.Typer(
    name="memwarden",
    help="Governed memory for AI agents, inside PostgreSQL.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(version("memwarden"))
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


app.command()(init)
app.command()(server.status)
app.command()(capture)
app.command()(memory.write)
app.command("import")(import_file)
app.command("export")(export_file)
app.command()(memory.recall)
app.command()(memory.context)
app.command()(items.get)
app.command()(items.find)
app.command()(items.request)
app.command()(history.history)
app.command()(history.as_of)
app.command()(history.diff)
app.command()(history.diff_store)
app.command()(history.lineage)
app.command()(provenance.provenance)
app.command()(provenance.verify_provenance)
app.command()(undo.rollback)
app.command()(undo.rollback_batch)
app.command()(undo.recover)
app.command()(keeping.pin)
app.command()(keeping.unpin)
app.command()(keeping.link_action)
app.command()(aging.renew)
app.command()(aging.relevance)
app.command()(collecting.gc)
app.command()(collecting.hygiene)
app.command()(collecting.storage)
app.command()(observing.metrics)
app.command()(observing.health)
app.command()(observing.gate)
app.command()(watch)
app.command("report")(report_health)
app.command()(erase)
app.command()(compliance)
app.command()(log.verify_log)
app.command()(log.log_head)
app.command()(log.log_proof)
app.command()(access.whoami)
app.command()(access.explain)
app.command()(consolidate)
app.command()(settle)
app.command()(extract)
app.command()(worker)
app.command()(console)
app.command()(mcp)
app.command()(contract)
app.command()(demo)
app.add_typer(evaluate.app)
app.add_typer(models.app)
app.add_typer(subject)
app.add_typer(lexicon.app)
recalls = typer.Typer(name="recalls", help="Who was given what, and what came of it.")
recalls.command("list")(list_recalls)
recalls.command("of")(recalls_of)
recalls.command()(quality)
recalls.command()(report)
app.add_typer(recalls)
app.add_typer(keeping.hold)
app.add_typer(aging.retention)
app.add_typer(collecting.jobs)
app.add_typer(session.app)
review = typer.Typer(name="review", help="Decide about what waits for a human.")
review.command("list")(list_proposals)
review.command()(show)
review.command()(approve)
review.command()(edit)
review.command()(reject)
review.command()(bulk)
review.command()(feedback)
app.add_typer(review)


def main() -> None:
    """Run the command; the entry point of the installed script."""
    app()
