"""`email`: sends the notice through the mail server of the worker's machine or network.

Which server that is stands in the worker's environment, not in the database: MEMWARDEN_SMTP_HOST,
MEMWARDEN_SMTP_PORT (587), MEMWARDEN_SMTP_FROM; and where the server wants to know who sends,
MEMWARDEN_SMTP_USER with MEMWARDEN_SECRET_SMTP, or MEMWARDEN_SECRET_SMTP_FILE. STARTTLS is required
of every server but one on this machine. The target is one address, or several with commas between.
"""

from __future__ import annotations

import os
import smtplib
import socket
import ssl
from collections.abc import Mapping
from contextlib import ExitStack
from email.errors import MessageError
from email.message import EmailMessage
from typing import Any

from memwarden.worker.attempt import cut_with_the_attempt
from memwarden.worker.plugin import PluginError
from memwarden.worker.plugins.settings import secret

_TIMEOUT = 10.0
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_LINES = ("layer", "scope", "class", "tier", "risk", "reasons", "state", "due_at", "expires_at")


class Email:
    """Writes to people."""

    name = "email"
    version = "1"

    def send(self, notice: Mapping[str, Any], target: str, _settings: Mapping[str, Any], /) -> None:
        """Send the mail; its Message-ID is the notice's."""
        host = os.environ.get("MEMWARDEN_SMTP_HOST")
        sender = os.environ.get("MEMWARDEN_SMTP_FROM")
        if not host or not sender:
            raise PluginError("MEMWARDEN_SMTP_HOST or MEMWARDEN_SMTP_FROM is not set")
        try:
            port = int(os.environ.get("MEMWARDEN_SMTP_PORT", "587"))
            mail = _written(notice, sender, target)
        except (ValueError, MessageError):
            raise PluginError("the address or the port cannot be read") from None
        user = os.environ.get("MEMWARDEN_SMTP_USER")
        key = secret({"secret_env": "MEMWARDEN_SECRET_SMTP"}) if user else None
        try:
            with ExitStack() as held, _Server(host, port, held) as server:
                server.ehlo_or_helo_if_needed()
                if server.has_extn("starttls"):
                    server.starttls(context=ssl.create_default_context())
                elif host not in _LOCAL:
                    raise PluginError("the mail server offers no STARTTLS")
                if user and key is not None:
                    server.login(user, key)
                server.send_message(mail)
        except smtplib.SMTPResponseException as error:
            raise PluginError(f"the mail server answers with {error.smtp_code}") from None
        except (OSError, smtplib.SMTPException) as error:
            raise PluginError(f"the mail could not be sent: {type(error).__name__}") from None


class _Server(smtplib.SMTP):
    """A mail server, from whose first word on the courier can end the connection."""

    def __init__(self, host: str, port: int, held: ExitStack) -> None:
        self._held = held
        super().__init__(host, port, timeout=_TIMEOUT)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        line: socket.socket = super()._get_socket(host, port, timeout)  # type: ignore[misc]
        self._held.enter_context(cut_with_the_attempt(line))
        return line


def _written(notice: Mapping[str, Any], sender: str, target: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = sender
    mail["To"] = target
    mail["Message-ID"] = f"<{notice['id']}@memwarden>"
    mail["Auto-Submitted"] = "auto-generated"
    mail["Subject"] = f"[memwarden] {_headline(notice)}"
    lines = [
        f"{name.replace('_', ' ')}: {_said(notice[name])}" for name in _LINES if name in notice
    ]
    lines.insert(0, f"proposal: {notice['proposal_id']}")
    lines += ["", notice["link"]] if "link" in notice else []
    mail.set_content("\n".join(lines) + "\n")
    return mail


def _headline(notice: Mapping[str, Any]) -> str:
    where = f"{notice['layer']}, {notice['scope']}"
    if notice["event"] == "opened":
        return f"a write waits for a review ({where})"
    if notice["event"] == "escalated":
        return f"a review is overdue, level {notice['escalated']} ({where})"
    return f"a review is {notice['event'].replace('_', ' ')} ({where})"


def _said(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
