"""Every SQL and Python example of the pages is run, and its stated answer compared.

A block in SQL begins with `-- as ROLE`. Behind a statement `-- =>` states a row of its result, with
` | ` between columns, or the SQLSTATE it raises; a statement that says nothing must succeed, and a
write that says nothing must commit. `...` stands for anything. In Python, `# =>` states a printed
line. Blocks inside an HTML comment run too: what a page needs and a reader does not.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg
import pytest
from psycopg import Connection
from psycopg.conninfo import make_conninfo

import memwarden
from databases import empty_database

if TYPE_CHECKING:
    from conftest import World
    from shipped import Shipped

DOCS = Path(__file__).parents[2] / "docs"
CAST = DOCS / "README.md"
README = DOCS.parent / "README.md"
QUICKSTART = DOCS / "quickstart.md"
PAGES = sorted(
    path
    for path in DOCS.glob("*.md")
    if "```sql" in path.read_text(encoding="utf-8") and path != QUICKSTART
)

_BLOCK = re.compile(r"^```(sql|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_QUOTE = re.compile(r"\$[a-z_]*\$")


class Statement(NamedTuple):
    """One statement, and the rows or the error that the page states."""

    text: str
    expected: list[str]


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """The (language, text) of every example of a page, in order."""
    for found in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        yield found[1], found[2]


def statements(block: str) -> Iterator[Statement]:
    """Cut a block at each line that ends with a semicolon, outside dollar quotes."""
    lines: list[str] = []
    done: list[str] = []
    expected: list[str] = []
    quote: str | None = None
    for line in block.splitlines():
        if line.startswith("-- =>"):
            expected.append(line.removeprefix("-- =>").strip())
            continue
        if done:
            yield Statement("\n".join(done), expected)
            done, expected = [], []
        lines.append(line)
        for mark in _QUOTE.findall(line):
            quote = None if quote == mark else quote or mark
        if quote is None and line.endswith(";"):
            done, lines = lines, []
    if done:
        yield Statement("\n".join(done), expected)
    assert not any(line.strip() for line in lines), f"a statement without an end: {lines}"


def matches(expected: str, actual: str) -> bool:
    """Whether a stated line is the actual one; `...` stands for anything."""
    pattern = ".*".join(map(re.escape, expected.split("...")))
    return re.fullmatch(pattern, actual, re.DOTALL) is not None


class Stage:
    """A database in which the pages are played, with role names of its own."""

    def __init__(self, world: World, *, real_logins: bool = False) -> None:
        self.world = world
        self._connect = world.log_in if real_logins else world.connect
        self.renamed: dict[str, str] = {"postgres": "postgres"}
        self.logins: dict[str, str] = {}
        self._connections: dict[str, Connection[Any]] = {}
        self._names: dict[str, object] = {}

    def rename(self, text: str) -> str:
        """Roles belong to the whole cluster: each test has its own by another name."""
        for role in re.findall(r"^CREATE ROLE (\w+)", text, re.MULTILINE):
            self.renamed[role] = f"{role}_{id(self.world):x}"
            self.world.roles.append(self.renamed[role])
        words = "|".join(sorted(self.renamed, key=len, reverse=True))
        return re.sub(rf"\b({words})\b", lambda found: self.renamed[found[1]], text)

    def connection(self, role: str) -> Connection[Any]:
        """The session of a role, one for a page."""
        if role not in self._connections:
            self._connections[role] = self._connect(self.renamed[role])
        return self._connections[role]

    def play(self, page: Path, only: str = "") -> None:
        """Run the examples of a page in order, or those in one language."""
        for language, text in blocks(page):
            if only not in ("", language):
                continue
            if language == "python":
                self.run_python(text)
                continue
            first, _, rest = text.partition("\n")
            assert first.startswith("-- as "), f"{page.name}: who runs {first!r}?"
            for statement in statements(self.rename(rest)):
                self.run_sql(first.removeprefix("-- as ").strip(), statement)

    def close(self) -> None:
        """Close what the examples in Python have left open."""
        for each in self._names.values():
            if isinstance(each, memwarden.Client):
                each.close()

    def run_sql(self, role: str, statement: Statement) -> None:
        """Run one statement and compare what it says."""
        text, expected = statement
        raised: psycopg.Error | None = None
        try:
            result = self.connection(role).execute(text).pgresult
        except psycopg.Error as error:
            raised = error
        if raised is not None:
            assert expected == [f"ERROR {raised.sqlstate}"], f"{text}\n{raised}"
            return
        assert result is not None
        columns = [(result.fname(c) or b"").decode() for c in range(result.nfields)]
        values = [
            [
                "NULL" if (value := result.get_value(r, c)) is None else value.decode()
                for c in range(result.nfields)
            ]
            for r in range(result.ntuples)
        ]
        rows = [" | ".join(row) for row in values]
        if expected:
            same = len(rows) == len(expected) and all(map(matches, expected, rows))
            assert same, f"{text}\nstated: {expected}\nanswer: {rows}"
        elif "outcome" in columns:
            place = columns.index("outcome")
            assert all(row[place] == "COMMITTED" for row in values), f"{text}\nanswer: {rows}"

    def run_python(self, text: str) -> None:
        """Run a block, `await` at its top included, and compare what it prints."""
        expected = re.findall(r"# => (.*)$", text, re.MULTILINE)
        text = re.sub(
            r'"dbname=\w+ user=(\w+)"',
            lambda found: repr(
                make_conninfo(self.world.dsn, user=(self.renamed | self.logins)[found[1]])
            ),
            text,
        )
        code = compile(text, "<example>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            running = eval(code, self._names)
            if inspect.iscoroutine(running):
                asyncio.run(running)
        lines = printed.getvalue().splitlines()
        same = len(lines) == len(expected) and all(map(matches, expected, lines))
        assert same, f"{text}\nstated: {expected}\nprinted: {lines}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_answer_as_it_says(world: World, page: Path) -> None:
    """Each page starts from a fresh database, as it is shipped, and the cast of the examples."""
    world.ship()
    text = page.read_text(encoding="utf-8")
    if "procedure_test" in text and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed: apt-get install bubblewrap")
    # A page may show that a login cannot become another.
    stage = Stage(world, real_logins="SESSION AUTHORIZATION" in text)
    stage.play(CAST)
    if page != CAST:
        stage.play(page)


def test_the_sql_of_the_readme_works_in_a_new_database(world: World) -> None:
    """It begins with CREATE EXTENSION, and every setting is as it is shipped."""
    with empty_database(world.admin) as blank:
        Stage(blank).play(README, "sql")


@pytest.mark.parametrize("page", [README, QUICKSTART], ids=lambda page: page.stem)
def test_a_first_page_works_in_a_store_that_init_made(shipped: Shipped, page: Path) -> None:
    """Python as its three logins, then the example in SQL. Proves: Z12."""
    stage = Stage(shipped.world)
    stage.logins = {
        "application": shipped.application.info.user,
        "assistant": shipped.agent.info.user,
        "reviewer": shipped.reviewer.info.user,
    }
    with closing(stage):
        stage.play(page)


def test_an_answer_that_differs_is_noticed(world: World) -> None:
    """The comparison itself: a wrong row, a missing row, an unstated refusal, another error."""
    stage = Stage(world)
    stage.run_sql("postgres", Statement("SELECT 1 AS a, NULL AS b;", ["1 | NULL"]))
    stage.run_sql("postgres", Statement("SELECT 1/0;", ["ERROR 22012"]))
    for text, expected in (
        ("SELECT 1;", ["2"]),
        ("SELECT 1;", ["1", "1"]),
        ("SELECT 'REJECTED' AS outcome;", []),
        ("SELECT 1/0;", []),
        ("SELECT 1;", ["ERROR 22012"]),
    ):
        with pytest.raises(AssertionError):
            stage.run_sql("postgres", Statement(text, expected))
