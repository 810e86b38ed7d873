"""Access tokens of an issuer outside: this server is the resource that they are for.

A token counts where its signature is of a key that the issuer publishes now, and where issuer,
audience and times are right. Whom it names is an agent only where an administrator has bound that
identity (`bind_identity()`), which the database says.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
import jwt
from mcp.server.auth.provider import AccessToken

from memwarden.errors import InvalidArgument

READ: Final = "memory:read"
WRITE: Final = "memory:write"
"""Who may write may read."""

# Each with a pair of keys: a key that is published cannot sign.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]
_ALGORITHMS += ["ES256", "ES384", "ES512", "EdDSA"]
_LEEWAY = 10
_LONGEST = 8192
_KEYS_LIVE = 300.0
"""Seconds: then the keys are asked for again, and one that is gone verifies no more."""
_AGAIN = 10.0
"""Seconds between two requests for keys that no token of a known one has asked for."""
_TIMEOUT = 5.0
_METADATA = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")


class Keys:
    """The keys that an issuer publishes, asked for when one is needed, and kept for a while."""

    def __init__(self, issuer: str, jwks: str | None = None) -> None:
        self._issuer = issuer
        self._jwks = jwks
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._known_at = self._asked_at = float("-inf")
        self._asking = asyncio.Lock()

    async def find(self, key_id: str | None) -> jwt.PyJWK | None:
        """Return the key of that id; None where the issuer has none of it.

        Raises:
            httpx2.HTTPError, ValueError: the issuer does not say what its keys are.
        """
        async with self._asking:
            now = time.monotonic()
            if now - self._known_at >= _KEYS_LIVE:
                self._keys = {}
            # Tokens of keys that nobody has must not become requests to the issuer.
            if key_id not in self._keys and now - self._asked_at >= _AGAIN:
                self._asked_at = now
                self._keys = await self._fetched()
                self._known_at = now
            return self._keys.get(key_id)

    async def _fetched(self) -> dict[str | None, jwt.PyJWK]:
        async with httpx2.AsyncClient(timeout=_TIMEOUT, follow_redirects=False) as web:
            if self._jwks is None:
                self._jwks = await self._published(web)
            answer = await web.get(self._jwks)
            answer.raise_for_status()
            found = answer.json()
        keys = {}
        for each in found["keys"]:
            if each.get("kty") != "oct" and each.get("use", "sig") == "sig":
                try:
                    keys[each.get("kid")] = jwt.PyJWK(each)
                except jwt.PyJWTError:
                    continue  # of a kind that we do not know
        return keys

    async def _published(self, web: httpx2.AsyncClient) -> str:
        parts = urlsplit(self._issuer)
        origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
        places = [f"{origin}{each}{path}" for each in _METADATA]
        places.append(f"{origin}{path}{_METADATA[1]}")
        for place in places:
            answer = await web.get(place)
            if answer.status_code == 200:
                told = answer.json()
                if told.get("issuer") == self._issuer:
                    return checked(str(told["jwks_uri"]))
        raise ValueError("the issuer publishes no metadata of its own")


class Issuer:
    """Verifies access tokens, as the SDK asks it to."""

    def __init__(self, issuer: str, audience: str, keys: Keys | None = None) -> None:
        """`audience`: the URL of this server, as tokens name it.

        Raises:
            InvalidArgument: the issuer is no https URL.
        """
        self.issuer = checked(issuer)
        self.audience = audience
        self._keys = keys or Keys(issuer)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return for whom a token stands, and what it permits; None for one that does not count."""
        if len(token) > _LONGEST:
            return None
        try:
            key = await self._keys.find(_key_id(token))
            if key is None:
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                audience=self.audience,
                issuer=self.issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, httpx2.HTTPError, ValueError, KeyError, TypeError, AttributeError):
            return None
        subject = claims["sub"]
        if not isinstance(subject, str) or not subject:
            return None
        return AccessToken(
            token=token,
            client_id=str(claims.get("client_id") or claims.get("azp") or subject),
            scopes=permitted(claims),
            expires_at=int(claims["exp"]) + _LEEWAY,
            resource=self.audience,
            subject=subject,
            claims={"iss": self.issuer, "sub": subject},
        )


def checked(url: str) -> str:
    """Return a URL that tokens or keys may come from: https, or this very machine.

    Raises:
        InvalidArgument: it is another.
    """
    parts = urlsplit(url)
    local = parts.hostname in ("127.0.0.1", "::1", "localhost")
    if parts.hostname is None or parts.query or parts.fragment or parts.username:
        raise InvalidArgument("an issuer is a URL without query, fragment and user")
    if parts.scheme != "https" and not (local and parts.scheme == "http"):
        raise InvalidArgument("an issuer begins with https://")
    return url


def permitted(claims: dict[str, Any]) -> list[str]:
    """Return which of our scopes a token has; whoever may write may read."""
    given: set[str] = set()
    for name in ("scope", "scp"):
        value = claims.get(name)
        words = value.split() if isinstance(value, str) else value
        given |= {each for each in words or () if isinstance(each, str)}
    return [READ, WRITE] if WRITE in given else [READ] if READ in given else []


def _key_id(token: str) -> str | None:
    name = jwt.get_unverified_header(token).get("kid")
    return name if isinstance(name, str) else None
