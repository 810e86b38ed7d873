"""What a command does again and again: `--every`."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, TypeVar

import typer

from memwarden.cli.terminal import print_json_line, printable
from memwarden.errors import MemwardenError
from memwarden.worker.service import stopping_on_signals

T = TypeVar("T")

Every = Annotated[
    float | None,
    typer.Option(
        "--every",
        min=1,
        max=604_800,
        metavar="SECONDS",
        help="Run again so long after each run, until SIGTERM or Ctrl-C; a line a run on stderr,"
        " and with --json one on stdout.",
        show_default=False,
    ),
]


def repeat(
    seconds: float, run: Callable[[], list[T]], told: Callable[[list[T]], str], as_json: bool
) -> None:
    """Run until a signal comes; a run that is under way is ended first.

    `run` connects by itself and returns what it came to, which `told` puts into a few words. An
    error of the server or the connection is a line too, and the next run's to try again. With
    `as_json` each run is a JSON document on a line of stdout, with all that it came to.
    """
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    log = logging.getLogger("memwarden.repeating")
    stop = threading.Event()
    with stopping_on_signals(stop):
        while not stop.is_set():
            try:
                done = run()
                log.info("%s", told(done))
                line: dict[str, object] = {"at": _now(), "results": done}
            except MemwardenError as error:
                log.warning("%s %s", printable(str(error)), error.sqlstate or "")
                line = {"at": _now(), "error": str(error), "sqlstate": error.sqlstate}
            if as_json:
                print_json_line(line)
            stop.wait(seconds)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
