"""A model whose vectors a command makes itself, instead of the server."""

from __future__ import annotations

from typing import Annotated

import typer

from memwarden._needs import needs
from memwarden.embedders import Embedder, packaged
from memwarden.errors import NotInstalled

WithModel = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="MODEL[=FOLDER]",
        envvar="MEMWARDEN_EMBEDDER",
        help="Make vectors here with a registered model, whose files are in FOLDER; without one "
        "with the model of the extra `embed`, or with all-MiniLM-L6-v2 of its package.",
        show_default=False,
    ),
]


def model_of(option: str | None) -> Embedder | None:
    """Return the model that the option names; None where it names none.

    Raises:
        typer.BadParameter: the files of the model, or what runs it, are missing.
    """
    if option is None:
        return None
    name, _, folder = option.partition("=")
    try:
        if not folder and (found := packaged(name)) is not None:
            return found
        with needs("local"):
            from memwarden.embedders.bge import BgeSmallEmbedder
            from memwarden.embedders.local import LocalEmbedder, ModelNotFound
    except NotInstalled as error:
        raise typer.BadParameter(str(error), param_hint="--embedder") from None
    try:
        if name == "bge-small-en-v1.5" and folder:
            return BgeSmallEmbedder(folder)
        if not folder and name != "all-MiniLM-L6-v2":
            raise ModelNotFound("name the folder of the model's files: --embedder MODEL=FOLDER")
        return LocalEmbedder(name, folder or None)
    except ModelNotFound as error:
        raise typer.BadParameter(str(error), param_hint="--embedder") from None
