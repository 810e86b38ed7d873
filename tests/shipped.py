"""A store as `memwarden init` leaves it: agent, reviewer, and the application that hears.

Its profile is balanced; a test that proves what another asks begins with `shipped.use("strict")`.

Init loads the dictionary, which takes half a minute, so it runs once in a run of tests. Each test
gets a copy that others have used before and that was put back as it was (stock.py). The three
logins belong to the whole run: a test that changes a login makes one of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import psycopg
from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

from memwarden._sync import vectors

if TYPE_CHECKING:
    from conftest import World

SCOPE = "/org/acme/user/ana"
_TURNS = count(1)


@dataclass(frozen=True)
class Shipped:
    """Connections of the three logins that `memwarden init` makes, and their database."""

    agent: Connection[DictRow]
    reviewer: Connection[DictRow]
    application: Connection[DictRow]
    world: World

    def use(self, profile: str) -> None:
        """Have the organisation ask what another profile asks."""
        self.world.admin.execute("SELECT memwarden.use_profile(%s, org => 'acme')", (profile,))

    def heard(self, speaker: str, text: str) -> dict[str, str]:
        """Have the application record what somebody says; return what cites it."""
        turn, name = {"role": "user", "speaker": speaker, "text": text}, str(next(_TURNS))
        self.application.execute(
            "SELECT memwarden.capture('chat', %s, %s, scope => %s)", (Jsonb(turn), name, SCOPE)
        )
        return {"uri": f"memwarden:capture/{self.application.info.user}/chat/{name}"}

    def approve(self, answer: DictRow) -> None:
        """Have the reviewer approve what waits."""
        if answer["outcome"] == "DEFERRED":
            self.reviewer.execute("SELECT memwarden.approve(%s)", (answer["request_id"],))


@contextmanager
def as_init_leaves_it(world: World) -> Iterator[Shipped]:
    """A store beside a test's own world; a test that needs no other asks for `shipped`."""
    assert world.stocks is not None
    with world.stocks.shipped.lend(is_warm=world.is_warm) as made:
        yield connected(made)


def connected(world: World) -> Shipped:
    """The logins, in a copy of the template; clients ask anew which model it goes by."""
    agent, reviewer, application = map(world.connect, _logins())
    for connection in (agent, reviewer, application):
        vectors._TOLD.pop(connection, None)
    return Shipped(agent, reviewer, application, world)


def make_template(server: str) -> str:
    """Make the database that stores are copied from; return its name."""
    from typer.testing import CliRunner

    from memwarden.cli import app

    name = _template()
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
    options = [f"--{login.partition('_')[0]}={login}" for login in _logins()]
    options += ["--dsn", make_conninfo(server, dbname=name)]
    done = CliRunner().invoke(app, ["init", *options], env={"TERM": "dumb"})
    assert done.exit_code == 0, done.output
    return name


def drop_template(server: str) -> None:
    """Drop it, and the logins."""
    with psycopg.connect(server, autocommit=True) as admin:
        drop = SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
        admin.execute(drop.format(Identifier(_template())))
        for login in _logins():
            admin.execute(SQL("DROP ROLE IF EXISTS {}").format(Identifier(login)))


def _template() -> str:
    return f"shipped_{os.environ['MEMWARDEN_TEST_RUN']}"


def _logins() -> list[str]:
    run = os.environ["MEMWARDEN_TEST_RUN"]
    return [f"{name}_{run}" for name in ("agent", "reviewer", "application")]
