"""A store as `memwarden init` leaves it: agent, reviewer, and the application that hears."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from uuid import uuid4

import psycopg
from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow, dict_row
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb
from typer.testing import CliRunner

from conftest import World
from memwarden.cli import app

SCOPE = "/org/acme/user/ana"
_TURNS = count(1)


@dataclass(frozen=True)
class Shipped:
    """Connections of the three logins that `memwarden init` makes."""

    agent: Connection[DictRow]
    reviewer: Connection[DictRow]
    application: Connection[DictRow]

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
    """Make a database of its own with `memwarden init`, nothing changed, and drop it."""
    mark = uuid4().hex[:10]
    names = [f"{name}_{mark}" for name in ("agent", "reviewer", "application")]
    options = [f"--{name.partition('_')[0]}={name}" for name in names]
    dsn = make_conninfo(world.dsn, dbname=names[0])
    with (
        psycopg.connect(make_conninfo(world.dsn, dbname="postgres"), autocommit=True) as admin,
        ExitStack() as opened,
    ):
        admin.execute(SQL("CREATE DATABASE {}").format(Identifier(names[0])))
        done = CliRunner().invoke(app, ["init", *options, "--dsn", dsn], env={"TERM": "dumb"})
        assert done.exit_code == 0, done.output
        yield Shipped(
            *(
                opened.enter_context(
                    psycopg.connect(
                        make_conninfo(dsn, user=name), autocommit=True, row_factory=dict_row
                    )
                )
                for name in names
            )
        )
        opened.close()
        admin.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(names[0])))
        for name in names:
            admin.execute(SQL("DROP ROLE IF EXISTS {}").format(Identifier(name)))
