"""A fresh database for the demo, and an agent that may use it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier, Literal
from psycopg.types.json import Jsonb

from memwarden.demo.writes import APPLICATION, ORGANISATION, SOURCE, TURN_SCHEMA, TURN_TEXT
from memwarden.errors import MemwardenError, NotAllowed, translated, unreachable

AGENT = "demo-agent"
CURATOR = "demo-curator"
NEWCOMER = "demo-newcomer"
REVIEWER = "demo-reviewer"

Connection = psycopg.Connection[Any]


class Logins(NamedTuple):
    """How those connect who act in the demo.

    The application that captures what people say; the agent that writes what it means, and cites
    the captures; the curator who may take back what it wrote; an agent
    that is new; and the person who decides about what the new one asks for.
    """

    application: str
    agent: str
    curator: str
    newcomer: str
    reviewer: str


def make(dsn: str, name: str, scopes: Sequence[str]) -> Logins:
    """Create database `name` anew on the server of `dsn`, with extension, scopes and agents.

    Raises:
        NotAllowed: a database or role of that name exists which no demo made, or the login may
            not create them.
        MemwardenError: the server cannot be reached or the extension is not installed on it.
    """
    password = secrets.token_urlsafe(24)
    admin_dsn = make_conninfo(dsn, dbname=name)
    try:
        with psycopg.connect(dsn, autocommit=True) as server:
            for role in logins_of(name):
                create_role(server, role, password)
            create_database(server, name)
        with psycopg.connect(admin_dsn, autocommit=True) as admin:
            admin.execute("SET client_min_messages = warning")
            admin.execute("CREATE EXTENSION memwarden CASCADE")
            admin.execute("SELECT memwarden.setup()")
            _create_agents(admin, name, scopes)
            admin.execute(
                "SELECT memwarden.define_schema(layer => 'episodic', kind => 'turn', schema => %s, "
                "text_template => %s)",
                (Jsonb(TURN_SCHEMA), TURN_TEXT),
            )
            # The agents cite what the application captures, and cannot make it up.
            admin.execute(
                "SELECT memwarden.define_source(uri_pattern => %s, type => 'human_input', "
                "issuer => %s)",
                (f"capture:{SOURCE}/*", APPLICATION),
            )
            admin.execute(
                "SELECT memwarden.define_capture_source(source => %s, citable_by => %s, "
                "org => 'demo')",
                (SOURCE, [AGENT, NEWCOMER]),
            )
            # As `memwarden init` leaves a store.
            admin.execute("SELECT memwarden.use_profile('balanced', org => 'demo')")
    except psycopg.Error as error:
        raise explained(error) from None
    return Logins(
        *(make_conninfo(admin_dsn, user=each, password=password) for each in logins_of(name))
    )


def logins_of(name: str) -> Logins:
    """Return the login roles for a database: roles belong to the whole server."""
    return Logins(*(f"{name}_{each}" for each in Logins._fields))


def create_database(server: Connection, name: str, command: str = "demo") -> None:
    """Create a database anew; one of that name must be of the same command.

    Raises: NotAllowed.
    """
    found = server.execute(
        "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s",
        (name,),
    ).fetchone()
    _require_mark(found, command, f"database {name}")
    database = Identifier(name)
    server.execute(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(database))
    server.execute(SQL("CREATE DATABASE {}").format(database))
    server.execute(SQL("COMMENT ON DATABASE {} IS {}").format(database, Literal(_mark(command))))


def create_role(server: Connection, role: str, password: str, command: str = "demo") -> None:
    """Create a login, or give that of the last run a new password. It travels hashed.

    Raises: NotAllowed.
    """
    found = server.execute(
        "SELECT shobj_description(oid, 'pg_authid') FROM pg_roles WHERE rolname = %s", (role,)
    ).fetchone()
    _require_mark(found, command, f"role {role}")
    if found is None:
        server.execute(SQL("CREATE ROLE {} LOGIN").format(Identifier(role)))
        server.execute(
            SQL("COMMENT ON ROLE {} IS {}").format(Identifier(role), Literal(_mark(command)))
        )
    hashed = server.pgconn.encrypt_password(
        password.encode(), role.encode(), b"scram-sha-256"
    ).decode()
    server.execute(SQL("ALTER ROLE {} PASSWORD {}").format(Identifier(role), Literal(hashed)))


def _mark(command: str) -> str:
    return f"Made by `memwarden {command}`, which may change or drop it."


def _require_mark(found: tuple[Any, ...] | None, command: str, what: str) -> None:
    """Refuse to change what exists and bears another comment than this command's."""
    if found is not None and found[0] != _mark(command):
        raise NotAllowed(
            f"{what} exists and no {command} made it",
            hint="Rename or drop it, or choose another name with --database.",
        )


def _create_agents(admin: Connection, database: str, scopes: Sequence[str]) -> None:
    for path in (ORGANISATION, *scopes):
        admin.execute("SELECT memwarden.create_scope(path => %s)", (path,))
    logins = logins_of(database)
    cast = (
        (APPLICATION, logins.application, "contributor", "service", "memwarden_agent"),
        (AGENT, logins.agent, "contributor", "agent", "memwarden_agent"),
        (CURATOR, logins.curator, "curator", "human", "memwarden_agent"),
        (NEWCOMER, logins.newcomer, "contributor", "agent", "memwarden_agent"),
        (REVIEWER, logins.reviewer, "reviewer", "human", "memwarden_reviewer"),
    )
    for name, login, role, kind, group in cast:
        admin.execute(SQL("GRANT {} TO {}").format(Identifier(group), Identifier(login)))
        admin.execute(
            "SELECT memwarden.register_agent(name => %s, scope => %s, login_role => %s, "
            "role => %s, kind => %s, descendants => true)",
            (name, ORGANISATION, login, role, kind),
        )


def explained(error: psycopg.Error) -> MemwardenError:
    """Return what a failure to make a database means."""
    if error.sqlstate is None:
        return unreachable(error, ())
    meaning = translated(error)
    if error.sqlstate == "0A000":  # the extension's files are not on this server
        meaning.hint = "Install the extension on the server first: make install."
    return meaning
