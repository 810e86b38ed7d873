"""What a call can raise. Errors are told apart by SQLSTATE, never by their message.

A refused *write* is not an error: it comes back as a result whose outcome says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import psycopg
from psycopg.sql import Identifier


class MemwardenError(Exception):
    """The server, or the client before it, declined a call.

    Attributes:
        sqlstate: the server's five-character code; None when the server was not reached.
        detail: which object was meant, by name or id; never remembered content.
        hint: what to do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        sqlstate: str | None = None,
        detail: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate
        self.detail = detail
        self.hint = hint
        if hint is not None:
            self.add_note(hint)  # below a traceback

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}: {self.detail}" if self.detail else message


class NotIdentified(MemwardenError):
    """The login is bound to nobody, or the token was refused (SQLSTATE 28000)."""


class NotReady(MemwardenError):
    """What the call needs is not there (55000).

    The extension is missing, not set up, or its storage is of another version; the scope is closed,
    the time in which an item can be recovered over, the log not sealed that far.
    """


class NotAllowed(MemwardenError):
    """The login role or the agent lacks a right that the call needs (42501)."""


class NotFound(MemwardenError):
    """There is no such item, scope or agent, or none that the caller may see (42704)."""


class AlreadyExists(MemwardenError):
    """There is one already: a scope, a role, or an item of that subject and predicate (42710)."""


class ChangedSince(MemwardenError):
    """The item is no longer at the version that the call named; nothing was done (40001)."""


class InvalidArgument(MemwardenError, ValueError):
    """An argument has a value that the call does not take (class 22)."""


class InvalidContent(InvalidArgument):
    """The content is not JSON that the database can hold; nothing was sent."""


class NotInstalled(MemwardenError, ModuleNotFoundError):
    """A package is missing; the message has the command that installs it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is missing; run: pip install 'memwarden[{extra}]'")


class WrongIsolation(MemwardenError):
    """The transaction is of a kind in which nothing may be written (class 25)."""


class ConnectionFailed(MemwardenError):
    """The server cannot be reached, or the connection broke and so did its replacement.

    Attributes:
        request_ids: the writes whose outcome is not known. Ask `request_status` for them, or
            write them again with the same `request_id`: a request counts once.
    """

    def __init__(
        self,
        message: str,
        *,
        sqlstate: str | None = None,
        detail: str | None = None,
        hint: str | None = None,
        request_ids: Sequence[UUID] = (),
    ) -> None:
        super().__init__(message, sqlstate=sqlstate, detail=detail, hint=hint)
        self.request_ids = tuple(request_ids)


_BY_SQLSTATE: dict[str, type[MemwardenError]] = {
    "28000": NotIdentified,
    "3F000": NotReady,  # schema memwarden does not exist: the extension is not in this database
    "40001": ChangedSince,
    "42501": NotAllowed,
    "42704": NotFound,
    "42710": AlreadyExists,
    "55000": NotReady,
}
_BY_CLASS: dict[str, type[MemwardenError]] = {"22": InvalidArgument, "25": WrongIsolation}

_NOT_INSTALLED = "Run CREATE EXTENSION memwarden CASCADE, then SELECT memwarden.setup()."


def translated(error: psycopg.Error, login: str | None = None) -> MemwardenError:
    """Return the error that stands for one that psycopg raised on a live connection of a login."""
    sqlstate = error.sqlstate or ""
    kind = _BY_SQLSTATE.get(sqlstate) or _BY_CLASS.get(sqlstate[:2]) or MemwardenError
    return kind(
        error.diag.message_primary or str(error),
        sqlstate=error.sqlstate,
        detail=error.diag.message_detail,
        hint=error.diag.message_hint or _hint(sqlstate, login),
    )


def _hint(sqlstate: str, login: str | None) -> str | None:
    """Return what to do about an error of PostgreSQL's own: those of memwarden have a hint."""
    if sqlstate == "3F000":
        return _NOT_INSTALLED
    if sqlstate != "42501" or not login:
        return None
    name = Identifier(login).as_string(None)
    return (
        f"The login {name} has no role of memwarden that may make this call. Ask whoever"
        f" administers the database: GRANT memwarden_agent TO {name}; (an agent), or"
        " memwarden_reviewer (a person who reviews), memwarden_worker (the worker); then"
        " memwarden.register_agent() says who it is. docs/access.md lists the roles."
    )


def unreachable(error: psycopg.Error, request_ids: Sequence[UUID]) -> ConnectionFailed:
    """Return the error for a connection that could not be made or kept."""
    return ConnectionFailed(
        error.diag.message_primary or str(error).strip() or "the connection was lost",
        sqlstate=error.sqlstate,
        detail=error.diag.message_detail,
        hint=error.diag.message_hint,
        request_ids=request_ids,
    )
