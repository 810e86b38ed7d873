#!/usr/bin/env python3
"""Show that the tests notice faults: apply each of tests/mutants/ to a scratch copy, run its tests.

usage: tools/run_mutants.py [--missing] [NAME...]

A mutant is a patch with one fault, and begins with a line that says what it is. The scratch copy
is a git worktree of HEAD; there run the tests that `make check` would run for the change, up to the
first that fails: the one that noticed the mutant before goes first. Then that test runs on the
unchanged copy, where it must pass: else it proves nothing, and the others are asked.

NAME is a mutant's file name, or the beginning of one; --missing leaves out those that the table of
tests/mutants/README.md has as noticed. The table gets each result as it comes and keeps the other
rows, so a run can be stopped and gone on with. The exit status is 1 when a fault stayed unnoticed,
a patch does not apply any more, or a test fails without a mutant.
"""

from __future__ import annotations

import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from run_checks import BY_FILE, ROOT, bring, listen, output, tests_of

MUTANTS = ROOT / "tests/mutants"
PAGE = MUTANTS / "README.md"
MARK = "<!-- results: tools/run_mutants.py -->\n"
ROW = re.compile(r"^\| `([\w-]+)` \| (.*?) \| (.*?) \| (\d+) \| ([\d-]+) \|$", re.MULTILINE)
# One that runs for longer hangs.
PATIENCE = 1800
NOT_NOTICED, NOT_APPLIED = "NOT NOTICED", "NOT APPLIED: the code has changed"
HANGS = "the run: it does not end"
NOT_BUILT, NOT_SET_UP = "the build or the server: it does not start", "CREATE EXTENSION or setup()"


class Result(NamedTuple):
    """What became of one mutant."""

    name: str
    fault: str
    noticed_by: str
    seconds: float
    day: str

    @property
    def is_noticed(self) -> bool:
        """Whether something failed that passes without the fault."""
        return not self.noticed_by.startswith("NOT ")

    @property
    def test(self) -> str:
        """The test that failed, or nothing."""
        return f"tests/{self.noticed_by}" if ".py" in self.noticed_by else ""


class Copy:
    """A scratch worktree of HEAD with a server of its own."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / folder.name  # git knows a worktree by its last name
        self.log = folder / "log"
        self.sound: list[str] = []
        self.broken: list[str] = []
        self.python = Path(output(ROOT / "tools/python-env")) / "bin/python"
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("MEMWARDEN_T")}
        self.environment.setdefault("MEMWARDEN_DATA", str(ROOT.parent / "shared/data"))

    def git(self, *command: str | Path) -> bool:
        """Run git in the copy; whether that went well."""
        return subprocess.run(["git", "-C", self.path, *command], check=False).returncode == 0

    def server(self, *command: str) -> None:
        """Run deploy/server of the copy."""
        subprocess.run(
            [self.path / "deploy/server", *command], stdout=subprocess.DEVNULL, check=False
        )

    def reset(self) -> None:
        """Make it what HEAD says, with no server: a mutant may leave anything in one."""
        self.git("reset", "--quiet", "--hard")
        self.git("clean", "--quiet", "-dff")
        self.server("drop", "test")

    def pytest(self, *arguments: str) -> str:
        """Run tests; what they say, or HANGS."""
        command: list[str | Path] = [
            self.python,
            "-m",
            "pytest",
            "-n2",
            *BY_FILE,
            "-q",
            *arguments,
        ]
        with self.log.open("w") as file:
            process = subprocess.Popen(
                command, cwd=self.path, env=self.environment, stdout=file, stderr=subprocess.STDOUT
            )
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                return HANGS
            finally:
                process.kill()
                process.wait()
        return self.log.read_text(errors="replace")


@contextmanager
def scratch() -> Iterator[Copy]:
    """Make the copy; in the end nothing of it is left."""
    with tempfile.TemporaryDirectory(prefix="memwarden-mutants-") as folder:
        copy = Copy(Path(folder))
        output("git", "-C", ROOT, "worktree", "prune")
        output("git", "-C", ROOT, "worktree", "add", "--quiet", "--detach", copy.path, "HEAD")
        try:
            yield copy
        finally:
            copy.server("clean")
            output("git", "-C", ROOT, "worktree", "remove", "--force", copy.path)


def failures(said: str) -> list[str]:
    """The tests that failed, without what tells their parameters apart."""
    found = re.findall(r"^(?:FAILED|ERROR) tests/([^\s\[]+)", said, re.MULTILINE)
    return list(dict.fromkeys(found))


def in_order(chosen: Sequence[str], patch: Path, copy: Path) -> list[str]:
    """What to run: first the files that speak most of a mutant's words."""
    changed = re.findall(r"^(?:\+\+\+ b/.*/|[-+])(.*)", patch.read_text(), re.MULTILINE)
    words = {word.removesuffix("s") for word in re.findall(r"[a-z]{4,}", f"{patch.stem} {changed}")}
    files = {
        str(path.relative_to(copy)): path.read_text()
        for each in chosen
        for path in ([copy / each] if each.endswith(".py") else (copy / each).rglob("test_*.py"))
    }
    scores = dict.fromkeys(files, 0.0)
    for word in words:
        speaking = [name for name, text in files.items() if word in text]
        for name in speaking:
            scores[name] += (3 if word in Path(name).name else 1) / len(speaking)
    return sorted(files, key=lambda name: -scores[name])


def first_failure(copy: Copy, patch: Path, known: str) -> str:
    """Run the tests of what changed in the copy, and say which failed first, or that none did."""
    changed = output("git", "-C", copy.path, "diff", "--name-only", "HEAD").splitlines()
    # The checkout may have tests that HEAD does not have yet.
    found = {path for path in tests_of(map(Path, changed)) if (copy.path / path).exists()}
    chosen = sorted(map(str, found))
    files = in_order(chosen, patch, copy.path)
    without = [f"--deselect={test}" for test in copy.broken]
    # What noticed it before is asked by itself: pytest runs a test and its file where the file is.
    alone = known.partition("::")[0] in files and known not in copy.broken
    said = ""
    for tests in [[known], files] if alone else [files]:
        said = copy.pytest("-x", *without, *tests)
        if said == HANGS:
            return HANGS
        if failed := failures(said):
            return NOT_SET_UP if "in install_memwarden" in said else failed[0]
    return NOT_NOTICED if re.search(r"^\d+ passed", said, re.MULTILINE) else NOT_BUILT


def is_sound(copy: Copy, noticed_by: str) -> bool:
    """Whether what noticed a mutant passes without; if not, it is asked no more in this run."""
    test = f"tests/{noticed_by}"
    if ".py" in noticed_by and test not in copy.sound:
        copy.reset()
        if failures(copy.pytest(test)):
            print(f"{test} fails without a mutant", flush=True)
            copy.broken.append(test)
            return False
        copy.sound.append(test)
    return True


def run(copy: Copy, patch: Path, known: str) -> Result:
    """Try one mutant."""
    started = time.monotonic()
    noticed_by = ""
    while not noticed_by or not is_sound(copy, noticed_by):
        copy.reset()
        noticed_by = NOT_APPLIED
        if copy.git("apply", "--recount", "-C1", patch):
            noticed_by = first_failure(copy, patch, known)
    return Result(patch.stem, fault_of(patch), noticed_by, time.monotonic() - started, today())


def fault_of(patch: Path) -> str:
    """The first line of a mutant."""
    return patch.read_text().partition("\n")[0]


def today() -> str:
    """The date, as the table has it."""
    return f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"


def recorded() -> dict[str, Result]:
    """The rows of the table."""
    return {
        name: Result(name, fault, noticed_by.strip("`"), float(seconds), day)
        for name, fault, noticed_by, seconds, day in ROW.findall(PAGE.read_text().split(MARK)[1])
    }


def record(new: Sequence[Result]) -> None:
    """Put results into the table; rows of mutants that are gone leave it."""
    patches = {patch.stem: patch for patch in MUTANTS.glob("*.patch")}
    rows = recorded() | {result.name: result for result in new}
    rows = {
        name: rows[name]._replace(fault=fault_of(patch))
        for name, patch in sorted(patches.items())
        if name in rows
    }
    noticed = sum(result.is_noticed for result in rows.values())
    untried = len(patches) - len(rows)
    rest = f", {untried} not tried yet" if untried else ""
    lines = [
        f"{noticed} of {len(patches)} are noticed{rest}.",
        "",
        "| mutant | fault | the first test that fails | seconds | tried |",
        "|---|---|---|---|---|",
        *(
            f"| `{r.name}` | {r.fault} | `{r.noticed_by}` | {r.seconds:.0f} | {r.day} |"
            for r in rows.values()
        ),
    ]
    page = PAGE.with_suffix(".new")
    page.write_text(PAGE.read_text().split(MARK)[0] + MARK + "\n" + "\n".join(lines) + "\n")
    page.replace(PAGE)


def wanted(names: Sequence[str], *, missing: bool) -> list[Path]:
    """The mutants that are asked for."""
    done = [r.name for r in recorded().values() if r.is_noticed and missing]
    patches = [p for p in sorted(MUTANTS.glob("*.patch")) if p.stem not in done]
    if names:
        begin = tuple(Path(name).stem for name in names)
        patches = [patch for patch in patches if patch.stem.startswith(begin)]
    if not patches:
        raise SystemExit("nothing to try")
    return patches


def main() -> None:
    """Try the mutants, all or those that are named."""
    if any(each.startswith("-") and each != "--missing" for each in sys.argv[1:]):
        raise SystemExit(__doc__)
    names = [each for each in sys.argv[1:] if each != "--missing"]
    patches = wanted(names, missing="--missing" in sys.argv)
    listen()
    bring("bwrap", "bubblewrap", "libseccomp2", "mount")
    results = []
    with scratch() as copy:
        for patch in patches:
            known = recorded().get(patch.stem)
            results.append(run(copy, patch, known.test if known else ""))
            record(results[-1:])
            print(
                f"{patch.stem}: {results[-1].noticed_by} ({results[-1].seconds:.0f} s)", flush=True
            )
            if not results[-1].is_noticed or not results[-1].test:
                shutil.copy(copy.log, Path(tempfile.gettempdir()) / f"mutant-{patch.stem}.log")
    sys.exit(not all(result.is_noticed for result in results) or bool(copy.broken))


if __name__ == "__main__":
    main()
