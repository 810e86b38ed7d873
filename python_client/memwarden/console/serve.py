"""Serves the console until it is told to stop."""

from __future__ import annotations

import socket

import waitress

from memwarden.console.app import create_app
from memwarden.console.settings import Settings


def serve(settings: Settings, host: str, port: int, proxy: str | None = None) -> None:
    """Listen on an address; `proxy` is the one whose word about its clients' is believed.

    Raises:
        OSError: the address is taken, or not ours.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family)
    app = create_app(settings)
    try:
        waitress.serve(
            app,
            sockets=[listening],
            threads=8,
            ident=None,
            channel_timeout=60,
            clear_untrusted_proxy_headers=True,
            trusted_proxy=proxy,
            trusted_proxy_headers={"x-forwarded-for"} if proxy else set(),
        )
    finally:
        app.extensions["memwarden"].close_all()
