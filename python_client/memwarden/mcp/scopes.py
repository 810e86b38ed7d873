"""What a token permits: one that may only read calls no tool that writes."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from mcp.server.auth.provider import TokenVerifier

from memwarden.mcp.issuers import READ, WRITE

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

_LARGEST = 4 * 1024 * 1024
"""Bytes: the SDK refuses what is larger."""


class Scoped:
    """Answers 403 for a call that the token does not permit, and names the scope that would.

    The database is the other door: with a token that may only read, no transaction can write.
    """

    def __init__(
        self, app: App, verifier: TokenVerifier, readers: Collection[str], metadata: str
    ) -> None:
        self._app = app
        self._verifier = verifier
        self._readers = readers
        self._metadata = metadata

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, _naming(READ, send))
            return
        token = _bearer(scope)
        known = None if token is None else await self._verifier.verify_token(token)
        if known is None:
            # The SDK asks anew, and a key may have come since, or a token have begun.
            await self._app(_bare(scope), receive, _naming(READ, send))
            return
        if WRITE in known.scopes:
            await self._app(scope, receive, _naming(READ, send))
            return
        body = await _whole(receive)
        if body is None or _called(body) <= set(self._readers):
            await self._app(scope, _again(body or b"", receive), _naming(READ, send))
            return
        told = json.dumps({"error": "insufficient_scope", "scope": WRITE}).encode()
        challenge = f'Bearer error="insufficient_scope", scope="{WRITE}"'
        challenge += f', resource_metadata="{self._metadata}"'
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(told)).encode()),
            (b"www-authenticate", challenge.encode()),
        ]
        await send({"type": "http.response.start", "status": 403, "headers": headers})
        await send({"type": "http.response.body", "body": told})


def _bearer(scope: Message) -> str | None:
    for name, value in scope["headers"]:
        if name == b"authorization" and value[:7].lower() == b"bearer ":
            return str(value[7:].decode("latin-1"))
    return None


def _bare(scope: Message) -> Message:
    """Return a request without its token."""
    kept = [each for each in scope["headers"] if each[0] != b"authorization"]
    return {**scope, "headers": kept}


async def _whole(receive: Receive) -> bytes | None:
    """Return the body of a request; None where it is too large or the peer has gone."""
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += bytes(message.get("body", b""))
        if len(body) > _LARGEST:
            return None
        if not message.get("more_body", False):
            return body


def _again(body: bytes, receive: Receive) -> Receive:
    """Return what gives the body once more, and then what comes."""
    given = False

    async def receiving() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving


def _called(body: bytes) -> set[str]:
    """Return the tools that a body calls; what cannot be read calls none, and the SDK says so."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return set()
    requests = found if isinstance(found, list) else [found]
    calls = [e for e in requests if isinstance(e, dict) and e.get("method") == "tools/call"]
    return {str(p.get("name")) for p in (e.get("params") for e in calls) if isinstance(p, dict)}


def _naming(scope: str, send: Send) -> Send:
    """Return what sends on, and names the scope to ask for where a token is asked for."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] in (401, 403):
            message["headers"] = [
                (name, value + f', scope="{scope}"'.encode())
                if name.lower() == b"www-authenticate"
                else (name, value)
                for name, value in message["headers"]
            ]
        await send(message)

    return sending
