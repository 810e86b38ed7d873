"""`memwarden models`: which embedding models there are, and going over from one to another."""

from __future__ import annotations

from typing import Annotated

import typer

from memwarden.cli.options import AsJson, Dsn, connected
from memwarden.cli.terminal import cell, console, print_json, table

app = typer.Typer(name="models", help="Embedding models: list, reembed, switch, drop.")
Model = Annotated[str, typer.Argument(help="The name that it is registered under.")]
Org = Annotated[
    str | None, typer.Option(help="One organisation alone; by default all without their own.")
]


@app.command("list")
def list_(*, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Show the models: which is active, and how many memories lack a vector of each."""
    with connected(dsn) as memory:
        models = memory.embedding_models()
    if as_json:
        print_json(models)
        return
    out = console()
    columns = ("org", "model", "state", "dimension", "items", "missing", "dead", "embedder")
    rows = table(out, *columns)
    for each in models:
        rows.add_row(*(cell(getattr(each, name)) for name in columns))
    out.print(rows)


@app.command()
def reembed(model: Model, *, org: Org = None, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Have `memwarden worker --embedders all` make the vectors that are missing."""
    with connected(dsn) as memory:
        memory.reembed(model, org)
    if as_json:
        print_json({"reembedding": model})


@app.command()
def switch(
    model: Model,
    *,
    org: Org = None,
    allow_partial: Annotated[
        bool, typer.Option("--allow-partial", help="Though memories have no vector of it.")
    ] = False,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Make a model the one that recall uses, and print the name of the one before."""
    with connected(dsn) as memory:
        before = memory.switch_embedding_model(model, org, allow_partial=allow_partial)
    if as_json:
        print_json({"active": model, "before": before})
    else:
        print(before)


@app.command()
def drop(model: Model, *, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Give a model up; its vectors go by and by."""
    with connected(dsn) as memory:
        memory.drop_embedding_model(model)
    if as_json:
        print_json({"dropped": model})
