"""`memwarden console`: the web page of those who review."""

from __future__ import annotations

import ipaddress
import logging
import sys
from typing import Annotated
from urllib.parse import urlsplit

import typer

from memwarden._needs import needs
from memwarden.cli.log_lines import log_lines
from memwarden.cli.options import Dsn, told_errors
from memwarden.cli.terminal import print_json_line, printable
from memwarden.console.settings import Settings


def console(
    *,
    dsn: Dsn = "",
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8321,
    url: Annotated[
        str | None,
        typer.Option(
            help="What browsers call it, such as https://review.example.org.", show_default=False
        ),
    ] = None,
    proxy: Annotated[
        str | None,
        typer.Option(help="The address of the proxy in front of it.", show_default=False),
    ] = None,
    trial: Annotated[
        str | None,
        typer.Option(
            "--as",
            help="A login role to try the console as, on this machine: whoever has the token that"
            " is printed is let in as it, also where the database asks for no password.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Where it is, then its log: a JSON line each on stdout.")
    ] = False,
) -> None:
    """Serve the page on which people decide about what waits for approval, until Ctrl-C.

    Beyond this machine it needs a proxy that speaks HTTPS, and its --url. See docs/console.md.
    """
    with told_errors(), needs("console"):
        from memwarden.console.serve import serve
    if trial is not None and (url is not None or proxy is not None or not _is_loopback(host)):
        raise typer.BadParameter("--as is for this machine: without --url, --proxy and --host")
    settings = Settings(dsn, _origin(url, host, port), trial=trial or "")
    log_lines(logging.INFO, as_json)
    if as_json:
        shown = {"url": settings.url} | ({"token": settings.key} if trial else {})
        print_json_line(shown)
    else:
        print(f"The console is at {settings.url}", flush=True)
        if trial:
            print(f"Log in as {printable(trial)} with the token {settings.key}", flush=True)
    try:
        serve(settings, host, port, proxy)
    except OSError as error:
        print(f"error: {host}:{port}: {error.strerror}", file=sys.stderr)
        raise typer.Exit(1) from None


def _origin(url: str | None, host: str, port: int) -> str:
    if url is None:
        if not _is_loopback(host):
            # Passwords would cross the network readable.
            raise typer.BadParameter("beyond this machine, say --url https://...")
        name = f"[{host}]" if ":" in host else host
        return f"http://{name}:{port}" if port != 80 else f"http://{name}"
    parts = urlsplit(url)
    plain = parts.scheme == "http" and _is_loopback(parts.hostname or "")
    if not (parts.scheme == "https" or plain) or not parts.hostname or parts.path.strip("/"):
        raise typer.BadParameter("--url is https:// and a host, without a path")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
