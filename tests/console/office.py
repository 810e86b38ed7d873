"""An organisation with an agent that asks, and people who decide."""

from __future__ import annotations

import json
import secrets
import uuid
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg import sql
from psycopg.conninfo import make_conninfo

from memwarden import Client, IssuedToken, WriteResult
from memwarden.console.app import create_app
from memwarden.console.settings import Settings

if TYPE_CHECKING:
    from flask import Flask

    from conftest import World

ORG = "/org/acme"
BY_PASSWORD = "console_tests_by_password"
URL = "http://127.0.0.1:8321"


class Person(NamedTuple):
    """A login role with its password; the principal has the same name."""

    login: str
    password: str


class Office:
    """One store in which facts wait for a person."""

    def __init__(self, world: World, stack: ExitStack) -> None:
        self.world = world
        self._apps: list[Flask] = []
        ask_passwords(world)
        agent = world.register(ORG, descendants="true")
        self.agent = stack.enter_context(Client.connect(make_conninfo(world.dsn, user=agent)))
        self.desk = world.role("memwarden_reviewer")
        broker = world.role("memwarden_broker")
        self._register(broker, broker, writes=False, kind="service")
        self.broker = stack.enter_context(Client.connect(make_conninfo(world.dsn, user=broker)))
        world.admin.execute(
            "SELECT memwarden.set_approval_policy('semantic', approval => 'always')"
        )

    @property
    def dsn(self) -> str:
        """Return how the console connects for those who bring a token."""
        return make_conninfo(self.world.dsn, user=self.desk)

    def app(self, url: str = URL, **options: Any) -> Flask:
        """Return a console of its own."""
        made = create_app(Settings(self.dsn, url, **options))
        self._apps.append(made)
        return made

    def close(self) -> None:
        """Log everybody out."""
        for each in self._apps:
            each.extensions["memwarden"].close_all()
        self._apps.clear()

    def person(
        self, role: str = "reviewer", group: str = "memwarden_reviewer", *more: str
    ) -> Person:
        """Register somebody who logs in with a password, member of one group or several."""
        login = self.world.role(group, *more, BY_PASSWORD)
        password = secrets.token_urlsafe(12)
        self.world.admin.execute(
            sql.SQL("ALTER ROLE {} PASSWORD {}").format(
                sql.Identifier(login), sql.Literal(password)
            )
        )
        self._register(login, login, role=role, kind="human", descendants=True)
        return Person(login, password)

    def token(self, person: str) -> IssuedToken:
        """Issue a token for somebody and the login of the console."""
        return self.broker.issue_token(person, self.desk)

    def ask(self, statement: str = "", subject: str | None = None, **options: Any) -> WriteResult:
        """Let the agent ask for something to be remembered."""
        result = self.agent.write(
            "semantic",
            {"statement": statement or f"The code is {uuid.uuid4().hex}."},
            subject=subject or f"door {uuid.uuid4().hex[:8]}",
            **options,
        )
        assert result.reason == "AWAITING_APPROVAL", result
        return result

    def ask_hostile(self, statement: str) -> WriteResult:
        """Let something wait that a gate before would not have let through."""
        asked = self.ask()
        self.world.admin.execute(
            "UPDATE memwarden_data.write_request SET content = %s, subject = %s "
            "WHERE request_id = %s",
            (json.dumps({"statement": statement}), "<i>door</i>", asked.request_id),
        )
        # The first page shows it.
        self.world.admin.execute(
            "UPDATE memwarden_data.review SET due_at = opened_at - interval '1 year' "
            "WHERE request_id = %s",
            (asked.request_id,),
        )
        return asked

    def _register(self, name: str, login: str, **options: Any) -> None:
        arguments = {"name": name, "scope": ORG, "login_role": login} | options
        named = ", ".join(f"{each} => %({each})s" for each in arguments)
        self.world.admin.execute(f"SELECT memwarden.register_agent({named})", arguments)


def ask_passwords(world: World) -> None:
    """Have the tests' server, which trusts whoever reaches it, ask some logins for a password."""
    world.admin.execute(
        f"DO $$ BEGIN CREATE ROLE {BY_PASSWORD}; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
    )
    path = world.value("SELECT current_setting('hba_file')")
    lines = world.value("SELECT pg_read_file(%s)", path).splitlines()
    if any(BY_PASSWORD in line for line in lines):
        return
    rules = [f"local all +{BY_PASSWORD} scram-sha-256"]
    rules += [line for line in lines if line.strip() and not line.startswith("#")]
    world.admin.execute(
        sql.SQL("COPY (SELECT unnest({}::text[])) TO {}").format(
            sql.Literal(rules), sql.Literal(path)
        )
    )
    world.value("SELECT pg_reload_conf()")
    # The signal to reload is not waited for.
    world.value("SELECT pg_sleep(0.2)")
