"""`memwarden mcp`: the MCP server, over stdio or HTTP."""

from __future__ import annotations

import ipaddress
import sys
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from memwarden._needs import needs
from memwarden.cli.embedding import WithModel, model_of
from memwarden.cli.options import Dsn, told_errors


class ProfileName(StrEnum):
    """Which tools the server has."""

    AGENT = "agent"
    REVIEWER = "reviewer"


def mcp(
    *,
    profile: Annotated[
        ProfileName, typer.Option(help="agent: to remember and find; reviewer: to decide.")
    ] = ProfileName.AGENT,
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve HTTP there, not stdio.", show_default=False),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(
            help="For HTTP: a file of lines TOKEN user=LOGIN that only you may read; "
            "without it MEMWARDEN_MCP_TOKENS has the lines.",
            show_default=False,
        ),
    ] = None,
    issuer: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="For HTTP, instead of --tokens: who issues the access tokens (OAuth). --dsn is "
            "then a login that is bound to no agent.",
            show_default=False,
        ),
    ] = None,
    jwks: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where the issuer has its keys; its metadata says so by default.",
            show_default=False,
        ),
    ] = None,
    broker: Annotated[
        str | None,
        typer.Option(
            metavar="DSN",
            envvar="MEMWARDEN_MCP_BROKER",
            help="With --issuer: the connection string of a broker (memwarden_broker).",
            show_default=False,
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            help="For HTTP behind a proxy: what hosts call it, such as https://mcp.example.org.",
            show_default=False,
        ),
    ] = None,
    embedder: WithModel = None,
    dsn: Dsn = "",
) -> None:
    """Serve memory to hosts that speak MCP, as the login of the connection. See docs/mcp.md."""
    with told_errors(), needs("mcp"):
        from memwarden.mcp import server
        from memwarden.mcp.issuers import Issuer, Keys, checked
        from memwarden.mcp.principals import BearerPrincipals, IssuedPrincipals
        from memwarden.mcp.tokens import TokenTable
    if http is None:
        if any(each is not None for each in (tokens, url, issuer, jwks)):
            raise typer.BadParameter("--tokens, --issuer, --jwks and --url belong to --http")
        asks = ""
        # The store may be there later: the host's log says now why no call will get through.
        with suppress(typer.Exit), told_errors():
            asks = server.told_of(dsn)
        server.serve_stdio(profile.value, dsn, model_of(embedder), asks=asks)
        return
    host, port = _address(http)
    if url is None and not _is_loopback(host):
        # Tokens would cross the network readable.
        raise typer.BadParameter("beyond this machine, say --url https://... of the proxy")
    if url is not None and not url.startswith("https://"):
        raise typer.BadParameter("--url begins with https://")
    if issuer is not None and (tokens is not None or broker is None):
        raise typer.BadParameter("--issuer needs --broker, and takes the place of --tokens")
    if issuer is None and jwks is not None:
        raise typer.BadParameter("--jwks belongs to --issuer")
    at = f"{(url or f'http://{http}').rstrip('/')}/mcp"
    verifier: TokenTable | Issuer
    who: BearerPrincipals | IssuedPrincipals
    model = model_of(embedder)
    with told_errors():
        if issuer is None or broker is None:
            verifier = TokenTable.load(tokens, dsn)
            who = BearerPrincipals(verifier.connection, model)
        else:
            keys = Keys(issuer, None if jwks is None else checked(jwks))
            verifier = Issuer(issuer, at, keys)
            who = IssuedPrincipals(dsn, broker, model)
    print(f"MCP is at {at}", file=sys.stderr, flush=True)
    server.serve_http(profile.value, verifier, host, port, url, who=who)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise typer.BadParameter("--http is HOST:PORT, such as 127.0.0.1:8322")
    return host.strip("[]"), int(port)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
