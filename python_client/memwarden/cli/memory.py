"""`memwarden write`, `memwarden recall` and `memwarden context`."""

from __future__ import annotations

import json
import sys
from datetime import UTC, timedelta
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console
from rich.text import Text

from memwarden._request_id import new_request_id
from memwarden._sync.client import Client
from memwarden.cli.embedding import WithModel, model_of
from memwarden.cli.options import AsJson, Dsn, Moment, Share, connected, exit_code
from memwarden.cli.terminal import cell, console, print_json, printable, shortened, table
from memwarden.requests import WriteRequest
from memwarden.results import RecalledItem, WriteResult
from memwarden_core.canonical import NotCanonical, parse


def write(
    layer: Annotated[str, typer.Argument(help="For example episodic or semantic.")],
    content: Annotated[str, typer.Argument(help="JSON; - reads it from standard input.")],
    *,
    text: Annotated[
        bool, typer.Option("--text", help='CONTENT is plain text, stored as {"text": ...}.')
    ] = False,
    subject: Annotated[str | None, typer.Option(help="What it is about.")] = None,
    predicate: Annotated[str | None, typer.Option(help="Which property of it.")] = None,
    scope: Annotated[str | None, typer.Option(help="Path; the agent's own by default.")] = None,
    kind: Annotated[str | None, typer.Option(help="Kind of content in the layer.")] = None,
    confidence: Share = None,
    importance: Share = None,
    evidence: Annotated[
        list[str] | None, typer.Option(help="URI of what it rests on; may be repeated.")
    ] = None,
    excerpt: Annotated[
        list[str] | None,
        typer.Option(help="What the evidence says, word for word; one for each --evidence."),
    ] = None,
    ttl_seconds: Annotated[float | None, typer.Option(help="Time to live.")] = None,
    deadline: Moment = None,
    valid_from: Moment = None,
    valid_to: Moment = None,
    idempotency_key: Annotated[str | None, typer.Option()] = None,
    request_id: Annotated[UUID | None, typer.Option(help="UUIDv7; made when absent.")] = None,
    trace_id: Annotated[str | None, typer.Option()] = None,
    classification: Annotated[
        str | None, typer.Option(help="public, internal, confidential or restricted")
    ] = None,
    domain: Annotated[list[str] | None, typer.Option(help="May be repeated.")] = None,
    embedder: WithModel = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Ask for one thing to be remembered.

    Exits with 0 when it is stored, 3 when rejected, 4 when deferred, 5 when the deadline passed.
    """
    given = sys.stdin.read() if content == "-" else content
    request = WriteRequest(
        layer=layer,
        content_text=json.dumps({"text": given}) if text else given,
        subject=subject,
        predicate=predicate,
        scope=scope,
        kind=kind,
        confidence=confidence,
        importance=importance,
        evidence=_evidence(evidence or [], excerpt or []),
        ttl=None if ttl_seconds is None else timedelta(seconds=ttl_seconds),
        deadline=deadline,
        valid_from=valid_from,
        valid_to=valid_to,
        idempotency_key=idempotency_key,
        request_id=request_id or new_request_id(),
        trace_id=trace_id,
        classification=classification,
        domains=domain,
    )
    with connected(dsn, embedder=model_of(embedder)) as memory:
        result = _decide(memory, request)
        if as_json:
            print_json(result)
        else:
            _show_decision(memory, result)
    raise typer.Exit(exit_code(result.outcome))


def _evidence(uris: list[str], excerpts: list[str]) -> list[dict[str, str]]:
    if excerpts and len(excerpts) != len(uris):
        raise typer.BadParameter("one --excerpt for each --evidence, in the same order")
    words: list[dict[str, str]] = [{"excerpt": each} for each in excerpts] or [{} for _ in uris]
    return [
        {"type": "human_input", "uri": uri} | said for uri, said in zip(uris, words, strict=True)
    ]


def _decide(memory: Client, request: WriteRequest) -> WriteResult:
    """Write the content exactly as it was typed.

    Text that is not JSON travels in a batch of one, where the server refuses and records it; a
    single write would raise.
    """
    try:
        parse(request.content_text or "")
    except NotCanonical:
        return memory.write_many([request])[0]
    return memory._decide(request)


def _show_decision(memory: Client, result: WriteResult) -> None:
    out = console()
    rows = table(out, "", "")
    rows.show_header = False
    style = "green" if result.stored else "yellow" if result.deferred else "red"
    rows.add_row("outcome", Text(printable(result.outcome), style=style))
    meanings = {each.reason: each for each in memory.reasons()} if result.reason else {}
    known = meanings.get(result.reason or "")
    lines: list[tuple[str, Any]] = [
        ("gate", result.gate),
        ("reason", result.reason),
        ("meaning", known.meaning if known else None),
        ("remedy", known.remedy if known else None),
        ("detail", result.detail or None),
        ("retry after", result.retry_after),
        ("item", result.item_id),
        ("version", result.version_id),
        ("request", result.request_id),
    ]
    for label, value in lines:
        if value is not None:
            rows.add_row(label, cell(value))
    out.print(rows)


def recall(
    query: Annotated[str, typer.Argument(help="What to look for, in plain words.")],
    *,
    k: Annotated[int, typer.Option("-k", "--k", help="How many answers.")] = 10,
    layer: Annotated[list[str] | None, typer.Option(help="May be repeated.")] = None,
    scope: Annotated[str | None, typer.Option(help="This scope and its ancestors.")] = None,
    subject: Annotated[str | None, typer.Option()] = None,
    predicate: Annotated[str | None, typer.Option()] = None,
    kind: Annotated[str | None, typer.Option()] = None,
    min_confidence: Share = None,
    valid_at: Moment = None,
    fusion: Annotated[str, typer.Option(help="weighted or rrf")] = "weighted",
    threshold: Annotated[
        float | None,
        typer.Option(help="Least relevance, 0 to 1; 0 for everything.", show_default=False),
    ] = None,
    embedder: WithModel = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Show what memory holds about something.

    The best answer comes first, with how relevant it is and where it comes from.
    """
    with connected(dsn, embedder=model_of(embedder)) as memory:
        items = memory.recall(
            query,
            k=k,
            layers=layer,
            scope=scope,
            subject=subject,
            predicate=predicate,
            kind=kind,
            min_confidence=min_confidence,
            valid_at=valid_at,
            fusion=fusion,
            threshold=threshold,
        )
    if as_json:
        print_json(items)
    elif items:
        show_recalled(console(), items)
    else:
        print("nothing found")


def context(
    query: Annotated[str, typer.Argument(help="What the model is about to do, in plain words.")],
    *,
    token_budget: Annotated[int, typer.Option("--tokens", help="Of the whole text.")] = 2000,
    layer: Annotated[list[str] | None, typer.Option(help="May be repeated.")] = None,
    scope: Annotated[str | None, typer.Option(help="This scope and its ancestors.")] = None,
    classification: Annotated[str | None, typer.Option(help="Nothing above it.")] = None,
    min_confidence: Share = None,
    include_instructions: Annotated[
        bool, typer.Option(help="Also what looks like an instruction to its reader.")
    ] = False,
    embedder: WithModel = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Print what a model should read about something: one line of JSON for each memory."""
    with connected(dsn, embedder=model_of(embedder)) as memory:
        compiled = memory.context(
            query,
            token_budget=token_budget,
            layers=layer,
            scope=scope,
            classification=classification,
            min_confidence=min_confidence,
            include_instructions=include_instructions,
        )
    if as_json:
        print_json(compiled.items)
    else:
        # Escaped where it could move the cursor: see render_context().
        print(compiled.text)


def show_recalled(out: Console, items: list[RecalledItem]) -> None:
    """Print answers as a table: relevance and cosine, layer, text, and where each comes from."""
    numbers = ("score", "cosine")
    rows = table(out, *numbers, "layer", "what is remembered", "provenance", right=numbers)
    for item in items:
        marks = [
            mark
            for mark, on in (
                ("low confidence", item.low_confidence),
                ("contradicted", item.contradicted and not item.contradicts),
                (
                    "contradicted by " + ", ".join(map(str, item.contradicts)),
                    bool(item.contradicts),
                ),
                ("stale", item.stale),
                (item.classification, item.classification != "internal"),
            )
            if on
        ]
        text = shortened(words(item.content, item.text), 160)
        rows.add_row(
            cell(item.score),
            cell(item.similarity),
            cell(item.layer),
            cell(text + (f" [{', '.join(marks)}]" if marks else "")),
            cell(_origin(item)),
        )
    out.print(rows)


def words(content: Any, text: str | None = None) -> str:
    """Return what a content says: its only value where that is text, otherwise `text` or JSON."""
    values = list(content.values()) if isinstance(content, dict) else [content]
    if len(values) == 1 and isinstance(values[0], str):
        return values[0]
    return text or json.dumps(content, ensure_ascii=False)


def said(content: Any, characters: int = 160) -> str | None:
    """Return what a content says on one line; None where there is none."""
    return None if content is None else shortened(words(content), characters)


def _origin(item: RecalledItem) -> str:
    agent = item.provenance.get("agent")
    version = item.provenance.get("version")
    evidence = [each.get("uri") for each in item.provenance.get("evidence") or ()]
    sources = ", ".join(str(uri) for uri in evidence if uri)
    times = [f"from {item.valid_from.astimezone(UTC):%Y-%m-%d}"] if item.valid_from else []
    times += [f"to {item.valid_to.astimezone(UTC):%Y-%m-%d}"] if item.valid_to else []
    return f"{sources or 'no evidence'} ({', '.join([str(agent), f'v{version}', *times])})"
