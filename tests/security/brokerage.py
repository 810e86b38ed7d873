"""A broker, two agents without a login of their own, and a login that acts for either by token."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import write

NOBODY = "28000"
"""The SQLSTATE of whoever is not who they say."""

ANA, BOB = ["green tea"], ["black coffee"]
"""What either remembers."""

AUTHENTICATE = "SELECT memwarden.authenticate(%s)"


class Brokerage:
    """Ana and Bob of one organisation, who each remember a drink, and the broker of both."""

    def __init__(self, world: World, org: str) -> None:
        self.world = world
        self.org = org
        for name in ("ana", "bob"):
            world.scope(f"/org/{org}/user/{name}")
            self.register(name, f"/org/{org}/user/{name}")
        self.broker = self.service(f"/org/{org}")
        self.app = world.role("memwarden_agent")
        # On a connection that has written before: the first write of a new one takes long.
        world.admin.execute(f"SET SESSION AUTHORIZATION {self.app}")
        for name, (drink,) in (("ana", ANA), ("bob", BOB)):
            with acting(world.admin, self.token(name)):
                row = write(world.admin, "semantic", {"drink": drink}, subject="self")
                assert row["outcome"] == "COMMITTED", row
        world.admin.execute("RESET SESSION AUTHORIZATION")

    def register(self, name: str, scope: str, **options: Any) -> None:
        """Register a principal; without a login unless one is named."""
        named = "".join(f", {option} => %({option})s" for option in options)
        self.world.admin.execute(
            f"SELECT memwarden.register_agent(%(name)s, %(scope)s{named})",
            {"name": name, "scope": scope} | options,
        )

    def service(self, scope: str, kind: str = "service") -> str:
        """Register a principal whose login is a broker; return the login."""
        login = self.world.role("memwarden_broker")
        self.register(login, scope, login_role=login, kind=kind, writes=False)
        return login

    def issue(
        self,
        agent: str = "ana",
        audience: str | None = None,
        ttl: timedelta | str | None = timedelta(minutes=5),
        broker: str | None = None,
        org: str | None = None,
    ) -> DictRow:
        """Have a token issued, by a broker that connects for it."""
        with self.world.connect(broker or self.broker) as connection:
            row = connection.execute(
                "SELECT * FROM memwarden.issue_token(%s, %s, %s::interval, %s)",
                (agent, audience or self.app, ttl, org),
            ).fetchone()
        assert row is not None
        return row

    def token(self, agent: str = "ana", **arguments: Any) -> str:
        """Have a token issued, return it."""
        return str(self.issue(agent, **arguments)["token"])


@contextmanager
def acting(connection: Connection[DictRow], token: str) -> Iterator[None]:
    """Open a transaction that acts for whom the token was issued."""
    with connection.transaction():
        connection.execute(AUTHENTICATE, (token,))
        yield


def drinks(connection: Connection[Any]) -> list[str]:
    """What this connection sees of the drinks, as row security lets it."""
    rows = connection.execute(
        "SELECT i.content ->> 'drink' AS drink FROM memwarden.items AS i"
        " WHERE i.content ? 'drink' ORDER BY 1"
    ).fetchall()
    return [row["drink"] for row in rows]


def fault(connection: Connection[Any], query: str, *parameters: Any) -> tuple[str | None, str]:
    """Run a statement that must fail, in a transaction of its own; return SQLSTATE and detail."""
    try:
        with connection.transaction():
            connection.execute(query, parameters or None)
    except psycopg.Error as error:
        return error.sqlstate, error.diag.message_detail or ""
    raise AssertionError(f"accepted: {query}")


def refusal(connection: Connection[Any], token: str | None) -> str:
    """Why a token is not accepted."""
    state, detail = fault(connection, AUTHENTICATE, token)
    assert state == NOBODY, (state, detail)
    return detail
