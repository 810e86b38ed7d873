"""A starting configuration: what a new database needs before an agent can write into it.

Everything happens in one transaction: all of it is there afterwards, or nothing is.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg.sql import SQL, Identifier, Literal

from memwarden.errors import (
    AlreadyExists,
    ConnectionFailed,
    InvalidArgument,
    MemwardenError,
    NotAllowed,
    translated,
    unreachable,
)

Connection = psycopg.Connection[Any]

PROFILES = ("open", "balanced", "strict")
_WHERE = (
    'After `make db`, run: eval "$(make env)". For another server, name it with --dsn or PGHOST;'
    " createdb makes the database."
)
_STRICT = "strict refuses writes without evidence, and a person approves what is to last"

# A login is also an agent's name and stands in connection strings: nothing here needs quotes.
_LOGIN = re.compile(r"[a-z][a-z0-9_]{0,62}", re.ASCII)
_SOURCE = re.compile(r"[a-z][a-z0-9_.-]{0,62}", re.ASCII)
_SCOPE = re.compile(r"/org/[^/\s]+(/[^/\s]+/[^/\s]+)*")


@dataclass(frozen=True, slots=True)
class Start:
    """What there is to be: one agent in a scope, who reviews it, and what it may cite.

    The application records what people say in the captures of `source`: the agent, which cites
    them, cannot make them up. `profile` says what the organisation asks of writes. Without one,
    an organisation that is made gets `balanced`, and one that is there keeps its own.
    """

    scope: str = "/org/acme/user/ana"
    agent: str = "assistant"
    reviewer: str = "reviewer"
    application: str = "application"
    source: str = "chat"
    profile: str | None = None

    @property
    def organisation(self) -> str:
        """The path of the organisation that the scope belongs to."""
        return "/".join(self.scope.split("/")[:3])

    def check(self) -> None:
        """Raise InvalidArgument for what no database has to be asked about."""
        logins = {
            "--agent": self.agent,
            "--reviewer": self.reviewer,
            "--application": self.application,
        }
        for option, login in logins.items():
            if not _LOGIN.fullmatch(login) or login.startswith(("pg_", "memwarden_")):
                raise InvalidArgument(
                    f"{option} is the name of a login: a to z, 0 to 9 and _, a letter first,"
                    " at most 63, and not a name that begins with pg_ or memwarden_"
                )
        if len(set(logins.values())) < len(logins):
            raise InvalidArgument(
                "--agent, --reviewer and --application are three: nobody approves what they wrote,"
                " and nobody records what they cite"
            )
        if not _SOURCE.fullmatch(self.source):
            raise InvalidArgument(
                "--source is the name of a source of captures: a to z, 0 to 9, _, . and -,"
                " a letter first, at most 63"
            )
        if not _SCOPE.fullmatch(self.scope):
            raise InvalidArgument("--scope is a path such as /org/acme/user/ana")
        if self.profile is not None and self.profile not in PROFILES:
            raise InvalidArgument("--profile is open, balanced or strict")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is there now, and whether this run made it."""

    what: str
    name: str
    made: bool
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """Every step of a start; the profile that holds; what is still to be done by hand.

    `by_words`: nobody makes vectors of the organisation's model, unless its applications do.
    """

    steps: Sequence[Step]
    profile: str
    to_do: Sequence[str]
    by_words: bool


def passwords(file: Path) -> tuple[str, str, str]:
    """Read the passwords of agent, reviewer and application: the three lines of a file.

    Raises:
        NotAllowed: others may read the file.
        InvalidArgument: it cannot be read, or has other than three lines that are not empty.
    """
    try:
        with file.open(encoding="utf-8") as opened:
            if os.fstat(opened.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise NotAllowed(
                    f"{file} can be read or written by others", hint=f"Run: chmod 600 {file}"
                )
            found = opened.read(10_000).splitlines()
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument(f"{file} cannot be read") from None
    # No message quotes a line.
    if len(found) != 3 or not all(each and "\0" not in each for each in found):
        raise InvalidArgument(
            f"{file} needs three lines: the passwords of agent, reviewer and application"
        )
    return found[0], found[1], found[2]


def connected(dsn: str) -> Connection:
    """Return a connection for somebody who administers.

    Raises:
        InvalidArgument: the connection string cannot be read.
        ConnectionFailed: the server cannot be reached.
    """
    try:
        return psycopg.connect(dsn, client_encoding="utf8", fallback_application_name="memwarden")
    except psycopg.ProgrammingError:
        # Its message quotes the string, which may hold a password.
        raise InvalidArgument(
            "the connection string cannot be read",
            hint="Write key=value pairs or a postgresql:// URI.",
        ) from None
    except psycopg.Error as error:
        raise unreachable(error, ()) from None


def begin(dsn: str, start: Start, secrets: tuple[str, str, str] | None = None) -> Begun:
    """Make what is missing of a start, and return every step; what is there stays as it is.

    The login is a superuser: PL/Python is an untrusted language. `secrets` are the passwords of
    agent, reviewer and application; only a login that is made gets one, and it travels hashed.

    Raises:
        InvalidArgument: a name or path cannot be one.
        AlreadyExists: a login or an agent of that name is there and is another one.
        MemwardenError: the server cannot be reached, or refuses.
    """
    start.check()
    try:
        connection = connected(dsn)
    except ConnectionFailed as error:
        error.hint = error.hint or _WHERE
        raise
    try:
        with connection, connection.transaction():
            steps = list(_steps(connection, start, secrets))
            [profile] = (each.name for each in steps if each.what == "profile")
            by_words = first_row(
                connection,
                "SELECT m.embedder IS NULL"
                "  FROM memwarden_data.organisation AS o JOIN memwarden.embedding_models AS m"
                "    ON m.model = memwarden_internal.active_model(o.org_id)"
                " WHERE o.name = %(org)s LIMIT 1",
                {"org": start.organisation.removeprefix("/org/")},
            ) == (True,)
            return Begun(steps, profile, _to_do(connection), by_words)
    except psycopg.Error as error:
        raise _explained(error) from None


def _to_do(admin: Connection) -> list[str]:
    """Return what status() finds wanting, with its remedy."""
    # Only a superuser may read where pg_cron works. A job that fails is tried again by itself.
    wanting = admin.execute(
        "SELECT s.component, s.state, concat_ws('. ', s.detail,"
        "       CASE s.component WHEN 'jobs' THEN 'pg_cron works in database '"
        "           || current_setting('cron.database_name', true) END)"
        "  FROM memwarden.status() AS s"
        " WHERE s.state <> 'ok' AND (s.component, s.state) <> ('jobs', 'warning')"
    )
    return [f"{component} {state}: {detail}" for component, state, detail in wanting]


def refusal_of(dsn: str) -> str | None:
    """Return why the server lets a login in no more than this; None where it does."""
    try:
        psycopg.connect(dsn, connect_timeout=10).close()
    except psycopg.Error as error:
        return str(unreachable(error, ())).splitlines()[0]
    return None


def _explained(error: psycopg.Error) -> MemwardenError:
    if error.sqlstate is None:
        return unreachable(error, ())
    meaning = translated(error)
    if error.sqlstate == "0A000":  # the extension's files are not on this server
        meaning.hint = "Install the extension on the server first: make install."
    return meaning


def _steps(admin: Connection, start: Start, secrets: tuple[str, str, str] | None) -> Sequence[Step]:
    admin.execute("SET LOCAL client_min_messages = warning")
    # Two runs at once: the second waits, then finds the work done.
    admin.execute("SELECT pg_advisory_xact_lock(hashtextextended('memwarden init', 0))")
    if not first_row(admin, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user", {})[0]:
        raise NotAllowed(
            "memwarden init needs a superuser",
            hint="Name one with --dsn. An administrator without that right follows docs/access.md.",
        )
    org = start.organisation.removeprefix("/org/")
    given = secrets or (None, None, None)
    return [
        _extension(admin),
        _storage(admin),
        *_dictionaries(admin),
        *_scope(admin, start.scope, org, start.profile),
        made_login(admin, start.agent, "memwarden_agent", given[0]),
        _agent(admin, org, start.agent, start.scope, "contributor", "agent"),
        made_login(admin, start.reviewer, "memwarden_reviewer", given[1]),
        _agent(admin, org, start.reviewer, start.organisation, "reviewer", "human"),
        made_login(admin, start.application, "memwarden_agent", given[2]),
        # It captures everywhere, and extractors write in its name.
        _agent(admin, org, start.application, start.organisation, "contributor", "service"),
        _source(admin, org, f"capture:{start.source}/*", start.application),
    ]


def first_row(admin: Connection, query: LiteralString, names: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the first row, or nothing."""
    return admin.execute(query, names).fetchone() or ()


def _extension(admin: Connection) -> Step:
    there = first_row(admin, "SELECT 1 FROM pg_extension WHERE extname = 'memwarden'", {})
    if not there:
        admin.execute("CREATE EXTENSION memwarden CASCADE")
    return Step("extension", "memwarden", not there)


def _storage(admin: Connection) -> Step:
    state = "SELECT state FROM memwarden.status() WHERE component = 'storage'"
    there = first_row(admin, state, {}) == ("ok",)
    if not there:
        admin.execute("SELECT FROM memwarden.setup()")
    return Step("storage", "memwarden_data", not there)


def _dictionaries(admin: Connection) -> list[Step]:
    """Load what the judge asks, of which the server has files; status() tells what it has not."""
    known = admin.execute(
        "SELECT l.language, l.folder FROM memwarden_data.lexicon AS l"
        " WHERE memwarden_internal.has_lexicon_files(l.folder) ORDER BY l.language"
    ).fetchall()
    return [
        Step(
            "dictionary",
            language,
            first_row(
                admin,
                "SELECT l.is_new FROM memwarden.load_lexicon(%(folder)s, %(language)s) AS l",
                {"folder": folder, "language": language},
            )
            == (True,),
        )
        for language, folder in known
    ]


def _scope(admin: Connection, path: str, org: str, profile: str | None) -> list[Step]:
    """Make the scope; an organisation that begins with it gets its profile."""
    begun = first_row(
        admin, "SELECT 1 FROM memwarden_data.organisation WHERE name = %(org)s", {"org": org}
    )
    there = first_row(
        admin, "SELECT 1 FROM memwarden.scopes WHERE scope = %(path)s", {"path": path}
    )
    if not there:
        admin.execute("SELECT memwarden.create_scope(path => %s)", (path,))
    step = Step("scope", path, not there)
    return [step, _profile(admin, org, profile if begun else profile or "balanced")]


def _profile(admin: Connection, org: str, chosen: str | None) -> Step:
    own, used = first_row(
        admin,
        "SELECT o.profile, coalesce(memwarden_internal.profile_of(o.org_id), 'custom')"
        " FROM memwarden_data.organisation AS o WHERE o.name = %(org)s",
        {"org": org},
    )
    if chosen in (None, own):
        return Step("profile", used, made=False)
    admin.execute("SELECT memwarden.use_profile(%s, org => %s)", (chosen, org))
    note = f"of {org}" if chosen == "strict" else f"of {org}; {_STRICT}"
    return Step("profile", str(chosen), made=True, note=note)


def made_login(admin: Connection, name: str, group: str, password: str | None) -> Step:
    """Make a login of a group, where there is none of that name."""
    there = first_row(
        admin,
        "SELECT r.rolsuper, r.rolcanlogin, pg_has_role(r.oid, %(group)s, 'MEMBER')"
        " FROM pg_roles AS r WHERE r.rolname = %(name)s",
        {"name": name, "group": group},
    )
    if there:
        # Roles belong to the whole server: this one may be somebody's who never heard of memory.
        if there != (False, True, True):
            raise AlreadyExists(
                f"role {name} exists and is no login of {group}, or is a superuser",
                hint=f"Choose another name, or run: GRANT {group} TO {name};"
                " a superuser is never the right login.",
            )
        return Step("login", name, made=False)
    admin.execute(SQL("CREATE ROLE {} LOGIN").format(Identifier(name)))
    admin.execute(SQL("GRANT {} TO {}").format(Identifier(group), Identifier(name)))
    if password is None:
        return Step("login", name, made=True, note=f"without a password: \\password {name} in psql")
    hashed = admin.pgconn.encrypt_password(password.encode(), name.encode(), b"scram-sha-256")
    admin.execute(
        SQL("ALTER ROLE {} PASSWORD {}").format(Identifier(name), Literal(hashed.decode()))
    )
    return Step("login", name, made=True, note="with the password of the file")


def _agent(admin: Connection, org: str, name: str, home: str, role: str, kind: str) -> Step:
    there = first_row(
        admin,
        "SELECT a.home, a.role, %(name)s = ANY (a.logins::text[])"
        " FROM memwarden.agents AS a WHERE a.org = %(org)s AND a.agent = %(name)s",
        {"org": org, "name": name},
    )
    if there and there != (home, role, True):
        raise AlreadyExists(
            f"agent {name} exists and is not the {role} of {home} with that login",
            hint="Choose another name, or see: SELECT agent, home, role, logins"
            " FROM memwarden.agents;",
        )
    if not there:
        admin.execute(
            "SELECT memwarden.register_agent(name => %(name)s, scope => %(home)s,"
            " login_role => %(name)s, role => %(role)s, kind => %(kind)s,"
            " descendants => true)",
            {"name": name, "home": home, "role": role, "kind": kind},
        )
    return Step(role, name, not there, f"in {home}")


def _source(admin: Connection, org: str, pattern: str, issuer: str) -> Step:
    there = first_row(
        admin,
        "SELECT s.issuer FROM memwarden.sources AS s"
        " WHERE s.org = %(org)s AND s.uri_pattern = %(pattern)s",
        {"org": org, "pattern": pattern},
    )
    if not there:
        admin.execute(
            "SELECT memwarden.define_source(uri_pattern => %(pattern)s, type => 'human_input',"
            " issuer => %(issuer)s, org => %(org)s)",
            {"pattern": pattern, "issuer": issuer, "org": org},
        )
    return Step("source", pattern, not there, f"what a person says to {issuer}")
