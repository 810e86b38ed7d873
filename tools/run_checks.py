#!/usr/bin/env python3
"""Every check, as `make test` runs them: reading the code, then the tests on each PostgreSQL.

usage: tools/run_checks.py [lint] [17] [18]
       tools/run_checks.py check [BASE]

The tests run whole on 17. On 18 runs the part that tests/part.py chooses, and the run fails when a
public function, a job or a gate was never executed there. `check` is the loop while working: it
reads the code and runs the tests without a server and those of the folders that differ from BASE
(HEAD by default).

Needs Python's own library only; tools/python-env brings the rest. All steps run, whatever came of
those before; the exit status is 0 when none failed. However the tests end, no server of this
checkout runs afterwards.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SERVER = ROOT / "deploy/server"
PACKAGES = [ROOT / folder for folder in ("plpython", "python_client")]
MODULES = [*PACKAGES, *(ROOT / folder for folder in ("tests", "tests/packaging", "bench", "tools"))]
CHECKED = ["plpython/memwarden_core", "python_client", "tests", "tools", "bench"]
# What needs no PostgreSQL, or brings its own, runs once.
ONCE = [Path("tests/python"), *sorted((ROOT / "tests/packaging").glob("test_server_*.py"))]
# The tests of a file share databases and servers, so one worker runs them all. Files keep their
# order: the last in the alphabet have many short tests.
BY_FILE = ["--dist=loadfile", "--no-loadscope-reorder"]
# The tests on a server for the Python that runs in it, by module.
SERVED = {
    "canonical": ["tests/foundation"],
    "evidence": ["tests/write/evidence", "tests/security/test_own_words.py"],
    "extraction": ["tests/intake/capture"],
    "integrity": ["tests/write/judgement"],
    "merging": ["tests/write/judgement/test_merge_policy.py"],
    "merkle": ["tests/history/sealing"],
    "policy": ["tests/identity"],
    "screening": ["tests/write/sensitivity"],
    "sensitive": ["tests/write/sensitivity"],
    "signing": ["tests/write/provenance"],
    "support": ["tests/write/evidence"],
    "verdict": ["tests/write/judgement"],
}
LONGEST_LINE = 140
NO_POSTGRESQL_18 = 75


def main() -> None:
    """Run the steps that are named, tell how each ended."""
    steps = sys.argv[1:] or ["lint", "17", "18"]
    base = steps.pop() if steps[0] == "check" and len(steps) == 2 else "HEAD"
    if not set(steps) <= {"lint", "17", "18"} and steps != ["check"]:
        raise SystemExit(__doc__)
    listen()
    os.chdir(ROOT)
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        os.environ.pop(name, None)  # the tests call make too, and not as a part of this one
    # What is compiled once serves every worker, both versions, and the commands that tests start.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    results: list[tuple[str, str, float]] = []
    try:
        environment = Path(output(ROOT / "tools/python-env"))
        tools = environment / "bin"
        os.environ["PATH"] = f"{tools}:{os.environ['PATH']}"
        bring("bwrap", "bubblewrap", "libseccomp2", "mount")  # the worker runs code in it
        bring("chromium", "chromium", "fonts-dejavu-core")  # the console is looked at with it
        bring("promtool", "prometheus")
        bring("createdb", "postgresql-client")  # the first page is walked with it
        bring("prometheus-sql-exporter", "prometheus-sql-exporter")
        for step in steps:
            started = time.monotonic()
            if step == "lint":
                result = lint(tools, compiles="17" in steps)
            elif step == "check":
                result = check(tools, base)
            else:
                result = run_tests(step, tools, part=step == "18")
            results.append((step, result, time.monotonic() - started))
    except KeyboardInterrupt:
        results.append(("interrupted", "FAILED", 0))
    print()
    for step, result, seconds in results:
        name = f"PostgreSQL {step}" if step.isdigit() else step
        print(f"{name:14} {result:8} {seconds:4.0f} s", flush=True)
    sys.exit(any(result == "FAILED" for _, result, _ in results))


def bring(program: str, *packages: str) -> None:
    """Install what some tests need; without it they are skipped, and say so."""
    if shutil.which(program) or not shutil.which("apt-get") or os.geteuid() != 0:
        return
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    for command in (["apt-get", "update"], install):
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)


def output(*command: str | Path) -> str:
    """Run a command and return what it prints."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)
    return done.stdout.strip()


def run(*command: str | Path, **variables: str) -> int:
    """Run a command in the checkout; an interrupted one gets the time to tidy up."""
    process = subprocess.Popen(command, env=os.environ | variables)
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
        raise


def lint(tools: Path, *, compiles: bool = False) -> str:
    """Read the code with every linter, two at a time; compile the tests that come next as well."""
    script = output("make", "--silent", "build", "script")
    print("ruff, mypy, unasyncd, pgspot, shellcheck", flush=True)
    # What mypy knows of libraries, and of files that are as they were, outlives a checkout.
    known = f"--cache-dir={tools.parent}/mypy"
    commands: list[list[str | Path]] = [
        [tools / "mypy", "--no-error-summary", "--explicit-package-bases", known, *CHECKED],
        [tools / "ruff", "check", "--quiet", "--output-format=concise", "."],
        [tools / "ruff", "format", "--quiet", "--check", "."],
        [tools / "python", "python_client/generate_sync.py", "--check"],
        [tools / "python", "tools/run_pgspot.py", script],
        [tools / "shellcheck", "--external-sources", *shell_scripts()],
    ]
    if compiles:
        # Beside mypy, which takes as long. Each worker would do it, and at the same time.
        commands.insert(1, [tools / "python", "-m", "pytest", "--collect-only", "--quiet"])
    no_server = "host=/nonexistent port=5432 user=postgres"  # so that pytest starts none
    variables = os.environ | {
        "MYPYPATH": os.pathsep.join(map(str, MODULES)),
        "MEMWARDEN_TEST_DSN": no_server,
    }

    def read(command: list[str | Path]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            env=variables,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )

    with ThreadPoolExecutor(2) as readers:
        failed = [done for done in readers.map(read, commands) if done.returncode]
    for done in failed:
        print(done.stdout, "FAILED:", *done.args[:4], flush=True)
    return "FAILED" if failed or long_lines() else "ok"


def long_lines() -> int:
    """Count the lines of SQL that do not fit on a screen, and name them."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: longer than {LONGEST_LINE} characters"
        for path in sorted(ROOT.glob("sql/**/*.sql")) + sorted(ROOT.glob("migrations/*.sql"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > LONGEST_LINE
    ]
    print(*found, sep="\n", end="\n" if found else "", flush=True)
    return len(found)


def check(tools: Path, base: str) -> str:
    """Read the code; run the tests that need no server and those of what changed, on one."""
    changed = output("git", "diff", "--name-only", base).splitlines()
    changed += output("git", "ls-files", "--others", "--exclude-standard").splitlines()
    chosen = sorted({Path("tests/python"), *tests_of(map(Path, changed))})
    print("tests:", *chosen, flush=True)
    results = [lint(tools), run_tests(os.environ.get("PG", "17"), tools, only=chosen)]
    return "FAILED" if "FAILED" in results else "ok"


def tests_of(changed: Iterable[Path]) -> Iterator[Path]:
    """The tests of changed files: tests/ mirrors sql/, without the numbers."""
    for path in changed:
        match path.parts:
            case ("sql", *folders, name):
                names = [folder.split("_", 1)[1] for folder in folders]
                mirrored = (Path("tests", *names[:n]) for n in range(len(names), 0, -1))
                yield from [folder for folder in mirrored if (ROOT / folder).is_dir()][:1]
                yield Path("tests/catalog")
                if name.count(".") == 1:
                    yield from called_alike(name.removesuffix(".sql"))
                if folders[0] == "1_identity" or name.endswith(".bound.sql"):
                    yield Path("tests/security")
                if name.endswith(".table.sql"):
                    yield Path("tests/packaging/test_build.py")
            case ("plpython", _, module, *_):
                yield Path("tests/python")
                yield from map(Path, SERVED.get(module.removesuffix(".py"), ()))
            case ("tests", "python" | "packaging", *_) if not (ROOT / path).exists():
                pass
            case ("tests", *_, name) if name.startswith("test_") and (ROOT / path).exists():
                yield path
            case ("tests", _, *_, _) if (ROOT / path.parent).is_dir():
                yield path.parent
            case ("python_client", _, "worker", *_):
                yield Path("tests/write/worker")
            case ("python_client", _, "console", *_):
                yield Path("tests/console")
            case ("python_client", *_):
                yield Path("tests/client")
            case ("docs", *_) | (_,) if path.suffix in {".md", ".yml"}:
                yield Path("tests/docs/test_pages.py")
            case ("packaging", *_) | ("META.json",):
                yield Path("tests/packaging/test_distribution.py")
            case ("migrations", *_):
                for each in ("build", "releases", "update", "update_of_releases"):
                    yield Path(f"tests/packaging/test_{each}.py")
            case ("deploy", *_):
                yield Path("tests/packaging/test_update.py")


def called_alike(name: str) -> Iterator[Path]:
    """The tests elsewhere whose file has every word of a name; of a gate also such a folder."""
    words = [word.removesuffix("s") for word in name.split("_") if word.isalpha()]
    is_gate = words[-1] == "gate"
    words = [word for word in words if word != "gate"]
    if "lock" in words:
        yield Path("tests/concurrency")
    tests = ROOT / "tests"
    places = [*tests.rglob("test_*.py"), *(tests.glob("*/*/") if is_gate else ())]
    for place in sorted(places):
        called = place.stem.split("_")
        if words and all(any(part.startswith(word) for part in called) for word in words):
            yield place.relative_to(ROOT)


def shell_scripts() -> list[Path]:
    """Every file of the checkout that begins with a shell's name."""
    folders = [ROOT / ".ci", ROOT / "deploy", ROOT / "deploy/lib", ROOT / "tools"]
    files = [path for folder in folders for path in sorted(folder.iterdir()) if path.is_file()]
    shells = (b"#!/bin/sh\n", b"#!/bin/bash\n")
    found = [path for path in files if path.read_bytes().startswith(shells)]
    return [path.relative_to(ROOT) for path in found]


def run_tests(
    postgresql: str, tools: Path, *, part: bool = False, only: Sequence[Path] = ()
) -> str:
    """Run the tests on one PostgreSQL: all, the part for a second version, or some folders."""
    os.environ["PG"] = postgresql
    status = subprocess.run([SERVER, "root"], stdout=subprocess.DEVNULL, check=False).returncode
    if status == NO_POSTGRESQL_18 and postgresql == "18":
        print(
            "\n*** NOTHING WAS TESTED ON POSTGRESQL 18: Debian testing gives none today", flush=True
        )
        return "NOT RUN"
    if status:
        return "FAILED"
    # A run that was killed may have left its databases behind.
    subprocess.run([SERVER, "drop", "test"], check=True)
    skipped = [f"--ignore={path}" for path in ONCE] if part else []
    with leaving_nothing() as folder:
        # Three on two cores: some tests wait for a lock, a clock or a job.
        options = ["-n3", *BY_FILE, f"--basetemp={folder / 'pytest'}", *skipped]
        variables = {"MEMWARDEN_TEST_PART": "1"} if part else {}
        failed = run(tools / "python", "-m", "pytest", *options, *only, **variables)
    return "FAILED" if failed else "ok"


@contextmanager
def leaving_nothing() -> Iterator[Path]:
    """Give the tests a folder; stop this checkout's servers and those of checkouts in there."""
    folder = Path(tempfile.mkdtemp(prefix="memwarden-tests-"))
    try:
        yield folder
    finally:
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, signal.SIG_IGN)
        for server in folder.rglob("deploy/server"):
            subprocess.run(["bash", server, "clean"], check=False)
        subprocess.run([SERVER, "down", "--all"], check=False)
        shutil.rmtree(folder, ignore_errors=True)
        listen()


def listen() -> None:
    """Let SIGTERM end a run as Ctrl-C does."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)


if __name__ == "__main__":
    main()
