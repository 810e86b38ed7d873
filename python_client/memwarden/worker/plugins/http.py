"""One POST of JSON, with bounds on time and size, and nothing followed."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from memwarden.worker.plugin import PluginError

MAX_ANSWER = 1024 * 1024


class Refused(PluginError):
    """The service answers with another HTTP status than 200.

    `retry_after`: seconds that it asks for before it is asked again, where it does.
    """

    def __init__(self, status: int, retry_after: float | None = None) -> None:
        super().__init__(f"the service answers with HTTP status {status}")
        self.status = status
        self.retry_after = retry_after


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """What was signed, and the key that came along, are for that address alone."""

    def redirect_request(self, *_args: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)
# What is meant for this machine goes through no proxy that the environment may name.
_LOCAL_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


def is_local(url: str) -> bool:
    """Whether an address is on this machine."""
    try:
        return urllib.parse.urlsplit(url).hostname in _LOCAL
    except ValueError:
        return False


def post(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> bytes:
    """Post a JSON body and return what is answered, as `ask` does."""
    return ask(url, body, headers, timeout)


def ask(url: str, body: bytes | None, headers: Mapping[str, str], timeout: float) -> bytes:
    """Post a JSON body, or get what is there without one; MAX_ANSWER bytes and one are read.

    Raises:
        PluginError: the address is none, or there was no answer in time.
        Refused: another status than 200.
    """
    if not url.lower().startswith(("http://", "https://")):
        raise PluginError("the address is neither http nor https")
    wanted = {"Content-Type": "application/json", "Accept": "application/json"} | dict(headers)
    until = time.monotonic() + timeout
    try:
        request = urllib.request.Request(url, data=body, headers=wanted)
        opener = _LOCAL_OPENER if is_local(url) else _OPENER
        with opener.open(request, timeout=timeout) as answer:
            status, raw = answer.status, _read(answer, until)
    except urllib.error.HTTPError as error:
        error.close()
        raise Refused(error.code, _retry_after(error.headers.get("Retry-After"))) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise PluginError(f"the service cannot be reached: {type(reason).__name__}") from None
    if status != 200:
        raise Refused(status)
    return raw


def post_json(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> Any:
    """Post a JSON body and return the JSON of the answer.

    Raises:
        PluginError: the address is none, there was no answer in time, or it is no JSON.
        Refused: another status than 200.
    """
    raw = post(url, body, headers, timeout)
    if len(raw) > MAX_ANSWER:
        raise PluginError("the answer of the service is too large")
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        raise PluginError("the answer of the service is no JSON") from None


def _retry_after(header: str | None) -> float | None:
    """Seconds from now: the header holds them, or a date."""
    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        left = parsedate_to_datetime(header).astimezone(UTC) - datetime.now(UTC)
    except (ValueError, OverflowError):
        return None
    return max(0.0, left.total_seconds())


def _read(answer: http.client.HTTPResponse, until: float) -> bytes:
    """Read what is answered; the timeout of the socket alone would let it drip for ever."""
    raw = bytearray()
    while len(raw) <= MAX_ANSWER:
        if time.monotonic() > until:
            raise TimeoutError
        piece = answer.read1(65536)
        if not piece:
            break
        raw += piece
    return bytes(raw)
