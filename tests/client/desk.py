"""A login that several agents share, and the broker that issues their tokens."""

from __future__ import annotations

import uuid
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import make_conninfo

from memwarden import Client, IssuedToken

if TYPE_CHECKING:
    from conftest import World

ORG = "/org/acme"


class Desk:
    """Agents without a login of their own, in one organisation."""

    def __init__(self, world: World, stack: ExitStack) -> None:
        self.world = world
        world.scope(ORG)
        role = world.role("memwarden_broker")
        world.admin.execute(
            "SELECT memwarden.register_agent(%s, %s, %s, writes => false, kind => 'service')",
            (role, ORG, role),
        )
        self.broker = stack.enter_context(Client.connect(make_conninfo(world.dsn, user=role)))
        self.login = world.role("memwarden_agent")
        self.dsn = make_conninfo(world.dsn, user=self.login)

    def agent(self) -> str:
        """Register an agent with a home of its own, and return its name."""
        name = f"agent-{uuid.uuid4().hex[:12]}"
        self.world.scope(self.home(name))
        self.world.admin.execute("SELECT memwarden.register_agent(%s, %s)", (name, self.home(name)))
        return name

    def home(self, agent: str) -> str:
        """Return the path of an agent's home."""
        return f"{ORG}/user/{agent}"

    def issue(self, agent: str) -> IssuedToken:
        """Issue a token for an agent and the login that all share."""
        return self.broker.issue_token(agent, self.login)

    def expired(self, agent: str) -> IssuedToken:
        """Issue a token whose time is over for the server."""
        issued = self.issue(agent)
        self.world.admin.execute(
            "UPDATE memwarden_data.token SET expires_at = issued_at WHERE token_id = %s",
            (issued.token_id,),
        )
        return issued

    def connect(self, **options: Any) -> psycopg.Connection[Any]:
        """Open a connection of the shared login, in autocommit."""
        return psycopg.connect(self.dsn, **({"autocommit": True} | options))


class Source:
    """A source of tokens that counts how often it is asked; the last answer is repeated."""

    def __init__(self, *answers: str | IssuedToken) -> None:
        self._answers = answers
        self.asked = 0

    def __call__(self) -> str | IssuedToken:
        """Return the next answer."""
        self.asked += 1
        return self._answers[min(self.asked, len(self._answers)) - 1]
