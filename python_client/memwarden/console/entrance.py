"""Logging in and out."""

from __future__ import annotations

import logging
from secrets import compare_digest
from urllib.parse import urlsplit

from flask import Blueprint, Response, abort, g, make_response, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from memwarden.cli.terminal import printable, shortened
from memwarden.console import login
from memwarden.console.attempts import Attempts
from memwarden.console.guard import before_login, new_csrf
from memwarden.console.sessions import Full, Reviewer, Sessions
from memwarden.console.settings import Settings

log = logging.getLogger("memwarden.console")


def blueprint(settings: Settings, sessions: Sessions) -> Blueprint:
    """Return the pages that let people in and out of these sessions."""
    entrance = Blueprint("entrance", __name__)
    attempts = Attempts(settings.attempts, settings.window)

    @entrance.get("/login")
    def login_page() -> Response:
        return _form(200)

    @entrance.post("/login")
    def log_in() -> AnyResponse:
        name = request.form.get("login", "").strip()
        keys = (f"from {request.remote_addr}", f"for {name}")[: 2 if name else 1]
        if not attempts.take(*keys):
            abort(429)
        try:
            session_id = sessions.open(_reviewer(name))
        except login.Refused as refused:
            log.warning("log-in refused: %s from %s%s", _told(name), request.remote_addr, refused)
            return _form(403, "The log-in was refused. The log of the console may say more.")
        except Full:
            abort(503)
        attempts.give_back(*keys)
        sessions.close(request.cookies.get(settings.cookie))
        log.info("log-in: %s from %s", _told(name) or "token", request.remote_addr)
        response = redirect(_own_path(request.form.get("next")), code=303)
        response.set_cookie(
            settings.cookie,
            session_id,
            httponly=True,
            samesite="Strict",
            secure=settings.secure,
            path="/",
        )
        return response

    @entrance.post("/logout")
    def log_out() -> AnyResponse:
        sessions.close(request.cookies.get(settings.cookie))
        g.session = None
        response = redirect("/login", code=303)
        response.delete_cookie(
            settings.cookie, path="/", secure=settings.secure, httponly=True, samesite="Strict"
        )
        return response

    def _reviewer(name: str) -> Reviewer:
        token = request.form.get("token", "").strip()
        if settings.trial and compare_digest(token.encode(), settings.key.encode()):
            return login.on_trial(settings.dsn, settings.trial)
        if token:
            return login.with_token(settings.dsn, token)
        return login.with_password(settings.dsn, name, request.form.get("password", ""))

    def _form(code: int, said: str = "") -> Response:
        g.session = None
        new_csrf()
        wanted = _own_path(request.values.get("next"))
        page = render_template("login.html", said=said, next=wanted)
        return before_login(make_response(page, code), settings)

    return entrance


def _told(name: str) -> str:
    """Return what somebody typed as one harmless line of the log."""
    return shortened(printable(name), 63)


def _own_path(wanted: str | None) -> str:
    """Return a path of the console itself: what is asked for may be another site."""
    parts = urlsplit((wanted or "").replace("\\", "/"))
    if parts.scheme or parts.netloc or not parts.path.startswith("/") or parts.path[1:2] == "/":
        return "/"
    return parts._replace(fragment="").geturl()
