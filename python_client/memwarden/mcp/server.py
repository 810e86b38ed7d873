"""Builds the server of a profile, and serves it over stdio or HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

import psycopg
import uvicorn
from mcp.server.auth.provider import TokenVerifier
from mcp.server.auth.routes import build_resource_metadata_url
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.server.transport_security import TransportSecuritySettings
from psycopg.conninfo import make_conninfo
from pydantic import AnyHttpUrl
from starlette.types import ASGIApp

from memwarden._sync.client import Client
from memwarden.embedders import Embedder
from memwarden.mcp import agent, reviewer, tasks
from memwarden.mcp.arriving import options
from memwarden.mcp.issuers import READ, Issuer
from memwarden.mcp.principals import BearerPrincipals, OnePrincipal, Principals
from memwarden.mcp.resources import add_items, add_proposals
from memwarden.mcp.scopes import Scoped
from memwarden.mcp.tokens import TokenTable

Profile = Literal["agent", "reviewer"]


def build(
    profile: Profile,
    who: Principals,
    *,
    auth: AuthSettings | None = None,
    verifier: TokenVerifier | None = None,
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

    server = MCPServer(
        "memwarden",
        title="memwarden",
        version=_version(),
        instructions=(agent if profile == "agent" else reviewer).INSTRUCTIONS + asks,
        auth=auth,
        token_verifier=verifier,
        log_level="WARNING",
        lifespan=closing,
        tools=tools_of(profile, who),
    )
    add_items(server, who)
    if profile == "reviewer":
        add_proposals(server, who)
    return server


def tools_of(profile: Profile, who: Principals) -> list[Tool]:
    """Return the tools of a profile."""
    if profile == "agent":
        return [*agent.AgentTools(who).tools(), *tasks.TaskTools(who).tools()]
    return reviewer.ReviewerTools(who).tools()


def serve_stdio(
    profile: Profile, dsn: str, embedder: Embedder | None = None, *, asks: str = ""
) -> None:
    """Serve one principal over standard input and output, until the host closes them."""
    build(profile, OnePrincipal(dsn, embedder), asks=asks).run("stdio")


def told_of(dsn: str) -> str:
    """Return what the store asks of writes.

    Raises:
        MemwardenError: it cannot be asked, as each call will tell.
    """
    with suppress(psycopg.ProgrammingError):  # connect() says in its own words what is wrong
        dsn = make_conninfo(dsn, connect_timeout=5)
    with Client.connect(dsn) as memory:
        return f"{memory.whoami().asks}.\n"


def http_app(
    profile: Profile,
    verifier: TokenTable | Issuer,
    host: str,
    port: int,
    url: str | None = None,
    *,
    who: Principals | None = None,
) -> ASGIApp:
    """Return the application that serves `/mcp` to whoever brings a token.

    `url`: what hosts call it where a proxy stands in front. `who`: for whom a token of an issuer
    stands; a table of tokens says so itself.
    """
    origin = (url or f"http://{_bracketed(host)}:{port}").rstrip("/")
    if isinstance(verifier, Issuer):
        # This server is the resource alone: the metadata names the issuer, who gives tokens.
        auth = AuthSettings.model_validate(
            {
                "issuer_url": verifier.issuer,
                "resource_server_url": verifier.audience,
                "required_scopes": [READ],
                "validate_token_resource": True,
            }
        )
    else:
        # No OAuth server stands behind these tokens, so none is announced; the SDK wants a name.
        auth = AuthSettings(issuer_url=AnyHttpUrl(origin), resource_server_url=None)
        who = who or BearerPrincipals(verifier.connection)
    assert who is not None
    server = build(profile, who, auth=auth, verifier=verifier)
    name = origin.partition("://")[2]
    # A page in a browser must not reach the server under a name of its own making.
    allowed = [name, f"{_bracketed(host)}:{port}"]
    if host in ("127.0.0.1", "::1", "localhost"):
        allowed += [f"{each}:{port}" for each in ("127.0.0.1", "localhost", "[::1]")]
    # Without sessions: each request proves anew for whom it speaks, to whichever process it comes.
    app = server.streamable_http_app(
        stateless_http=True,
        host=host,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=allowed,
            allowed_origins=[origin, *(f"http://{each}" for each in allowed)],
        ),
    )
    if not isinstance(verifier, Issuer):
        return app
    assert auth.resource_server_url is not None
    readers = {
        each.name
        for each in tools_of(profile, who)
        if each.annotations is not None and each.annotations.read_only_hint
    }
    metadata = str(build_resource_metadata_url(auth.resource_server_url))
    return Scoped(app, verifier, readers, metadata)


def serve_http(
    profile: Profile,
    verifier: TokenTable | Issuer,
    host: str,
    port: int,
    url: str | None = None,
    *,
    who: Principals | None = None,
) -> None:
    """Serve over HTTP until told to stop."""
    app = http_app(profile, verifier, host, port, url, who=who)
    uvicorn.run(app, host=host, port=port, log_level="warning", access_log=False, **options())


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _version() -> str:
    try:
        return version("memwarden")
    except PackageNotFoundError:  # run from a checkout
        return ""
