"""Bearer tokens of the HTTP server, and the connection behind each.

A table has a line for each token: the token, a space, and a libpq connection string for whom it
stands, which completes the server's own (`--dsn`). Lines that begin with # are comments:

    q3l0Ww0ys3m8KX1w8bOe5V1kqv0mXG2c user=ana_agent
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import stat
from pathlib import Path

import psycopg
from mcp.server.auth.provider import AccessToken
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memwarden.errors import InvalidArgument, MemwardenError, NotAllowed

log = logging.getLogger("memwarden.mcp")

ENVIRONMENT = "MEMWARDEN_MCP_TOKENS"
_LEAST = 24
"""Characters: fewer can be guessed."""


class TokenTable:
    """Verifies tokens, as the SDK asks it to. It keeps their hashes, not the tokens."""

    def __init__(self, text: str, dsn: str = "") -> None:
        """Read a table.

        Raises:
            InvalidArgument: a line cannot be read, a token is short or comes twice, there is none.
        """
        self._dsn = dsn
        self._file: Path | None = None
        self._read = _digest(text)
        self.connections = _connections(text, dsn)

    @classmethod
    def load(cls, file: Path | None, dsn: str = "") -> TokenTable:
        """Read the table from a file that only its owner may read, or from the environment.

        What the file says counts for each request anew.

        Raises:
            NotAllowed: others may read the file.
            InvalidArgument: it cannot be read, see `TokenTable`; or there is neither.
        """
        text = os.environ.get(ENVIRONMENT, "") if file is None else _private_text(file)
        if file is None and not text:
            raise InvalidArgument(
                "over HTTP each principal needs a token",
                hint=f"Name a file with --tokens, or set {ENVIRONMENT}.",
            )
        table = cls(text, dsn)
        table._file = file
        return table

    def connection(self, name: str) -> str | None:
        """Return the connection string of a token by its hash; None where it is known no more."""
        self._refresh()
        return self.connections.get(name)

    def _refresh(self) -> None:
        """Read the file again where it says something else; nobody is known while it is wrong."""
        if self._file is None:
            return
        try:
            text = _private_text(self._file)
            if _digest(text) != self._read:
                self.connections = _connections(text, self._dsn)
                self._read = _digest(text)
        except MemwardenError as error:
            if self.connections:
                log.error("no token is accepted until it is mended: %s", error)
            self.connections, self._read = {}, ""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return for whom a token stands, or None. Takes as long for each that is not known."""
        self._refresh()
        asked = _digest(token)
        found = None
        for name in self.connections:
            if hmac.compare_digest(name, asked):
                found = name
        if found is None:
            return None
        return AccessToken(token=token, client_id=found, scopes=[])


def _private_text(file: Path) -> str:
    try:
        with file.open(encoding="utf-8") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            if mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise NotAllowed(
                    f"{file} can be read or written by others", hint=f"Run: chmod 600 {file}"
                )
            return opened.read()
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument(f"{file} cannot be read") from None


def _connections(text: str, dsn: str) -> dict[str, str]:
    """Return the connection string of each token, by the token's hash."""
    connections: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        token, _, conninfo = line.strip().partition(" ")
        if len(token) < _LEAST or not token.isascii():
            raise InvalidArgument(
                f"line {number} of the tokens: the token has fewer than {_LEAST} characters",
                hint="Make one with: openssl rand -base64 33",
            )
        try:
            own = conninfo_to_dict(conninfo)
            whole = make_conninfo(dsn, **own)
        except psycopg.ProgrammingError:
            # Its message quotes the string, which may hold a password.
            own, whole = {}, ""
        if not own.get("user"):
            raise InvalidArgument(
                f"line {number} of the tokens names no login",
                hint="Write: TOKEN user=LOGIN, with a password or certificate where needed.",
            )
        name = _digest(token)
        if name in connections:
            raise InvalidArgument(f"line {number} of the tokens: the token comes twice")
        connections[name] = whole
    if not connections:
        raise InvalidArgument("there are no tokens", hint="Write a line: TOKEN user=LOGIN")
    return connections


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
