"""`memwarden lexicon`: the dictionaries that the judge of two memories asks."""

from __future__ import annotations

from typing import Annotated

import typer

from memwarden.cli.options import Dsn, connected

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
) -> None:
    """Load a dictionary now, as a job does at night, and print what it has."""
    with connected(dsn) as memory:
        loaded = memory.load_lexicon(folder, language)
    state = "loaded" if loaded.is_new else "already there"
    print(f"{language}: {loaded.words} words, {loaded.senses} senses, {state}")


@app.command()
def drop(*, language: Language = "english", dsn: Dsn = "") -> None:
    """Give a dictionary up: the judge asks it no more, and no job loads it again."""
    with connected(dsn) as memory:
        print("dropped" if memory.drop_lexicon(language) else "there was none")
