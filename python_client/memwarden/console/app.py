"""The console as a WSGI application."""

from __future__ import annotations

import logging
import traceback
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

from flask import Flask, g, render_template, request
from werkzeug.exceptions import HTTPException

from memwarden.console import entrance, pages
from memwarden.console.guard import guard
from memwarden.console.sessions import Sessions
from memwarden.console.settings import Settings
from memwarden.console.text import headline, plain, pretty, visible
from memwarden.errors import (
    ChangedSince,
    ConnectionFailed,
    InvalidArgument,
    MemwardenError,
    NotAllowed,
    NotFound,
)

_LARGEST = 8 * 1024 * 1024  # bytes of a form: an edited content in JSON, escaped
_SAID = {
    400: "That was not understood.",
    403: "That was not sent by this page, or is not yours to do.",
    404: "There is no such page, or none that you may see.",
    405: "That cannot be done here.",
    413: "That is too large.",
    421: "The console is reached by another address: the one it was started with.",
    429: "Too many attempts. Try again in a few minutes.",
    503: "Too many people are logged in. Try again later.",
}
# An error's own words may tell of the database: people are told what it means for them.
_MEANING: tuple[tuple[type[MemwardenError], int, str], ...] = (
    (NotAllowed, 403, "You may not decide about this."),
    (NotFound, 404, "There is no such proposal, or none that you may see."),
    (ChangedSince, 409, "This has changed meanwhile. Look at it again."),
    (InvalidArgument, 400, "The database did not take a value."),
    (ConnectionFailed, 503, "The database cannot be reached."),
)
log = logging.getLogger("memwarden.console")


def create_app(settings: Settings) -> Flask:
    """Return the application; `app.extensions["memwarden"]` holds its sessions."""
    app = Flask(__name__)
    app.config.update(
        MAX_CONTENT_LENGTH=_LARGEST, MAX_FORM_MEMORY_SIZE=_LARGEST, SEND_FILE_MAX_AGE_DEFAULT=3600
    )
    app.jinja_env.filters.update(
        visible=visible,
        pretty=pretty,
        plain=plain,
        headline=headline,
        when=_when,
        span=_span,
        share=_share,
    )
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    sessions = Sessions(settings.idle, settings.longest, settings.sessions)
    app.extensions["memwarden"] = sessions

    @app.before_request
    def _know() -> None:
        g.session = sessions.get(request.cookies.get(settings.cookie))

    guard(app, settings)
    app.register_blueprint(entrance.blueprint(settings, sessions))
    app.register_blueprint(pages.blueprint)
    app.register_error_handler(HTTPException, _refused)
    app.register_error_handler(MemwardenError, _failed)
    app.register_error_handler(Exception, _broken)
    return app


def _refused(error: HTTPException) -> tuple[str, int]:
    code = error.code or 500
    return _problem(code, _SAID.get(code, "Something went wrong.")), code


def _failed(error: MemwardenError) -> tuple[str, int]:
    for kind, code, said in _MEANING:
        if isinstance(error, kind):
            return _problem(code, said), code
    log.error("the database raised %s", error.sqlstate)
    return _problem(500, "Something went wrong."), 500


def _broken(error: Exception) -> tuple[str, int]:
    # Its words may quote what was sent: where it happened is enough to find it.
    where = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s\n%s", type(error).__name__, where)
    return _problem(500, "Something went wrong."), 500


def _problem(code: int, said: str) -> str:
    return render_template("problem.html", title=HTTPStatus(code).phrase, said=said)


def _when(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _span(given: timedelta | datetime | None) -> str:
    """Return how long something is, or how far from now, in its largest unit."""
    if given is None:
        return ""
    if isinstance(given, datetime):
        given = given - datetime.now(UTC)
    seconds = abs(given.total_seconds())
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
