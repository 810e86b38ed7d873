"""`http_json`: a service that answers a question with JSON.

Settings: `url`; `query`, the parameter that bears the question (default `q`); `limit`, that of the
number wanted (default none); `method`, GET (the default) or POST (parameters as a JSON object);
`parameters`, further ones; `headers`, names of environment variables by header; and where the
answer has what, as JSON Pointers: `results` (default the whole), and in each of them `text`,
`uri`, `version`. `uri_prefix` stands before each uri.
"""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Mapping
from typing import Any

from memwarden.retrievers.environment import value
from memwarden.retrievers.retriever import Hit, RetrieverError
from memwarden.worker.plugin import PluginError
from memwarden.worker.plugins.http import MAX_ANSWER, ask


class HttpJson:
    """Asks one address, and follows nothing."""

    name = "http_json"

    def search(self, query: str, k: int, settings: Mapping[str, Any], timeout: float) -> list[Hit]:
        """Return what the service answers."""
        parameters = {**_object(settings, "parameters"), _text(settings, "query", "q"): query}
        if limit := settings.get("limit"):
            parameters[str(limit)] = k
        url, body = _text(settings, "url"), None
        if _text(settings, "method", "GET") == "POST":
            body = json.dumps(parameters, ensure_ascii=False).encode()
        else:
            url += ("&" if "?" in url else "?") + urllib.parse.urlencode(parameters)
        headers = {name: value(str(each)) for name, each in _object(settings, "headers").items()}
        try:
            raw = ask(url, body, headers, timeout)
        except PluginError as error:
            raise RetrieverError(str(error)) from None
        if len(raw) > MAX_ANSWER:
            raise RetrieverError("the answer of the service is too large")
        try:
            answer = json.loads(raw)
        except (ValueError, RecursionError):
            raise RetrieverError("the answer of the service is no JSON") from None
        found = _at(answer, _text(settings, "results", ""))
        if not isinstance(found, list):
            raise RetrieverError("results: no list in the answer")
        return [hit for each in found[:k] if (hit := _hit(each, settings)) is not None]


def _hit(found: Any, settings: Mapping[str, Any]) -> Hit | None:
    text, uri = (_at(found, _text(settings, name, f"/{name}")) for name in ("text", "uri"))
    version = _at(found, _text(settings, "version", "/version"))
    if not isinstance(text, str) or not isinstance(uri, str | int):
        return None
    prefix = _text(settings, "uri_prefix", "")
    return Hit(
        uri=f"{prefix}{uri}",
        text=text,
        version=str(version) if isinstance(version, str | int) else None,
    )


def _at(value: Any, pointer: str) -> Any:
    """What a JSON Pointer (RFC 6901) points at; None where there is nothing."""
    if pointer and not pointer.startswith("/"):
        raise RetrieverError("a JSON Pointer begins with /")
    for name in pointer.split("/")[1:]:
        name = name.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def _text(settings: Mapping[str, Any], name: str, default: str | None = None) -> str:
    found = settings.get(name, default)
    if not isinstance(found, str):
        raise RetrieverError(f"{name}: a text")
    return found


def _object(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = settings.get(name, {})
    if not isinstance(found, dict):
        raise RetrieverError(f"{name}: an object")
    return found
