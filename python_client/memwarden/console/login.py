"""Lets somebody in as whom the database takes them for, and as nobody else.

The console holds no right of its own. With a login role, the connection is that role's, and the
password has gone once it is made. With a token, the connection is the shared login's, and each call
acts for whom the token names; it is over with the token.
"""

from __future__ import annotations

from datetime import timedelta

import psycopg
from psycopg.conninfo import make_conninfo

from memwarden import _adapt
from memwarden._sync.client import Client
from memwarden.console.sessions import Reviewer
from memwarden.errors import MemwardenError

# No token lives longer, see issue_token().
_TOKEN_LIVES = timedelta(minutes=5)
# A server that asks for no password (trust, peer) would let in whoever reaches the console.
_PASSWORDS = "password,md5,scram-sha-256"
_PATIENCE = "-c statement_timeout=30s -c lock_timeout=10s"


_TRUSTED = (
    ": the server asks this login for no password, and then the console lets nobody in;"
    " to try it on this machine: memwarden console --as LOGIN"
)


class Refused(Exception):
    """Who this is, or that they review, could not be established. Nobody is told which.

    Its text is for the log of the console.
    """


def with_password(dsn: str, login: str, password: str) -> Reviewer:
    """Log in with a login role of the database.

    Raises:
        Refused: wrong, without a password, or not of somebody who reviews.
    """
    if not login or not password:  # libpq would look for one in the console's own surroundings
        raise Refused
    try:
        connection = _connection(dsn, user=login, password=password, require_auth=_PASSWORDS)
    except Refused:
        try:
            _connection(dsn, user=login, require_auth="none").close()
        except Refused:
            raise Refused from None
        raise Refused(_TRUSTED) from None
    return _admitted(connection)


def on_trial(dsn: str, login: str) -> Reviewer:
    """Log in as whoever started the console could, by a password or without.

    Raises:
        Refused: the server does not let that login in, or it is not of somebody who reviews.
    """
    return _admitted(_connection(dsn, user=login))


def with_token(dsn: str, token: str) -> Reviewer:
    """Log in with a token that a broker issued for somebody and the login of `dsn`.

    Raises:
        Refused: the server does not take it, or it is not of somebody who reviews.
    """
    return _admitted(_connection(dsn), token)


def _connection(dsn: str, **parameters: str) -> psycopg.Connection:
    given = psycopg.conninfo.conninfo_to_dict(dsn).get("options") or ""
    try:
        connection = psycopg.connect(
            make_conninfo(dsn, **parameters),
            autocommit=True,
            prepare_threshold=None,
            client_encoding="utf8",
            connect_timeout=10,
            application_name="memwarden console",
            options=f"{given} {_PATIENCE}".strip(),
        )
    except (psycopg.Error, UnicodeError):
        raise Refused from None
    _adapt.prepare(connection)
    return connection


def _admitted(connection: psycopg.Connection, token: str | None = None) -> Reviewer:
    # Around a connection that is handed over, the client opens no other when it breaks.
    client = Client(connection, token=token)
    try:
        me = client.whoami()
        if me.kind == "agent":
            raise Refused
        client.review_queue(max_rows=1)
    except (MemwardenError, Refused):
        connection.close()
        raise Refused from None
    return Reviewer(me.agent, me.org, client, connection, _TOKEN_LIVES if token else None)
