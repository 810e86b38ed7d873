"""A fresh database for measuring recall, and the conversations in it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from uuid import UUID

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from memwarden._sync.client import Client
from memwarden.demo.database import Connection, create_database, create_role, explained
from memwarden.evaluation.recall.corpus import Talk
from memwarden.requests import WriteRequest

_SOURCE = "conversation:*"
_ORGANISATION = "/org/evaluation"
# What is measured is recall: no allowance, and nobody is asked about a write.
_UNLIMITED = """
SELECT memwarden.configure_layer(l.layer, '{"rate_limit": null}')
  FROM memwarden_data.layer AS l WHERE l.rate_limit IS NOT NULL
"""
_UNASKED = """
SELECT memwarden.set_approval_policy(p.layer, approval => 'never')
  FROM memwarden.approval_policies AS p WHERE p.approval <> 'never'
"""

Vectors = Sequence[Sequence[float] | None]


def scope_of(talk: Talk, number: int, *, embedded: bool) -> str:
    """Return the path of the scope that holds a conversation, with the vectors given or without."""
    name = re.sub(r"[^a-z0-9_-]+", "-", talk.name.lower()).strip("-") or "talk"
    return f"{_ORGANISATION}/domain/{name[:150]}-{number}{'-embedded' if embedded else ''}"


@contextmanager
def fresh(dsn: str, what: str, scopes: Iterable[str], *more: str) -> Iterator[Client]:
    """Make a database on the server of `dsn` and yield the client of an agent that writes there.

    `what` is evaluated: the database is called memwarden_evaluation_ and that. `more`: statements
    that a superuser runs in it before.

    Raises:
        NotAllowed: a database or role of that name exists which no evaluation made, or the login
            may not create them.
        MemwardenError: the server cannot be reached or has no memwarden.
    """
    password = secrets.token_urlsafe(24)
    database, command = f"memwarden_evaluation_{what}", f"evaluate {what}"
    role = f"{database}_agent"
    try:
        with psycopg.connect(dsn, autocommit=True) as server:
            create_role(server, role, password, command)
            create_database(server, database, command)
        with psycopg.connect(make_conninfo(dsn, dbname=database), autocommit=True) as admin:
            _set_up(admin, role, scopes)
            for statement in more:
                admin.execute(statement.encode())
    except psycopg.Error as error:
        raise explained(error) from None
    with Client.connect(
        make_conninfo(dsn, dbname=database, user=role, password=password)
    ) as memory:
        yield memory


def _set_up(admin: Connection, role: str, scopes: Iterable[str]) -> None:
    admin.execute("SET client_min_messages = warning")
    admin.execute("CREATE EXTENSION memwarden CASCADE")
    admin.execute("SELECT memwarden.setup()")
    admin.execute(_UNLIMITED)
    admin.execute(_UNASKED)
    for path in (_ORGANISATION, *scopes):
        admin.execute("SELECT memwarden.create_scope(path => %s)", (path,))
    admin.execute(SQL("GRANT memwarden_agent TO {}").format(Identifier(role)))
    admin.execute(
        "SELECT memwarden.register_agent(name => 'evaluation', scope => %s, login_role => %s,"
        " descendants => true)",
        (_ORGANISATION, role),
    )
    admin.execute(
        "SELECT memwarden.define_source(uri_pattern => %s, type => 'human_input', authority => 1,"
        " issuer => 'evaluation')",
        (_SOURCE,),
    )


def remember(
    memory: Client, talk: Talk, scope: str, vectors: Vectors | None
) -> tuple[Mapping[UUID, frozenset[str]], int]:
    """Write what was said. Return which turns each item stands for, and how many were refused.

    A turn that says what another has said stands with it.
    """
    results = memory.write_many(
        WriteRequest(
            layer="episodic",
            content={"text": turn.text},
            scope=scope,
            evidence=[{"uri": _SOURCE.replace("*", turn.name), "excerpt": turn.text}],
            embedding=None if vectors is None else vectors[number],
            origin={"session": turn.session},
            valid_from=turn.at,
        )
        for number, turn in enumerate(talk.turns)
    )
    turns: dict[UUID, frozenset[str]] = {}
    refused = 0
    for turn, result in zip(talk.turns, results, strict=True):
        if result.item_id is None:
            refused += 1
        else:
            turns[result.item_id] = turns.get(result.item_id, frozenset()) | {turn.name}
    return turns, refused
