"""What every request has to have, and what every answer says to the browser."""

from __future__ import annotations

import hmac
import secrets

from flask import Flask, Request, Response, abort, g, request

from memwarden.console.settings import Settings

# Nothing but our own style and keys, no form that goes elsewhere, in nobody's frame.
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "img-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # With no-referrer, browsers would hide the origin of our own forms too.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_BEFORE_LOGIN = "memwarden-form"


def guard(app: Flask, settings: Settings) -> None:
    """Have the app refuse what another site sent, and tell browsers what is allowed."""

    @app.before_request
    def _check() -> None:
        # Another name for this address would be another site, also to the browser.
        if request.host != settings.host:
            abort(421)
        if request.method in ("GET", "HEAD"):
            return
        # Every browser says where a form comes from.
        if request.headers.get("Origin") != settings.url or not _has_csrf(request):
            abort(403)

    @app.after_request
    def _say(response: Response) -> Response:
        response.headers.update(_HEADERS)
        if request.endpoint != "static":
            response.headers["Cache-Control"] = "no-store"
        if settings.secure:
            response.headers["Strict-Transport-Security"] = "max-age=31536000"
        return response

    @app.context_processor
    def _csrf() -> dict[str, str]:
        return {"csrf": expected_csrf() or ""}


def before_login(response: Response, settings: Settings) -> Response:
    """Give a browser that nobody is logged in with something to send back with the form."""
    response.set_cookie(
        _BEFORE_LOGIN, g.csrf, httponly=True, samesite="Strict", secure=settings.secure
    )
    return response


def new_csrf() -> str:
    """Make what the log-in form sends back."""
    g.csrf = secrets.token_urlsafe(32)
    return str(g.csrf)


def expected_csrf() -> str | None:
    """Return what a form of this browser has to bring."""
    session = g.get("session")
    if session is not None:
        return str(session.csrf)
    return g.get("csrf") or request.cookies.get(_BEFORE_LOGIN)


def _has_csrf(sent: Request) -> bool:
    expected = expected_csrf() or ""
    given = sent.form.get("csrf", "")
    return bool(expected) and hmac.compare_digest(expected.encode(), given.encode())
