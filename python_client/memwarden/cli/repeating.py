"""What a command does again and again: `--every`."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from typing import Annotated

import typer

from memwarden.cli.terminal import printable
from memwarden.errors import MemwardenError
from memwarden.worker.service import stopping_on_signals

Every = Annotated[
    float | None,
    typer.Option(
        "--every",
        min=1,
        max=604_800,
        metavar="SECONDS",
        help="Run again so long after each run, until SIGTERM or Ctrl-C; a line a run on stderr.",
        show_default=False,
    ),
]


def repeat(seconds: float, run: Callable[[], str]) -> None:
    """Run until a signal comes; a run that is under way is ended first.

    `run` connects by itself and returns what it came to. An error of the server or the connection
    is a line on stderr, and the next run's to try again.
    """
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    log = logging.getLogger("memwarden.repeating")
    stop = threading.Event()
    with stopping_on_signals(stop):
        while not stop.is_set():
            try:
                log.info("%s", run())
            except MemwardenError as error:
                log.warning("%s %s", printable(str(error)), error.sqlstate or "")
            stop.wait(seconds)
