"""Medians of two ways to do the same, taken in turns so that noise meets both."""

from __future__ import annotations

import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from psycopg import Connection


@dataclass(frozen=True)
class Ratio:
    """One line of the report: ours beside theirs, in milliseconds, and the budget."""

    name: str
    ours: float
    theirs: float
    budget: float

    @property
    def value(self) -> float:
        """Ours divided by theirs."""
        return self.ours / self.theirs

    def row(self) -> str:
        """The line as Markdown."""
        kept = "yes" if self.value <= self.budget else "**no**"
        return (
            f"| {self.name} | {self.ours:.2f} | {self.theirs:.2f} "
            f"| {self.value:.2f} | {self.budget:g} | {kept} |"
        )


def milliseconds(call: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def compare(
    name: str,
    budget: float,
    ours: Callable[[int], object],
    theirs: Callable[[int], object],
    rounds: int,
    warmup: int = 20,
    servers: tuple[Connection[Any], Connection[Any]] | None = None,
) -> Ratio:
    """Median of ours and theirs over interleaved rounds; each call gets the round's number.

    Of ``servers``, whose processes do the work of either, the processor time counts.
    """
    for number in range(warmup):
        ours(-1 - number)
        theirs(-1 - number)
    mine: list[float] = []
    other: list[float] = []
    for number in range(rounds):
        for index, (taken, call) in enumerate(((mine, ours), (other, theirs))):
            once = partial(call, number)
            taken.append(
                milliseconds(once) if servers is None else cpu_milliseconds(servers[index], once)
            )
    return Ratio(name, statistics.median(mine), statistics.median(other), budget)


def machine() -> str:
    """Processor and cores, for the report."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    cores = subprocess.run(["nproc"], capture_output=True, text=True, check=True).stdout.strip()
    return f"{model}, {cores} cores"


def cpu_milliseconds(connection: Connection[Any], call: Callable[[], object]) -> float:
    """How long one call keeps its server process busy, where that runs on this machine.

    What other work does meanwhile is not in it, as it is in the time that passes.
    """
    schedule = Path(f"/proc/{connection.info.backend_pid}/schedstat")
    if not schedule.exists():
        return milliseconds(call)
    before = int(schedule.read_text().split()[0])
    call()
    return (int(schedule.read_text().split()[0]) - before) / 1e6
