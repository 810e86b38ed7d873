"""Empty databases on the server of the tests, and work in a whole one."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from psycopg import Connection, sql
from psycopg.conninfo import make_conninfo

from conftest import World
from helpers import ask_for_little, recall, write


@contextmanager
def empty_database(
    server: Connection[Any], template: str = "template1", options: LiteralString = ""
) -> Iterator[World]:
    """Create a database without memwarden, and drop it with the roles that were made for it.

    Or one that is like another, to which nobody may be connected; with more options of SQL.
    """
    name = f"packaging_{uuid.uuid4().hex[:12]}"
    names = [sql.Identifier(name), sql.Identifier(template)]
    create = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy ").format(*names)
    server.execute(create + sql.SQL(options))
    try:
        dsn = make_conninfo(server.info.dsn, dbname=name)
        with psycopg.connect(dsn, autocommit=True) as admin:
            world = World(admin)
            try:
                yield world
            finally:
                world.close()
    finally:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def install(admin: Connection[Any], version: str | None = None) -> None:
    """Create the extension and its storage."""
    named = sql.SQL("VERSION {}").format(version) if version else sql.SQL("")
    admin.execute(sql.SQL("CREATE EXTENSION memwarden {} CASCADE").format(named))
    admin.execute("SELECT FROM memwarden.setup()")
    ask_for_little(admin)


def remembers(world: World, scope: str = "/org/acme/user/ana") -> bool:
    """Whether an agent of its own can write something there, and recalls it."""
    agent = world.agent(scope)
    marker = uuid.uuid4().hex
    outcome = write(agent, "semantic", {"note": f"remembers {marker}"})["outcome"]
    found = recall(agent, query=marker, layers=["semantic"], k=1)
    agent.close()
    return bool(outcome == "COMMITTED" and found and marker in found[0]["text"])
