"""Clusters of a test's own, beside the one that most tests share.

Their files lie in memory where it has room, and every promise of durability is kept all the same:
fsync is on unless a test says otherwise. When a server's processes die, files in memory lose what
files on a disk lose, which is what the processes had not given to the kernel yet.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
import time
from functools import cache
from subprocess import CalledProcessError
from typing import Any
from uuid import uuid4

import psycopg
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import DictRow, dict_row

from conftest import READY, ROOT, deploy_server
from races import PATIENCE

DATABASE = "memory"
ROOM = 4 << 30
DISK, MEMORY = "/var/lib/memwarden", "/mnt"
"""Where clusters lie, as the server sees it."""
# Other processes of this run may have tests of the same module.
OWN = uuid4().hex[:6]


@cache
def place_of(name: str) -> str:
    """Where a cluster or its backups go."""
    has_room = shutil.disk_usage("/dev/shm").free >= ROOM
    return f"{MEMORY if has_room else DISK}/{name}"


@cache
def _shell() -> subprocess.Popen[str]:
    """A shell of the server's user that stays; it ends with this process."""
    return subprocess.Popen(
        [ROOT / "deploy/server", "exec", "bash"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def run(*command: str) -> str:
    """Run a command as the operating system user of the server, who makes backups."""
    shell, mark = _shell(), uuid4().hex
    assert shell.stdin is not None
    assert shell.stdout is not None
    shell.stdin.write(f"({shlex.join(command)}) < /dev/null; s=$?; echo; echo {mark} $s\n")
    shell.stdin.flush()
    lines: list[str] = []
    for line in shell.stdout:
        if line.startswith(mark):
            break
        lines.append(line)
    else:
        raise EOFError(command)
    told, status = "".join(lines), int(line.split()[1])
    if status:
        raise CalledProcessError(status, command, told)
    return told.strip()


def wait_until(admin: Connection[DictRow], query: str, *parameters: Any) -> None:
    """Return once a query answers true."""
    deadline = time.monotonic() + PATIENCE
    while admin.execute(query, parameters).fetchall() != [{"done": True}]:
        assert time.monotonic() < deadline, query
        time.sleep(0.05)


class Cluster:
    """A cluster of the test's own; fsync is on."""

    def __init__(self, name: str, *, is_own: bool = False) -> None:
        self.name = name if is_own else f"{name}-{OWN}"
        self.home = place_of(self.name)
        # Sockets lie where this says, whether the cluster is there or not.
        self._dsn = deploy_server("dsn", self.name, DATABASE)

    def up(self, *settings: str) -> None:
        """Start it and wait until it takes writes."""
        self.start(*settings)
        with self.connect("postgres") as admin:
            wait_until(admin, "SELECT NOT pg_is_in_recovery() AS done")
            durable = admin.execute("SELECT current_setting('fsync') AS fsync").fetchall()
            assert durable == [{"fsync": "on"}]

    def start(self, *settings: str) -> None:
        """Start it, a standby too, or with fewer promises; make it when it is not there."""
        run("mkdir", "--parents", "--mode=0700", self.home)
        # As in conftest.py: what a test asks of few rows is not worth compiling.
        settings = ("jit=off", *settings)
        deploy_server("up", self.name, *(word for each in settings for word in ("-c", each)))

    def dsn(self, database: str = DATABASE, user: str = "postgres") -> str:
        """How to connect, from inside and outside."""
        return make_conninfo(self._dsn, dbname=database, user=user)

    def connect(self, database: str = DATABASE, user: str = "postgres") -> Connection[DictRow]:
        """Connect, as superuser or as another role."""
        return psycopg.connect(self.dsn(database, user), autocommit=True, row_factory=dict_row)

    def base(self, directory: str) -> str:
        """Take a base backup; return its name."""
        parameters = conninfo_to_dict(self._dsn)
        variables = [f"PG{name.upper()}={parameters[name]}" for name in ("host", "port", "user")]
        return run("env", *variables, "/usr/lib/memwarden/backup", directory, "base")

    def make_home(self, key: str) -> None:
        """Where a restored cluster goes; its master key is there before it is."""
        run("mkdir", "--mode=0700", self.home)
        run("cp", key, f"{self.home}/master.key")

    def make_memory(self) -> None:
        """Have the files of a cluster in which a database has memwarden, new, and nothing else."""
        _make_ready()
        run("mkdir", "--parents", "--mode=0700", self.home)
        homes = f"{MEMORY}/{READY.name} {DISK}/{READY.name}"
        run("sh", "-c", f"cp --archive $(ls -d {homes} 2> /dev/null)/data {self.home}/data")

    def kill(self) -> None:
        """Crash it."""
        deploy_server("kill", self.name)

    def drop(self) -> None:
        """Stop it and delete its data and its key."""
        deploy_server("drop", self.name)


def _make_ready() -> None:
    """Make once in a run what setup() makes in every cluster alike, which takes some seconds."""
    with READY.open("a") as made:
        fcntl.flock(made, fcntl.LOCK_EX)
        # Who has waited opened the file before anything was in it.
        if os.fstat(made.fileno()).st_size:
            return
        making = Cluster(READY.name, is_own=True)
        making.start()
        with making.connect("postgres") as server:
            server.execute(f"CREATE DATABASE {DATABASE}")
        with making.connect() as admin:
            admin.execute("CREATE EXTENSION memwarden CASCADE")
            admin.execute("SELECT * FROM memwarden.setup()")
        deploy_server("down", READY.name)
        made.write("made")
