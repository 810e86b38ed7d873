#!/usr/bin/env python3
"""Show that the tests notice faults: apply each of tests/mutants/ to a scratch copy, run its tests.

usage: tools/run_mutants.py [NAME...]

A mutant is a patch with one fault, and begins with a line that says what it is. The scratch copy
is a git worktree of HEAD; there runs what `make check` would run for the change, up to the first
test that fails. tests/mutants/README.md gets the table of results. The exit status is 1 when a
fault stayed unnoticed or a patch does not apply any more.
"""

from __future__ import annotations

import datetime
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from run_checks import ROOT, output, tests_of

MUTANTS = ROOT / "tests/mutants"
PAGE = MUTANTS / "README.md"
MARK = "<!-- results: tools/run_mutants.py -->\n"


class Result(NamedTuple):
    """What became of one mutant."""

    name: str
    fault: str
    noticed_by: str
    seconds: float


def apply(patch: Path, copy: Path) -> bool:
    """Apply a patch to the scratch copy; the lines around it may have moved."""
    command = ["git", "-C", str(copy), "apply", "--recount", "-C1", str(patch)]
    return subprocess.run(command, check=False).returncode == 0


def first_failure(copy: Path, log: Path) -> str:
    """Run the tests of what changed in the copy; the first test that fails, or nothing."""
    changed = output("git", "-C", copy, "diff", "--name-only", "HEAD").splitlines()
    chosen = sorted({str(path) for path in tests_of(map(Path, changed))})
    if any(name.startswith("plpython/") for name in changed):
        chosen.insert(0, "tests/python")
    python = Path(output(ROOT / "tools/python-env")) / "bin/python"
    command: list[str | Path] = [python, "-m", "pytest", "-n2", "--dist=loadgroup", "-x", "-q"]
    command += chosen
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MEMWARDEN_TEST")}
    with log.open("w") as file:
        done = subprocess.run(
            command, cwd=copy, env=environment, stdout=file, stderr=subprocess.STDOUT, check=False
        )
    said = log.read_text()
    if found := re.search(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE):
        return found[1].removeprefix("tests/")
    if done.returncode == 0:
        return ""
    return "the build or the server: it does not start"


def run(patch: Path) -> Result:
    """Try one mutant."""
    fault = patch.read_text().splitlines()[0]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="memwarden-mutant-") as folder:
        copy = Path(folder) / "copy"
        output("git", "-C", ROOT, "worktree", "add", "--quiet", "--detach", copy, "HEAD")
        try:
            if not apply(patch, copy):
                return Result(patch.stem, fault, "NOT APPLIED: the code has changed", 0)
            noticed = first_failure(copy, Path(folder) / "log") or "NOT NOTICED"
        finally:
            subprocess.run([copy / "deploy/server", "clean"], check=False)
            output("git", "-C", ROOT, "worktree", "remove", "--force", copy)
    return Result(patch.stem, fault, noticed, time.monotonic() - started)


def table(results: list[Result]) -> str:
    """The results as Markdown."""
    noticed = sum("NOT " not in r.noticed_by for r in results)
    lines = [
        f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}: {noticed} of {len(results)} noticed.",
        "",
        "| mutant | fault | the first test that fails | seconds |",
        "|---|---|---|---|",
        *(f"| `{r.name}` | {r.fault} | `{r.noticed_by}` | {r.seconds:.0f} |" for r in results),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Try the mutants, all or those that are named."""
    chosen = sys.argv[1:]
    results = []
    for patch in sorted(MUTANTS.glob("*.patch")):
        if chosen and patch.stem not in chosen:
            continue
        results.append(run(patch))
        print(results[-1].name, results[-1].noticed_by, f"{results[-1].seconds:.0f} s", flush=True)
    if not chosen:
        PAGE.write_text(PAGE.read_text().split(MARK)[0] + MARK + "\n" + table(results))
    sys.exit(any("NOT " in result.noticed_by for result in results))


if __name__ == "__main__":
    main()
