"""`memwarden lexicon`: the dictionaries that the judge of two memories asks."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from memwarden.cli.options import AsJson, Dsn, connected
from memwarden.cli.terminal import print_json

app = typer.Typer(name="lexicon", help="Dictionaries that the judge asks: load, drop.")
Language = Annotated[str, typer.Option(help="What the dictionary is of.")]


@app.command()
def load(
    *,
    folder: Annotated[
        str, typer.Option(help="Where the server has files in the format of WordNet.")
    ] = "/usr/share/wordnet",
    language: Language = "english",
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Load a dictionary now, as a job does at night, and print what it has."""
    with connected(dsn) as memory:
        loaded = memory.load_lexicon(folder, language)
    if as_json:
        print_json({"language": language} | asdict(loaded))
        return
    state = "loaded" if loaded.is_new else "already there"
    print(f"{language}: {loaded.words} words, {loaded.senses} senses, {state}")


@app.command()
def drop(*, language: Language = "english", dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Give a dictionary up: the judge asks it no more, and no job loads it again."""
    with connected(dsn) as memory:
        dropped = memory.drop_lexicon(language)
    if as_json:
        print_json({"language": language, "dropped": dropped})
    else:
        print("dropped" if dropped else "there was none")
