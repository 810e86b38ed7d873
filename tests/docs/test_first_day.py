"""A newcomer's first day: a fresh clone, and the lines of README as a shell would run them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from conftest import World
from docs.test_examples import README, Stage, blocks, matches

ROOT = README.parent
QUICKSTART = ROOT / "docs/quickstart.md"
MAIN = "import sys; from memwarden.cli import main; sys.argv[0] = 'memwarden'; main()"
CONCEPTS = 5
STEPS = 3


class Shell:
    """A shell in a clone, which keeps what each text of commands exports."""

    def __init__(self, folder: Path) -> None:
        self.clone = folder / "clone"
        listed = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others"]
        names = subprocess.check_output([*listed, "--exclude-standard"], text=True)
        for name in filter(None, names.split("\0")):
            if (ROOT / name).is_file():
                (self.clone / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, self.clone / name)
        # The package is not installed: others try its wheel. What is asked for is there.
        commands = folder / "bin"
        commands.mkdir()
        where = f"PYTHONPATH={self.clone}/python_client:{self.clone}/plpython"
        for name, text in (
            ("pip", 'shift; for each; do [ -f "${each%%\\[*}/pyproject.toml" ] || exit 1; done'),
            ("memwarden", f'{where} exec {sys.executable} -c "{MAIN}" "$@"'),
            ("python", f'{where} exec {sys.executable} "$@"'),
        ):
            (commands / name).write_text(f"#!/bin/sh\n{text}\n")
            (commands / name).chmod(0o755)
        self.exported = {n: v for n, v in os.environ.items() if not re.match("PG.|PYTHONPATH", n)}
        self.exported |= {"PATH": f"{commands}:{self.exported['PATH']}", "TERM": "dumb"}
        self._kept = folder / "exported"

    def run(self, text: str) -> str:
        """Run what somebody types, and return what it prints."""
        done = subprocess.run(
            ["bash", "-ec", f"{text}\nenv -0 > {shlex.quote(str(self._kept))}"],
            cwd=self.clone,
            env=self.exported,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
        pairs = filter(None, self._kept.read_text().split("\0"))
        self.exported = dict(pair.split("=", 1) for pair in pairs)
        return done.stdout

    @property
    def dsn(self) -> str:
        """How programs of this shell connect."""
        names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "dbname": "PGDATABASE"}
        return make_conninfo("", **{n: self.exported[variable] for n, variable in names.items()})


class Typed(Stage):
    """A database in which roles have the very names of the page."""

    def rename(self, text: str) -> str:
        """Return what stands there."""
        self.renamed |= {
            role: role for role in re.findall(r"^CREATE ROLE (\w+)", text, re.MULTILINE)
        }
        return text


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """A shell in a fresh clone; its server is gone afterwards."""
    made = Shell(tmp_path)
    try:
        yield made
    finally:
        subprocess.run([made.clone / "deploy/server", "clean"], check=True)


def shell_lines(page: Path) -> list[str]:
    """The first commands of a page for a shell, line by line."""
    found = re.search(
        r"^```sh\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert found is not None
    return found[1].splitlines()


def test_the_readme_leads_from_a_fresh_clone_to_governed_memory(shell: Shell) -> None:
    """Two lines, what `init` says to try, Python; SQL and another database before it, not after.

    Proves: Z12
    """
    server, store = shell_lines(README)
    shell.run(server)
    shell.run("createdb app")
    with psycopg.connect(shell.dsn) as admin, closing(World(admin)) as world:
        Typed(world).play(README, "sql")
    said = shell.run(store)
    # All is well there: nothing is left to do.
    assert "to do" not in said
    tried = [line for line in said.splitlines() if line.startswith("  memwarden ")]
    assert len(tried) == 3
    told = [shell.run(line) for line in tried]
    assert "COMMITTED" in told[1]
    assert "Lisbon" in told[2]
    [text] = [text for language, text in blocks(README) if language == "python"]
    printed = shell.run(f"python - <<'end'\n{text}\nend").splitlines()
    expected = re.findall(r"# => (.*)$", text, re.MULTILINE)
    assert len(printed) == len(expected)
    assert all(map(matches, expected, printed)), printed
    shell.run("memwarden review list --dsn user=reviewer")


def concepts(page: Path) -> set[str]:
    """The words of the glossary that a page uses until the first recall, code included."""
    glossary = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    before, called, _ = page.read_text(encoding="utf-8").partition("recall(")
    assert called
    text = re.sub(r"\]\([^)]*\)", "]", before + called).lower().replace("_", " ")
    words = [word.lower() for word in re.findall(r"^## (.+)$", glossary, re.MULTILINE)]
    forms = {word: {word, f"{word}s", f"{word}es", re.sub("y$", "ies", word)} for word in words}
    return {w for w in words if re.search(rf"\b({'|'.join(map(re.escape, forms[w]))})\b", text)}


def test_a_first_page_needs_few_words_and_few_steps() -> None:
    """As many as the table beside mem0 and LangGraph says. Proves: Z12."""
    text = (ROOT / "docs/integrate.md").read_text(encoding="utf-8")
    [(steps, number, listed)] = re.findall(
        r"^\| memwarden, \[quickstart\][^|]*\| (\d): [^|]*\| (\d): ([^|]*) \|$", text, re.M
    )
    used = concepts(QUICKSTART)
    assert (len(used), used) == (int(number), set(listed.split(", ")))
    assert max(len(used), len(concepts(README))) <= CONCEPTS
    before = QUICKSTART.read_text(encoding="utf-8").partition("recall(")[0]
    numbered = re.findall(r"^## (\d)\. ", before, re.MULTILINE)
    assert numbered == [str(each + 1) for each in range(STEPS)]
    assert int(steps) == STEPS
    assert len(re.findall(r"^```\w", before, re.MULTILINE)) == STEPS


def test_readmes_first_screen_says_what_it_needs_and_shows_a_decision() -> None:
    """Within sixty lines: for whom, superuser, plpython3u, managed PostgreSQL, both answers."""
    screen = "\n".join(README.read_text(encoding="utf-8").splitlines()[:60])
    for word in ("It is for", "superuser", "plpython3u", "managed", "docker run", "COMMITTED"):
        assert word in screen
    assert screen.index("recall(") < screen.index("REJECTED") < screen.index("approve(")
