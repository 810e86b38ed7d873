"""`memwarden watch`: whether memory does harm after a deployment."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, NoReturn

import typer
from rich.live import Live
from rich.table import Table
from rich.text import Text

from memwarden._sync.client import Client
from memwarden._sync.session import Session
from memwarden.cli.options import AsJson, Dsn, ExitCode, Moment, told_errors
from memwarden.cli.terminal import cell, console, is_plain, local, print_json_line, printable, table
from memwarden.errors import ConnectionFailed, NotReady
from memwarden.results import ErrorsSince, Metric

_LOOKS_SHOWN = 15
# The server's clock: what happened since a moment is counted by it.
_NOW = "SELECT clock_timestamp() AS at"


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at an organisation found. None is unknown, and never counts as good."""

    at: datetime
    errors: ErrorsSince
    refused: float | None
    slowest_ms: float | None


def watch(
    *,
    minutes: Annotated[float, typer.Option(help="How long to watch.", min=0)] = 60,
    every: Annotated[float, typer.Option(help="Seconds between two looks.", min=0.1)] = 30,
    since: Moment = None,
    org: Annotated[
        str | None, typer.Option(help="Only this organisation.", show_default=False)
    ] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Watch memory after a deployment: say ROLL BACK and exit with 1 when its errors double.

    Says NOT KNOWN and exits with 7 where fewer than five tasks were reported: these tell nothing.

    An error is a failed task with a memory at fault, as `report_outcome` says. The rate since the
    deployment (--since, or now) is compared with that of the thirty days before. One error is no
    spike: five are needed, and a rate that is more than twice the one before with 95 % confidence.
    An organisation of which nothing is known is named, and stops no other. The share of refused
    writes and the slowest gate are shown beside it, and decide nothing. Exits with 2 when it could
    not look. With --json each look is a line, and the verdict the last.
    """
    with told_errors(ExitCode.UNABLE):
        deployed = since or _now(dsn)
        before = {look.errors.org: look for look in _look(dsn, deployed, org)}
    if not before:
        print("there is no organisation that this login may see", file=sys.stderr)
        raise typer.Exit(ExitCode.UNABLE)
    end = time.monotonic() + minutes * 60
    screen: _Screen | _Lines = _Lines() if as_json else _Screen(before)
    with screen.shown(), told_errors(ExitCode.UNABLE):
        while True:
            found: list[Look] | None
            try:
                # A connection for each look: a deployment may restart the server.
                found = _look(dsn, deployed, org)
            except (ConnectionFailed, NotReady) as error:
                found = None
                screen.say(f"cannot look: {printable(str(error))}")
            else:
                screen.add(found)
            bad = [look.errors.org for look in found or [] if look.errors.roll_back]
            left = end - time.monotonic()
            if bad or left <= 0:
                break
            time.sleep(min(every, left))
    (_conclude_in_json if as_json else _conclude)(found)


def _verdict(found: list[Look] | None) -> tuple[str, ExitCode]:
    if found is None:
        return "UNKNOWN", ExitCode.UNABLE
    answers = {look.errors.roll_back for look in found}
    if True in answers:
        return "ROLL BACK", ExitCode.FAILED
    return ("KEEP", ExitCode.OK) if False in answers else ("NOT KNOWN", ExitCode.UNKNOWN)


def _conclude_in_json(found: list[Look] | None) -> NoReturn:
    seen = [look.errors for look in found or []]
    verdict, code = _verdict(found)
    said = {
        "verdict": verdict,
        "organisations": [each.org for each in seen if each.roll_back],
        "not_known": [each.org for each in seen if each.roll_back is None],
        "tasks": None if found is None else sum(each.tasks for each in seen),
    }
    print_json_line(said)
    raise typer.Exit(code)


def _conclude(found: list[Look] | None) -> NoReturn:
    seen = [look.errors for look in found or []]
    verdict, code = _verdict(found)
    reported = sum(each.tasks for each in seen)
    print(
        {
            "UNKNOWN": "unknown: the last look failed",
            "ROLL BACK": "ROLL BACK: "
            + ", ".join(printable(each.org) for each in seen if each.roll_back),
            "KEEP": f"keep: errors have not doubled in {reported} reported tasks",
            "NOT KNOWN": f"NOT KNOWN: {reported} tasks were reported, which tell nothing",
        }[verdict]
    )
    unknown = [printable(each.org) for each in seen if each.roll_back is None]
    if unknown and verdict != "NOT KNOWN":
        print(f"not known, with fewer than five reported tasks: {', '.join(unknown)}")
    raise typer.Exit(code)


def _now(dsn: str) -> datetime:
    session = Session(dsn)
    try:
        at: datetime = session.fetch(_NOW, {}, dict[str, Any])[0]["at"]
        return at
    finally:
        session.close()


def _look(dsn: str, deployed: datetime, org: str | None) -> list[Look]:
    with Client.connect(dsn) as memory:
        errors = memory.errors_since(deployed, org)
        figures = memory.metrics(org)
    return [_seen(each, [m for m in figures if m.org == each.org]) for each in errors]


def _seen(errors: ErrorsSince, figures: Iterable[Metric]) -> Look:
    """Return a look: errors of the window, and the latest of what the job measures."""
    accepted: float | None = None
    times: list[float] = []
    for each in figures:
        if each.value is None:
            continue
        if (each.metric, each.part) == ("write_acceptance", "*"):
            accepted = each.value
        elif each.metric == "gate_latency_p95":
            times.append(each.value)
    return Look(
        at=datetime.now().astimezone(),
        errors=errors,
        refused=None if accepted is None else 1 - accepted,
        slowest_ms=max(times, default=None),
    )


class _Lines:
    """Each look as a JSON document on a line of its own."""

    def shown(self) -> AbstractContextManager[object]:
        """Return what keeps nothing in place."""
        return nullcontext()

    def say(self, text: str) -> None:
        """Print why there was no look."""
        print_json_line({"at": datetime.now().astimezone(), "error": text})

    def add(self, looks: list[Look]) -> None:
        """Print a look at every organisation."""
        for look in looks:
            print_json_line(look)


class _Screen:
    """A table that grows while it is watched; where there is no terminal, a line for each look."""

    def __init__(self, before: dict[str, Look]) -> None:
        self._before = before
        self._looks: deque[Look] = deque(maxlen=_LOOKS_SHOWN * len(before))
        self._out = console()
        self._live = None if is_plain(self._out) else Live(console=self._out, auto_refresh=False)

    def shown(self) -> AbstractContextManager[object]:
        """Return what keeps the table in place while it is entered."""
        return nullcontext() if self._live is None else self._live

    def say(self, text: str) -> None:
        """Print a line above the table."""
        self._out.print(Text(f"{datetime.now():%H:%M:%S}  {text}"))

    def add(self, looks: list[Look]) -> None:
        """Show another look at every organisation."""
        self._looks.extend(looks)
        if self._live is not None:
            self._live.update(self._table(), refresh=True)
            return
        for look in looks:
            e, start = look.errors, self._start(look)
            print(
                f"{look.at:%H:%M:%S}  {printable(e.org)}"
                f"  errors {e.induced} of {e.tasks} tasks ({_share(e.rate)},"
                f" before {_share(e.rate_before)} of {e.tasks_before})"
                f"  refused {_share(look.refused)} (before {_share(start.refused)})"
                f"  slowest gate {_ms(look.slowest_ms)} (before {_ms(start.slowest_ms)})",
                flush=True,
            )

    def _start(self, look: Look) -> Look:
        return self._before.get(look.errors.org, look)

    def _table(self) -> Table:
        rows = table(
            self._out,
            *("at", "organisation", "tasks", "errors", "rate", "before"),
            *("refused", "before", "slowest gate", "before"),
            right=("tasks", "errors", "rate", "before", "refused", "slowest gate"),
        )
        for look in self._looks:
            e, start = look.errors, self._start(look)
            rows.add_row(
                cell(f"{local(look.at):%H:%M:%S}"),
                *map(cell, (e.org, e.tasks, e.induced)),
                Text(_share(e.rate), style="red" if e.roll_back else ""),
                cell(_share(e.rate_before)),
                *map(cell, (_share(look.refused), _share(start.refused))),
                *map(cell, (_ms(look.slowest_ms), _ms(start.slowest_ms))),
            )
        return rows


def _share(rate: float | None) -> str:
    return "unknown" if rate is None else f"{rate:.2%}"


def _ms(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g} ms"
