"""`webhook`: posts the notice to an address, signed.

Settings: `secret_env`, the environment variable with the key of the signature; `timeout` in
seconds, 10 unless set. Any answer of 200 to 299 will do; nothing of it is read.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from memwarden.worker.plugin import PluginError
from memwarden.worker.plugins.http import Refused, ask, is_local
from memwarden.worker.plugins.http_gate import signature
from memwarden.worker.plugins.settings import number, secret


class Webhook:
    """Tells an address of one's own."""

    name = "webhook"
    version = "1"

    def send(self, notice: Mapping[str, Any], target: str, settings: Mapping[str, Any], /) -> None:
        """Post the notice. An address that says that it is gone (410) is not asked again."""
        if not target.lower().startswith("https://") and not is_local(target):
            raise PluginError("the address is neither https nor on this machine", permanent=True)
        body = json.dumps(notice, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {"Idempotency-Key": str(notice["id"])}
        key = secret(settings)
        if key is not None:
            timestamp = str(int(time.time()))
            headers |= {
                "X-Memwarden-Timestamp": timestamp,
                "X-Memwarden-Signature": signature(key, timestamp, body),
            }
        try:
            ask(target, body, headers, number(settings, "timeout", 10, least=0.1, most=30))
        except Refused as error:
            if error.status == 410:
                raise PluginError(str(error), permanent=True) from None
            if not 200 <= error.status < 300:
                raise
