"""What a console is started with."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the database is, how browsers reach the console, and how long a session lasts.

    Attributes:
        dsn: the database. Its user is the login that tokens are issued for; who logs in with a
            login role of their own replaces it.
        url: the origin that browsers use, such as https://review.example.org.
        idle: a session that was not used for so long is over.
        longest: a session is over after so long, used or not.
        sessions: so many people can be logged in at once, a connection each.
        attempts: so many failed log-ins from an address, or for a login, are let through ...
        window: ... within such a time.
        trial: whoever presents `key` as a token is this login, however the server lets it in.
        key: what the one who started the console was shown, who could connect so without it.
    """

    dsn: str
    url: str = "http://127.0.0.1:8321"
    idle: timedelta = timedelta(minutes=15)
    longest: timedelta = timedelta(hours=8)
    sessions: int = 50
    attempts: int = 10
    window: timedelta = timedelta(minutes=10)
    trial: str = ""
    key: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def secure(self) -> bool:
        """Whether browsers reach the console by HTTPS."""
        return self.url.startswith("https://")

    @property
    def host(self) -> str:
        """Return what browsers send as Host."""
        return urlsplit(self.url).netloc

    @property
    def cookie(self) -> str:
        """Return the name of the session's cookie; browsers let only this very host set it."""
        return "__Host-memwarden" if self.secure else "memwarden"
