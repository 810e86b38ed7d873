"""Throw-away checkouts: a small one, to try the server scripts on, and a whole one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SOCKET_NAME = ".s.PGSQL.5432"

CONTROL = "default_version = '0.1.0'\nrelocatable = false\n"
SCRIPT = """\
CREATE SCHEMA memwarden;
CREATE FUNCTION memwarden.setup() RETURNS text LANGUAGE sql AS $$ SELECT '{marker}' $$;
CREATE PROCEDURE memwarden.load_lexicons() LANGUAGE sql
AS 'CREATE TABLE IF NOT EXISTS memwarden.loaded ()';
"""
MAKEFILE = """\
all:
include deploy/server.mk
build:
ifneq ($(PG_CONFIG),)
EXTENSION = memwarden
DATA = build/memwarden--0.1.0.sql
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)
endif
"""


# What an installation is made from.
SOURCES = ["deploy", "sql", "plpython", "migrations", "tools", "Makefile", "memwarden.control"]


class Scripts:
    """A checkout in any folder, and the commands of its server."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def run(
        self,
        *command: str,
        check: bool = True,
        stdin: str | None = None,
        env: dict[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in the checkout; its output is captured as text.

        Raises AssertionError with what it said when `check` and it fails.
        """
        result = subprocess.run(
            command,
            cwd=self.directory,
            check=False,
            input=stdin,
            capture_output=True,
            text=True,
            env=os.environ | (env or {}),
            timeout=300,
        )
        assert not check or result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
        return result

    def server(self, *arguments: str) -> str:
        """Run `deploy/server` and return what it printed, without the last newline."""
        return self.run("deploy/server", *arguments).stdout.rstrip("\n")

    def query(self, cluster: str, sql: str, database: str = "postgres") -> str:
        """Run SQL in a cluster as its superuser and return the rows, columns separated by `|`."""
        dsn = self.server("dsn", cluster, database)
        return self.server(
            "exec", "psql", "--no-psqlrc", "-v", "ON_ERROR_STOP=1", "-qAt", dsn, "-c", sql
        )

    def postmasters(self) -> list[int]:
        """Process ids of the servers of this checkout, whatever their state files say."""
        run_directory = str(Path(self.server("shared")).parent)
        return [
            int(process.name)
            for process in Path("/proc").iterdir()
            if process.name.isdigit() and run_directory in command_line(process)
        ]


class Checkout(Scripts):
    """A copy of `deploy/` with an extension named memwarden that holds a function and a procedure.

    Its function `memwarden.setup()` returns `marker`, which tells one checkout's extension from
    another's. Its procedure leaves a table, where a database gets its dictionaries.
    """

    def __init__(self, directory: Path, marker: str) -> None:
        super().__init__(directory)
        self.marker = marker
        shutil.copytree(REPOSITORY / "deploy", directory / "deploy")
        (directory / "build").mkdir()
        (directory / "memwarden.control").write_text(CONTROL)
        (directory / "build/memwarden--0.1.0.sql").write_text(SCRIPT.format(marker=marker))
        (directory / "Makefile").write_text(MAKEFILE)


class WorkingCopy(Scripts):
    """A copy of everything that an installation is made from, to be changed at will."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        directory.mkdir()
        for name in SOURCES:
            source = REPOSITORY / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "secrets")
                shutil.copytree(source, directory / name, ignore=ignored)
            else:
                shutil.copy(source, directory / name)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text in one of its files, which must be there exactly once."""
        file = self.directory / path
        text = file.read_text()
        assert text.count(old) == 1, f"{path} has {text.count(old)} times: {old}"
        file.write_text(text.replace(old, new))


def command_line(process: Path) -> str:
    """The command line of a process in /proc, empty when it is gone."""
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
