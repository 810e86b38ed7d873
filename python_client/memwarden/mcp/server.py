"""Builds the server of a profile, and serves it over stdio or HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

import psycopg
import uvicorn
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from psycopg.conninfo import make_conninfo
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from memwarden._sync.client import Client
from memwarden.errors import MemwardenError
from memwarden.mcp import agent, reviewer, tasks
from memwarden.mcp.arriving import options
from memwarden.mcp.principals import BearerPrincipals, OnePrincipal, Principals
from memwarden.mcp.resources import add_items, add_proposals
from memwarden.mcp.tokens import TokenTable

Profile = Literal["agent", "reviewer"]


def build(
    profile: Profile,
    who: Principals,
    *,
    auth: AuthSettings | None = None,
    tokens: TokenTable | None = None,
    asks: str = "",
) -> MCPServer:
    """Return the server of a profile, whose calls act for whom `who` finds.

    `asks`: what the host is told besides of writes.
    """

    @asynccontextmanager
    async def closing(_: MCPServer) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await who.close()

    tools = (
        [*agent.AgentTools(who).tools(), *tasks.TaskTools(who).tools()]
        if profile == "agent"
        else reviewer.ReviewerTools(who).tools()
    )
    server = MCPServer(
        "memwarden",
        title="memwarden",
        version=_version(),
        instructions=(agent if profile == "agent" else reviewer).INSTRUCTIONS + asks,
        auth=auth,
        token_verifier=tokens,
        log_level="WARNING",
        lifespan=closing,
        tools=tools,
    )
    add_items(server, who)
    if profile == "reviewer":
        add_proposals(server, who)
    return server


def serve_stdio(profile: Profile, dsn: str) -> None:
    """Serve one principal over standard input and output, until the host closes them."""
    build(profile, OnePrincipal(dsn), asks=told_of(dsn)).run("stdio")


def told_of(dsn: str) -> str:
    """What the store asks of writes; nothing where it cannot be asked, as each call will tell."""
    with (
        suppress(MemwardenError, psycopg.Error),
        Client.connect(make_conninfo(dsn, connect_timeout=5)) as memory,
    ):
        return f"{memory.whoami().asks}.\n"
    return ""


def http_app(
    profile: Profile, tokens: TokenTable, host: str, port: int, url: str | None = None
) -> Starlette:
    """Return the application that serves `/mcp` to whoever brings a token.

    `url`: what hosts call it where a proxy stands in front.
    """
    origin = (url or f"http://{_bracketed(host)}:{port}").rstrip("/")
    # No OAuth server stands behind these tokens, so none is announced; the SDK asks for a name.
    auth = AuthSettings(issuer_url=AnyHttpUrl(origin), resource_server_url=None)
    server = build(profile, BearerPrincipals(tokens.connection), auth=auth, tokens=tokens)
    name = origin.partition("://")[2]
    # A page in a browser must not reach the server under a name of its own making.
    allowed = [name, f"{_bracketed(host)}:{port}"]
    if host in ("127.0.0.1", "::1", "localhost"):
        allowed += [f"{each}:{port}" for each in ("127.0.0.1", "localhost", "[::1]")]
    # Without sessions: each request proves anew for whom it speaks.
    return server.streamable_http_app(
        stateless_http=True,
        host=host,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=allowed,
            allowed_origins=[origin, *(f"http://{each}" for each in allowed)],
        ),
    )


def serve_http(
    profile: Profile, tokens: TokenTable, host: str, port: int, url: str | None = None
) -> None:
    """Serve over HTTP until told to stop."""
    app = http_app(profile, tokens, host, port, url)
    uvicorn.run(app, host=host, port=port, log_level="warning", access_log=False, **options())


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _version() -> str:
    try:
        return version("memwarden")
    except PackageNotFoundError:  # run from a checkout
        return ""
