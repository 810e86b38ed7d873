"""`http`: an OpenAI-compatible endpoint for embeddings.

Settings: `url`, all of it (https://.../v1/embeddings); `model`, its name there, by default that of
the registered one; `secret_env`, the variable of the worker's environment that holds the key;
`timeout` (30 seconds); `dimensions`: true to ask for vectors of the registered length;
`text_prefix`, what the model wants before each text that is searched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memwarden.worker.plugin import PluginError
from memwarden.worker.plugins.http import MAX_ANSWER, Refused, post_json
from memwarden.worker.plugins.settings import number, secret, text

# What an endpoint answers where a text is to blame, not the service.
_OF_THE_TEXT = frozenset({400, 413, 422})
# Characters that a number takes in the answer, on the high side.
_WIDTH = 24


class Http:
    """Asks in batches whose answer can be read."""

    name = "http"
    version = "1"

    def embed(self, texts: Sequence[str], settings: Mapping[str, Any], /) -> list[list[float]]:
        """Return what the endpoint answers."""
        dimension = int(number(settings, "dimension", 1, least=1, most=4000))
        most = max(1, MAX_ANSWER // (dimension * _WIDTH))
        vectors: list[list[float]] = []
        for start in range(0, len(texts), most):
            vectors += self._asked(texts[start : start + most], settings, dimension)
        return vectors

    def _asked(
        self, texts: Sequence[str], settings: Mapping[str, Any], dimension: int
    ) -> Iterator[list[float]]:
        prefix = text(settings, "text_prefix") if settings.get("text_prefix") else ""
        body: dict[str, Any] = {
            "model": text(settings, "model"),
            "input": [prefix + each for each in texts],
            "encoding_format": "float",
        }
        if settings.get("dimensions") is True:
            body["dimensions"] = dimension
        key = secret(settings)
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        limit = number(settings, "timeout", 30, least=0.1, most=3600)
        try:
            answer = post_json(text(settings, "url"), json.dumps(body).encode(), headers, limit)
        except Refused as error:
            raise PluginError(str(error), permanent=error.status in _OF_THE_TEXT) from None
        return iter(_vectors(answer, len(texts)))


def _vectors(answer: Any, count: int) -> list[list[float]]:
    """Return the vectors of an answer, in the order of the texts."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or len(data) != count:
        raise PluginError("the answer of the service has not one vector for each text")
    found: dict[int, list[float]] = {}
    for place, each in enumerate(data):
        vector = each.get("embedding") if isinstance(each, dict) else None
        at = each.get("index", place) if isinstance(each, dict) else None
        if not isinstance(vector, list) or not isinstance(at, int):
            raise PluginError("the answer of the service has not one vector for each text")
        if any(isinstance(x, bool) or not isinstance(x, int | float) for x in vector):
            raise PluginError("a vector of the service is none of numbers")
        found[at] = [float(x) for x in vector]
    if found.keys() != set(range(count)):
        raise PluginError("the answer of the service has not one vector for each text")
    return [found[place] for place in range(count)]
