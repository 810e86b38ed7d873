"""Runs a command in a sandbox of its own, and says how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memwarden.worker.plugin import PluginError
from memwarden.worker.sandbox.system_calls import write_filter
from memwarden.worker.sandbox.walls import NOBODY, PROGRAMS, Bounds, limits, scratch, walls

MAX_OUTPUT = 64 * 1024
# Where the sandbox is not available, other workers may have it.
_MISSING = "bubblewrap (bwrap) is not installed on this worker"
_FORBIDDEN = "the sandbox could not be set up: are user namespaces permitted here?"


@dataclass(frozen=True, slots=True)
class Run:
    """How a run ended: `exit`, `timeout`, or `output` (too much of it).

    `status`: of the command, 128 and the signal where one ended it, -1 where it was stopped.
    `printed`: its standard output, the first 64 KiB.
    """

    ended: Literal["exit", "timeout", "output"]
    status: int
    printed: bytes
    seconds: float

    @property
    def output(self) -> str:
        """What it printed, as text."""
        return self.printed.decode(errors="replace")


def run(command: Sequence[str], files: Mapping[str, bytes], bounds: Bounds) -> Run:
    """Run a command that finds the files, by plain name, in its working directory.

    Raises:
        PluginError: there is no sandbox here.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise PluginError(_MISSING)
    for program in (*PROGRAMS, command[0]):
        if not os.access(program, os.X_OK):
            raise PluginError(f"{program} is not installed on this worker")
    with contextlib.ExitStack() as stack:
        told, rules = _memory(stack), _filter(stack)
        given = {name: _memory(stack, content) for name, content in files.items()}
        wall = [*scratch(), bwrap, "--json-status-fd", str(told), *walls(given, rules), "--"]
        began = time.monotonic()
        process = _start([*wall, *limits(bounds), *command], (told, rules, *given.values()))
        ended, printed = _watched(process, bounds.seconds)
        took = time.monotonic() - began
        os.lseek(told, 0, os.SEEK_SET)
        with open(told, "rb", closefd=False) as lines:
            statuses = [json.loads(line) for line in lines if line.strip()]
    status = next((each["exit-code"] for each in statuses if "exit-code" in each), None)
    if ended == "exit" and status is None:
        raise PluginError(_why_not(bwrap))
    return Run(ended, -1 if status is None else status, printed, took)


def _memory(stack: contextlib.ExitStack, content: bytes = b"") -> int:
    """Return a descriptor of a file that is on no disk, at its beginning."""
    descriptor = os.memfd_create("memwarden")
    stack.callback(os.close, descriptor)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _filter(stack: contextlib.ExitStack) -> int:
    descriptor = _memory(stack)
    write_filter(descriptor)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _start(
    command: Sequence[str], descriptors: Sequence[int], stderr: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    # As root, limits on the number of processes would not hold.
    as_root = os.geteuid() == 0
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            pass_fds=descriptors,
            env={},
            cwd="/",
            start_new_session=True,
            user=NOBODY if as_root else None,
            group=NOBODY if as_root else None,
            extra_groups=[] if as_root else None,
        )
    except OSError as error:
        raise PluginError(f"{_FORBIDDEN} {error.strerror}") from None


def _watched(
    process: subprocess.Popen[bytes], seconds: float
) -> tuple[Literal["exit", "timeout", "output"], bytes]:
    """Wait for the end, the time, or more output than is read, whichever comes first."""
    assert process.stdout is not None
    ended: Literal["exit", "timeout", "output"] = "exit"

    def kill() -> None:
        nonlocal ended
        ended = "timeout"
        process.kill()

    # Its death takes all that runs inside along.
    timer = threading.Timer(seconds, kill)
    timer.start()
    try:
        raw = process.stdout.read(MAX_OUTPUT + 1)
        if len(raw) > MAX_OUTPUT:
            ended = "output"
            process.kill()
        process.wait()
    finally:
        timer.cancel()
        process.stdout.close()
        process.kill()
        process.wait()
    return ended, raw[:MAX_OUTPUT]


def _why_not(bwrap: str) -> str:
    """Set up a sandbox for nothing at all, and return what is said of it."""
    with contextlib.ExitStack() as stack:
        rules = _filter(stack)
        command = [*scratch(), bwrap, *walls({}, rules), "--", "/usr/bin/true"]
        _, said = _start(command, (rules,), stderr=subprocess.PIPE).communicate()
    lines = said.decode(errors="replace").splitlines()
    return f"{_FORBIDDEN} {lines[0][:300]}" if lines else _FORBIDDEN
