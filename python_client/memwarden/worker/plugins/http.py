"""One POST of JSON, with bounds on time and size, and nothing followed."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from memwarden.worker.plugin import PluginError

MAX_ANSWER = 1024 * 1024


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """What was signed, and the key that came along, are for that address alone."""

    def redirect_request(self, *_args: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


def post_json(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> Any:
    """Post a JSON body and return the JSON of the answer.

    Raises:
        PluginError: the address is none, there was no answer in time, another status than 200, or
            no JSON.
    """
    if not url.lower().startswith(("http://", "https://")):
        raise PluginError("the address is neither http nor https")
    wanted = {"Content-Type": "application/json", "Accept": "application/json"} | dict(headers)
    until = time.monotonic() + timeout
    try:
        request = urllib.request.Request(url, data=body, headers=wanted, method="POST")
        with _OPENER.open(request, timeout=timeout) as answer:
            status, raw = answer.status, _read(answer, until)
    except urllib.error.HTTPError as error:
        error.close()
        raise PluginError(f"the service answers with HTTP status {error.code}") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise PluginError(f"the service cannot be reached: {type(reason).__name__}") from None
    if status != 200:
        raise PluginError(f"the service answers with HTTP status {status}")
    if len(raw) > MAX_ANSWER:
        raise PluginError("the answer of the service is too large")
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        raise PluginError("the answer of the service is no JSON") from None


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
