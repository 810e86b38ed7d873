"""Sends the demo's requests through the gates and keeps what each of them was told."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import psycopg
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from memwarden._sync.client import Client
from memwarden.cli.terminal import is_plain
from memwarden.demo.conversation import Conversation
from memwarden.demo.writes import aside, captures_of, scope_of
from memwarden.requests import WriteRequest
from memwarden.results import WriteResult

_BATCH = 100  # small enough for the bar to move; the default of 1,000 is a little faster


@dataclass(frozen=True, slots=True)
class Decision:
    """A request with its result; `wrong` says what is wrong with it, where that was the point."""

    request: WriteRequest
    result: WriteResult
    wrong: str | None = None


def hear(
    application: Client, conversations: Sequence[Conversation], asides: Iterable[str]
) -> list[dict[str, UUID]]:
    """Have the application capture what people say; the captures of each conversation's turns.

    The asides are said in the scope of the first conversation.
    """
    heard = []
    for conversation in conversations:
        captures = application.capture_many(captures_of(conversation))
        said = zip(conversation.turns, captures, strict=True)
        heard.append({turn.dia_id: made.capture_id for turn, made in said if made.capture_id})
    scope = scope_of(conversations[0])
    application.capture_many(aside(text, scope) for text in asides)
    return heard


def push(
    memory: Client, requests: Sequence[WriteRequest], out: Console
) -> tuple[list[Decision], timedelta]:
    """Write all requests under a progress bar; return the decisions in order and the time taken."""
    started = time.monotonic()
    with _progress(out, len(requests)) as advance:
        results = memory.write_many(
            requests, batch_size=_BATCH, progress=lambda batch: advance(len(batch))
        )
    taken = timedelta(seconds=time.monotonic() - started)
    decisions = [
        Decision(request, result) for request, result in zip(requests, results, strict=True)
    ]
    return decisions, taken


def push_bad(memory: Client, requests: Iterable[tuple[str, WriteRequest]]) -> list[Decision]:
    """Write what must not get in, all in one batch."""
    wrongs, bad = zip(*requests, strict=True)
    results = memory.write_many(bad)
    return [
        Decision(request, result, wrong)
        for wrong, request, result in zip(wrongs, bad, results, strict=True)
    ]


def push_again(memory: Client, request: WriteRequest) -> Decision:
    """Write what was written before."""
    return Decision(request, memory.write_many([request])[0], "been made before")


def push_into_busy_scope(agent_dsn: str, scope: str) -> Decision:
    """Write into a scope while another transaction is writing there, and wait only briefly."""
    content = {"statement": "This writer came second."}
    with (
        psycopg.connect(agent_dsn, prepare_threshold=None) as holding,
        psycopg.connect(agent_dsn, autocommit=True, options="-c lock_timeout=100ms") as waiting,
    ):
        Client(holding).write("semantic", {"statement": "This writer came first."}, scope=scope)
        result = Client(waiting).write("semantic", content, scope=scope)
        holding.rollback()
    request = WriteRequest(layer="semantic", content=content, scope=scope)
    return Decision(request, result, "a scope that another transaction is writing")


class _Advance:
    """Counts on, on a bar where the terminal has one and otherwise in a few lines."""

    def __init__(self, out: Console, total: int, bar: Progress | None) -> None:
        self._out = out
        self._total = total
        self._done = 0
        self._bar = bar
        self._task = bar.add_task("writing", total=total) if bar else None

    def __call__(self, count: int) -> None:
        before, self._done = self._done, self._done + count
        if self._bar is not None and self._task is not None:
            self._bar.advance(self._task, count)
        elif before * 4 // self._total != self._done * 4 // self._total:
            self._out.print(f"writing: {self._done} of {self._total}")


@contextmanager
def _progress(out: Console, total: int) -> Iterator[_Advance]:
    if is_plain(out):
        yield _Advance(out, total, None)
        return
    columns = (TextColumn("writing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out) as bar:
        yield _Advance(out, total, bar)
