"""`http_gate`: a service of one's own decides, over HTTP.

Settings: `url`; `secret_env`, the environment variable with the key of the signature; `timeout`.
The service gets the request as JSON and answers `{"decision": "accept" | "reject" | "defer",
"reason": ..., "score": ..., "retry_after": ...}`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any, get_args

from memwarden.worker.plugin import Decision, PluginError, Verdict
from memwarden.worker.plugins.http import post_json
from memwarden.worker.plugins.settings import number, secret, text


def signature(key: str, timestamp: str, body: bytes) -> str:
    """Return what the header `X-Memwarden-Signature` bears: HMAC-SHA256 of `timestamp.body`."""
    signed = timestamp.encode() + b"." + body
    return "sha256=" + hmac.new(key.encode(), signed, hashlib.sha256).hexdigest()


class HttpGate:
    """Posts the request to a service and takes its word."""

    name = "http_gate"
    version = "1"

    def judge(self, payload: Mapping[str, Any], settings: Mapping[str, Any]) -> Verdict:
        """Return what the service decides."""
        body = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {}
        key = secret(settings)
        if key is not None:
            timestamp = str(int(time.time()))
            headers = {
                "X-Memwarden-Timestamp": timestamp,
                "X-Memwarden-Signature": signature(key, timestamp, body),
            }
        timeout = number(settings, "timeout", 10, least=0.1, most=3600)
        answer = post_json(text(settings, "url"), body, headers, timeout)
        if not isinstance(answer, dict) or answer.get("decision") not in get_args(Decision):
            raise PluginError("the answer of the service has no decision")
        reason, score, later = (answer.get(name) for name in ("reason", "score", "retry_after"))
        if reason is not None and not isinstance(reason, str):
            raise PluginError("the reason of the service is no text")
        if isinstance(score, bool) or not isinstance(score, int | float | None):
            raise PluginError("the score of the service is no number")
        if isinstance(later, bool) or not isinstance(later, int | float | None):
            raise PluginError("retry_after of the service is no number")
        detail = {} if reason is None else {"reason": reason[:1000]}
        return Verdict(answer["decision"], score, detail, later)
