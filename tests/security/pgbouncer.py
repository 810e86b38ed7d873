"""A PgBouncer before the tests' server: transaction mode, one server connection a login."""

from __future__ import annotations

import shutil
import signal
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow, dict_row

from conftest import ROOT, World, deploy_server
from races import PATIENCE

PORT = 6432
INI = """
[databases]
{dbname} = host={host} port={port}

[pgbouncer]
pool_mode = transaction
default_pool_size = 1
max_prepared_statements = 100
auth_type = trust
auth_file = {directory}/users
unix_socket_dir = {directory}
unix_socket_mode = 0777
listen_port = {listen_port}
query_wait_timeout = {patience:.0f}
{settings}
"""


class Bouncer:
    """A running PgBouncer and its clients."""

    def __init__(self, directory: Path, dbname: str) -> None:
        self.directory = directory
        self.dbname = dbname
        self.clients: list[Connection[DictRow]] = []

    def connect(self, role: str, **options: object) -> Connection[DictRow]:
        """Connect a client through the bouncer, autocommit, rows as dicts."""
        client = psycopg.connect(
            host=str(self.directory),
            port=PORT,
            dbname=self.dbname,
            user=role,
            autocommit=True,
            row_factory=dict_row,
            **options,  # type: ignore[arg-type]
        )
        self.clients.append(client)
        return client

    def disconnect(self) -> None:
        """Close the clients."""
        for client in self.clients:
            client.close()
        self.clients.clear()


@contextmanager
def running(world: World, roles: list[str], settings: str = "") -> Iterator[Bouncer]:
    """Run a PgBouncer inside the server's root, for these logins, until the end of the block."""
    if not Path(deploy_server("root"), "usr/sbin/pgbouncer").exists():
        pytest.skip("pgbouncer is absent from the server's root: deploy/packages.txt names it")
    server = world.admin.info
    directory = Path(deploy_server("shared"), f"pgbouncer-{uuid.uuid4().hex[:8]}")
    directory.mkdir()
    directory.chmod(0o777)  # the server's own user makes the socket; the directory above is closed
    ini = INI.format(
        directory=directory,
        listen_port=PORT,
        patience=PATIENCE,
        settings=settings,
        dbname=server.dbname,
        host=server.host,
        port=server.port,
    )
    (directory / "pgbouncer.ini").write_text(ini)
    (directory / "users").write_text("".join(f'"{role}" ""\n' for role in roles))
    with (directory / "log").open("w") as log:
        process = subprocess.Popen(
            [ROOT / "deploy/server", "exec", "pgbouncer", directory / "pgbouncer.ini"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    bouncer = Bouncer(directory, server.dbname)
    try:
        wait_until_ready(bouncer, process, roles[0])
        yield bouncer
    finally:
        bouncer.disconnect()
        process.send_signal(signal.SIGQUIT)  # SIGTERM would wait for clients
        process.wait(PATIENCE)
        shutil.rmtree(directory)


def wait_until_ready(bouncer: Bouncer, process: subprocess.Popen[bytes], role: str) -> None:
    """Return once a client has come through; fail with the log when the bouncer has ended."""
    while True:
        if process.poll() is not None:
            raise RuntimeError((bouncer.directory / "log").read_text())
        if (bouncer.directory / f".s.PGSQL.{PORT}").exists():
            try:
                bouncer.connect(role).execute("SELECT 1")
            except psycopg.OperationalError:
                continue
            bouncer.disconnect()
            return


def pid(client: Connection[DictRow]) -> int:
    """The process that serves a client at this moment."""
    row = client.execute("SELECT pg_backend_pid() AS pid").fetchone()
    assert row is not None
    return int(row["pid"])
